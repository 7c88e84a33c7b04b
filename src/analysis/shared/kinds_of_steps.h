/* The kinds of a job's steps, from steps.mark. Statements about steps are made for each kind. */
#ifndef TMERGE_KINDS_OF_STEPS_H
#define TMERGE_KINDS_OF_STEPS_H

#include "tmerge/table.h"

/** Maximum number of kinds. If steps have more different names, these are not kinds. They may
 * contain, for example, a loss or the id of a request. */
enum { TM_STEP_KINDS_MAX = 8 };

typedef struct tm_step_kinds {
    const tm_table *marks;                /* borrowed */
    const char *names[TM_STEP_KINDS_MAX]; /* [n] in alphabetical order */
    int n; /* 0: no step is marked, or kinds cannot be distinguished */
} tm_step_kinds;

/** Finds the kinds in steps.mark, whose rows must be sorted by rank and step. */
tm_step_kinds tm_step_kinds_find(const tm_tables *tables);

/** Returns the kind of a step on a rank or, if @p rank is negative, on all ranks. Returns -1 if the
 * step has no kind, or if its kinds differ between ranks. */
int tm_step_kind(const tm_step_kinds *kinds, int64_t rank, int64_t step);

/** Returns whether all steps are graph captures. @p steps is steps.kind, or steps.mark if
 * steps.kind is still empty. */
bool tm_steps_all_capture(const tm_table *steps);

/** Returns whether all kinds in steps.kind are graph captures. Captured kernels do not run, so
 * device work during a capture is no work of the step. */
bool tm_steps_capture(const tm_tables *tables);

#endif
