/* What the steps of a job tell of a figure, and how sure that is: what a gate and a trend judge by.
 */
#ifndef TMERGE_DIFF_LEVEL_H
#define TMERGE_DIFF_LEVEL_H

#include <stdbool.h>

#include "sample.h"
#include "tmerge/table.h"

typedef struct tm_level {
    double mean, error; /* its standard error; NAN: not of steps, or of too few */
    double freedom;     /* degrees of freedom of error */
    size_t n;           /* steps; of what is not of steps 1, or 0 where there is none */
} tm_level;

/** A figure: what it is called in short, and where it is defined. */
typedef struct tm_level_figure {
    const char *alias, *where;
    const tm_column *column;
    bool of_steps;
} tm_level_figure;

/** How many figures there are; they are numbered from 0. */
int tm_level_figures(void);
tm_level_figure tm_level_figure_of(const tm_tables *tables, int name);

/** Measures a figure of a job, one of steps by those @p of names; how sure it is takes
 * TM_GATE_STEPS_MIN of them. TM_OK; TM_ERR_FAULT. */
tm_status tm_level_measure(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                           tm_error *err) TM_MUST_CHECK;

/** By how many percent of @p a the means of two levels of steps may differ by chance. */
double tm_level_noise(const tm_level *a, const tm_level *b);

/** Ranks of the job. */
int64_t tm_level_ranks(const tm_tables *tables);

#endif
