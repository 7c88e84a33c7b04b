/* A sample: the middle and the variation of a figure over the steps of a job. Changes are judged by
 * this variation. */
#ifndef TMERGE_DIFF_SAMPLE_H
#define TMERGE_DIFF_SAMPLE_H

#include "analysis/shared/kinds_of_steps.h"
#include "base/vec.h"
#include "rank_roles.h"
#include "tmerge/table.h"
#include "whole.h"

/** A change is judged only if both jobs have at least this many steps. */
enum { TM_DIFF_STEPS_MIN = 3 };

typedef struct tm_sample {
    double middle;  /* Each step has a mean over the ranks. This is the median of these means. */
    double spread;  /* third quartile of the steps' absolute differences from the middle */
    size_t n;       /* number of steps; 0: the figure is not recorded */
    tm_whole whole; /* for figures by step */
} tm_sample;

/** How a figure changed. If odd steps change the mean otherwise than the median, but not the
 * verdict, the medians decide nevertheless. */
typedef struct tm_sample_change {
    double of[2];   /* the compared values */
    double noise;   /* how much they may differ by chance */
    tm_basis basis; /* TM_BASIS_USUAL: the compared values are medians */
    bool odd;       /* whether odd steps change the mean otherwise than the median */
} tm_sample_change;

/** Selects ranks and steps. The ranks are those of one role, or all. The steps are those of one
 * kind, or all. */
typedef struct tm_sample_ranks {
    const tm_roles *roles; /* NULL: all */
    int role;
    const tm_step_kinds *kinds; /* NULL: steps of all kinds */
    int kind;                   /* index of the kind; below 0: no step is selected */
} tm_sample_ranks;

/**
 * Reads a column of a table that has a row for each step, or for each rank and step. Skips nulls.
 * Also skips steps that a rank recorded only partially, according to overlap.step.
 *
 * @param out  a vector of tm_step_mean, empty before the call; filled in ascending order of steps;
 *             the caller frees it, also on failure
 * @return     TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_sample_steps(const tm_tables *tables, const char *table, const char *column,
                          tm_sample_ranks ranks, tm_vec *out, tm_error *err) TM_MUST_CHECK;

/**
 * Summarises a column over the selected steps.
 *
 * @param out  set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_sample_take(const tm_tables *tables, const char *table, const char *column,
                         tm_sample_ranks ranks, tm_sample *out, tm_error *err) TM_MUST_CHECK;

/** Returns how much the middles of two samples may differ by chance; 0 if a sample has no steps. */
double tm_sample_noise(const tm_sample *a, const tm_sample *b);

/** Compares two samples: their medians, unless their means decide. */
tm_sample_change tm_sample_compare(const tm_sample s[2]);

/** Returns whether both samples have enough steps for tm_sample_noise. */
static inline bool tm_sample_judges(const tm_sample *a, const tm_sample *b) {
    return a->n >= TM_DIFF_STEPS_MIN && b->n >= TM_DIFF_STEPS_MIN;
}

#endif
