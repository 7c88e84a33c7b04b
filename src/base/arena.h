/* A bump allocator: many small pieces that live and die together. */
#ifndef TMERGE_ARENA_H
#define TMERGE_ARENA_H

#include <stddef.h>

typedef struct tm_arena {
    struct tm_arena_block *blocks; /* owned, newest first */
} tm_arena;

/** Returns @p size bytes aligned for any type, or NULL when memory is out. */
void *tm_arena_alloc(tm_arena *arena, size_t size);

/** Copies @p size bytes and puts a terminating zero behind them; NULL when memory is out. */
char *tm_arena_copy(tm_arena *arena, const char *bytes, size_t size);

/** Frees every piece; the arena is empty and usable afterwards. */
void tm_arena_free(tm_arena *arena);

#endif
