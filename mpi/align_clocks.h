/* Alignment of all clocks: hosts, the fit, and converting matched operations to job time. */
#ifndef TMERGE_MPI_ALIGN_CLOCKS_H
#define TMERGE_MPI_ALIGN_CLOCKS_H

#include <mpi.h>

#include "timeline/collectives.h"
#include "tmerge/names.h"

/** How the times of different ranks are made comparable. */
typedef enum tm_align {
    TM_ALIGN_AUTO, /* fit the clocks to the ends of collectives */
    TM_ALIGN_UTC,  /* use the times as recorded */
    TM_ALIGN_NONE  /* leave out all numbers that compare ranks */
} tm_align;

/** Default standard deviation of a host's wall clock: NTP keeps clocks within milliseconds. */
#define TM_WALL_UNCERTAINTY_NS INT64_C(5000000)

typedef struct tm_align_options {
    tm_align align;
    int64_t wall_uncertainty_ns; /* above 0 */
    const tm_names *names;       /* texts of the timelines */
} tm_align_options;

/**
 * Finds every rank's clock and converts the records of matched operations to the job's clock. Ranks
 * of a host share a clock unless the ends of their collectives show different clocks. Hosts are
 * identified by name, otherwise by device numbers (identity/hosts.h). Operations that break
 * causality on the fitted clocks become suspect. Suspect operations, and operations between clocks
 * that are not comparable, have no wait. Takes about 200 bytes per rank of the job on each process.
 * Collective: over comm.
 * @param timelines    [n] timelines of this process, with unified names; the call sets their clocks
 * @param collectives  operations matched by this process
 * @return             TM_OK or TM_ERR_FAULT, the same on every process
 */
tm_status tm_mpi_align(MPI_Comm comm, const tm_align_options *options, tm_timeline *timelines,
                       size_t n, tm_collectives *collectives, tm_error *err) TM_MUST_CHECK;

#endif
