/* What tmerge diff prints for a person: the verdict, then what changed. */
#ifndef TMERGE_DIFF_TEXT_H
#define TMERGE_DIFF_TEXT_H

#include "console.h"
#include "tmerge/table.h"

enum { TM_DIFF_SHOWN = 10 }; /* kernels, and operators, without --top */

/**
 * Prints the first screen to standard output. What did not change, or not beyond noise, is not in
 * it.
 * @param found  the tables of tm_diff_compare
 * @param top    kernels and operators that are listed
 */
void tm_diff_print(const tm_tables *found, size_t top, const tm_colors *colors);

#endif
