#include "run.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"

/* A partner is searched for among this many marks before and after the nearest end. */
enum { BESIDE = 4 };

/* Larger than any distance of two ends, and small enough to be doubled. */
static const int64_t far_ns = INT64_MAX / 4;

static int by_signature(const void *a, const void *b) {
    const tm_mark *x = *(tm_mark *const *)a, *y = *(tm_mark *const *)b;
    int order = tm_order_u64(x->signature, y->signature);
    return order ? order : (x > y) - (x < y); /* equal signatures stay in the order of their ends */
}

tm_status tm_run_prepare(tm_run *run, tm_error *err) {
    tm_mark **order = calloc(run->n + 1, sizeof *order);
    if (!order)
        return tm_fail_memory(err);
    for (size_t i = 0; i < run->n; i++) {
        order[i] = &run->marks[i];
        order[i]->apart_ns = far_ns;
    }
    qsort(order, run->n, sizeof(tm_mark *), by_signature);
    for (size_t i = 1; i < run->n; i++) {
        tm_mark *a = order[i - 1], *b = order[i];
        int64_t apart = a->signature == b->signature ? b->end_ns - a->end_ns : far_ns;
        a->apart_ns = apart < a->apart_ns ? apart : a->apart_ns;
        b->apart_ns = apart;
    }
    free(order);
    return TM_OK;
}

bool tm_run_synchronises(const tm_run *run) {
    for (size_t i = 0; i < run->n; i++)
        if (run->marks[i].synchronises)
            return true;
    return false;
}

size_t tm_run_nearest(const tm_run *run, int64_t end_ns) {
    size_t next = TM_FIRST_FROM(tm_mark, end_ns, run->marks, run->n, end_ns);
    if (next == run->n)
        return next - 1;
    if (next > 0 && end_ns - run->marks[next - 1].end_ns <= run->marks[next].end_ns - end_ns)
        return next - 1;
    return next;
}

bool tm_mark_fits(const tm_mark *a, const tm_mark *b) {
    return a->signature == b->signature && (a->step < 0 || b->step < 0 || a->step == b->step);
}

int64_t tm_run_noise(int64_t a_ns, int64_t b_ns) {
    return 5 * (5000 + (a_ns < b_ns ? a_ns : b_ns) / 50 * 3);
}

int64_t tm_mark_noise(const tm_mark *a, const tm_mark *b) {
    return tm_run_noise(a->end_ns - a->begin_ns, b->end_ns - b->begin_ns);
}

bool tm_run_partner(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                    size_t *out) {
    const tm_mark *mark = &run->marks[i];
    int64_t at = mark->end_ns + offset_ns, best = far_ns;
    size_t nearest = tm_run_nearest(other, at);
    size_t from = nearest > BESIDE ? nearest - BESIDE : 0;
    for (size_t j = from; j <= nearest + BESIDE && j < other->n; j++) {
        int64_t off = llabs(other->marks[j].end_ns - at);
        if (off >= best || !tm_mark_fits(mark, &other->marks[j]))
            continue;
        best = off;
        *out = j;
    }
    return best < far_ns && 2 * best < mark->apart_ns && 2 * best < other->marks[*out].apart_ns;
}

static bool is_near(const tm_run *run, size_t i, const tm_run *other, size_t j, int64_t offset_ns,
                    int64_t slack_ns) {
    const tm_mark *a = &run->marks[i], *b = &other->marks[j];
    return llabs(b->end_ns - a->end_ns - offset_ns) <= tm_mark_noise(a, b) + slack_ns;
}

tm_meeting tm_run_meet(const tm_run *run, size_t i, const tm_run *other, int64_t offset_ns,
                       int64_t slack_ns) {
    size_t partner, own;
    if (tm_run_partner(run, i, other, offset_ns, &partner) &&
        is_near(run, i, other, partner, offset_ns, slack_ns))
        return TM_MEETS;
    size_t found = tm_run_nearest(other, run->marks[i].end_ns + offset_ns);
    if (tm_mark_fits(&run->marks[i], &other->marks[found]) ||
        !is_near(run, i, other, found, offset_ns, slack_ns))
        return TM_NOTHING;
    bool has_own = tm_run_partner(other, found, run, -offset_ns, &own) &&
                   is_near(other, found, run, own, -offset_ns, slack_ns);
    return has_own ? TM_NOTHING : TM_ANOTHER;
}

size_t tm_run_sample(size_t k, size_t n) {
    uint32_t turned = ((uint32_t)k + 1) * 2654435769u; /* the factor is 2^32 / golden ratio */
    return (size_t)((uint64_t)turned * n >> 32);
}

int64_t tm_run_median(int64_t *values, size_t n) {
    return n > 0 ? tm_select(values, n, (n - 1) / 2) : 0;
}
