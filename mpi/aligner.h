/* State shared by the parts of clock alignment. */
#ifndef TMERGE_MPI_ALIGNER_H
#define TMERGE_MPI_ALIGNER_H

#include "align_clocks.h"
#include "clock/differences.h"
#include "clock/fit.h"

/* What every process knows about a rank. Contains no pointers, so that it can be sent. */
typedef struct tm_fact {
    int64_t rank, device;
    int64_t begin_ns, end_ns, middle_ns; /* recorded times; begin > end if the rank has no events */
    uint32_t host; /* name id of the host or, if the file has one clock for all its ranks, of the
                      file's path; TM_NO_NAME: unknown */
    double
        lag_ns; /* shortest time from a launch to the start of its GPU event; INFINITY: unknown */
    bool tied;  /* the clock is tied to the system clock at both ends of the recording */
    bool own_clock; /* no other rank uses the clock, not even on the same host */
} tm_fact;

typedef struct tm_aligner {
    MPI_Comm comm;
    const tm_align_options *options;
    tm_timeline *timelines;
    size_t n;
    tm_collectives *out;

    tm_vec facts; /* vector of tm_fact: one for each rank of the job, ascending by rank */
    tm_vec lates; /* vector of tm_clock_late: one for each rank whose ends of collectives were
                     compared, ascending by rank */
    tm_clock_slot *slots;
    tm_rank_clock *clocks; /* [facts.n] clock of each rank; slots are in the same order */
    tm_clock_host *hosts;
    tm_clock_domain *domains;
    int32_t n_hosts, n_domains;
    int64_t *leads; /* [instances] latest start of a member minus earliest end of a member [ns], on
                       recorded clocks */
} tm_aligner;

/** Gathers the facts of all ranks and allocates memory for their clocks. Collective over
 * aligner->comm, like the functions below. The status is the same on every process. */
tm_status tm_aligner_gather(tm_aligner *aligner, tm_error *err) TM_MUST_CHECK;

/** Finds which ranks share a clock: sets hosts, domains and the slots of all ranks. */
tm_status tm_aligner_slot(tm_aligner *aligner, tm_error *err) TM_MUST_CHECK;

/** Summarises how each rank's ends of collectives differ from those of other ranks; sets lates. */
tm_status tm_aligner_compare(tm_aligner *aligner, const tm_clock_compared *how,
                             tm_error *err) TM_MUST_CHECK;

/** Returns the rank's summary from lates; NULL if none of the rank's ends was compared. */
const tm_clock_late *tm_aligner_late(const tm_aligner *aligner, int64_t rank);

void tm_aligner_free(tm_aligner *aligner);

#endif
