/* Elimination order of the domains in a network's matrix. */
#ifndef TMERGE_CLOCK_ELIMINATION_ORDER_H
#define TMERGE_CLOCK_ELIMINATION_ORDER_H

#include "clock/network.h"

/**
 * Sets the network's `order` by minimum degree: next is always a domain with the fewest remaining
 * neighbours, including bins (Amestoy, Davis and Duff 1996 for the bound of the degree). In a chain
 * of sets this takes every second domain, then every fourth, so that each meets only the bins
 * nearby; elimination along the chain would make each meet the bins of all before it.
 * The same on every process. Returns false if out of memory.
 */
bool tm_network_order(tm_network *w);

#endif
