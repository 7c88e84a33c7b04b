/* Checks that the levels of a store match its events. */
#ifndef TMERGE_CHECK_LEVELS_H
#define TMERGE_CHECK_LEVELS_H

#include "check_faults.h"

/** Recomputes each rank's levels from its events and compares them with the stored ones. Does
 * nothing for older stores without levels. Called only if the rows were found valid. */
void tm_check_levels(tm_check *check);

#endif
