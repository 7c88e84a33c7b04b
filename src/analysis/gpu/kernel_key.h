/* Writes kernel names so that profilers' spellings can be compared. */
#ifndef TMERGE_KERNEL_KEY_H
#define TMERGE_KERNEL_KEY_H

#include "base/vec.h"
#include "tmerge/names.h"

/**
 * Writes a name in a form that is the same for all its spellings. Demanglers differ in blanks, the
 * position of const, the types of constants ("(int)4", "3ul", "(bool)1"), and the spelling of
 * lambdas and unnamed namespaces. Nsight Compute writes template parameters as "T2", so the form
 * omits parameters and return type. A mangled name stays as it is.
 * @param out  char, without a terminator; overwritten
 * @return     false when out of memory
 */
bool tm_kernel_key(tm_text name, tm_vec *out);

#endif
