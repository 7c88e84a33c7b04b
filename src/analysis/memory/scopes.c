#include "scopes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "base/sorted.h"

static const tm_scope nowhere = {TM_NO_CALL, TM_NO_CALL, TM_NO_CALL, TM_NO_CALL, false, false};

static bool is_scope(void *context, const tm_timeline *timeline, uint32_t row) {
    return timeline->category[row] == TM_CAT_PYTHON
               ? tm_call_kinds_at(context, timeline->name[row]) == TM_CALL_KIND_MODULE
               : !tm_timeline_is_step(timeline, row);
}

/* Returns whether a name is of an operator with a schema or of an autograd function: aten::mm,
 * torchvision::nms, AddmmBackward0. A name with a space is of a wrapper, such as
 * "autograd::engine::evaluate_function: AddmmBackward0". */
static bool is_node(const char *name, tm_call_kind kind) {
    return !strchr(name, ' ') && (kind == TM_CALL_KIND_BACKWARD || strstr(name, "::"));
}

static void enter_operator(tm_scope *s, uint32_t call, const char *name, tm_call_kind kind) {
    if (tm_call_kind_is_scope(kind))
        return;
    s->backward = s->backward || kind == TM_CALL_KIND_BACKWARD;
    if (s->op == TM_NO_CALL && !(kind == TM_CALL_KIND_BACKWARD && strchr(name, ' ')))
        s->op = call;
    if (s->node == TM_NO_CALL && is_node(name, kind))
        s->node = call;
    s->loading = s->loading || strcmp(name, "aten::pin_memory") == 0;
}

static tm_scope enter(const tm_rank_view *view, tm_scope s, uint32_t call, uint32_t row) {
    const tm_timeline *timeline = view->timeline;
    const char *name = tm_names_text(view->names, timeline->name[row]).bytes;
    tm_call_kind kind = tm_call_kinds_of(view->call_kinds, timeline, row);
    if (timeline->category[row] == TM_CAT_CPU_OP)
        enter_operator(&s, call, name, kind);
    if (kind == TM_CALL_KIND_MODULE)
        s.module = call;
    if (kind == TM_CALL_KIND_OPTIMIZER)
        s.optimizer = call;
    s.loading = s.loading || kind == TM_CALL_KIND_INPUT;
    return s;
}

/* Marks nodes that launched a copy from the host, such as "Memcpy HtoD (Pinned -> Device)", or
 * "CopyHostToDevice" on ROCm. */
static void mark_copies(const tm_rank_view *view, tm_scopes *scopes) {
    const tm_copy_attr *copies = view->timeline->attrs[TM_ATTR_COPY];
    for (size_t i = 0; i < view->timeline->n_attrs[TM_ATTR_COPY]; i++) {
        uint32_t row = copies[i].event;
        const char *name = tm_names_text(view->names, view->timeline->name[row]).bytes;
        uint32_t node = tm_scopes_at(scopes, row).node;
        if (node != TM_NO_CALL && (strstr(name, "HtoD") || strstr(name, "HostToDevice")))
            scopes->copies[node] = 1;
    }
}

static bool find_optimizers(const tm_timeline *timeline, tm_scopes *scopes) {
    for (uint32_t i = 0; i < scopes->calls.n; i++)
        if (scopes->of[i].optimizer == i &&
            !tm_vec_append(&scopes->optimizers, &timeline->begin_ns[scopes->calls.calls[i].row], 1))
            return false;
    if (scopes->optimizers.n > 0)
        tm_sort(scopes->optimizers.data, scopes->optimizers.n, sizeof(int64_t), tm_compare_i64);
    return true;
}

tm_status tm_scopes_find(const tm_rank_view *view, tm_scopes *out, tm_error *err) {
    const tm_call_class scopes = {TM_CALL_IN(TM_CAT_CPU_OP) | TM_CALL_IN(TM_CAT_USER_ANNOTATION) |
                                      TM_CALL_IN(TM_CAT_PYTHON),
                                  is_scope, view->call_kinds};
    *out = (tm_scopes){.optimizers = TM_VEC(int64_t)};
    TM_TRY(tm_calls_find(view->timeline, scopes, &out->calls, err));
    const tm_call *calls = out->calls.calls;
    out->of = malloc((out->calls.n + 1) * sizeof *out->of);
    out->copies = calloc(out->calls.n + 1, 1);
    if (!out->of || !out->copies)
        return tm_fail_memory(err);
    for (size_t i = 0; i < out->calls.n; i++) /* a parent comes before its nested calls */
        out->of[i] = enter(view, calls[i].parent == TM_NO_CALL ? nowhere : out->of[calls[i].parent],
                           (uint32_t)i, calls[i].row);
    mark_copies(view, out);
    return find_optimizers(view->timeline, out) ? TM_OK : tm_fail_memory(err);
}

void tm_scopes_free(tm_scopes *scopes) {
    tm_calls_free(&scopes->calls);
    free(scopes->of);
    free(scopes->copies);
    tm_vec_free(&scopes->optimizers);
}

tm_scope tm_scopes_at(const tm_scopes *scopes, uint32_t row) {
    uint32_t call = scopes->calls.above[row];
    return call == TM_NO_CALL ? nowhere : scopes->of[call];
}

bool tm_scopes_brings(const tm_scopes *scopes, const tm_rank_view *view, uint32_t node) {
    if (node == TM_NO_CALL || !scopes->copies[node])
        return false;
    uint32_t name = view->timeline->name[scopes->calls.calls[node].row];
    const char *text = tm_names_text(view->names, name).bytes;
    return strcmp(text, "aten::to") == 0 || strcmp(text, "aten::_to_copy") == 0;
}
