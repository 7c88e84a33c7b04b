/* Memory for rows of times, which will be filled completely. */
#ifndef TMERGE_MEMORY_PAGES_H
#define TMERGE_MEMORY_PAGES_H

#include "vec.h"

/** Cache line size [B] of most processors. */
enum { TM_LINE = 64 };

/** Allocator of pieces that are freed together, each aligned to a cache line. Initialised with
 * {0}. */
typedef struct tm_pages {
    tm_vec blocks; /* vector of void *; the blocks are owned */
    char *at;      /* address of the next piece, in the last block */
    size_t left, taken;
} tm_pages;

/** Returns @p bytes, or NULL when out of memory. */
void *tm_pages_alloc(tm_pages *pages, size_t bytes);

/** Frees the piece that was taken last. */
void tm_pages_undo(tm_pages *pages, void *piece);

/** Frees all pieces; the object is then empty and can be used again. */
void tm_pages_free(tm_pages *pages);

/** Populates all pages of memory that is about to be filled, which is faster than page faults one
 * by one. Does nothing if the system does not support it. */
void tm_pages_make(void *memory, size_t bytes);

/** Allocates a block that starts at a cache line. A block of at least 1 MiB has pages of its own,
 * which return to the system when the block is freed. In the heap, such a block would leave a hole
 * between blocks that stay. For 1,024 small traces, these holes would take 150 MB in all.
 * @return NULL when out of memory; free the block with tm_pages_apart_free */
void *tm_pages_apart(size_t bytes);

/** @param block  NULL: does nothing
 *  @param bytes  the size with which it was allocated */
void tm_pages_apart_free(void *block, size_t bytes);

/** Gives freed memory back to the system, because free blocks between used ones may not suit later
 * allocations. Does nothing if the C library does not support it. */
void tm_pages_give_back(void);

#endif
