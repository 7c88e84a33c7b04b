/* The kernels of one rank in one group and stream, as marks in the order of their ends. */
#ifndef TMERGE_RUN_H
#define TMERGE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** A kernel. */
typedef struct tm_mark {
    int64_t begin_ns, end_ns; /* on this rank's clock */
    int64_t step;             /* number of the step; -1 unknown */
    uint64_t signature;       /* hash of kind and size; equal on all ranks of an operation */
    int64_t
        apart_ns; /* distance to the nearest end with the same signature; set by tm_run_prepare */
    bool synchronises; /* no rank leaves the operation before all have arrived */
} tm_mark;

/** The kernels of one rank, ascending by end. Borrowed. */
typedef struct tm_run {
    tm_mark *marks;
    size_t n;
} tm_run;

/** Sets `apart_ns` of all marks. @return TM_OK; TM_ERR_FAULT */
tm_status tm_run_prepare(tm_run *run, tm_error *err) TM_MUST_CHECK;

/** Returns whether any mark synchronises. If so, ignore the ends of marks that do not
 * synchronise. */
bool tm_run_synchronises(const tm_run *run);

/** Returns the mark whose end is nearest. If two marks are equally near, returns the earlier one.
 * The run must not be empty. */
size_t tm_run_nearest(const tm_run *run, int64_t end_ns);

/** Returns whether two marks can belong to one operation, according to signatures and steps. */
bool tm_mark_fits(const tm_mark *a, const tm_mark *b);

/** Returns how far [ns] the ends of two marks of one operation may differ: five times the largest
 * noise that was measured. This noise is 5 us + 6 % of the transfer's time. The duration of the
 * shorter kernel is used as the transfer's time, because it is an upper bound. */
int64_t tm_mark_noise(const tm_mark *a, const tm_mark *b);

/** Returns tm_mark_noise of two kernels with these durations. */
int64_t tm_run_noise(int64_t a_ns, int64_t b_ns);

/**
 * Finds the mark of @p other that belongs to the same operation as mark @p i of @p run. Such a mark
 * has the same signature and step. The distance between the two ends must be less than half of
 * apart_ns of each mark.
 *
 * @param offset_ns  the clock of @p other is ahead by this much
 * @param out        set if such a mark exists
 * @return           whether such a mark exists
 */
bool tm_run_partner(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                    size_t *out);

/** The possible results of tm_run_meet. */
typedef enum tm_meeting {
    TM_MEETS,   /* the mark's partner (tm_run_partner); its end differs from the expected time by at
                   most tm_mark_noise + slack_ns */
    TM_ANOTHER, /* another operation (with another signature or step) that has no partner in this
                   run */
    TM_NOTHING  /* neither: no mark is near, or the nearest one fits the mark or has a partner */
} tm_meeting;

/** Finds what the other run has at the time of mark @p i. The offset may be wrong by up to
 * @p slack_ns. */
tm_meeting tm_run_meet(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                       int64_t slack_ns);

/** Returns element @p k of a series of indices below @p n. The indices are evenly spread but not
 * periodic, because they are multiples of the golden ratio. They may repeat. */
size_t tm_run_sample(size_t k, size_t n);

/** Returns the lower median of @p n values; 0 if there are none. Reorders the values. */
int64_t tm_run_median(int64_t *values, size_t n);

#endif
