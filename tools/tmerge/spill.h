/* Bounds the memory of a run: large blocks that do not fit are mapped from a temporary file. */
#ifndef TMERGE_SPILL_H
#define TMERGE_SPILL_H

#include <stdbool.h>
#include <stdint.h>

/** Bounds the resident memory of this process from now on. Allocations in tmerge's own code go
 * through spill.c: the linker replaces malloc, calloc, realloc, aligned_alloc and free (--wrap).
 * Allocations in libraries do not. A block of 1 MiB or more is allocated in memory if the resident
 * memory of the process, with this block, is at most half of the bound. Otherwise, the block is in
 * a temporary file without a name, which disappears when the process ends for whatever reason. When
 * more than 7/8 of the bound is resident, a thread drops pages of the file from the process's
 * memory. A dropped page comes back when it is used.
 * @param bytes   bound of the resident memory [B]
 * @param folder  folder of the temporary file; copied
 * @param asked   whether the user gave the bound. If so, an allocation that the file cannot hold
 *                fails. Otherwise, it is made in memory */
void tm_spill_begin(int64_t bytes, const char *folder, bool asked);

/** Returns the maximum number of bytes that were in the file at a time; 0 if memory sufficed. */
int64_t tm_spill_most(void);

/** Returns the errno of the first failure to put a block into the file; 0 if there was none. */
int tm_spill_error(void);

#endif
