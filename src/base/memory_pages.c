#include "memory_pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A new block is as large as all earlier blocks together, but within these bounds. */
static const size_t LEAST_BYTES = (size_t)64 << 10, MOST_BYTES = (size_t)8 << 20;
static const size_t PAGE = 4096; /* smallest page size of any system */

void tm_pages_make(void *memory, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t at = (uintptr_t)memory, first = (at + PAGE - 1) / PAGE * PAGE;
    const uintptr_t after = (at + bytes) / PAGE * PAGE;
    if (first < after)
        (void)madvise((char *)memory + (first - at), after - first, MADV_POPULATE_WRITE);
#else
    (void)memory;
    (void)bytes;
#endif
}

static const size_t APART_BYTES = (size_t)1 << 20;

void *tm_pages_apart(size_t bytes) {
    if (bytes > PTRDIFF_MAX - TM_LINE)
        return NULL;
    if (bytes < APART_BYTES)
        return aligned_alloc(TM_LINE, (bytes + TM_LINE - 1) / TM_LINE * TM_LINE);
    /* cppcheck-suppress invalidFunctionArg ; -1 means no file */
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* cppcheck-suppress memleak ; it is returned */
    return block == MAP_FAILED ? NULL : block;
}

void tm_pages_apart_free(void *block, size_t bytes) {
    if (block && bytes >= APART_BYTES)
        munmap(block, bytes);
    else
        free(block);
}

void tm_pages_give_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

static bool add_block(tm_pages *pages, size_t least) {
    void *block;
    size_t bytes = pages->taken < MOST_BYTES ? pages->taken : MOST_BYTES;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
    bytes = bytes < least ? least : bytes;
    pages->blocks.size = sizeof block;
    if (bytes > PTRDIFF_MAX - TM_LINE || !tm_vec_reserve(&pages->blocks, pages->blocks.n + 1))
        return false;
    bytes = (bytes + TM_LINE - 1) / TM_LINE * TM_LINE;
    block = aligned_alloc(TM_LINE, bytes);
    if (!block)
        return false;
    *(void **)tm_vec_push(&pages->blocks) = block;
    pages->at = block;
    pages->left = bytes;
    pages->taken += bytes;
    return true;
}

void *tm_pages_alloc(tm_pages *pages, size_t bytes) {
    if (bytes > PTRDIFF_MAX - TM_LINE)
        return NULL;
    bytes = (bytes + TM_LINE - 1) / TM_LINE * TM_LINE;
    if ((!pages->at || bytes > pages->left) && !add_block(pages, bytes))
        return NULL;
    void *piece = pages->at;
    pages->at += bytes;
    pages->left -= bytes;
    return piece;
}

void tm_pages_undo(tm_pages *pages, void *piece) {
    pages->left += (size_t)(pages->at - (char *)piece);
    pages->at = piece;
}

void tm_pages_free(tm_pages *pages) {
    void **blocks = pages->blocks.data;
    for (size_t i = 0; i < pages->blocks.n; i++)
        free(blocks[i]);
    tm_vec_free(&pages->blocks);
    *pages = (tm_pages){0};
}
