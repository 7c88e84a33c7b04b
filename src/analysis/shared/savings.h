/* What fixing saves, in sentences, and what of it leads: the verdict, what-if and the advice say
 * the same. */
#ifndef TMERGE_SAVINGS_H
#define TMERGE_SAVINGS_H

#include "tmerge/table.h"

enum { TM_SAVINGS_MAX = 960 };

/** What saves most of a step, and so is said first. */
typedef struct tm_lead {
    size_t kind;      /* the row of whatif.item of the kind of work that leads on all ranks; n_rows
                         where the verdict on ranks does */
    double named_pct; /* what fixing who is named saves together, in percent of a step */
} tm_lead;

/**
 * A kind of work on all ranks leads before who is named in stragglers.finding where it saves more
 * (of the sort of work that makes them late, which holds what they take longer, three times as
 * much); and where nobody is named and it saves 5 % of a step. So do an uneven split of a
 * pipeline and a slow network, which save 1 % of a step at least and hold nothing that makes ranks
 * late.
 */
tm_lead tm_savings_lead(const tm_tables *tables);

/** The rank that tm_savings_sentence has first where nobody is named and nobody is cleared: that
 * which fixing saves most. -1 where it has none. */
int64_t tm_savings_first(const tm_tables *tables);

/** The ranks that have most of it, as the sentence lists them: "1, 2, 0"; "" where none is worth
 * naming. Borrowed from the tables. */
const char *tm_savings_ranks(const tm_tables *tables);

/** What a row of whatif.item saves that is of a kind, kernel, network or split: "Bringing copies to
 * the median rank's saves 3.1 % of a step (310 us)". */
void tm_savings_kind(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** The same where it is the verdict's headline; "" where too much is in doubt for it to lead there.
 */
void tm_savings_head(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** More of why, "" for nothing. */
void tm_savings_why(const tm_tables *tables, size_t item, char out[TM_SAVINGS_MAX]);

/** What fixing who is named in stragglers.finding saves of a step, or that it saves nothing by
 * itself, and what does; where nobody is named, what would help most. Where something else leads,
 * it begins with the verdict's headline, which is about that. Empty where nothing is known.
 *
 * @return  the row of whatif.item that is about who is named; its n_rows for none
 */
size_t tm_savings_sentence(const tm_tables *tables, char out[TM_SAVINGS_MAX]);

#endif
