/* Bounds the memory of a run: large blocks that do not fit are mapped from a temporary file. */
#ifndef TMERGE_SPILL_H
#define TMERGE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Bounds the resident memory of this process from now on. The linker redirects malloc, calloc,
 * realloc, aligned_alloc and free of tmerge's own code, but not of libraries, to spill.c
 * (--wrap). Blocks of 1 MiB and more are in memory up to half the bound, and after that in a file
 * without a name, which vanishes however the process ends. A thread takes its pages out of the
 * process's memory when more than 7/8 of the bound is resident; they return when they are used.
 * @param bytes   the bound [B]
 * @param folder  of the temporary file; copied
 * @param asked   the user gave the bound: an allocation that the file cannot hold fails; if false,
 *                it is made in memory
 */
void tm_spill_begin(int64_t bytes, const char *folder, bool asked);

/** Returns the most bytes that the file held at one time; 0 if memory sufficed. */
int64_t tm_spill_most(void);

/** Returns the errno of the first block that the file could not take; 0: none. */
int tm_spill_error(void);

#endif
