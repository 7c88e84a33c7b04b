/* Waits that a trace records: which event a stream or a call on the host waited for. */
#ifndef TMERGE_REPLAY_RECORDED_H
#define TMERGE_REPLAY_RECORDED_H

#include "pairs.h"

/** What a call asked to be waited for. */
typedef struct tm_asked {
    uint32_t call;     /* its row */
    int64_t call_ns;   /* its begin, since the root */
    int64_t stream;    /* that waits; -1 the host */
    int64_t on_stream; /* that is waited for */
    int64_t until_ns;  /* for what was launched there before this: the call, or the recording of the
                          event that it names */
} tm_asked;

typedef struct tm_recorded {
    const tm_draft *draft; /* borrowed */
    uint32_t *first;   /* owned; [tracks + 1] events of a track in the order of their launches */
    uint32_t *events;  /* owned; are events [first[k], first[k + 1]) */
    tm_vec asked;      /* of tm_asked, ascending in call; those that name a stream */
    tm_vec blind;      /* likewise, those of streams that do not: what for has to be guessed */
    bool streams;      /* some of asked are of streams: then no others have to be guessed */
    int64_t n_guessed; /* of the waits that tm_recorded_waits gave */
} tm_recorded;

/** TM_OK; TM_ERR_FAULT; free it in either case. */
tm_status tm_recorded_make(const tm_draft *draft, const tm_timebase *base, tm_recorded *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_recorded_free(tm_recorded *recorded);

/** The waits of streams that are recorded, where streams is set. @param waits  what tm_pairs_pick
 * guessed, or nothing; of that only what is in blind stays. TM_OK; TM_ERR_FAULT. */
tm_status tm_recorded_waits(tm_recorded *recorded, tm_vec *waits, tm_error *err) TM_MUST_CHECK;

/** What a call on the host asked for; NULL where nothing is recorded. */
const tm_asked *tm_recorded_of(const tm_recorded *recorded, uint32_t call);

/** The latest event launched on a stream before a time; TM_NO_PART for none. */
uint32_t tm_recorded_before(const tm_recorded *recorded, int64_t stream, int64_t ns);

/** The next event launched on a stream from a time on; TM_NO_PART for none. */
uint32_t tm_recorded_from(const tm_recorded *recorded, int64_t stream, int64_t ns);

#endif
