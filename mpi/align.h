/* All clocks on one time: hosts, the fit, and matched operations on the job's clock. */
#ifndef TMERGE_MPI_ALIGN_H
#define TMERGE_MPI_ALIGN_H

#include <mpi.h>

#include "timeline/collectives.h"
#include "tmerge/names.h"

/** Which clocks cross-rank numbers are based on. */
typedef enum tm_align {
    TM_ALIGN_AUTO, /* fitted to the ends of collectives */
    TM_ALIGN_UTC,  /* as recorded */
    TM_ALIGN_NONE  /* no cross-rank number */
} tm_align;

/** Standard deviation of a host's wall clock where nobody says another: NTP's milliseconds. */
#define TM_WALL_UNCERTAINTY_NS INT64_C(5000000)

typedef struct tm_align_options {
    tm_align align;
    int64_t wall_uncertainty_ns; /* above 0 */
    const tm_names *names;       /* the texts that the timelines refer to */
} tm_align_options;

/**
 * Finds every rank's clock and puts the records of matched operations on the job's. Ranks of one
 * host share a clock, unless their ends show that they do not; hosts are told by name, else by
 * their device numbers (tm_host_rule). Operations that the fit shows to break causality become
 * suspect and have no wait; so have those between clocks that cannot be compared.
 *
 * Collective: over comm. Neither memory nor work of one process grows with the operations of the
 * others; with the job's ranks by some 200 bytes each.
 * @param timelines    [n] this process's, with unified names; their clocks are set
 * @param collectives  what this process matched
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_align(MPI_Comm comm, const tm_align_options *options, tm_timeline *timelines,
                       size_t n, tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
