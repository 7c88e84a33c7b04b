/* What is said of a pipeline whose stages have unequal work (whatif.split), and of a host whose
 * transfers are slow (whatif.network). */
#ifndef TMERGE_UNEVEN_H
#define TMERGE_UNEVEN_H

#include "tmerge/table.h"

enum { TM_UNEVEN_MAX = 256 };

/** "stage 2 has 1.33 times the work of the others (4 layers a pass, not 3)". Empty where no stages
 * differ. */
void tm_uneven_text(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

/** What makes them even: "an even split"; "moving 2 layers" where whole layers do. */
void tm_uneven_remedy(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

/** What the work is made of: layers that do not divide evenly, kernels of its own, the same kernels
 * that take longer. Empty where more of the same kernels are all. */
void tm_uneven_why(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

enum { TM_NETWORK_TEXT_MAX = 320 };

/** "Transfers that cross host3 run at 0.40 of the bandwidth of the others' (5.0, not 12.4 GB/s)".
 * Empty where none are slow. */
void tm_network_text(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]);

/** Where to look: "Look at the network of host3 (cards, cables, switch ports)". */
void tm_network_look(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]);

#endif
