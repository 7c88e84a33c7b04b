/* The kinds of a job's steps from steps.mark. Results about steps are reported per kind. */
#ifndef TMERGE_KINDS_OF_STEPS_H
#define TMERGE_KINDS_OF_STEPS_H

#include "tmerge/table.h"

/** Maximum number of kinds. More distinct names are not kinds, because they contain a loss or the
 * id of a request. */
enum { TM_STEP_KINDS_MAX = 8 };

typedef struct tm_step_kinds {
    const tm_table *marks;                /* borrowed, as the names are */
    const char *names[TM_STEP_KINDS_MAX]; /* [n] in alphabetical order */
    int n; /* 0: no steps are marked, or their kinds cannot be distinguished */
} tm_step_kinds;

/** @param tables  steps.mark is read; its rows must be sorted by rank and step */
tm_step_kinds tm_step_kinds_find(const tm_tables *tables);

/** Returns the kind of a rank's step. If @p rank is negative, returns the kind of the step on all
 * ranks that have it. -1 for no kind, or if ranks disagree. */
int tm_step_kind(const tm_step_kinds *kinds, int64_t rank, int64_t step);

/** Returns whether all rows of steps.kind (of steps.mark while that is empty) are captures. */
bool tm_steps_all_capture(const tm_table *steps);

/** Returns whether all kinds of steps.kind are graph captures. Captured kernels do not run, so the
 * devices' work during a capture is not that of a step. */
bool tm_steps_capture(const tm_tables *tables);

#endif
