/* Times in which a rank's GPU was idle, and why. */
#ifndef TMERGE_GAPS_H
#define TMERGE_GAPS_H

#include "busy.h"

/** Gaps below this duration are short [ns]. HTA (Holistic Trace Analysis) has the same limit. */
#define TM_SHORT_GAP_NS 30000

typedef enum tm_idle_cause {
    TM_IDLE_HOST,          /* the queue was empty when the gap started (tm_queue_was_empty) */
    TM_IDLE_INPUT,         /* like TM_IDLE_HOST, while the host waited for the next batch */
    TM_IDLE_COMMUNICATION, /* like TM_IDLE_HOST, while the host was in a communication call */
    TM_IDLE_ALLOCATION,    /* like TM_IDLE_HOST, while the host allocated or freed memory or loaded
                              code */
    TM_IDLE_SYNC,          /* like TM_IDLE_HOST, after the host had waited for the GPU to finish */
    TM_IDLE_KERNEL,        /* the gap is short, and the next event was already queued */
    /* the gap is long and the next event was already queued (includes held_ns), the cause is
     * unknown, or the GPU may have done unrecorded work */
    TM_IDLE_OTHER,
    TM_N_IDLE_CAUSES
} tm_idle_cause;

/** A gap [begin, end) in which all streams are idle. */
typedef struct tm_gap {
    int64_t begin_ns, end_ns;
    /* row of the event that starts at the end of the gap; if several do, the one that was launched
     * first */
    uint32_t next;
    bool host; /* whether the host launched too late */
    /* duration of the host's wait for the GPU in which the queue became empty; 0: no such wait */
    int64_t waited_ns;
    int64_t sync_ns; /* part of the gap that this wait explains (TM_IDLE_SYNC) */
    /* Only for a late launch: time at the end of the gap in which the next event was already
     * queued. It starts TM_SHORT_GAP_NS after the launch call. */
    int64_t held_ns;
} tm_gap;

/** The gaps of a rank, and what its host did in them. */
typedef struct tm_gaps {
    tm_vec gaps;                /* vector of tm_gap, ascending */
    const tm_intervals *hidden; /* times in which the GPU may have done unrecorded work; borrowed */
    /* times in which the host waited for the next batch, without times in `hidden` */
    tm_intervals input;
    /* times in which the host was in a communication call, without times in `hidden` and `input` */
    tm_intervals comm;
    /* times in which the host allocated or freed memory or loaded code, without times in `hidden`,
     * `input` and `comm` */
    tm_intervals allocation;
    /* [ns] by cause; the sum over causes is the duration of all gaps */
    int64_t sums[TM_N_IDLE_CAUSES];
    int64_t queued_ns; /* part of TM_IDLE_OTHER in which the next event was certainly queued */
} tm_gaps;

/** Returns whether a copy blocked the host: the call that launched it returned after the middle of
 * the copy. Returns false if the call is unknown. */
static inline bool tm_copy_held_host(const tm_timeline *timeline, uint32_t copy) {
    uint32_t call = timeline->launch[copy];
    return call != TM_NO_EVENT && timeline->begin_ns[call] + timeline->duration_ns[call] >
                                      timeline->begin_ns[copy] + timeline->duration_ns[copy] / 2;
}

/**
 * Returns whether the queue of a stream or device was empty at a time, because the call that
 * launched its next event had not yet submitted it. A call submits a kernel shortly before it
 * returns, so the queue was empty if the call returned later. There are two exceptions. A call may
 * block until its copy is done, so it must have returned before the copy started. A graph's call
 * has submitted the graph once its first event starts, unless the call then covers TM_SHORT_GAP_NS
 * of a gap, because it submits the graph in pieces.
 *
 * @param call_before  the call that launched the event before on the stream, or TM_NO_EVENT
 */
bool tm_queue_was_empty(const tm_timeline *timeline, size_t row, uint32_t call_before,
                        int64_t since_ns);

/** Finds the gaps of a rank. The caller frees them with tm_gaps_free, also on failure. Returns
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_gaps_find(const tm_rank_view *view, tm_gaps *out, tm_error *err) TM_MUST_CHECK;
void tm_gaps_free(tm_gaps *gaps);

/** Returns the cause that explains most of a gap. */
tm_idle_cause tm_gap_cause(const tm_gaps *gaps, const tm_gap *gap);

/** Returns the cause of a gap of `length_ns` before an event, by HTA's rules: TM_IDLE_HOST,
 * TM_IDLE_KERNEL or TM_IDLE_OTHER. */
tm_idle_cause tm_idle_cause_of(const tm_timeline *timeline, size_t row, int64_t length_ns);

#endif
