/* One rank's kernels of one group and lane as the alignment sees them: ends in order, each with a
 * token that tells what it is. */
#ifndef TMERGE_RUN_H
#define TMERGE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

/** A kernel. */
typedef struct tm_mark {
    int64_t begin_ns, end_ns; /* on this rank's own clock */
    int64_t step;             /* number of its step; -1 unknown */
    uint64_t token;           /* of its kind and size, equal on all ranks of an operation */
    int64_t apart_ns;         /* to the nearest end with its token; set by tm_run_prepare */
    bool synchronises;        /* nobody leaves it before all have come */
} tm_mark;

/** The kernels of one rank, ascending in end. Borrowed. */
typedef struct tm_run {
    tm_mark *marks;
    size_t n;
} tm_run;

/** Sets `apart_ns` of all marks. TM_OK; TM_ERR_FAULT. */
tm_status tm_run_prepare(tm_run *run, tm_error *err) TM_MUST_CHECK;

/** Whether any mark does. Ends of the others say something only where none does. */
bool tm_run_synchronises(const tm_run *run);

/** The mark whose end is nearest to a time, the earlier of two; the run must have one. */
size_t tm_run_nearest(const tm_run *run, int64_t end_ns);

/** Whether two marks may be of one operation as far as token and step tell. */
bool tm_mark_fits(const tm_mark *a, const tm_mark *b);

/** How far [ns] the ends of two marks of one operation may be apart: five times their noise. Ends
 * of measured collectives spread by 2 to 5 us and up to 6 % of the transfer, which is no longer
 * than the shorter kernel. */
int64_t tm_mark_noise(const tm_mark *a, const tm_mark *b);

/** The same for kernels that took @p a_ns and @p b_ns. */
int64_t tm_run_noise(int64_t a_ns, int64_t b_ns);

/**
 * Finds the mark of @p other that would be of one operation with mark @p i, were its clock ahead by
 * @p offset_ns: of the same token and step, and nearer in end than half the way to any other mark
 * of that token, on either side.
 *
 * @param out  set where there is one
 */
bool tm_run_partner(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                    size_t *out);

/** What stands in another run where a mark should be. */
typedef enum tm_meeting {
    TM_MEETS,   /* its partner ends within the noise */
    TM_ANOTHER, /* an operation of another token or step, which has no partner of its own either */
    TM_NOTHING
} tm_meeting;

/** Looks for mark @p i of a run where @p offset_ns says that it is; @p slack_ns is what the offset
 * may be wrong by. */
tm_meeting tm_run_meet(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                       int64_t slack_ns);

/** The k-th of samples that are spread over n by the golden ratio, which falls in step with no
 * period; two may be the same. */
size_t tm_run_sample(size_t k, size_t n);

/** The median of @p n values, whose order it changes, the lower one of two; 0 for none. */
int64_t tm_run_median(int64_t *values, size_t n);

#endif
