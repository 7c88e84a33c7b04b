/* The order in which the domains of a network's matrix are eliminated. */
#ifndef TMERGE_CLOCK_ELIMINATION_ORDER_H
#define TMERGE_CLOCK_ELIMINATION_ORDER_H

#include "clock/network.h"

/** Sets the network's `order` by minimum degree: the next domain is always one with the fewest
 * remaining neighbours, including bins. Degrees are upper bounds, as in Amestoy, Davis and Duff
 * 1996. In a chain of sets, this order eliminates every second domain, then every fourth, and so
 * on. Domains are then connected only to bins nearby. Eliminating along the chain would connect
 * each domain to all bins before it. The order is the same on every process. Returns false if out
 * of memory. */
bool tm_network_order(tm_network *w);

#endif
