/* Times in which a rank's GPU did nothing, and why. */
#ifndef TMERGE_GAPS_H
#define TMERGE_GAPS_H

#include "busy.h"
#include "call_kinds.h"

/** A gap in which nothing ran on a stream is short where it is under this: HTA's limit. */
#define TM_SHORT_GAP_NS 30000

typedef enum tm_idle_cause {
    TM_IDLE_HOST,          /* the next event was launched after the gap began: none was queued */
    TM_IDLE_INPUT,         /* the same, while the host waited for the next batch */
    TM_IDLE_COMMUNICATION, /* the same, while the host was in a communication call */
    TM_IDLE_ALLOCATION,    /* the same, while the host took or gave back memory, or loaded code */
    TM_IDLE_SYNC,          /* the same, after the host had waited for the GPU to finish */
    TM_IDLE_KERNEL,        /* the next event was queued, the gap is short */
    TM_IDLE_OTHER,         /* the next event was queued (held_ns, too), or nobody knows, or what was
                            * launched before was not recorded: the GPU may have worked */
    TM_N_IDLE_CAUSES
} tm_idle_cause;

/** A gap of all streams together: they did nothing in [begin, end). */
typedef struct tm_gap {
    int64_t begin_ns, end_ns;
    uint32_t next; /* row of the event that ends it; of several, the one launched first */
    bool host;     /* the host launched too late */
    int64_t
        waited_ns;   /* how long it waited for the GPU in the call in which that ran dry; 0: none */
    int64_t sync_ns; /* of the gap, what is due to that wait: its part of TM_IDLE_SYNC */
    int64_t held_ns; /* of a late launch, how much of the gap lies over TM_SHORT_GAP_NS after its
                        call: the event was queued by then, and waited for something else */
} tm_gap;

/** The gaps of a rank, and what its host did. */
typedef struct tm_gaps {
    tm_vec gaps;                /* of tm_gap, ascending */
    const tm_intervals *hidden; /* the GPU may have worked unrecorded; borrowed */
    tm_intervals input;         /* the host waited for the next batch, and not that */
    tm_intervals comm;          /* it was in a communication call, and neither */
    tm_intervals allocation;    /* it took or gave back memory or loaded code, and none of these */
    int64_t sums[TM_N_IDLE_CAUSES]; /* [ns] they add up to all gaps */
    int64_t queued_ns; /* of TM_IDLE_OTHER: the next event is known to have been queued */
} tm_gaps;

/** Whether the call of a copy came back late: an asynchronous one returns before its copy has
 * begun, or soon after. False where its call is not known. */
static inline bool tm_copy_held_host(const tm_timeline *timeline, uint32_t copy) {
    uint32_t call = timeline->launch[copy];
    return call != TM_NO_EVENT && timeline->begin_ns[call] + timeline->duration_ns[call] >
                                      timeline->begin_ns[copy] + timeline->duration_ns[copy] / 2;
}

/** Free it with tm_gaps_free, whatever comes of the call. TM_OK; TM_ERR_FAULT. */
tm_status tm_gaps_find(const tm_rank_view *view, tm_gaps *out, tm_error *err) TM_MUST_CHECK;
void tm_gaps_free(tm_gaps *gaps);

/** What most of a gap is due to. */
tm_idle_cause tm_gap_cause(const tm_gaps *gaps, const tm_gap *gap);

/**
 * Whether an event that begins `length` after the end of what ran before it comes late because of
 * the host, because kernels follow one another that way, or for another reason: HTA's rules.
 */
tm_idle_cause tm_idle_cause_of(const tm_timeline *timeline, size_t row, int64_t length_ns);

#endif
