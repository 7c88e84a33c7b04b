/* Sentences about the savings of fixes, and about the fix that leads. Shared by the verdict,
 * what-if and the advice, so that they agree. */
#ifndef TMERGE_SAVINGS_H
#define TMERGE_SAVINGS_H

#include "tmerge/table.h"

enum { TM_SAVINGS_MAX = 960 };

/** The largest saving, which is reported first. */
typedef struct tm_lead {
    size_t kind; /* row of whatif.item of the kind of work that leads on all ranks; n_rows if the
                    verdict on ranks leads */
    double named_pct; /* combined saving from fixing the named ranks [% of a step] */
} tm_lead;

/**
 * Finds what leads. A kind of work on all ranks leads over the ranks named in stragglers.finding if
 * it saves more, or three times as much if it includes the work that makes them late. If no rank is
 * named, it must save 5 % of a step. An uneven pipeline split and a slow network make no rank late:
 * they lead if they save more than the named ranks, and at least 1 % of a step.
 */
tm_lead tm_savings_lead(const tm_tables *tables);

/** Returns the rank that tm_savings_sentence lists first if no rank is named or cleared: the one
 * whose fix saves most; -1 if none. */
int64_t tm_savings_first(const tm_tables *tables);

/** Returns the row of whatif.item of the plan that is worth naming; n_rows if none. */
size_t tm_savings_plan(const tm_tables *tables);

/** Returns the ranks of the plan as the sentence lists them: "1, 2, 0"; "" if they are not worth
 * naming. Borrowed from the tables. */
const char *tm_savings_ranks(const tm_tables *tables);

/** Writes the saving of a row of whatif.item for a kind, kernel, network or split: "Bringing copies
 * to the median rank's saves 3.1 % of a step (310 us)". */
void tm_savings_kind(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes the sentence of tm_savings_sentence for the verdict's headline; "" if it is too uncertain
 * to lead there. */
void tm_savings_head(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** Writes further reasons; "" if there are none. */
void tm_savings_why(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/**
 * Writes the saving from fixing the named ranks of stragglers.finding, or says that this saves
 * nothing by itself and which fix does. If no rank is named, writes what would help most. If
 * something else leads, starts with the verdict's headline about it. Empty if nothing is known.
 *
 * @return  the row of whatif.item about the named ranks; its n_rows if none
 */
size_t tm_savings_sentence(const tm_tables *tables, char out[TM_SAVINGS_MAX]);

#endif
