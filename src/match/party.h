/* Ranks that ran the same operations together: what matching without metadata grows, from the lane
 * of a single rank on. */
#ifndef TMERGE_PARTY_H
#define TMERGE_PARTY_H

#include "run.h"

/** One operation as a party took part in it, beside its mark. */
typedef struct tm_party_op {
    int64_t first_end_ns; /* the earliest end */
    int32_t n;            /* ranks that have it */
    bool telling;         /* who comes early leaves it with the last, so that lateness shows */
    bool bare;            /* it has no metadata */
} tm_party_op;

/** One whose ends a party has: a rank, or between hosts what was found of one. */
typedef struct tm_voice {
    int64_t source; /* the caller's number of it */
    int64_t seat;   /* two voices of one seat are never of one party: its rank, or its host */
} tm_voice;

typedef struct tm_party {
    tm_run run;       /* owned; begins are the latest of the party, ends the lower median */
    tm_party_op *ops; /* [run.n] */
    tm_voice *voices; /* [n_voices] the first one's clock is the party's */
    size_t n_voices;
    int64_t *ends;     /* [run.n x n_voices] by operation; TM_NO_END where a voice lacks it */
    int64_t *places;   /* as ends: its number among the voice's own operations; -1 */
    int64_t spread_ns; /* median distance of ends from their median */
    double bits;       /* evidence for its weakest join; HUGE_VAL where there was none */
    bool at_least;     /* it may have further members */
} tm_party;

#define TM_NO_END INT64_MIN

/** How the operations of one party meet another's. */
typedef struct tm_bridge {
    const int64_t *partners; /* [a's n] the other's operation; -1 */
    int64_t offset_ns;       /* of the other's clock from a's, at */
    int64_t at_ns;           /* a's time */
    double drift;            /* by which it grows with a's time */
} tm_bridge;

/** What is to be added to a time of the first party for the other's clock. */
int64_t tm_bridge_offset(const tm_bridge *bridge, int64_t ns);

/**
 * A party of one voice with room for its operations, which the caller fills in: marks, ascending in
 * end, and ops. Then call tm_party_ready.
 * @return  TM_OK; TM_ERR_FAULT, and nothing is to be freed
 */
tm_status tm_party_create(size_t n, tm_voice voice, tm_party *out, tm_error *err) TM_MUST_CHECK;
tm_status tm_party_ready(tm_party *party, tm_error *err) TM_MUST_CHECK;
void tm_party_free(tm_party *party);

/** Makes one party of two: it has the operations of the first, whose clock it keeps.
 * @param out  set only on TM_OK; a and b stay */
tm_status tm_party_join(const tm_party *a, const tm_party *b, const tm_bridge *bridge,
                        tm_party *out, tm_error *err) TM_MUST_CHECK;

/** The median of [n] values in any order, the lower one of two, 0 for none; they are moved. */
int64_t tm_party_median(int64_t *values, size_t n);

#endif
