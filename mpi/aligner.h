/* What the parts of alignment share while it runs. */
#ifndef TMERGE_MPI_ALIGNER_H
#define TMERGE_MPI_ALIGNER_H

#include "align.h"
#include "clock/differences.h"
#include "clock/fit.h"

/* What every process knows of a rank. Sent as bytes. */
typedef struct tm_fact {
    int64_t rank, device;
    int64_t begin_ns, end_ns, middle_ns; /* recorded; begin above end: it has no event */
    uint32_t host;  /* name id, TM_NO_NAME unknown; of a file that has one clock its path */
    bool tied;      /* its clock is, tied to the system's at both ends of the recording */
    bool own_clock; /* it shares none, not even with the other ranks of its host */
} tm_fact;

typedef struct tm_aligner {
    MPI_Comm comm;
    const tm_align_options *options;
    tm_timeline *timelines;
    size_t n;
    tm_collectives *out;

    tm_vec facts; /* of tm_fact: all ranks of the job, ascending */
    tm_vec lates; /* of tm_clock_late: those of them whose ends were compared, ascending */
    tm_clock_seat *seats;
    tm_rank_clock *clocks; /* as seats, one for each fact */
    tm_clock_host *hosts;
    tm_clock_domain *domains;
    int32_t n_hosts, n_domains;
    int64_t *leads; /* [instances] how far clocks as recorded break causality */
} tm_aligner;

/**
 * Gathers what is known of all ranks and makes room for their clocks.
 * Collective, as are the others: over its comm. The same status on every process.
 */
tm_status tm_aligner_gather(tm_aligner *aligner, tm_error *err) TM_MUST_CHECK;

/** Finds which ranks share a clock: sets hosts, domains and the seats of all ranks. */
tm_status tm_aligner_seat(tm_aligner *aligner, tm_error *err) TM_MUST_CHECK;

/** Sums up for each rank how its ends lie to others; sets lates. */
tm_status tm_aligner_compare(tm_aligner *aligner, const tm_clock_compared *how,
                             tm_error *err) TM_MUST_CHECK;

/** The rank's sums, or NULL where none of its ends was compared. */
const tm_clock_late *tm_aligner_late(const tm_aligner *aligner, int64_t rank);

void tm_aligner_free(tm_aligner *aligner);

#endif
