/* Determines a block's category from the calls that are open when it is allocated and freed. */
#include "backward.h"
#include "base/sorted.h"
#include "blocks.h"

typedef struct block_view {
    const tm_rank_view *view;
    const tm_scopes *scopes;
    tm_scope taken;             /* the calls open at allocation */
    int64_t taken_ns, freed_ns; /* freed_ns is INT64_MAX if the block is never freed */
} block_view;

static tm_scope scope_at(const block_view *b, const tm_device_levels *d, uint32_t level) {
    const tm_memory_level *v = d->levels.data;
    const tm_memory_attr *records = b->view->timeline->attrs[TM_ATTR_MEMORY];
    return tm_scopes_at(b->scopes, records[v[level].record].event);
}

static int64_t end_of(const block_view *b, uint32_t call) {
    uint32_t row = b->scopes->calls.calls[call].row;
    return b->view->timeline->begin_ns[row] + b->view->timeline->duration_ns[row];
}

/* Returns the category of a block allocated in a backward pass. If the trace ends within the pass
 * and the block outlives the trace, the category is unknown. */
static tm_memory_category of_backward(const block_view *b, const tm_vec *passes) {
    size_t i = tm_backward_pass_at(passes, b->taken_ns);
    const tm_backward_pass *pass = (const tm_backward_pass *)passes->data + i;
    if (i == passes->n || (b->freed_ns == INT64_MAX && !pass->ended))
        return TM_MEMORY_OTHER;
    return b->freed_ns >= pass->end_ns ? TM_MEMORY_GRADIENT : TM_MEMORY_AUTOGRAD_DETAIL;
}

/* Returns whether an optimizer step starts between the allocation and the next pass. If so, the
 * block belongs to neither pass. Gradient clipping allocates such blocks. */
static bool is_before_optimizer(const block_view *b, int64_t pass_ns) {
    const tm_vec *steps = &b->scopes->optimizers;
    size_t i = tm_bisect(steps->data, steps->n, steps->size, &b->taken_ns, tm_is_less_i64);
    return i < steps->n && ((const int64_t *)steps->data)[i] < pass_ns;
}

static tm_memory_category of_forward(const block_view *b, const tm_vec *passes) {
    size_t i = tm_backward_pass_at(passes, b->taken_ns);
    const tm_backward_pass *pass = (const tm_backward_pass *)passes->data + i;
    /* A backward pass that is already running is on another thread, so it does not use the
     * block. */
    if (i == passes->n || pass->begin_ns <= b->taken_ns || is_before_optimizer(b, pass->begin_ns))
        return TM_MEMORY_OTHER;
    return b->freed_ns >= pass->begin_ns ? TM_MEMORY_ACTIVATION : TM_MEMORY_FORWARD_ONLY;
}

tm_memory_category tm_block_category(const tm_rank_view *view, const tm_device_levels *d,
                                     const tm_scopes *scopes, const tm_vec *passes,
                                     const tm_block *block) {
    const tm_memory_level *v = d->levels.data;
    block_view b = {.view = view, .scopes = scopes, .freed_ns = INT64_MAX};
    b.taken_ns = v[block->taken].time_ns;
    b.taken = scope_at(&b, d, block->taken);
    if (block->freed != TM_NO_BLOCK) {
        b.freed_ns = v[block->freed].time_ns;
        if (b.taken.node != TM_NO_CALL && b.taken.node == scope_at(&b, d, block->freed).node)
            return TM_MEMORY_TEMPORARY;
    }
    if (b.taken.optimizer != TM_NO_CALL)
        return b.freed_ns <= end_of(&b, b.taken.optimizer) ? TM_MEMORY_TEMPORARY
                                                           : TM_MEMORY_OPTIMIZER_STATE;
    if (b.taken.backward)
        return of_backward(&b, passes);
    if (b.taken.loading || tm_scopes_brings(scopes, view, b.taken.node))
        return TM_MEMORY_INPUT;
    return of_forward(&b, passes);
}
