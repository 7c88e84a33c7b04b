/* Savings from fixing ranks and hosts, by replay (whatif.item). */
#ifndef TMERGE_FIXES_H
#define TMERGE_FIXES_H

#include "tmerge/table.h"

/** Minimum saving of a fix that is worth it [% of a step]. */
#define TM_FIX_LEAST_PCT 1.0
/** Minimum saving of a fix that is worth it, as a share of the largest saving. */
#define TM_FIX_LEAST_SHARE 0.1

/** What the tables show about fixes. Pointers are borrowed from the tables. */
typedef struct tm_fixes {
    const tm_table *items, *ranks; /* whatif.item and job.rank */
    bool known;                    /* whether the replay shows how ranks delay one another */
    bool sure;        /* whether, in addition, unexplained time cannot change the result */
    double most_pct;  /* largest saving from fixing a single rank or host [% of a step] */
    double plan_pct;  /* saving of the plan (tm_fixes_plan); 0 if there is none [% of a step] */
    double stake_pct; /* largest saving from fixing a rank, a host or any set of ranks that was
                         tried [% of a step] */
} tm_fixes;

/** Returns whether `what` of a row of whatif.item is @p what, such as "rank" or "plan". */
bool tm_fixes_is(const tm_table *items, size_t row, const char *what);

/** Returns the saving of a row [% of a step]; 0 if it was too small to be replayed. */
double tm_fixes_saved_pct(const tm_table *items, size_t row);

/** Returns the first row with this `what` and `name` (NULL: any name); n_rows if there is none. */
size_t tm_fixes_find(const tm_table *items, const char *what, const char *name);

/** Returns whether a rank is in the plan of a row. The row's `name` lists its ranks: "7, 6". */
bool tm_fixes_lists(const tm_table *items, size_t row, int64_t rank);

/** Returns whether a name is in the list of names of a row: "host3, host4". */
bool tm_fixes_lists_name(const tm_table *items, size_t row, const char *name);

/** Returns the last row of the plan that lists at most half of all ranks, or a single rank; n_rows
 * if there is none. Longer lists do not single out any rank. */
size_t tm_fixes_plan(const tm_table *items);

/** Returns the row of the pipeline stage that has exactly the ranks of a plan; n_rows if there is
 * none. */
size_t tm_fixes_stage_of(const tm_table *items, size_t plan);

tm_fixes tm_fixes_read(const tm_tables *tables);

/** Returns the saving from fixing a rank, or a rank's host [% of a step]. It is negative if steps
 * would get longer, and 0 if it was too small to be replayed. */
double tm_fixes_of_rank(const tm_fixes *fixes, int64_t rank);
double tm_fixes_of_host(const tm_fixes *fixes, int64_t rank);

/** Sets @p rank to the rank at position @p place (from 0) of the plan. Sets @p saved_pct to the
 * saving from fixing all ranks up to this position. Returns false after the last position. */
bool tm_fixes_planned(const tm_fixes *fixes, size_t place, int64_t *rank, double *saved_pct);

#endif
