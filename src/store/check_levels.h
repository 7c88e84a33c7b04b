/* Checks that the levels of a store match its events. */
#ifndef TMERGE_CHECK_LEVELS_H
#define TMERGE_CHECK_LEVELS_H

#include "check_faults.h"

/** Computes each rank's levels from its events and compares them with the stored ones. Does nothing
 * if the store has no levels, as in older stores, or if any fault was found so far. */
void tm_check_levels(tm_check *check);

#endif
