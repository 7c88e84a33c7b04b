#include "backward.h"

#include "analysis/shared/calls.h"
#include "analysis/shared/passes.h"
#include "base/sorted.h"

/* Begin and end of an outermost operator. An autograd operator is outermost if it is in no other
 * autograd operator. Any other operator is outermost if it is in no operator at all. */
typedef struct mark {
    int64_t begin_ns, end_ns;
} mark;

TM_ORDER_BY(by_begin, mark, begin_ns, end_ns);

static bool add_mark(const tm_timeline *timeline, uint32_t row, tm_vec *marks) {
    int64_t begin = timeline->begin_ns[row];
    const mark found = {begin, begin + timeline->duration_ns[row]};
    return tm_vec_append(marks, &found, 1) != NULL;
}

/* Sets @p marks to the outermost autograd operators of all threads. Sets @p main to the other
 * outermost operators of the main thread, which is the thread with the most of them. Calls are
 * grouped by thread. */
static bool find_marks(const tm_rank_view *view, tm_vec *marks, tm_vec *main) {
    const tm_timeline *timeline = view->timeline;
    const tm_calls *operators = view->operators;
    const uint8_t *pass = view->passes->pass;
    tm_vec others = TM_VEC(mark);
    bool ok = true;
    size_t i = 0;
    for (size_t t = 0; t < timeline->n_tracks && ok; t++) {
        size_t end = (size_t)timeline->tracks[t].first + timeline->tracks[t].count;
        others.n = 0;
        for (; i < operators->n && operators->calls[i].row < end && ok; i++) {
            const tm_call *call = &operators->calls[i];
            bool is_inner = call->parent != TM_NO_CALL && pass[call->parent] != TM_PASS_FORWARD;
            if (pass[i] != TM_PASS_FORWARD && !is_inner)
                ok = add_mark(timeline, call->row, marks);
            else if (pass[i] == TM_PASS_FORWARD && call->parent == TM_NO_CALL)
                ok = add_mark(timeline, call->row, &others);
        }
        if (others.n > main->n) {
            tm_vec most = others;
            others = *main;
            *main = most;
        }
    }
    tm_vec_free(&others);
    return ok;
}

/* Joins marks to passes. Two marks belong to the same pass if the main thread runs no operator
 * between them. Both inputs are sorted by start. */
static bool join(const tm_vec *marks, const tm_vec *main, tm_vec *out) {
    const mark *others = main->data, *backward = marks->data;
    tm_backward_pass *pass = NULL;
    size_t next = 0;
    for (size_t i = 0; i <= marks->n; i++) {
        int64_t begin = i < marks->n ? backward[i].begin_ns : INT64_MAX;
        for (; next < main->n && others[next].begin_ns < begin; next++)
            if (pass && others[next].begin_ns >= pass->end_ns)
                pass->ended = true;
        if (i == marks->n)
            break;
        if (!pass || pass->ended) {
            pass = tm_vec_push(out);
            if (!pass)
                return false;
            *pass = (tm_backward_pass){begin, begin, false};
        }
        pass->end_ns = backward[i].end_ns > pass->end_ns ? backward[i].end_ns : pass->end_ns;
    }
    return true;
}

tm_status tm_backward_passes_find(const tm_rank_view *view, tm_vec *out, tm_error *err) {
    tm_vec marks = TM_VEC(mark), main = TM_VEC(mark);
    *out = TM_VEC(tm_backward_pass);
    bool ok = find_marks(view, &marks, &main);
    if (ok && marks.n > 0)
        tm_sort(marks.data, marks.n, sizeof(mark), by_begin);
    ok = ok && join(&marks, &main, out);
    tm_vec_free(&marks);
    tm_vec_free(&main);
    return ok ? TM_OK : tm_fail_memory(err);
}

size_t tm_backward_pass_at(const tm_vec *passes, int64_t time_ns) {
    return TM_FIRST_AFTER(tm_backward_pass, end_ns, passes->data, passes->n, time_ns);
}
