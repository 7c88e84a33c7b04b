/* The table of communication kernels, by name. */
#ifndef TMERGE_COMM_KERNELS_H
#define TMERGE_COMM_KERNELS_H

#include <stddef.h>

#include "tmerge/timeline.h"

typedef enum tm_kernel_class {
    TM_KERNEL_UNKNOWN,    /* not in the table; counts as computation */
    TM_KERNEL_LOCAL,      /* computes, although its name may suggest communication */
    TM_KERNEL_SUSPECT,    /* not in the table, but its name suggests communication; counts as
                             computation */
    TM_KERNEL_COLLECTIVE, /* one operation of all ranks of a group */
    TM_KERNEL_ONE_SIDED,  /* communicates, but cannot be matched */
} tm_kernel_class;

typedef struct tm_kernel_kind {
    tm_kernel_class class;
    tm_collective_kind kind; /* kind of a collective or one-sided kernel; else TM_COLL_OTHER */
} tm_kernel_kind;

/**
 * Looks a kernel up in comm_kernels.def.
 * @param bytes  the name as the profiler writes it: mangled, or demangled with or without template
 *               and function arguments
 */
tm_kernel_kind tm_kernel_kind_of(const char *bytes, size_t size);

enum { TM_LETTERS = 256 };

/** Copies only the letters of a text, in lower case, because spellings differ in underscores and
 * capitals.
 * @param out  [TM_LETTERS] terminated */
void tm_letters_of(const char *bytes, size_t size, char *out);

/** Returns the kind of collective that these letters name. */
tm_collective_kind tm_collective_kind_in(const char *letters);

#endif
