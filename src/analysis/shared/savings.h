/* Sentences on the savings of fixes, and on the fix that saves most (the lead). Verdict, what-if
 * and advice share them, so that they agree. */
#ifndef TMERGE_SAVINGS_H
#define TMERGE_SAVINGS_H

#include "tmerge/table.h"

enum { TM_SAVINGS_MAX = 960 };

/** The lead: the fix that saves most, which is reported first. */
typedef struct tm_lead {
    /* row of whatif.item if the lead is a kind of work on all ranks; n_rows if it is fixing the
     * named ranks */
    size_t kind;
    double named_pct; /* combined saving from fixing the named ranks [% of a step] */
} tm_lead;

/**
 * Finds the lead. A kind of work on all ranks leads if it saves more than fixing the ranks named in
 * stragglers.finding. It must save three times as much if it includes the work that makes these
 * ranks late. If no rank is named, it must save at least 5 % of a step. An uneven pipeline split or
 * a slow network leads if it saves more than fixing the named ranks, and at least 1 % of a step.
 */
tm_lead tm_savings_lead(const tm_tables *tables);

/** Returns the rank whose fix saves most, the first in the list of ranks in tm_savings_sentence; -1
 * if there is no list. There may be one if the verdict neither names nor clears ranks. */
int64_t tm_savings_first(const tm_tables *tables);

/** Returns the row of whatif.item with the plan; n_rows if the plan is not worth it. */
size_t tm_savings_plan(const tm_tables *tables);

/** Returns the ranks of the plan in the order of the sentence, such as "1, 2, 0"; "" if the plan is
 * not worth it. Borrowed from the tables. */
const char *tm_savings_ranks(const tm_tables *tables);

/** Writes the saving of a row of whatif.item on a kind of work, a kernel, a network or a split:
 * "Making copies as short as on the median rank saves 3.1 % of a step (310 us)". */
void tm_savings_kind(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes the sentence of tm_savings_kind if it is certain enough for the start of the verdict's
 * headline; otherwise "". */
void tm_savings_head(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes further reasons for the saving of a row. Writes "" if there are none. */
void tm_savings_why(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/**
 * Writes the saving of fixing the ranks named in stragglers.finding. If this saves nothing, says
 * so, and says which fix saves time. If no rank is named, writes what helps most. If a kind of work
 * leads, the text starts with its sentence from the verdict's headline. Writes nothing if nothing
 * is known.
 * @return the row of whatif.item on the named ranks; n_rows if there is none
 */
size_t tm_savings_sentence(const tm_tables *tables, char out[TM_SAVINGS_MAX]);

#endif
