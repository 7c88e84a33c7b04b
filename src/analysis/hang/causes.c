#include "causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "tables.h"

/* Roles of a rank in the search for causes, as bits. */
enum {
    WAITS = 1,
    MISSED = 2,
    MISSED_PERHAPS = 4,
    LOST = 8,
    IN_MISMATCH = 16,
    IN_CIRCLE = 32,
    UNREADABLE = 128
};

static void mark(unsigned char *roles, const tm_vec *ranks, unsigned char role) {
    const int64_t *v = ranks->data;
    for (size_t i = 0; i < ranks->n; i++)
        roles[v[i]] |= role;
}

static void mark_all(const tm_hang_world *w, unsigned char *roles) {
    mark(roles, &w->unreadable, UNREADABLE);
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

/* Appends the ranks that have all roles in @p wanted and none of the roles in @p barred. */
static bool choose(const tm_hang_world *w, const unsigned char *roles, unsigned wanted,
                   unsigned barred, tm_vec *out) {
    for (int64_t r = 0; r < w->n_ranks; r++)
        if ((roles[r] & wanted) == wanted && !(roles[r] & barred) && !tm_vec_append(out, &r, 1))
            return false;
    return true;
}

static int64_t form_of(const tm_hang_world *w, const tm_hang_front *f, int64_t rank) {
    const size_t row = tm_hang_call_of(w, f, rank);
    return row == TM_HANG_NO_ROW ? 0 : tm_hang_int(w->calls, row, HC_FORM, 0);
}

/* Returns the form (hash of operation, sizes and types) of over half of the ranks' calls; 0 if
 * there is none. Uses a majority vote (Boyer-Moore). */
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

/* Names the ranks whose form differs from the majority's; if there is no majority, all ranks. */
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

/* Returns the earliest front that one of @p ranks has not reached; fronts.n if there is none. */
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

/* Returns the front where more than half of all waiting ranks wait; fronts.n if there is none.
 * There is such a front if ranks called the operations of two groups in different orders: most
 * ranks wait for one group, and the other ranks wait for the other group, whose operation most
 * ranks have not reached. */
static size_t front_of_most(const tm_hang_world *w, size_t n_waiting) {
    const tm_hang_front *f = w->fronts.data;
    size_t most = 0;
    for (size_t i = 1; i < w->fronts.n; i++)
        most = f[i].waiting.n > f[most].waiting.n ? i : most;
    return 2 * f[most].waiting.n > n_waiting ? most : w->fronts.n;
}

static bool any_has(const tm_vec *ranks, const unsigned char *roles, unsigned char role) {
    const int64_t *v = ranks->data;
    for (size_t i = 0; i < ranks->n; i++)
        if (roles[v[i]] & role)
            return true;
    return false;
}

/* Marks ranks that wait for one another, directly or indirectly. Starts with all ranks that wait at
 * one front and are missing at another. Then removes ranks that do not wait for a marked rank,
 * until nothing changes. Returns false if no rank is left. */
static bool mark_circle(const tm_hang_world *w, unsigned char *roles) {
    const tm_hang_front *f = w->fronts.data;
    size_t left = 0, before = SIZE_MAX;
    for (int64_t r = 0; r < w->n_ranks; r++)
        if ((roles[r] & (WAITS | MISSED)) == (WAITS | MISSED)) {
            roles[r] |= IN_CIRCLE;
            left++;
        }
    while (left > 0 && left < before) {
        enum { STAYS = 64 };
        before = left;
        left = 0;
        for (size_t i = 0; i < w->fronts.n; i++)
            if (any_has(&f[i].absent, roles, IN_CIRCLE))
                mark(roles, &f[i].waiting, STAYS);
        for (int64_t r = 0; r < w->n_ranks; r++) {
            const unsigned both = IN_CIRCLE | STAYS;
            const bool stays = (roles[r] & both) == both;
            roles[r] = (unsigned char)((roles[r] & ~both) | (stays ? IN_CIRCLE : 0));
            left += stays;
        }
    }
    return left > 0;
}

/* Returns whether a rank has not reached front @p most, and waits at another front for a rank that
 * waits at front @p most. */
static bool is_crosswise(const tm_hang_world *w, size_t most, int64_t rank) {
    const tm_hang_front *f = w->fronts.data;
    bool found = false;
    for (size_t i = 0; i < w->fronts.n && !found; i++)
        for (size_t k = 0; k < f[i].absent.n && tm_hang_has(&f[i].waiting, rank) && !found; k++)
            found = tm_hang_has(&f[most].waiting, ((const int64_t *)f[i].absent.data)[k]);
    return found && tm_hang_has(&f[most].absent, rank);
}

static bool name_circle(const tm_hang_world *w, const unsigned char *roles, tm_hang_causes *out) {
    tm_vec waiting = TM_VEC(int64_t);
    bool ok = choose(w, roles, IN_CIRCLE, 0, &waiting), crosswise = true;
    const size_t most = front_of_most(w, waiting.n);
    const tm_hang_front *f = w->fronts.data;
    const int64_t *v = waiting.data;
    out->reason = TM_HANG_CIRCLE;
    for (size_t i = 0; i < waiting.n && ok && most < w->fronts.n; i++) {
        if (tm_hang_has(&f[most].waiting, v[i]))
            continue;
        crosswise = crosswise && is_crosswise(w, most, v[i]);
        ok = tm_vec_append(&out->culprits, &v[i], 1) != NULL;
    }
    out->sure = crosswise && out->culprits.n > 0 && 2 * out->culprits.n < waiting.n;
    out->front = out->sure ? most : front_that_misses(w, &waiting);
    if (!out->sure) {
        out->culprits.n = 0;
        ok = ok && choose(w, roles, IN_CIRCLE, 0, &out->culprits);
    }
    tm_vec_free(&waiting);
    return ok;
}

/* Returns the first front with this problem; fronts.n if there is none. */
static size_t front_of(const tm_hang_world *w, tm_hang_problem problem) {
    const tm_hang_front *f = w->fronts.data;
    size_t i = 0;
    while (i < w->fronts.n && f[i].problem != problem)
        i++;
    return i;
}

/* Returns the front to report if no rank is named. It is a front that all members have reached. A
 * front is preferred if one of its waiting ranks is missing at another front. */
static size_t front_of_root(const tm_hang_world *w, const unsigned char *roles) {
    const tm_hang_front *f = w->fronts.data;
    for (size_t i = 0; i < w->fronts.n; i++)
        if (f[i].problem == TM_HANG_ALL_CAME && any_has(&f[i].waiting, roles, MISSED))
            return i;
    return front_of(w, TM_HANG_ALL_CAME);
}

/* Sets the reason why no rank is named. */
static void name_nobody(const tm_hang_world *w, const unsigned char *roles, tm_hang_causes *out) {
    const size_t n = w->fronts.n, first = front_of(w, TM_HANG_PERHAPS);
    const size_t perhaps = first < n ? first : front_of(w, TM_HANG_NO_DUMP);
    const size_t root = front_of_root(w, roles);
    out->front = perhaps < n ? perhaps : root;
    out->reason = perhaps < n   ? TM_HANG_UNREPORTED
                  : root < n    ? TM_HANG_OPEN
                  : w->any_open ? TM_HANG_UNKNOWN
                                : TM_HANG_NOTHING;
}

static bool name_without_dump(const tm_hang_world *w, const unsigned char *roles,
                              tm_hang_causes *out) {
    if (!choose(w, roles, LOST, UNREADABLE, &out->culprits))
        return false;
    out->reason = TM_HANG_LOST;
    out->front = front_that_misses(w, &out->culprits);
    out->sure = out->culprits.n == 1;
    return true;
}

static bool name_besides(const tm_hang_world *w, const unsigned char *roles, tm_hang_causes *out) {
    const bool ok = choose(w, roles, MISSED, WAITS | IN_MISMATCH, &out->besides) &&
                    choose(w, roles, LOST, UNREADABLE, &out->also);
    if (out->besides.n > 0)
        out->front_besides = front_that_misses(w, &out->besides);
    out->sure = out->sure && out->besides.n < 2;
    return ok;
}

static bool find(const tm_hang_world *w, unsigned char *roles, tm_hang_causes *out) {
    const size_t n = w->fronts.n, times = front_of(w, TM_HANG_OTHER_TIMES);
    const size_t mismatch = front_of(w, TM_HANG_MISMATCH);
    bool any_lost = false;
    if (times < n) {
        out->reason = TM_HANG_TIMES;
        out->front = times;
        return true;
    }
    if (mismatch < n)
        return name_differing(w, mismatch, out) && name_besides(w, roles, out);
    for (int64_t r = 0; r < w->n_ranks; r++)
        any_lost = any_lost || (roles[r] & (LOST | UNREADABLE)) == LOST;
    if (!choose(w, roles, MISSED, WAITS | IN_MISMATCH, &out->culprits))
        return false;
    if (out->culprits.n > 0) {
        out->reason = TM_HANG_NOT_ISSUED;
        out->front = front_that_misses(w, &out->culprits);
        out->sure = !any_lost && out->culprits.n == 1 && w->unreadable.n == 0;
        return choose(w, roles, LOST, UNREADABLE, &out->also);
    }
    if (any_lost)
        return name_without_dump(w, roles, out);
    if (mark_circle(w, roles))
        return name_circle(w, roles, out);
    name_nobody(w, roles, out);
    return true;
}

/* Returns an upper bound of the wait of ranks at fronts [from, to) [ns]: the time from the first
 * arrival at these fronts to the last write of a dump. Returns -1 if one of the times is
 * unknown. */
static int64_t longest_wait(const tm_hang_world *w, size_t from, size_t to) {
    const tm_hang_front *f = w->fronts.data;
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = from; i < to; i++) {
        if (f[i].first_ns <= 0)
            return -1;
        first = f[i].first_ns < first ? f[i].first_ns : first;
    }
    for (size_t i = 0; i < w->dumps->n_rows; i++) {
        const int64_t written = tm_hang_int(w->dumps, i, HD_WRITTEN, 0);
        if (written <= 0)
            return -1;
        last = written > last ? written : last;
    }
    return last >= first ? last - first : -1;
}

static bool is_short(int64_t wait_ns) {
    return wait_ns >= 0 && wait_ns < 1000000000;
}

static void look_at_times(const tm_hang_world *w, tm_hang_causes *out) {
    const size_t besides = out->front_besides;
    if (besides < w->fronts.n && is_short(longest_wait(w, besides, besides + 1))) {
        out->besides.n = 0;
        out->front_besides = w->fronts.n;
    }
    const bool waits = out->reason != TM_HANG_NOTHING && out->reason != TM_HANG_DIFFERS &&
                       out->reason != TM_HANG_TIMES && w->fronts.n > 0;
    out->longest_ns = waits ? longest_wait(w, 0, w->fronts.n) : -1;
    if (!is_short(out->longest_ns))
        return;
    out->reason = TM_HANG_RUNNING;
    out->culprits.n = out->also.n = 0;
    out->sure = false;
}

/* Marks the fronts of the causes. If ranks wait in a circle, also marks the fronts at which these
 * ranks wait. */
static void mark_fronts(tm_hang_world *w, const tm_hang_causes *c) {
    tm_hang_front *f = w->fronts.data;
    const int64_t *v = c->culprits.data;
    for (size_t i = 0; i < w->fronts.n; i++) {
        f[i].cause = i == c->front || i == c->front_besides;
        for (size_t k = 0; k < c->culprits.n && !f[i].cause && c->reason == TM_HANG_CIRCLE; k++)
            f[i].cause = tm_hang_has(&f[i].waiting, v[k]);
    }
}

bool tm_hang_find_causes(tm_hang_world *w, tm_hang_causes *out) {
    unsigned char *roles = calloc((size_t)w->n_ranks + 1, 1);
    *out = (tm_hang_causes){.culprits = TM_VEC(int64_t),
                            .also = TM_VEC(int64_t),
                            .besides = TM_VEC(int64_t),
                            .front = w->fronts.n,
                            .front_besides = w->fronts.n};
    if (!roles)
        return false;
    mark_all(w, roles);
    const bool ok = find(w, roles, out);
    look_at_times(w, out);
    free(roles);
    mark_fronts(w, out);
    return ok;
}

void tm_hang_causes_free(tm_hang_causes *c) {
    TM_VECS_FREE(&c->culprits, &c->also, &c->besides);
}
