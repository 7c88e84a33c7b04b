/* Sentences on pipelines whose stages have unequal work (whatif.split), and on hosts or
 * ranks with slow transfers (whatif.network). */
#ifndef TMERGE_UNEVEN_H
#define TMERGE_UNEVEN_H

#include "tmerge/table.h"

enum { TM_UNEVEN_MAX = 256 };

/** Writes "stage 2 has 1.33 times the work of the others (4 layers in a pass, not 3)". Writes
 * nothing if no stage differs. */
void tm_uneven_text(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

/** Writes the remedy: "an even split", or "moving 2 layers" if moving whole layers suffices. */
void tm_uneven_remedy(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

/** Writes why the work differs: layers that cannot be divided evenly, kernels that only this stage
 * runs, or the same kernels taking longer. Writes nothing if the stage only runs the same kernels
 * more often. */
void tm_uneven_why(const tm_tables *tables, char out[TM_UNEVEN_MAX]);

enum { TM_NETWORK_TEXT_MAX = 320 };

/** Returns the row of whatif.item about slow transfers: network or link; n_rows if there is none.
 */
size_t tm_network_item(const tm_table *items);

/** Writes "Transfers that cross host3 run at 0.40 times the bandwidth of other transfers (5.0
 * instead of 12.4 GB/s)". Says if hosts are inferred. Writes nothing if no transfers are slow. */
void tm_network_text(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]);

/** Writes where to look: "Look at the network of host3 (cards, cables, switch ports)", or "Look at
 * what connects the GPUs of ranks 1 and 2 (NVLink, PCIe)". */
void tm_network_look(const tm_tables *tables, char out[TM_NETWORK_TEXT_MAX]);

#endif
