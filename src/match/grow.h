/* Groups grown from single ranks, by evidence alone. */
#ifndef TMERGE_GROW_H
#define TMERGE_GROW_H

#include "base/vec.h"
#include "party.h"

/** What parties that are to be joined have in common. */
typedef struct tm_growth {
    bool one_clock; /* all parties do; else each seat has its own */
    /* Where each seat has its own: how far two clocks may be apart before one pair of parties is
     * not enough to say so. */
    int64_t limit_ns;
} tm_growth;

/**
 * Joins parties whose bond holds (tm_bond_try), those with the most evidence first, until none is
 * left; two of one seat never. Marks `at_least` those of which it stays open whether they belong
 * together. A join that says that two seats' clocks are further apart than the limit is made only
 * where a second pair of parties of the two seats says the same.
 *
 * Work: the square of the parties by their operations; of more than some hundred, the groups by the
 * parties. Memory: the square of the parties.
 *
 * @param parties  of tm_party, in an order that content gives; those that joined another are freed
 *                 and taken out
 * @return         TM_OK; TM_ERR_FAULT, and the parties are still to be freed
 */
tm_status tm_parties_grow(tm_vec *parties, const tm_growth *growth, tm_error *err) TM_MUST_CHECK;

void tm_parties_free(tm_vec *parties);

#endif
