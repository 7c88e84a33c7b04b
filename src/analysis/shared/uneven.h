/* What is said of a pipeline whose stages have unequal work (whatif.split). */
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

#endif
