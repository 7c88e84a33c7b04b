#include <stdlib.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/passes.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "bubble.h"
#include "dimension.h"

/* A pass has at least 1 / PART_OF_LONGEST of the kernel time of the longest pass of its rank, step
 * and direction. Shorter work, such as clearing gradients, is not a pass. */
enum { PART_OF_LONGEST = 10 };

typedef enum what { FORWARD, BACKWARD, EITHER, BORDER, N_WHAT } what;

/* A kernel. Items are sorted by the time of the launch (asked_ns). */
typedef struct item {
    int64_t asked_ns, begin_ns, end_ns;
    uint32_t row;
    int32_t step;
    uint8_t what;
    bool whole; /* the event is a whole pass */
} item;

/* A rank's work in one direction (forward or backward) between two transfers. */
typedef struct pass {
    int64_t begin_ns, end_ns, kernels_ns;
    int32_t step;
    uint8_t what;
    bool apart; /* a transfer or a recorded pass is between the previous pass and this one */
} pass;

/* Returns whether a kernel is a transfer between stages, which separates passes. Transfers in
 * context and sequence rings are within a pass, so they do not count. */
static bool is_border(const tm_names *names, const tm_collective_attr *attr) {
    char dimension[TM_DIMENSION_MAX];
    const uint32_t texts[] = {attr->group_description, attr->group};
    if (!tm_collective_is_transfer(attr->kind))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (texts[i] != TM_NO_NAME &&
            tm_dimension_of(tm_names_text(names, texts[i]).bytes, dimension))
            return strstr(dimension, "pipeline") != NULL;
    return true;
}

/* Returns whether a kernel updates parameters. If so, it belongs to no pass. */
static bool is_update(const tm_rank_view *view, uint32_t row) {
    const tm_calls *calls = view->annotations;
    for (uint32_t at = calls->above[row]; at != TM_NO_CALL; at = calls->calls[at].parent) {
        tm_call_kind kind =
            tm_call_kinds_at(view->call_kinds, view->timeline->name[calls->calls[at].row]);
        if (kind == TM_CALL_KIND_OPTIMIZER || kind == TM_CALL_KIND_ZERO_GRAD)
            return true;
    }
    return false;
}

/* Sets the direction of a kernel, or returns false if the kernel belongs to no pass. In traces of
 * operations the name shows the direction; in other traces autograd's nodes do. */
static bool tell(const tm_rank_view *view, uint32_t row, item *out) {
    static const char forward[] = "forward-compute", backward[] = "backward-compute";
    const char *name = tm_names_text(view->names, view->timeline->name[row]).bytes;
    uint32_t asked = tm_timeline_asked(view->timeline, row), op = view->operators->above[row];
    bool is_forward = strncmp(name, forward, sizeof forward - 1) == 0;
    out->whole = is_forward || strncmp(name, backward, sizeof backward - 1) == 0;
    if (out->whole) {
        out->asked_ns = out->begin_ns;
        out->what = is_forward ? FORWARD : BACKWARD;
        return true;
    }
    if (asked == TM_NO_EVENT || is_update(view, row))
        return false;
    out->asked_ns = view->timeline->begin_ns[asked];
    out->what = op == TM_NO_CALL                            ? EITHER
                : view->passes->pass[op] == TM_PASS_FORWARD ? FORWARD
                                                            : BACKWARD;
    return true;
}

/* Returns the step of a kernel's launch; if the launch is unknown, the step in which the kernel
 * starts. */
static int32_t step_of(const tm_timeline *timeline, uint32_t row) {
    int64_t begin = timeline->begin_ns[row];
    int32_t found = TM_NO_STEP;
    if (timeline->step[row] != TM_NO_STEP || tm_timeline_asked(timeline, row) != TM_NO_EVENT)
        return timeline->step[row];
    for (size_t i = 0; i < timeline->n_steps && timeline->steps[i].begin_ns <= begin; i++)
        found = begin < timeline->steps[i].end_ns ? (int32_t)i : TM_NO_STEP;
    return found;
}

static bool collect(const tm_rank_view *view, tm_vec *items) {
    const tm_timeline *timeline = view->timeline;
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t n_attrs = timeline->n_attrs[TM_ATTR_COLLECTIVE], next = 0;
    bool ok = true;
    for (uint32_t row = 0; row < timeline->n_events && ok; row++) {
        if (timeline->role[row] != TM_ROLE_COMPUTE && timeline->role[row] != TM_ROLE_COMMUNICATION)
            continue;
        item it = {.row = row,
                   .step = step_of(timeline, row),
                   .begin_ns = timeline->begin_ns[row],
                   .end_ns = timeline->begin_ns[row] + timeline->duration_ns[row]};
        while (next < n_attrs && attrs[next].event < row)
            next++;
        if (it.step == TM_NO_STEP)
            continue;
        if (timeline->role[row] == TM_ROLE_COMPUTE && tell(view, row, &it))
            ok = tm_vec_append(items, &it, 1) != NULL;
        uint32_t asked = tm_timeline_asked(timeline, row);
        it.asked_ns = asked == TM_NO_EVENT ? it.begin_ns : timeline->begin_ns[asked];
        it.what = BORDER;
        if (timeline->role[row] == TM_ROLE_COMMUNICATION && next < n_attrs &&
            attrs[next].event == row && is_border(view->names, &attrs[next]))
            ok = tm_vec_append(items, &it, 1) != NULL;
    }
    return ok;
}

TM_ORDER_BY(by_asked, item, step, asked_ns, row);

static void extend(pass *p, int64_t begin_ns, int64_t end_ns, int64_t kernels_ns) {
    p->begin_ns = begin_ns < p->begin_ns ? begin_ns : p->begin_ns;
    p->end_ns = end_ns > p->end_ns ? end_ns : p->end_ns;
    p->kernels_ns = tm_sum(p->kernels_ns, kernels_ns);
}

/* Joins kernels into passes. A kernel of unknown direction (EITHER) belongs to a pass if kernels of
 * the pass come before and after it. */
static bool join(const tm_vec *items, tm_vec *passes) {
    static const pass none = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    const item *it = items->data;
    pass held = none;
    bool apart = true;
    for (size_t i = 0; i < items->n; i++) {
        pass *last = passes->n > 0 ? (pass *)passes->data + passes->n - 1 : NULL;
        int64_t ns = it[i].end_ns - it[i].begin_ns;
        apart = apart || it[i].whole || it[i].what == BORDER || !last || last->step != it[i].step;
        const pass new = {it[i].begin_ns, it[i].end_ns, ns, it[i].step, it[i].what, apart};
        if (it[i].what == EITHER && !apart)
            extend(&held, new.begin_ns, new.end_ns, ns);
        if (it[i].what == EITHER || it[i].what == BORDER)
            continue;
        if (!apart && it[i].what == last->what) {
            extend(last, held.begin_ns, held.end_ns, held.kernels_ns);
            extend(last, new.begin_ns, new.end_ns, ns);
        } else if (!tm_vec_append(passes, &new, 1)) {
            return false;
        }
        held = none;
        apart = it[i].whole;
    }
    return true;
}

/* Removes passes that are too short, and joins the passes around them. */
static void clean(tm_vec *passes) {
    pass *p = passes->data;
    size_t kept = 0;
    for (size_t i = 0, end; i < passes->n; i = end) {
        int64_t longest[N_WHAT] = {0};
        bool apart = true;
        for (end = i; end < passes->n && p[end].step == p[i].step; end++)
            if (p[end].kernels_ns > longest[p[end].what])
                longest[p[end].what] = p[end].kernels_ns;
        for (size_t k = i; k < end; k++) {
            apart = apart || p[k].apart;
            if (p[k].kernels_ns < longest[p[k].what] / PART_OF_LONGEST)
                continue;
            if (!apart && p[kept - 1].what == p[k].what)
                extend(&p[kept - 1], p[k].begin_ns, p[k].end_ns, p[k].kernels_ns);
            else
                p[kept++] = p[k];
            apart = false;
        }
    }
    passes->n = kept;
}

static bool add_rows(const tm_rank_view *view, const tm_vec *passes, tm_table *part) {
    const tm_timeline *timeline = view->timeline;
    const pass *p = passes->data;
    int64_t number[N_WHAT] = {0};
    for (size_t i = 0; i < passes->n; i++) {
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return false;
        if (i > 0 && p[i].step != p[i - 1].step)
            memset(number, 0, sizeof number);
        int64_t begin = tm_rank_clock_true(&timeline->clock, p[i].begin_ns);
        tm_cell_set_int(&row[TM_BUBBLE_P_RANK], timeline->rank);
        tm_cell_set_int(&row[TM_BUBBLE_P_STEP], timeline->steps[p[i].step].number);
        tm_cell_set_int(&row[TM_BUBBLE_P_BACKWARD], p[i].what == BACKWARD);
        tm_cell_set_int(&row[TM_BUBBLE_P_NUMBER], ++number[p[i].what]);
        tm_cell_set_int(&row[TM_BUBBLE_P_BEGIN], begin);
        tm_cell_set_int(&row[TM_BUBBLE_P_END], begin + (p[i].end_ns - p[i].begin_ns));
    }
    return true;
}

tm_status tm_bubble_passes(const tm_rank_view *view, tm_table *part, tm_error *err) {
    const tm_collective_attr *attrs = view->timeline->attrs[TM_ATTR_COLLECTIVE];
    size_t i = 0, n = view->timeline->n_attrs[TM_ATTR_COLLECTIVE];
    while (i < n && !is_border(view->names, &attrs[i]))
        i++;
    if (i == n)
        return TM_OK;
    tm_vec items = TM_VEC(item), passes = TM_VEC(pass);
    bool ok = collect(view, &items);
    if (ok && items.n > 1)
        qsort(items.data, items.n, items.size, by_asked);
    ok = ok && join(&items, &passes);
    if (ok)
        clean(&passes);
    ok = ok && add_rows(view, &passes, part);
    tm_vec_free(&items);
    tm_vec_free(&passes);
    return ok ? TM_OK : tm_fail_memory(err);
}
