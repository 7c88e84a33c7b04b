/* The value of a figure in a job, with its error. gate and trend compare such values. */
#ifndef TMERGE_DIFF_LEVEL_H
#define TMERGE_DIFF_LEVEL_H

#include <stdbool.h>

#include "sample.h"
#include "tmerge/table.h"

typedef struct tm_level {
    double mean, error; /* error: standard error of the mean; NAN if the figure is not by step, or
                           has too few steps */
    double freedom;     /* degrees of freedom of error */
    size_t n; /* number of steps; for a figure that is not by step: 1; 0 if the figure is not
                 recorded */
} tm_level;

/** A figure: its short name, and the column that defines it. */
typedef struct tm_level_figure {
    const char *alias, *where;
    const tm_column *column;
    bool of_steps;
} tm_level_figure;

/** Returns the number of figures; they are numbered from 0. */
int tm_level_figures(void);
tm_level_figure tm_level_figure_of(const tm_tables *tables, int name);

/** Measures a figure of a job; if it is by step, over the ranks and steps that @p of selects. With
 * under TM_GATE_STEPS_MIN steps, out->error is NAN. @return TM_OK; TM_ERR_FAULT */
tm_status tm_level_measure(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                           tm_error *err) TM_MUST_CHECK;

/** Returns by how much the means of two levels may differ by chance [% of the mean of @p a]. */
double tm_level_noise(const tm_level *a, const tm_level *b);

/** Returns the number of ranks of the job. */
int64_t tm_level_ranks(const tm_tables *tables);

#endif
