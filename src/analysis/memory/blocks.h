/* The blocks of memory that a rank allocated: their lifetimes and purposes. */
#ifndef TMERGE_MEMORY_BLOCKS_H
#define TMERGE_MEMORY_BLOCKS_H

#include "memory_levels.h"
#include "scopes.h"

/* Categories of memory: id, column of memory.curve, doc. A block gets the first category that
 * matches it in category.c. */
#define TM_MEMORY_CATEGORIES(X)                                                                    \
    X(PREEXISTING, "preexisting",                                                                  \
      "Bytes allocated before the trace's first record: parameters and everything else that is "   \
      "kept from step to step. If records have no totals, the value counts from 0 and may be "     \
      "negative. For XProf: unused preallocated device memory.")                                   \
    X(TEMPORARY, "temporary", "Bytes allocated and freed within one operator: workspaces.")        \
    X(OPTIMIZER_STATE, "optimizer_state",                                                          \
      "Bytes allocated in Optimizer.step and kept afterwards.")                                    \
    X(GRADIENT, "gradient", "Bytes allocated in the backward pass and kept afterwards.")           \
    X(AUTOGRAD_DETAIL, "autograd_detail", "Bytes allocated and freed within one backward pass.")   \
    X(INPUT, "input", "Bytes allocated for data that is copied from the host, pinned or loaded.")  \
    X(ACTIVATION, "activation",                                                                    \
      "Bytes allocated before a backward pass and kept until the pass has started.")               \
    X(FORWARD_ONLY, "forward_only", "Bytes allocated and freed before a backward pass.")           \
    X(OTHER, "other", "Bytes allocated elsewhere; nearly all bytes in inference.")                 \
    X(STACK, "stack",                                                                              \
      "On TPUs: bytes that programs hold for temporaries that have no records of their own "       \
      "(XProf's stack).")                                                                          \
    X(UNRECORDED, "unrecorded",                                                                    \
      "Recorded total bytes minus the sum of the records; 0 if the trace is complete.")

typedef enum tm_memory_category {
#define TM_MEMORY_CATEGORY_ENUM(id, word, doc) TM_MEMORY_##id,
    TM_MEMORY_CATEGORIES(TM_MEMORY_CATEGORY_ENUM)
#undef TM_MEMORY_CATEGORY_ENUM
        TM_N_MEMORY_CATEGORIES
} tm_memory_category;

const char *tm_memory_category_word(tm_memory_category category);

/** Instead of an index: no block. As tm_block.freed: the block is never freed. */
#define TM_NO_BLOCK UINT32_MAX

/** An allocated block. It lasts until the next release at its address. `taken` and `freed` are
 * level numbers: after record i of a device, memory is at level i. */
typedef struct tm_block {
    int64_t bytes;
    /* level after the allocation, and level after the release; TM_NO_BLOCK if the block is never
     * freed */
    uint32_t taken, freed;
    uint8_t category; /* tm_memory_category */
} tm_block;

typedef struct tm_blocks {
    tm_vec blocks; /* vector of tm_block, ascending in taken */
    uint32_t *of;  /* [levels] index of the block that a record allocates or frees; TM_NO_BLOCK if
                      the block was allocated before the trace; owned */
} tm_blocks;

/** Returns whether every record of a device has an address. If not, blocks are unknown. */
bool tm_blocks_are_reported(const tm_timeline *timeline, const tm_device_levels *d);

/**
 * Finds the blocks of a device and their categories, from its allocations and releases.
 * @param passes  vector of tm_backward_pass
 * @param out     the caller frees it with tm_blocks_free, also on failure
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_blocks_find(const tm_rank_view *view, const tm_device_levels *d,
                         const tm_scopes *scopes, const tm_vec *passes, tm_blocks *out,
                         tm_error *err) TM_MUST_CHECK;
void tm_blocks_free(tm_blocks *blocks);

/** Returns the category of a block. */
tm_memory_category tm_block_category(const tm_rank_view *view, const tm_device_levels *d,
                                     const tm_scopes *scopes, const tm_vec *passes,
                                     const tm_block *block);

/** A walk over levels that tracks the bytes of each category. */
typedef struct tm_category_walk {
    const tm_timeline *timeline;
    const tm_device_levels *levels;
    const tm_blocks *blocks;
    size_t next;
    /* [category] bytes at the level before `next`; the sum over categories is the total of that
     * level */
    int64_t bytes[TM_N_MEMORY_CATEGORIES];
} tm_category_walk;

/** @param blocks  the blocks; NULL if unknown: tm_category_walk_next must then not be called */
tm_category_walk tm_category_walk_begin(const tm_timeline *timeline, const tm_device_levels *d,
                                        const tm_blocks *blocks);
/** Moves to the next level. Returns false at the end. */
bool tm_category_walk_next(tm_category_walk *walk);

#endif
