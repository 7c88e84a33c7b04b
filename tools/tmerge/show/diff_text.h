/* Text output of tmerge diff: the verdict, then the changes. */
#ifndef TMERGE_DIFF_TEXT_H
#define TMERGE_DIFF_TEXT_H

#include "output/console.h"
#include "tmerge/table.h"

enum { TM_DIFF_SHOWN = 10 }; /* number of kernels, and of operators, shown without --top */

/** Prints the first screen of a comparison. Leaves out figures that chance explains.
 * @param found the tables of tm_diff_compare
 * @param top   number of kernels to list, and of operators */
void tm_diff_print(const tm_tables *found, size_t top, const tm_colors *colors);

#endif
