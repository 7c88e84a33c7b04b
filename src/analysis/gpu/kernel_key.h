/* Kernel names as they compare between profilers. */
#ifndef TMERGE_KERNEL_KEY_H
#define TMERGE_KERNEL_KEY_H

#include "base/vec.h"
#include "tmerge/names.h"

/**
 * Writes what is the same in all spellings of a name. Demanglers differ in blanks, in where const
 * stands, in the types of constants ("(int)4", "3ul", "(bool)1"), in how lambdas and namespaces
 * without a name are written; Nsight Compute has the parameters of templates as "T2", so that
 * parameters and the type before the name count for nothing. A mangled name stays as it is.
 *
 * @param out  char, without a terminator; what it held is gone
 * @return     false when memory is out
 */
bool tm_kernel_key(tm_text name, tm_vec *out);

#endif
