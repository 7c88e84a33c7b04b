/* The table of kernels that communicate, by name. */
#ifndef TMERGE_COMM_KERNELS_H
#define TMERGE_COMM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#include "tmerge/timeline.h"

typedef enum tm_kernel_class {
    TM_KERNEL_UNKNOWN,    /* no row: it computes */
    TM_KERNEL_LOCAL,      /* it computes, though its name may sound like communication */
    TM_KERNEL_SUSPECT,    /* words of communication, and no row that knows it: it computes */
    TM_KERNEL_COLLECTIVE, /* all ranks of a group take part in one operation */
    TM_KERNEL_ONE_SIDED,  /* it communicates, and nothing of it is matched */
} tm_kernel_class;

typedef struct tm_kernel_kind {
    tm_kernel_class class;
    tm_collective_kind kind; /* of a collective or one-sided kernel, else TM_COLL_OTHER */
} tm_kernel_kind;

/**
 * Looks a kernel up in comm_kernels.def.
 * @param bytes  the name as profilers write it: demangled, with or without the arguments of
 *               template and function, or mangled
 */
tm_kernel_kind tm_kernel_kind_of(const char *bytes, size_t size);

enum { TM_LETTERS = 256 };

/** Copies the letters of a text in lower case: spelling differs only in underscores and capitals.
 * @param out  [TM_LETTERS] terminated */
void tm_letters_of(const char *bytes, size_t size, char *out);

/** The kind that such letters mean. */
tm_collective_kind tm_collective_kind_in(const char *letters);

#endif
