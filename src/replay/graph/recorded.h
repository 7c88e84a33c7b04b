/* Recorded waits: which event a stream or a host call waited for. */
#ifndef TMERGE_REPLAY_RECORDED_H
#define TMERGE_REPLAY_RECORDED_H

#include "wait_pairs.h"

/** A wait that a call requested. */
typedef struct tm_asked {
    uint32_t call;     /* row */
    int64_t call_ns;   /* start of the call, since the root */
    int64_t stream;    /* stream that waits; -1: the host waits */
    int64_t on_stream; /* stream that is waited for */
    int64_t until_ns;  /* the wait is for all work launched on on_stream before this time: start of
                          the call, or of the call that recorded the CUDA event */
} tm_asked;

typedef struct tm_recorded {
    const tm_draft *draft; /* borrowed */
    uint32_t *first;       /* owned; [tracks + 1] first event of each track in `events` */
    uint32_t *events;      /* owned; indices of events by track, in the order of launches */
    tm_vec asked;          /* of tm_asked, ascending in call: waits with a known on_stream */
    tm_vec blind; /* of tm_asked: waits of streams for a stream that is not recorded, and which must
                     be inferred */
    bool streams; /* `asked` has waits of streams, so other waits of streams are not inferred */
    int64_t n_guessed; /* number of inferred waits kept by tm_recorded_waits */
} tm_recorded;

/** Collects the waits that a rank's trace records. TM_OK; TM_ERR_FAULT; free it in either case. */
tm_status tm_recorded_make(const tm_draft *draft, const tm_timebase *base, tm_recorded *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_recorded_free(tm_recorded *recorded);

/** Adds the recorded waits of streams. Does nothing unless `streams` is set.
 * @param waits  inferred by tm_pairs_pick, or empty; only those of streams in `blind` are kept.
 * TM_OK; TM_ERR_FAULT. */
tm_status tm_recorded_waits(tm_recorded *recorded, tm_vec *waits, tm_error *err) TM_MUST_CHECK;

/** Returns the wait that a host call requested; NULL if none is recorded. */
const tm_asked *tm_recorded_of(const tm_recorded *recorded, uint32_t call);

/** Returns the latest event launched on a stream before a time, or TM_NO_PART. */
uint32_t tm_recorded_before(const tm_recorded *recorded, int64_t stream, int64_t ns);

#endif
