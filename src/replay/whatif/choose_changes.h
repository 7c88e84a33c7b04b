/* Chooses which changes of a job are worth evaluating. */
#ifndef TMERGE_REPLAY_CHOOSE_CHANGES_H
#define TMERGE_REPLAY_CHOOSE_CHANGES_H

#include "replay/job/sets.h"
#include "result.h"

enum { TM_CHANGES_MAX = 2 * TM_N_FIX_KINDS + TM_KERNELS_MAX };

/** The changes to evaluate. Each kind of work on the path has up to two changes: it takes its usual
 * time, or no time. Each of the kernels with the most time on the path has one change: it takes its
 * usual time. Sent as bytes. */
typedef struct tm_changes {
    tm_change changes[TM_CHANGES_MAX];
    /* `tried`: the change is to be evaluated, because it shortens the path by at least 0.05 % of T
     */
    tm_whatif_item items[TM_CHANGES_MAX];
    uint32_t kernels[TM_KERNELS_MAX]; /* name ids of the kernels with marks 1, 2, ... */
    uint32_t n, n_kernels;
} tm_changes;

/**
 * Chooses changes of work that is on the critical path.
 *
 * @param result  its members pieces, whole and total_ns are used. If `whole` is empty, every change
 *                is evaluated.
 * @param out     must be initialised with zeros
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out,
                            tm_error *err) TM_MUST_CHECK;

/** Returns the marks of the chosen kernels, by name id. The caller must free the array. NULL when
 * out of memory. */
uint8_t *tm_changes_mark(const tm_changes *changes, size_t n_names);

#endif
