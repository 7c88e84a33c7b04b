/* Memory that rows of times stand in, and that is filled as a whole. */
#ifndef TMERGE_PAGES_H
#define TMERGE_PAGES_H

#include "vec.h"

/** The bytes of a line of the caches of most processors. */
enum { TM_LINE = 64 };

/** Pieces that live and die together, each from the begin of a line of the caches on; {0}: none. */
typedef struct tm_pages {
    tm_vec blocks; /* of void *, owned */
    char *at;      /* the next piece, in the last block */
    size_t left, taken;
} tm_pages;

/** Returns @p bytes, or NULL when memory is out. */
void *tm_pages_alloc(tm_pages *pages, size_t bytes);

/** Takes the latest piece back. */
void tm_pages_undo(tm_pages *pages, void *piece);

/** Frees every piece; the pages are empty and usable afterwards. */
void tm_pages_free(tm_pages *pages);

/** Has the system make all pages of memory that is about to be filled at once, which takes less
 * than one after the other. Where it does not know how, nothing is changed. */
void tm_pages_make(void *memory, size_t bytes);

/** What was freed between what is kept goes back to the system: for what comes next it may lie in
 * the wrong places. Where it cannot, nothing is changed. */
void tm_pages_give_back(void);

#endif
