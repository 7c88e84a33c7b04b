/* In which order domains are eliminated from a network's matrix. */
#ifndef TMERGE_CLOCK_ORDER_H
#define TMERGE_CLOCK_ORDER_H

#include "clock/network.h"

/**
 * Sets the network's `order`: the next is always one of those that the fewest unknowns meet then,
 * bins among them (minimum degree; Amestoy, Davis and Duff 1996 for the bound of it that is used).
 * Of a chain through many sets that is every second domain, then every fourth: each meets the bins
 * of its neighbourhood alone, where along the chain each would meet those of all before it.
 * The same on every process.  False when memory is out.
 */
bool tm_network_order(tm_network *w);

#endif
