/* Times when a rank's GPU was idle, and why. */
#ifndef TMERGE_GAPS_H
#define TMERGE_GAPS_H

#include "busy.h"
#include "call_kinds.h"

/** A gap below this is short. As in HTA (Holistic Trace Analysis). */
#define TM_SHORT_GAP_NS 30000

typedef enum tm_idle_cause {
    TM_IDLE_HOST,  /* the next event was launched after the gap started: the queue was empty */
    TM_IDLE_INPUT, /* as TM_IDLE_HOST, while the host waited for the next batch */
    TM_IDLE_COMMUNICATION, /* as TM_IDLE_HOST, while the host was in a communication call */
    TM_IDLE_ALLOCATION,    /* as TM_IDLE_HOST, while the host allocated or freed memory or loaded
                            * code */
    TM_IDLE_SYNC,          /* as TM_IDLE_HOST, after the host had waited for the GPU to finish */
    TM_IDLE_KERNEL,        /* the next event was already queued, and the gap is short */
    TM_IDLE_OTHER, /* the next event was already queued (also held_ns), or the cause is unknown, or
                      the GPU may have done unrecorded work */
    TM_N_IDLE_CAUSES
} tm_idle_cause;

/** A gap [begin, end) in which all streams were idle. */
typedef struct tm_gap {
    int64_t begin_ns, end_ns;
    uint32_t next;     /* row of the event that ends the gap; of several, the one launched first */
    bool host;         /* the host launched too late */
    int64_t waited_ns; /* length of the host's wait during which the GPU's queue became empty; 0:
                          none */
    int64_t sync_ns;   /* part of the gap due to that wait, counted as TM_IDLE_SYNC */
    /* for a late launch: the part of the gap from TM_SHORT_GAP_NS after the call, when the event
     * was in the queue and waited for something else */
    int64_t held_ns;
} tm_gap;

/** The gaps of a rank, and the activity of its host during them. */
typedef struct tm_gaps {
    tm_vec gaps;                /* of tm_gap, ascending */
    const tm_intervals *hidden; /* times when the GPU may have worked unrecorded; borrowed */
    tm_intervals input;         /* the host waited for the next batch, outside of hidden */
    tm_intervals comm;       /* the host was in a communication call, outside of hidden and input */
    tm_intervals allocation; /* the host allocated or freed memory or loaded code, outside of
                                hidden, input and host_comm */
    int64_t sums[TM_N_IDLE_CAUSES]; /* [ns] by cause; their sum is the length of all gaps */
    int64_t queued_ns; /* part of TM_IDLE_OTHER in which the next event was certainly queued */
} tm_gaps;

/** Returns whether a copy blocked the host: its call returned late. False if the call is unknown.
 */
static inline bool tm_copy_held_host(const tm_timeline *timeline, uint32_t copy) {
    uint32_t call = timeline->launch[copy];
    return call != TM_NO_EVENT && timeline->begin_ns[call] + timeline->duration_ns[call] >
                                      timeline->begin_ns[copy] + timeline->duration_ns[copy] / 2;
}

/** Finds the gaps of a rank. Free them with tm_gaps_free, even on failure. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_gaps_find(const tm_rank_view *view, tm_gaps *out, tm_error *err) TM_MUST_CHECK;
void tm_gaps_free(tm_gaps *gaps);

/** Returns the cause of the largest part of a gap. */
tm_idle_cause tm_gap_cause(const tm_gaps *gaps, const tm_gap *gap);

/**
 * Classifies the gap of `length_ns` before an event by HTA's rules: caused by the host, the normal
 * spacing of kernels, or other.
 */
tm_idle_cause tm_idle_cause_of(const tm_timeline *timeline, size_t row, int64_t length_ns);

#endif
