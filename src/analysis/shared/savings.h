/* Sentences about the savings of fixes, and about the fix with the largest saving (the lead).
 * Shared by the verdict, what-if and the advice, so that they agree. */
#ifndef TMERGE_SAVINGS_H
#define TMERGE_SAVINGS_H

#include "tmerge/table.h"

enum { TM_SAVINGS_MAX = 960 };

/** The lead: the fix with the largest saving, which is reported first. */
typedef struct tm_lead {
    size_t kind; /* row of whatif.item if a kind of work on all ranks is the lead; n_rows if the
                    named ranks are */
    double named_pct; /* combined saving from fixing the named ranks [% of a step] */
} tm_lead;

/**
 * Finds the lead. A kind of work on all ranks leads if it saves more than fixing the ranks named in
 * stragglers.finding, or three times as much if it includes the work that makes them late. If no
 * rank is named, it must save 5 % of a step. An uneven pipeline split or a slow network leads if it
 * saves more than the named ranks, and at least 1 % of a step.
 */
tm_lead tm_savings_lead(const tm_tables *tables);

/** If no rank is named or cleared, tm_savings_sentence lists ranks. Returns the first of these,
 * whose fix saves most; -1 if there is none. */
int64_t tm_savings_first(const tm_tables *tables);

/** Returns the row of whatif.item with the plan that is worth naming; n_rows if there is none. */
size_t tm_savings_plan(const tm_tables *tables);

/** Returns the ranks of the plan as the sentence lists them: "1, 2, 0"; "" if they are not worth
 * naming. Borrowed from the tables. */
const char *tm_savings_ranks(const tm_tables *tables);

/** Writes the saving of a row of whatif.item about a kind of work, a kernel, a network or a split:
 * "Bringing copies to the median rank's saves 3.1 % of a step (310 us)". */
void tm_savings_kind(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes the same sentence if it is certain enough to start the verdict's headline; otherwise "".
 */
void tm_savings_head(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes further reasons for the saving of a row; "" if there are none. */
void tm_savings_why(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/**
 * Writes what fixing the ranks named in stragglers.finding saves. If it saves nothing, says so and
 * which fix saves time. If no rank is named, writes what helps most. If something else leads,
 * starts with the verdict's headline about it. Writes nothing if nothing is known.
 *
 * @return  the row of whatif.item about the named ranks; n_rows of that table if none
 */
size_t tm_savings_sentence(const tm_tables *tables, char out[TM_SAVINGS_MAX]);

#endif
