#include "blocks.h"

#include <stdlib.h>

#include "base/keys.h"
#include "owners.h"

const char *tm_memory_category_word(tm_memory_category category) {
    static const char *const words[] = {
#define WORD(id, word, doc) word,
        TM_MEMORY_CATEGORIES(WORD)
#undef WORD
    };
    return words[category];
}

static const tm_memory_attr *record_of(const tm_timeline *timeline, const tm_device_levels *d,
                                       size_t level) {
    const tm_memory_level *v = d->levels.data;
    return (const tm_memory_attr *)timeline->attrs[TM_ATTR_MEMORY] + v[level].record;
}

bool tm_blocks_are_reported(const tm_timeline *timeline, const tm_device_levels *d) {
    for (size_t i = 0; i < d->levels.n; i++)
        if (record_of(timeline, d, i)->address == -1)
            return false;
    return true;
}

/* Pairs a record with its block. If an address is allocated twice in a row, the trace lacks the
 * release. Then the first block counts as never freed. */
static bool pair(const tm_memory_attr *record, uint32_t level, tm_keys *addresses, tm_vec *taken,
                 tm_blocks *out) {
    int64_t bytes = tm_bytes_cut(record->bytes);
    uint32_t *block = tm_keys_value(addresses, taken, &record->address);
    if (!block)
        return false;
    out->of[level] = TM_NO_BLOCK;
    if (bytes > 0) {
        const tm_block found = {bytes, level, TM_NO_BLOCK, TM_MEMORY_OTHER};
        out->of[level] = (uint32_t)out->blocks.n;
        *block = (uint32_t)out->blocks.n + 1;
        return tm_vec_append(&out->blocks, &found, 1) != NULL;
    }
    if (bytes < 0 && *block > 0) {
        out->of[level] = *block - 1;
        ((tm_block *)out->blocks.data)[*block - 1].freed = level;
        *block = 0;
    }
    return true;
}

tm_status tm_blocks_find(const tm_rank_view *view, const tm_device_levels *d,
                         const tm_scopes *scopes, const tm_vec *passes, tm_blocks *out,
                         tm_error *err) {
    tm_keys addresses = TM_KEYS(int64_t);
    tm_vec taken = TM_VEC(uint32_t);
    *out = (tm_blocks){.blocks = TM_VEC(tm_block), .of = malloc(d->levels.n * sizeof *out->of)};
    bool ok = out->of != NULL;
    for (size_t i = 0; i < d->levels.n && ok; i++)
        ok = pair(record_of(view->timeline, d, i), (uint32_t)i, &addresses, &taken, out);
    tm_keys_free(&addresses);
    tm_vec_free(&taken);
    tm_block *blocks = out->blocks.data;
    for (size_t i = 0; i < out->blocks.n && ok; i++)
        blocks[i].category = (uint8_t)tm_block_category(view, d, scopes, passes, &blocks[i]);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_blocks_free(tm_blocks *blocks) {
    tm_vec_free(&blocks->blocks);
    free(blocks->of);
    blocks->of = NULL;
}

/* Returns the memory that a TPU's programs hold at a level [bytes]. Before the first record, it is
 * the same as at the first record. */
static int64_t stack_at(const tm_device_levels *d, size_t level) {
    const tm_memory_level *v = d->levels.data;
    return d->stacks && v[level].reserved_bytes > 0 ? v[level].reserved_bytes : 0;
}

tm_category_walk tm_category_walk_begin(const tm_timeline *timeline, const tm_device_levels *d,
                                        const tm_blocks *blocks) {
    tm_category_walk walk = {.timeline = timeline, .levels = d, .blocks = blocks};
    walk.bytes[TM_MEMORY_STACK] = stack_at(d, 0);
    walk.bytes[TM_MEMORY_PREEXISTING] = d->begin_bytes - walk.bytes[TM_MEMORY_STACK];
    return walk;
}

/* Updates the bytes of each category. A release subtracts the allocated size, even if its record
 * has another size. The rest of the recorded total counts as unrecorded. */
bool tm_category_walk_next(tm_category_walk *walk) {
    if (walk->next >= walk->levels->levels.n)
        return false;
    size_t level = walk->next++;
    const tm_memory_level *v = walk->levels->levels.data;
    uint32_t number = walk->blocks->of[level];
    const tm_block *block = (const tm_block *)walk->blocks->blocks.data + number;
    if (number == TM_NO_BLOCK)
        walk->bytes[TM_MEMORY_PREEXISTING] +=
            tm_bytes_cut(record_of(walk->timeline, walk->levels, level)->bytes);
    else
        walk->bytes[block->category] += block->taken == level ? block->bytes : -block->bytes;
    int64_t sum = 0;
    walk->bytes[TM_MEMORY_STACK] = stack_at(walk->levels, level);
    for (int c = 0; c < TM_N_MEMORY_CATEGORIES; c++)
        sum += c == TM_MEMORY_UNRECORDED ? 0 : walk->bytes[c];
    walk->bytes[TM_MEMORY_UNRECORDED] = v[level].allocated_bytes - sum;
    return true;
}
