/* Bump allocator for many small pieces that are freed together. */
#ifndef TMERGE_ARENA_H
#define TMERGE_ARENA_H

#include <stddef.h>

typedef struct tm_arena {
    struct tm_arena_block *blocks; /* owned, newest first */
} tm_arena;

/** Returns @p size bytes aligned for any type, or NULL when out of memory. */
void *tm_arena_alloc(tm_arena *arena, size_t size);

/** Copies @p size bytes and appends a terminating zero; NULL when out of memory. */
char *tm_arena_copy(tm_arena *arena, const char *bytes, size_t size);

/** Frees all pieces; the arena is then empty and can be used again. */
void tm_arena_free(tm_arena *arena);

#endif
