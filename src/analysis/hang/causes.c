#include "causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "tables.h"

/* What is known of each rank while causes are looked for. */
enum { WAITS = 1, MISSED = 2, MISSED_PERHAPS = 4, LOST = 8, IN_MISMATCH = 16 };

static void mark(unsigned char *roles, const tm_vec *ranks, unsigned char role) {
    const int64_t *v = ranks->data;
    for (size_t i = 0; i < ranks->n; i++)
        roles[v[i]] |= role;
}

static void mark_all(const tm_hang_world *w, unsigned char *roles) {
    const tm_hang_front *f = w->fronts.data;
    for (size_t i = 0; i < w->fronts.n; i++) {
        mark(roles, &f[i].waiting, WAITS);
        mark(roles, &f[i].absent, MISSED);
        mark(roles, &f[i].perhaps, MISSED_PERHAPS);
        mark(roles, &f[i].no_dump, LOST);
        if (f[i].problem == TM_HANG_MISMATCH)
            mark(roles, &f[i].came, IN_MISMATCH);
    }
}

/* Those with all roles of @p wanted and none of @p barred. */
static bool choose(const tm_hang_world *w, const unsigned char *roles, unsigned wanted,
                   unsigned barred, tm_vec *out) {
    for (int64_t r = 0; r < w->n_ranks; r++)
        if ((roles[r] & wanted) == wanted && !(roles[r] & barred) && !tm_vec_append(out, &r, 1))
            return false;
    return true;
}

static int64_t form_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank) {
    const int64_t key = tm_hang_int(w->groups, f->group, HG_GROUP, 0);
    const size_t row = tm_hang_call(w, key, rank, f->seq);
    return row == TM_HANG_NO_ROW ? 0 : tm_hang_int(w->calls, row, HC_FORM, 0);
}

/* The form that more than half of them have, by majority vote; 0: none. */
static int64_t usual_form(const tm_hang_world *w, const tm_hang_front *f) {
    const int64_t *v = f->came.data;
    int64_t usual = 0;
    size_t lead = 0, n = 0;
    for (size_t i = 0; i < f->came.n; i++) {
        const int64_t form = form_of(w, f, v[i]);
        usual = lead == 0 ? form : usual;
        lead += form == usual ? 1 : (size_t)-1;
    }
    for (size_t i = 0; i < f->came.n; i++)
        n += form_of(w, f, v[i]) == usual;
    return 2 * n > f->came.n ? usual : 0;
}

/* Where most agree, those who do not; else all. */
static bool name_differing(const tm_hang_world *w, size_t front, tm_hang_causes *out) {
    const tm_hang_front *f = (const tm_hang_front *)w->fronts.data + front;
    const int64_t usual = usual_form(w, f), *v = f->came.data;
    out->reason = TM_HANG_DIFFERS;
    out->front = front;
    out->sure = usual != 0;
    for (size_t i = 0; i < f->came.n; i++)
        if ((usual == 0 || form_of(w, f, v[i]) != usual) &&
            !tm_vec_append(&out->culprits, &v[i], 1))
            return false;
    return true;
}

/* The earliest front that misses one of them. */
static size_t front_that_misses(const tm_hang_world *w, const tm_vec *ranks) {
    const tm_hang_front *f = w->fronts.data;
    const int64_t *v = ranks->data;
    for (size_t i = 0; i < w->fronts.n; i++)
        for (size_t k = 0; k < ranks->n; k++)
            if (tm_hang_has(&f[i].absent, v[k]) || tm_hang_has(&f[i].perhaps, v[k]) ||
                tm_hang_has(&f[i].no_dump, v[k]))
                return i;
    return w->fronts.n;
}

/* Two groups in another order: most wait in one operation, and the others in those that miss them.
 */
static size_t front_of_most(const tm_hang_world *w, size_t n_waiting) {
    const tm_hang_front *f = w->fronts.data;
    size_t most = 0;
    for (size_t i = 1; i < w->fronts.n; i++)
        most = f[i].waiting.n > f[most].waiting.n ? i : most;
    return 2 * f[most].waiting.n > n_waiting ? most : w->fronts.n;
}

static bool name_circle(const tm_hang_world *w, const unsigned char *roles, tm_hang_causes *out) {
    tm_vec waiting = TM_VEC(int64_t);
    bool ok = choose(w, roles, WAITS, 0, &waiting);
    const size_t most = front_of_most(w, waiting.n);
    const tm_hang_front *f = w->fronts.data;
    const int64_t *v = waiting.data;
    out->reason = TM_HANG_CIRCLE;
    out->front = most < w->fronts.n ? most : 0;
    for (size_t i = 0; i < waiting.n && ok && most < w->fronts.n; i++)
        if (!tm_hang_has(&f[most].waiting, v[i]))
            ok = tm_vec_append(&out->culprits, &v[i], 1) != NULL;
    out->sure = out->culprits.n > 0 && 2 * out->culprits.n < waiting.n;
    tm_vec_free(&waiting);
    if (out->culprits.n > 0)
        return ok;
    ok = ok && choose(w, roles, WAITS | MISSED, 0, &out->culprits);
    return ok &&
           (out->culprits.n > 0 || choose(w, roles, WAITS | MISSED_PERHAPS, 0, &out->culprits));
}

static bool name_without_dump(const tm_hang_world *w, const unsigned char *roles,
                              tm_hang_causes *out) {
    if (!choose(w, roles, LOST, 0, &out->culprits))
        return false;
    out->reason = TM_HANG_LOST;
    out->front = front_that_misses(w, &out->culprits);
    out->sure = out->culprits.n == 1;
    return true;
}

static bool find(const tm_hang_world *w, const unsigned char *roles, tm_hang_causes *out) {
    const tm_hang_front *f = w->fronts.data;
    bool any_lost = false, any_missed = false;
    for (size_t i = 0; i < w->fronts.n; i++)
        if (f[i].problem == TM_HANG_MISMATCH)
            return name_differing(w, i, out) && choose(w, roles, LOST, 0, &out->also);
    for (int64_t r = 0; r < w->n_ranks; r++) {
        any_lost = any_lost || roles[r] & LOST;
        any_missed = any_missed || roles[r] & (MISSED | MISSED_PERHAPS);
    }
    if (!choose(w, roles, MISSED, WAITS | IN_MISMATCH, &out->culprits))
        return false;
    if (out->culprits.n == 0 && !any_lost &&
        !choose(w, roles, MISSED_PERHAPS, WAITS, &out->culprits))
        return false;
    if (out->culprits.n > 0) {
        out->reason = TM_HANG_NOT_ISSUED;
        out->front = front_that_misses(w, &out->culprits);
        out->sure = !any_lost && out->culprits.n == 1;
        return choose(w, roles, LOST, 0, &out->also);
    }
    if (any_lost)
        return name_without_dump(w, roles, out);
    if (any_missed)
        return name_circle(w, roles, out);
    out->reason = w->fronts.n > 0 ? TM_HANG_OPEN : TM_HANG_NOTHING;
    out->front = 0;
    return true;
}

/* The fronts that miss a culprit, or in which they differ or wait for one another. */
static void mark_fronts(tm_hang_world *w, const tm_hang_causes *c) {
    tm_hang_front *f = w->fronts.data;
    const int64_t *v = c->culprits.data;
    for (size_t i = 0; i < w->fronts.n; i++) {
        f[i].cause = i == c->front;
        for (size_t k = 0; k < c->culprits.n && !f[i].cause && c->reason == TM_HANG_CIRCLE; k++)
            f[i].cause = tm_hang_has(&f[i].waiting, v[k]);
    }
}

bool tm_hang_find_causes(tm_hang_world *w, tm_hang_causes *out) {
    unsigned char *roles = calloc((size_t)w->n_ranks + 1, 1);
    *out = (tm_hang_causes){
        .culprits = TM_VEC(int64_t), .also = TM_VEC(int64_t), .front = w->fronts.n};
    if (!roles)
        return false;
    mark_all(w, roles);
    const bool ok = find(w, roles, out);
    free(roles);
    mark_fronts(w, out);
    return ok;
}

void tm_hang_causes_free(tm_hang_causes *c) {
    tm_vec_free(&c->culprits);
    tm_vec_free(&c->also);
}
