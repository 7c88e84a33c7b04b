/* Recorded waits. A wait states for which event a stream or a host call waited. */
#ifndef TMERGE_REPLAY_RECORDED_H
#define TMERGE_REPLAY_RECORDED_H

#include "wait_pairs.h"

/** A wait that a call requested. */
typedef struct tm_asked {
    uint32_t call;     /* row of the call */
    int64_t call_ns;   /* start of the call, since the root */
    int64_t stream;    /* stream that waits; -1: the host waits */
    int64_t on_stream; /* stream that is waited for */
    int64_t until_ns; /* the wait is for all work launched on on_stream before this time. For a CUDA
                         event, this is the start of the call that recorded the event; otherwise, it
                         is call_ns */
    uint32_t first, n; /* events that the wait is for: `sources` [first, first + n) */
} tm_asked;

typedef struct tm_recorded {
    const tm_graph_input *input; /* borrowed */
    uint32_t *first;  /* owned; [tracks + 1] index in `events` of each track's first event */
    uint32_t *events; /* owned; indices of events by track, in the order of launches */
    tm_vec asked;     /* vector of tm_asked, ascending in call: waits for a stream that the trace
                         contains */
    tm_vec sources; /* vector of uint32_t: indices of events, at most one of a track for each wait.
                       A wait for a stream is for the stream's latest event, for all events of the
                       call that launched it (a CUDA graph), and for all events that the stream
                       was told to wait for since */
    tm_vec blind;   /* vector of tm_asked: waits of streams for a stream that the trace does not
                       contain. Which event they waited for must be inferred */
    bool streams; /* `asked` contains waits of streams. Only waits in `blind`, and those inside CUDA
                     graphs, are then inferred */
    bool graphs;  /* a CUDA graph has events on several tracks */
    int64_t n_guessed; /* number of inferred waits that tm_recorded_waits kept */
} tm_recorded;

/** Collects the waits that a rank's trace records. TM_OK; TM_ERR_FAULT. The caller must free @p out
 * with tm_recorded_free, even after an error. */
tm_status tm_recorded_make(const tm_graph_input *input, const tm_timebase *base, tm_recorded *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_recorded_free(tm_recorded *recorded);

/** Adds the recorded waits of streams to @p waits. Call this only if `streams` is set. TM_OK;
 * TM_ERR_FAULT.
 * @param waits  vector of tm_part_wait, with the waits that tm_pairs_pick inferred. Of these, only
 *               the waits that stand for a wait in `blind`, and those inside CUDA graphs, are
 *               kept. */
tm_status tm_recorded_waits(tm_recorded *recorded, tm_vec *waits, tm_error *err) TM_MUST_CHECK;

/** Returns the wait that a host call requested; NULL if none is recorded. @p call is a row. */
const tm_asked *tm_recorded_of(const tm_recorded *recorded, uint32_t call);

/** Returns the events that a wait is for, as an array [asked->n] of indices. */
static inline const uint32_t *tm_recorded_sources(const tm_recorded *recorded,
                                                  const tm_asked *asked) {
    return (const uint32_t *)recorded->sources.data + asked->first;
}

#endif
