/* The kinds of a job's steps, as steps.mark has them: what is said of steps is said by kind. */
#ifndef TMERGE_KINDS_OF_STEPS_H
#define TMERGE_KINDS_OF_STEPS_H

#include "tmerge/table.h"

/** Where names are of more kinds than that, their words tell no kinds: a loss, a request's name. */
enum { TM_STEP_KINDS_MAX = 8 };

typedef struct tm_step_kinds {
    const tm_table *marks;                /* borrowed, as the names are */
    const char *names[TM_STEP_KINDS_MAX]; /* [n] in the order of the alphabet */
    int n; /* 0: no steps are marked, or of kinds that cannot be told apart */
} tm_step_kinds;

/** @param tables  steps.mark is read, its rows sorted by rank and step */
tm_step_kinds tm_step_kinds_find(const tm_tables *tables);

/** The kind of a rank's step, and that of a step on all ranks that have it where @p rank is below
 * 0; -1 where it is none, or not one. */
int tm_step_kind(const tm_step_kinds *kinds, int64_t rank, int64_t step);

/** Whether all rows of steps.kind, or of steps.mark where that has none yet, are captures. */
bool tm_steps_all_capture(const tm_table *steps);

/** Whether all kinds of steps.kind are captures of graphs: the kernels that a graph captures do not
 * run, so the devices' work then is not that of a step. */
bool tm_steps_capture(const tm_tables *tables);

#endif
