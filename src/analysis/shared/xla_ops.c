#include "xla_ops.h"

#include <string.h>

#include "base/letters.h"

/* Operations of a track that have not ended and may contain others, innermost last. */
typedef struct nest {
    const tm_timeline *timeline;
    tm_vec *ops;  /* vector of tm_xla_op */
    tm_vec stack; /* vector of uint32_t: indices into ops */
} nest;

static tm_xla_op *op_at(const nest *n, uint32_t i) {
    return (tm_xla_op *)n->ops->data + i;
}

static int64_t end_of(const tm_timeline *timeline, uint32_t row) {
    return timeline->begin_ns[row] + timeline->duration_ns[row];
}

/* Returns which part of an operation an event is. Some events only start or await an operation.
 * They have no role, because another event covers the whole operation. */
static tm_xla_part part_of(const tm_timeline *timeline, const tm_names *names,
                           const tm_xla_attr *attr) {
    bool counts = timeline->role[attr->event] != TM_ROLE_NONE;
    tm_text category =
        attr->category == TM_NO_NAME ? (tm_text){"", 0} : tm_names_text(names, attr->category);
    if (tm_ends_with(category.bytes, category.size, "-start"))
        return counts ? TM_XLA_ASYNC : TM_XLA_START;
    if (tm_ends_with(category.bytes, category.size, "-done"))
        return TM_XLA_DONE;
    return counts ? TM_XLA_WHOLE : TM_XLA_HOLDS;
}

static bool is_same(const tm_xla_attr *a, const tm_xla_attr *b) {
    return a->hlo == b->hlo && a->program == b->program;
}

/* Returns the innermost open operation around a row; NULL if there is none. */
static tm_xla_op *around(nest *n, uint32_t row) {
    const uint32_t *open = n->stack.data;
    while (n->stack.n > 0 && end_of(n->timeline, op_at(n, open[n->stack.n - 1])->attr->event) <=
                                 n->timeline->begin_ns[row])
        n->stack.n--;
    tm_xla_op *last = n->stack.n > 0 ? op_at(n, open[n->stack.n - 1]) : NULL;
    bool inside = last && end_of(n->timeline, row) <= end_of(n->timeline, last->attr->event);
    return inside ? last : NULL;
}

static bool add(nest *n, const tm_names *names, const tm_xla_attr *attr) {
    tm_xla_op op = {.attr = attr, .part = (uint8_t)part_of(n->timeline, names, attr)};
    bool own = op.part == TM_XLA_WHOLE || op.part == TM_XLA_START;
    uint32_t number = (uint32_t)n->ops->n;
    if (op.part != TM_XLA_ASYNC) {
        tm_xla_op *holder = around(n, attr->event);
        op.self_ns = n->timeline->duration_ns[attr->event];
        if (holder && is_same(holder->attr, attr))
            /* The event is part of the same loop, whose self time already includes it. */
            return true;
        if (holder)
            holder->self_ns -= op.self_ns;
    }
    op.flop = attr->flops < 0 ? -1 : own ? attr->flops : 0;
    op.bytes = attr->bytes < 0 ? -1 : own ? attr->bytes : 0;
    return tm_vec_append(n->ops, &op, 1) &&
           (op.part != TM_XLA_HOLDS || tm_vec_append(&n->stack, &number, 1));
}

tm_status tm_xla_ops_find(const tm_timeline *timeline, const tm_names *names, tm_vec *out,
                          tm_error *err) {
    const tm_xla_attr *attrs = timeline->attrs[TM_ATTR_XLA];
    const tm_track *track = timeline->tracks, *end = track + timeline->n_tracks;
    nest n = {timeline, out, TM_VEC(uint32_t)};
    bool ok = true;
    *out = TM_VEC(tm_xla_op);
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_XLA] && ok; i++) {
        for (; track < end && attrs[i].event - track->first >= track->count; track++)
            n.stack.n = 0; /* an operation of another track cannot contain this one */
        ok = add(&n, names, &attrs[i]);
    }
    tm_vec_free(&n.stack);
    return ok ? TM_OK : tm_fail_memory(err);
}
