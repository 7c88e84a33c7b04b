/* The value of a figure in a job, with its error. gate and trend compare such values. */
#ifndef TMERGE_DIFF_LEVEL_H
#define TMERGE_DIFF_LEVEL_H

#include <stdbool.h>

#include "sample.h"
#include "tmerge/table.h"
#include "whole.h"

typedef struct tm_level {
    tm_estimate usual; /* trimmed mean over steps; its error is NAN if the figure is not by step, or
                          if there are too few steps */
    tm_whole whole;    /* for figures by step */
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
 * @p of selects. With fewer than TM_GATE_STEPS_MIN steps, out->usual.error is NAN.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_level_measure(const tm_tables *tables, int name, tm_sample_ranks of, tm_level *out,
                           tm_error *err) TM_MUST_CHECK;

typedef struct tm_shift {
    tm_estimate of[2]; /* the compared means */
    double pct, noise; /* change, and how far it may be off by chance [% of the first mean] */
} tm_shift;

/** A change from one job to another, and which means decide. */
typedef struct tm_level_change {
    tm_shift usual, whole;
    tm_basis basis;
} tm_level_change;

tm_level_change tm_level_compare(const tm_level *a, const tm_level *b);

/** If odd steps do not bring the change from one side of [@p low, @p high] to another, lets the
 * usual steps decide [%]. */
void tm_level_ignore_odd(tm_level_change *change, double low, double high);

/** Returns the change of the means that decide. */
static inline const tm_shift *tm_level_shift(const tm_level_change *change) {
    return change->basis == TM_BASIS_USUAL ? &change->usual : &change->whole;
}

/** Returns what the column `over_steps` says of a change: tm_whole_word; NULL if the figure is
 * not by step. */
const char *tm_level_over_steps(const tm_level_change *change);

/** Returns the number of ranks of the job. */
int64_t tm_level_ranks(const tm_tables *tables);

#endif
