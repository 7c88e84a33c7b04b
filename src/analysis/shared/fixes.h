/* What fixing ranks and hosts saves, as the replay of the job knows it (whatif.item). */
#ifndef TMERGE_FIXES_H
#define TMERGE_FIXES_H

#include "tmerge/table.h"

/** What is worth naming saves so much of a step, and what is named beside it so much of what is at
 * stake. */
#define TM_FIX_LEAST_PCT 1.0
#define TM_FIX_LEAST_SHARE 0.1

/** Borrowed from the tables. */
typedef struct tm_fixes {
    const tm_table *items, *ranks; /* whatif.item, job.rank */
    bool known;                    /* the replay knows how ranks delay one another */
    bool sure;                     /* and too little is unexplained to change that */
    double most_pct;               /* the most that fixing any one rank or host saves */
    double stake_pct;              /* and any set of them that was tried */
} tm_fixes;

/** Of whatif.item: whether a row is of a sort, such as "rank" or "plan". */
bool tm_fixes_is(const tm_table *items, size_t row, const char *what);

/** What a row saves of a step in percent, 0 where it was not worth trying. */
double tm_fixes_saved_pct(const tm_table *items, size_t row);

/** The row of a sort and name; n_rows for none. */
size_t tm_fixes_find(const tm_table *items, const char *what, const char *name);

tm_fixes tm_fixes_read(const tm_tables *tables);

/** What fixing a rank, or the host of one, saves of a step in percent; below 0 where steps would be
 * longer, 0 where it was not worth trying. */
double tm_fixes_of_rank(const tm_fixes *fixes, int64_t rank);
double tm_fixes_of_host(const tm_fixes *fixes, int64_t rank);

/** A place of the plan: the rank that it adds, and what all up to it save. False behind the last.
 * @param place  from 0 on */
bool tm_fixes_planned(const tm_fixes *fixes, size_t place, int64_t *rank, double *saved_pct);

#endif
