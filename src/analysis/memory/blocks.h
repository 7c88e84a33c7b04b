/* The blocks of memory that a rank took: from when to when, and what for. */
#ifndef TMERGE_MEMORY_BLOCKS_H
#define TMERGE_MEMORY_BLOCKS_H

#include "levels.h"
#include "scopes.h"

/* What memory is for: id, column of memory.category_curve, and what the column holds. The first
 * that fits counts, in the order of category.c. */
#define TM_MEMORY_CATEGORIES(X)                                                                    \
    X(PREEXISTING, "preexisting",                                                                  \
      "Taken before the trace's first record: parameters and all that"                             \
      " is kept from step to step. Counts from 0, and falls below, where "                         \
      "records have no totals. XProf calls it unused preallocated device memory.")                 \
    X(TEMPORARY, "temporary", "Taken and given back within one operator: workspaces.")             \
    X(OPTIMIZER_STATE, "optimizer_state", "Taken inside Optimizer.step, and kept behind it.")      \
    X(GRADIENT, "gradient", "Taken in the backward pass, and kept behind it.")                     \
    X(AUTOGRAD_DETAIL, "autograd_detail", "Taken in the backward pass, and given back in it.")     \
    X(INPUT, "input", "Taken for what is brought from the host, pinned or loaded.")                \
    X(ACTIVATION, "activation", "Taken before a backward pass, and kept until it has begun.")      \
    X(FORWARD_ONLY, "forward_only", "Taken before a backward pass, and given back before it.")     \
    X(OTHER, "other", "Taken elsewhere: of inference nearly all.")                                 \
    X(STACK, "stack",                                                                              \
      "Of a TPU: what its programs hold for their own temporaries, which no record takes "         \
      "(XProf's "                                                                                  \
      "stack).")                                                                                   \
    X(UNRECORDED, "unrecorded",                                                                    \
      "What the recorded totals have more, or less, than the records "                             \
      "sum to: 0 where the trace has all.")

typedef enum tm_memory_category {
#define TM_MEMORY_CATEGORY_ENUM(id, word, doc) TM_MEMORY_##id,
    TM_MEMORY_CATEGORIES(TM_MEMORY_CATEGORY_ENUM)
#undef TM_MEMORY_CATEGORY_ENUM
        TM_N_MEMORY_CATEGORIES
} tm_memory_category;

const char *tm_memory_category_word(tm_memory_category category);

/** No block, and never given back. */
#define TM_NO_BLOCK UINT32_MAX

/** From one record to the next release of its address; records are levels of the device. */
typedef struct tm_block {
    int64_t bytes;
    uint32_t taken, freed; /* freed: TM_NO_BLOCK where it outlives the trace */
    uint8_t category;      /* tm_memory_category */
} tm_block;

typedef struct tm_blocks {
    tm_vec blocks; /* of tm_block, ascending in taken */
    uint32_t *of;  /* [levels] owned; the block that a record takes or gives back; TM_NO_BLOCK of a
                    * release of what was there before */
} tm_blocks;

/** True where every record of a device tells its address: without there are no blocks. */
bool tm_blocks_are_told(const tm_timeline *timeline, const tm_device_levels *d);

/**
 * Pairs allocations and releases of one device, and tells what each block is for.
 * @param passes  of tm_backward_pass
 * @param out     free it with tm_blocks_free, whatever comes of the call
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_blocks_find(const tm_rank_view *view, const tm_device_levels *d,
                         const tm_scopes *scopes, const tm_vec *passes, tm_blocks *out,
                         tm_error *err) TM_MUST_CHECK;
void tm_blocks_free(tm_blocks *blocks);

/** What a block is for. */
tm_memory_category tm_block_category(const tm_rank_view *view, const tm_device_levels *d,
                                     const tm_scopes *scopes, const tm_vec *passes,
                                     const tm_block *block);

/** Goes from level to level: how much each category has behind each. */
typedef struct tm_category_walk {
    const tm_timeline *timeline;
    const tm_device_levels *levels;
    const tm_blocks *blocks;
    size_t next;                           /* the level to come */
    int64_t bytes[TM_N_MEMORY_CATEGORIES]; /* behind the one before; they sum to its total */
} tm_category_walk;

tm_category_walk tm_category_walk_begin(const tm_timeline *timeline, const tm_device_levels *d,
                                        const tm_blocks *blocks);
/** False at the end. */
bool tm_category_walk_next(tm_category_walk *walk);

#endif
