/* The value of a figure in a job, with its error. gate and trend compare such values. */
#ifndef TMERGE_DIFF_LEVEL_H
#define TMERGE_DIFF_LEVEL_H

#include <stdbool.h>

#include "sample.h"
#include "tmerge/table.h"

typedef struct tm_level {
    /* `error` is the standard error of the mean. It is NAN if the figure is not by step, or if
     * there are too few steps. */
    double mean, error;
    double freedom; /* degrees of freedom of error */
    /* Number of steps. A figure that is not by step has 1. A figure that was not recorded has 0. */
    size_t n;
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

/**
 * Measures a figure of a job. A figure that is by step is measured over the ranks and steps that
 * @p of selects. With fewer than TM_GATE_STEPS_MIN steps, out->error is NAN.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_level_measure(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                           tm_error *err) TM_MUST_CHECK;

/** Returns by how much the means of two levels may differ by chance [% of the mean of @p a]. */
double tm_level_noise(const tm_level *a, const tm_level *b);

/** Returns the number of ranks of the job. */
int64_t tm_level_ranks(const tm_tables *tables);

#endif
