/* Text output of tmerge diff: the verdict, then the changes. */
#ifndef TMERGE_DIFF_TEXT_H
#define TMERGE_DIFF_TEXT_H

#include "output/console.h"
#include "tmerge/table.h"

enum { TM_DIFF_SHOWN = 10 }; /* kernels shown without --top, and as many operators */

/** Prints the first screen. Leaves out figures that changed no more than by chance.
 * @param found  the tables of tm_diff_compare
 * @param top    number of kernels and operators listed */
void tm_diff_print(const tm_tables *found, size_t top, const tm_colors *colors);

#endif
