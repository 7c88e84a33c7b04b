/* Do the levels of a store sum to its events? */
#ifndef TMERGE_CHECK_LEVELS_H
#define TMERGE_CHECK_LEVELS_H

#include "check_faults.h"

/** Makes the levels of each rank again from its events, and holds them against those that the store
 * has; nothing where it has none, as an older tmerge wrote it. Called where its rows were found
 * good. */
void tm_check_levels(tm_check *check);

#endif
