/* The drafts of a process's ranks. Where all columns of two ranks but their times are the same, and
 * their parts stand in the same order, they have one draft, at the times of the one that is asked
 * for. Where the others take much memory, they are made again when they are asked for. */
#ifndef TMERGE_REPLAY_DRAFTS_H
#define TMERGE_REPLAY_DRAFTS_H

#include "replay/call_class.h"
#include "replay/draft.h"

/** How many of the last drafts a rank is held against, and the bytes of all that are kept behind
 * them. */
enum { TM_DRAFTS_LATEST = 4, TM_DRAFTS_BYTES = 32 << 20 };

/** What there is of each rank. */
typedef struct tm_drafts_rank {
    tm_lead_in before; /* its first step */
    uint32_t leader;   /* whose parts it has: its own, or those of a rank before it */
    bool leads;        /* another has its parts, too */
    bool kept;         /* its own parts are there */
    bool lead_in;      /* as in tm_draft: to be set by who knows */
} tm_drafts_rank;

typedef struct tm_drafts {
    const tm_timeline *timelines;      /* borrowed; [n] */
    const tm_timebase *base;           /* borrowed */
    tm_call_classes classes;           /* owned */
    tm_draft *own;                     /* owned; [n] without parts of a rank that has another's */
    tm_drafts_rank *ranks;             /* owned; [n] */
    uint32_t latest[TM_DRAFTS_LATEST]; /* leaders, the last one first */
    size_t n, n_latest;
    size_t bytes, most_bytes; /* of parts: there are, and are kept */
} tm_drafts;

/** Room for the drafts of [n] ranks. False when memory is out; free it in either case.
 * @param names  as in tm_call_classes */
bool tm_drafts_open(tm_drafts *drafts, const tm_timeline *timelines, size_t n,
                    const tm_timebase *base, const tm_names *names) TM_MUST_CHECK;
void tm_drafts_free(tm_drafts *drafts);

/**
 * Makes the draft of rank @p i, in the order of ranks.
 * @param out  the draft; its parts stay until the next call of any of these
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_drafts_make(tm_drafts *drafts, size_t i, int64_t stage, const tm_draft **out,
                         tm_error *err) TM_MUST_CHECK;

/** That draft again, with what has become known of it. TM_OK; TM_ERR_FAULT. */
tm_status tm_drafts_at(tm_drafts *drafts, size_t i, const tm_draft **out,
                       tm_error *err) TM_MUST_CHECK;

/** Frees the parts of a rank that no other has. */
void tm_drafts_done(tm_drafts *drafts, size_t i);

#endif
