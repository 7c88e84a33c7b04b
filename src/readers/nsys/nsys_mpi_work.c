#include "nsys_mpi_work.h"

#include <string.h>

#include "base/sorted.h"

#define OUTSIDE "outside of ranges"

/* An MPI call or a range on a thread. */
typedef struct scope {
    int64_t begin_ns, end_ns;
    uint32_t track, name;
    bool call;
} scope;

/* State while the calls and ranges of a thread are gone through. */
typedef struct walk {
    tm_nsys_emitter *e;
    tm_vec open;    /* vector of scope: the calls and ranges that are open; the innermost one comes
                       last */
    size_t n_calls; /* number of calls in `open` */
    int64_t at_ns;
    uint32_t outside; /* name id of OUTSIDE */
} walk;

static int by_begin(const void *a, const void *b) {
    const scope *x = a, *y = b;
    int order = tm_order_i64(x->track, y->track);
    order = order ? order : tm_order_i64(x->begin_ns, y->begin_ns);
    order = order ? order : tm_order_i64(y->end_ns, x->end_ns); /* outer scopes first */
    return order ? order : tm_order_i64(x->call, y->call);
}

static tm_status list_scopes(const tm_nsys_emitter *e, tm_vec *out, tm_error *err) {
    const tm_raw_event *events = e->trace->events.data;
    for (size_t i = 0; i < e->trace->events.n; i++) {
        const bool call = events[i].category == TM_CAT_MPI;
        const bool range =
            events[i].category == TM_CAT_USER_ANNOTATION || events[i].category == TM_CAT_CPU_OP;
        const scope added = {events[i].begin_ns, events[i].begin_ns + events[i].duration_ns,
                             events[i].track, events[i].name, call};
        if (events[i].kind == TM_DURATION && (call || range) && !tm_vec_append(out, &added, 1))
            return tm_fail_memory(err);
    }
    tm_sort(out->data, out->n, sizeof(scope), by_begin);
    return TM_OK;
}

/* Returns the name of the work in a range. It is the name of the range without the number at its
 * end, so that the work in "step 12" and in "step 13" has the same name. */
static uint32_t name_of(const walk *w, const scope *in) {
    tm_text text = in ? tm_names_text(w->e->names, in->name) : (tm_text){"", 0};
    size_t n = text.size, digits;
    while (n > 0 && text.bytes[n - 1] >= '0' && text.bytes[n - 1] <= '9')
        n--;
    digits = text.size - n;
    while (digits > 0 && n > 0 && strchr(" _:#=/-.", text.bytes[n - 1]))
        n--;
    if (!in || n == 0)
        return w->outside;
    /* If no separator precedes the digits, they are part of the name, as in fc1. */
    if (n + digits == text.size)
        return in->name;
    char copy[128];
    if (n >= sizeof copy)
        return in->name;
    memcpy(copy, text.bytes, n);
    return tm_names_intern(w->e->names, copy, n);
}

/* Advances to a time. If no call is open, the time since the previous advance was work, and an
 * event is added for it. */
static tm_status pass(walk *w, uint32_t track, int64_t to_ns, tm_error *err) {
    const scope *open = w->open.data;
    const int64_t from_ns = w->at_ns;
    if (to_ns <= from_ns)
        return TM_OK;
    w->at_ns = to_ns;
    if (w->n_calls > 0)
        return TM_OK;
    uint32_t row;
    const tm_raw_event piece = {.name = name_of(w, w->open.n > 0 ? &open[w->open.n - 1] : NULL),
                                .kind = TM_DURATION,
                                .category = TM_CAT_HOST_WORK,
                                .track = track};
    return tm_nsys_add_at(w->e, from_ns - w->e->base_ns, to_ns - w->e->base_ns, piece, &row, err);
}

/* Closes the calls and ranges that end by a time, the innermost first. A range that ends within a
 * call is closed with the call. */
static tm_status close_until(walk *w, uint32_t track, int64_t to_ns, tm_error *err) {
    while (w->open.n > 0) {
        const scope *top = (scope *)w->open.data + w->open.n - 1;
        if (top->end_ns > to_ns)
            return TM_OK;
        TM_TRY(pass(w, track, top->end_ns, err));
        w->n_calls -= top->call;
        w->open.n--;
    }
    return TM_OK;
}

static tm_status walk_thread(walk *w, const scope *v, size_t n, tm_error *err) {
    size_t first = 0;
    while (first < n && !v[first].call)
        first++;
    if (first == n)
        return TM_OK;
    w->open.n = w->n_calls = 0;
    w->at_ns = v[first].begin_ns;
    for (size_t i = 0; i < n; i++) {
        TM_TRY(close_until(w, v->track, v[i].begin_ns, err));
        TM_TRY(pass(w, v->track, v[i].begin_ns, err));
        if (!tm_vec_append(&w->open, &v[i], 1))
            return tm_fail_memory(err);
        w->n_calls += v[i].call;
    }
    return close_until(w, v->track, INT64_MAX, err);
}

tm_status tm_nsys_add_work(tm_nsys_emitter *e, tm_error *err) {
    walk w = {.e = e, .open = TM_VEC(scope), .outside = tm_names_intern_string(e->names, OUTSIDE)};
    tm_vec scopes = TM_VEC(scope);
    tm_status status =
        w.outside != TM_NAME_FAILED ? list_scopes(e, &scopes, err) : tm_fail_memory(err);
    const scope *v = scopes.data;
    for (size_t first = 0, i = 0; first < scopes.n && status == TM_OK; first = i) {
        for (i = first + 1; i < scopes.n && v[i].track == v[first].track;)
            i++;
        status = walk_thread(&w, v + first, i - first, err);
    }
    tm_vec_free(&scopes);
    tm_vec_free(&w.open);
    return status;
}
