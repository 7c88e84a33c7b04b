/* The recorded events of a process's ranks. Ranks whose columns differ only in times, and whose
 * events are in the same order, share one tm_draft. The draft has the times of the rank that was
 * requested last. If drafts take much memory, older drafts are freed. They are made again when they
 * are requested. */
#ifndef TMERGE_REPLAY_BATCH_EVENTS_H
#define TMERGE_REPLAY_BATCH_EVENTS_H

#include "replay/graph/call_class.h"
#include "replay/graph/rank_events.h"

/** TM_DRAFTS_LATEST: a rank is compared with this many of the latest drafts. TM_DRAFTS_BYTES: if
 * drafts take more memory than this, older drafts are freed. */
enum { TM_DRAFTS_LATEST = 4, TM_DRAFTS_BYTES = 32 << 20 };

typedef struct tm_drafts_rank {
    tm_warm_up before;
    uint32_t leader; /* index of the rank whose draft this rank uses: its own or an earlier one */
    bool leads;      /* another rank uses this rank's draft */
    bool kept;       /* this rank's draft is in memory */
    bool warm_up;    /* set by the caller; see tm_draft */
} tm_drafts_rank;

typedef struct tm_drafts {
    const tm_timeline *timelines;      /* borrowed; [n] */
    const tm_timebase *base;           /* borrowed */
    tm_call_classes classes;           /* owned */
    tm_draft *own;                     /* owned; [n] drafts; empty for a rank that uses another
                                          rank's draft */
    tm_drafts_rank *ranks;             /* owned; [n] */
    uint32_t latest[TM_DRAFTS_LATEST]; /* indices of the ranks with the latest drafts, the latest
                                          first */
    size_t n, n_latest;
    /* bytes: size of the drafts in memory. most_bytes: limit of this size. */
    size_t bytes, most_bytes;
} tm_drafts;

/**
 * Allocates memory for [n] ranks. False when out of memory. The caller must free it in either case.
 *
 * @param names  as in tm_call_classes
 */
bool tm_drafts_open(tm_drafts *drafts, const tm_timeline *timelines, size_t n,
                    const tm_timebase *base, const tm_names *names) TM_MUST_CHECK;
void tm_drafts_free(tm_drafts *drafts);

/**
 * Collects the recorded events of rank @p i. Must be called for all ranks in order.
 *
 * @param out  valid until the next call of one of these functions
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_drafts_make(tm_drafts *drafts, size_t i, int64_t stage, const tm_draft **out,
                         tm_error *err) TM_MUST_CHECK;

/** Returns the events that tm_drafts_make collected for rank @p i. Sets `warm_up` of these events
 * to the value for this rank. TM_OK; TM_ERR_FAULT. */
tm_status tm_drafts_at(tm_drafts *drafts, size_t i, const tm_draft **out,
                       tm_error *err) TM_MUST_CHECK;

/** Frees a rank's draft, unless another rank uses it. */
void tm_drafts_done(tm_drafts *drafts, size_t i);

#endif
