#include "passes.h"

#include <stdlib.h>
#include <string.h>

#include "call_kinds.h"
#include "calls.h"

static int by_row(const void *key, const void *call) {
    uint32_t row = *(const uint32_t *)key, other = ((const tm_call *)call)->row;
    return (row > other) - (row < other);
}

/* Returns the outermost autograd node that contains a call, or is the call. */
static uint32_t outermost(const tm_calls *calls, const tm_passes *p, uint32_t call) {
    uint32_t found = TM_NO_CALL;
    for (; call != TM_NO_CALL && p->pass[call] != TM_PASS_FORWARD; call = calls->calls[call].parent)
        found = call;
    return found;
}

/* Returns whether a node computes the gradient of a gradient: its forward operator ran in another
 * node. A forward operator that ran in the same node was recomputed. */
static bool is_of_gradient(const tm_calls *calls, const tm_passes *p, uint32_t call) {
    const tm_call *forward =
        bsearch(&p->forward[call], calls->calls, calls->n, sizeof *calls->calls, by_row);
    uint32_t around =
        forward ? outermost(calls, p, (uint32_t)(forward - calls->calls)) : TM_NO_CALL;
    return around != TM_NO_CALL && around != outermost(calls, p, call);
}

/* Finds the nodes and their forward operators. Parents come before children, and calls and
 * attributes are sorted by row. An operator in a node is recomputed if it records for autograd. */
static void find_nodes(const tm_rank_view *view, tm_passes *p) {
    const tm_timeline *timeline = view->timeline;
    const tm_operator_attr *reported = timeline->attrs[TM_ATTR_OPERATOR];
    const tm_call *calls = view->operators->calls;
    size_t n_reported = timeline->n_attrs[TM_ATTR_OPERATOR], next = 0;
    for (size_t i = 0; i < view->operators->n; i++) {
        uint32_t row = calls[i].row, parent = calls[i].parent;
        while (next < n_reported && reported[next].event < row)
            next++;
        const tm_operator_attr *own =
            next < n_reported && reported[next].event == row ? &reported[next] : NULL;
        bool inside = parent != TM_NO_CALL && p->pass[parent] != TM_PASS_FORWARD;
        bool node =
            (own && own->thread > 0) ||
            tm_call_kinds_at(view->call_kinds, timeline->name[row]) == TM_CALL_KIND_BACKWARD;
        bool again = inside && (p->pass[parent] == TM_PASS_RECOMPUTED ||
                                (own && own->thread == 0 && own->sequence >= 0));
        p->pass[i] = node     ? TM_PASS_BACKWARD
                     : again  ? TM_PASS_RECOMPUTED
                     : inside ? TM_PASS_BACKWARD
                              : TM_PASS_FORWARD;
        p->forward[i] = own && own->forward != TM_NO_EVENT ? own->forward
                        : inside                           ? p->forward[parent]
                                                           : TM_NO_EVENT;
    }
}

static void look_for_second_gradients(const tm_calls *calls, tm_passes *p) {
    for (uint32_t i = 0; i < calls->n && !p->twice; i++)
        p->twice = p->pass[i] == TM_PASS_BACKWARD && p->forward[i] != TM_NO_EVENT &&
                   is_of_gradient(calls, p, i);
    for (size_t i = 0; i < calls->n && p->twice; i++)
        if (p->pass[i] == TM_PASS_RECOMPUTED)
            p->pass[i] = TM_PASS_BACKWARD;
}

tm_status tm_passes_find(const tm_rank_view *view, tm_passes *out, tm_error *err) {
    size_t n = view->operators->n;
    *out = (tm_passes){.pass = malloc(n + 1), .forward = malloc((n + 1) * sizeof *out->forward)};
    if (!out->pass || !out->forward)
        return tm_fail_memory(err);
    find_nodes(view, out);
    if (memchr(out->pass, TM_PASS_RECOMPUTED, n))
        look_for_second_gradients(view->operators, out);
    return TM_OK;
}

void tm_passes_free(tm_passes *passes) {
    free(passes->pass);
    free(passes->forward);
    *passes = (tm_passes){0};
}
