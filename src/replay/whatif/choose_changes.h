/* Chooses which changes of a job are worth evaluating. */
#ifndef TMERGE_REPLAY_CHOOSE_CHANGES_H
#define TMERGE_REPLAY_CHOOSE_CHANGES_H

#include "replay/job/sets.h"
#include "result.h"

enum { TM_CHANGES_MAX = 2 * TM_N_FIX_KINDS + TM_KERNELS_MAX };

/** The changes to evaluate: each kind of work at its peers' time, each kind of work removed, and
 * kernels. Sent as bytes. */
typedef struct tm_changes {
    tm_change changes[TM_CHANGES_MAX];
    tm_whatif_item items[TM_CHANGES_MAX]; /* `tried` means: to be evaluated, because the change
                                             shortens the path by at least 0.05 % of T */
    uint32_t kernels[TM_KERNELS_MAX];     /* name ids of the kernels with marks 1, 2, ... */
    uint32_t n, n_kernels;
} tm_changes;

/**
 * Chooses changes of work that is on the path.
 *
 * @param result  pieces, whole and total_ns are read; if whole is empty, every change is evaluated
 * @param out     zero-initialised
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out,
                            tm_error *err) TM_MUST_CHECK;

/** Returns the marks of the chosen kernels by name id; freed by the caller; NULL when out of
 * memory. */
uint8_t *tm_changes_mark(const tm_changes *changes, size_t n_names);

#endif
