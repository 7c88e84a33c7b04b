/* Bounds the memory of a run: large blocks that do not fit are mapped from a temporary file. */
#ifndef TMERGE_SPILL_H
#define TMERGE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

/** Bounds the resident memory of this process from now on. In tmerge's own code, but not in
 * libraries, the linker replaces malloc, calloc, realloc, aligned_alloc and free by functions of
 * spill.c (--wrap). Blocks of 1 MiB and more are in memory up to half the bound. Further blocks are
 * in a file without a name, which disappears however the process ends. When more than 7/8 of the
 * bound is resident, a thread drops pages of the file from the process's memory. They return when
 * they are used.
 * @param bytes   the bound [B]
 * @param folder  of the temporary file; copied
 * @param asked the user gave the bound: allocation then fails if the file cannot hold a block.
 * Otherwise, the block is made in memory */
void tm_spill_begin(int64_t bytes, const char *folder, bool asked);

/** Returns the maximum number of bytes that were in the file at a time; 0 if memory sufficed. */
int64_t tm_spill_most(void);

/** Returns the errno of the first failure to put a block into the file; 0 if there was none. */
int tm_spill_error(void);

#endif
