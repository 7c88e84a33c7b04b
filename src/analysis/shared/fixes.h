/* Savings from fixing ranks and hosts, as replayed (whatif.item). */
#ifndef TMERGE_FIXES_H
#define TMERGE_FIXES_H

#include "tmerge/table.h"

/** Minimum saving that is worth naming [% of a step], and the minimum fraction of the largest
 * saving at which a fix is named besides others. */
#define TM_FIX_LEAST_PCT 1.0
#define TM_FIX_LEAST_SHARE 0.1

/** What the tables say about fixes. Pointers are borrowed from the tables. */
typedef struct tm_fixes {
    const tm_table *items, *ranks; /* whatif.item and job.rank */
    bool known;                    /* the replay shows how ranks delay each other */
    bool sure;        /* as `known`, and the unexplained time cannot change the result */
    double most_pct;  /* largest saving from fixing a single rank or host [% of a step] */
    double stake_pct; /* the same, but also from fixing sets of ranks that were tried */
} tm_fixes;

/** Returns whether a row of whatif.item is of the given kind, such as "rank" or "plan". */
bool tm_fixes_is(const tm_table *items, size_t row, const char *what);

/** Returns the saving of a row [% of a step], 0 if it was not worth trying. */
double tm_fixes_saved_pct(const tm_table *items, size_t row);

/** Returns the row with the given kind and name; n_rows if there is none. */
size_t tm_fixes_find(const tm_table *items, const char *what, const char *name);

/** Returns whether the name of a row, a plan such as "7, 6", lists a rank. */
bool tm_fixes_lists(const tm_table *items, size_t row, int64_t rank);

/** Returns the row of the pipeline stage that has all ranks of a plan and no other; n_rows if none.
 */
size_t tm_fixes_stage_of(const tm_table *items, size_t plan);

tm_fixes tm_fixes_read(const tm_tables *tables);

/** Returns the saving [% of a step] from fixing a rank, or the host of a rank; negative if steps
 * would get longer, 0 if it was not worth trying. */
double tm_fixes_of_rank(const tm_fixes *fixes, int64_t rank);
double tm_fixes_of_host(const tm_fixes *fixes, int64_t rank);

/** Gets position @p place (from 0) of the plan: its rank, and the saving from fixing all ranks up
 * to it. Returns false after the last position. */
bool tm_fixes_planned(const tm_fixes *fixes, size_t place, int64_t *rank, double *saved_pct);

#endif
