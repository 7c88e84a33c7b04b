#include "counted_calls.h"

#include <stdlib.h>

#include "analysis/shared/xla_ops.h"

/* The work of an operation. Operations with equal work share a tm_work. */
typedef struct work_key {
    int64_t flop, bytes;
} work_key;

/* Returns whether an operation counts. Only compute operations do. Collectives also add numbers,
 * but this is no computation. */
static bool is_counted(const tm_timeline *timeline, const tm_xla_op *op) {
    return op->part == TM_XLA_WHOLE && op->flop >= 0 &&
           timeline->role[op->attr->event] == TM_ROLE_COMPUTE;
}

static bool add_op(const tm_xla_op *op, tm_keys *works, uint32_t *work_of, tm_counted_calls *out) {
    const tm_counted_call own = {
        .name = op->attr->origin != TM_NO_NAME ? op->attr->origin : op->attr->hlo,
        .shapes = op->attr->shape,
        .number = TM_NUMBER_MIXED,
        .first = op->attr->event,
        .kernel_ns = op->self_ns,
        .product_ns = op->self_ns,
    };
    work_of[out->n] = tm_keys_add(works, &(work_key){op->flop, op->bytes});
    out->list[out->n] = own;
    return work_of[out->n++] != TM_NO_KEY;
}

static bool set_works(const tm_keys *works, const uint32_t *work_of, tm_counted_calls *out) {
    const work_key *keys = works->keys.data;
    out->works = calloc(works->keys.n + 1, sizeof *out->works);
    for (size_t i = 0; i < works->keys.n && out->works; i++)
        out->works[i] = (tm_work){.flop = keys[i].flop,
                                  .causal_flop = keys[i].flop,
                                  .bytes = keys[i].bytes,
                                  .number = TM_NUMBER_MIXED,
                                  .op = TM_N_COUNTED};
    for (size_t i = 0; i < out->n && out->works; i++)
        out->list[i].work = &out->works[work_of[i]];
    return out->works != NULL;
}

tm_status tm_compiled_calls_find(const tm_rank_view *view, tm_counted_calls *out, tm_error *err) {
    tm_vec ops;
    tm_keys works = TM_KEYS(work_key);
    *out = (tm_counted_calls){0};
    if (view->timeline->n_attrs[TM_ATTR_XLA] == 0)
        return TM_OK;
    tm_status status = tm_xla_ops_find(view->timeline, view->names, &ops, err);
    uint32_t *work_of = calloc(ops.n + 1, sizeof *work_of);
    out->list = malloc((ops.n + 1) * sizeof *out->list);
    bool ok = work_of && out->list;
    for (size_t i = 0; i < ops.n && ok; i++) {
        const tm_xla_op *op = (const tm_xla_op *)ops.data + i;
        ok = !is_counted(view->timeline, op) || add_op(op, &works, work_of, out);
    }
    ok = ok && set_works(&works, work_of, out);
    free(work_of);
    tm_keys_free(&works);
    tm_vec_free(&ops);
    return status != TM_OK || ok ? status : tm_fail_memory(err);
}
