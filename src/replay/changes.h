/* Which sorts of work it is worth to try on the whole job: those that the critical path holds. */
#ifndef TMERGE_REPLAY_CHANGES_H
#define TMERGE_REPLAY_CHANGES_H

#include "replay/result.h"
#include "replay/sets.h"

/** Kernels that are tried: those with most of the path. */
enum { TM_KERNELS_MAX = 16, TM_CHANGES_MAX = 2 * TM_N_FIX_KINDS + TM_KERNELS_MAX };

/** Kinds of work, each as on the peers and then as none at all; and kernels. Sent as bytes. */
typedef struct tm_changes {
    tm_change changes[TM_CHANGES_MAX];
    tm_whatif_item items[TM_CHANGES_MAX]; /* tried where it takes 0.05 % of T off the path */
    uint32_t kernels[TM_KERNELS_MAX];     /* name ids: marks 1, 2, ... */
    uint32_t n, n_kernels;
} tm_changes;

/**
 * Chooses among what lies on the path.
 *
 * @param result  with pieces and total_ns
 * @param out     all 0
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out,
                            tm_error *err) TM_MUST_CHECK;

/** Marks by edge: which of the chosen kernels its event is. To be freed by the caller; NULL when
 * memory is out. */
uint8_t *tm_changes_mark(const tm_changes *changes, const tm_graph *graph,
                         const tm_timeline *timeline);

#endif
