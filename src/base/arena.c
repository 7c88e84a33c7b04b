#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct tm_arena_block {
    struct tm_arena_block *next;
    size_t used;
    size_t room;
};

/* The header is padded so that the first piece is aligned. */
static const size_t header_bytes =
    (sizeof(struct tm_arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

static struct tm_arena_block *add_block(tm_arena *arena, size_t size) {
    size_t room = size > BLOCK_BYTES / 4 ? size : BLOCK_BYTES;
    if (room > SIZE_MAX - header_bytes)
        return NULL;
    struct tm_arena_block *block = malloc(header_bytes + room);
    if (!block)
        return NULL;
    block->used = 0;
    block->room = room;
    if (arena->blocks && room == size) { /* a large piece gets its own block; the current block is
                                            still used for small ones */
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
    }
    return block;
}

void *tm_arena_alloc(tm_arena *arena, size_t size) {
    if (size > SIZE_MAX - ALIGNMENT)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct tm_arena_block *block = arena->blocks;
    if (!block || block->room - block->used < size)
        block = add_block(arena, size);
    if (!block)
        return NULL;
    void *piece = (char *)block + header_bytes + block->used;
    block->used += size;
    return piece;
}

char *tm_arena_copy(tm_arena *arena, const char *bytes, size_t size) {
    char *copy = size < SIZE_MAX ? tm_arena_alloc(arena, size + 1) : NULL;
    if (!copy)
        return NULL;
    if (size > 0)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

void tm_arena_free(tm_arena *arena) {
    struct tm_arena_block *block = arena->blocks;
    while (block) {
        struct tm_arena_block *next = block->next;
        free(block);
        block = next;
    }
    arena->blocks = NULL;
}
