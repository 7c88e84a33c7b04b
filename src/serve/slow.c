#include "serve/slow.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/now.h"
#include "base/sorted.h"
#include "report/timeline_events.h"

enum { STEPS_KEPT = 8 };

/* A rank's events of one name in a step. */
typedef struct list {
    uint32_t name, n;
    size_t first; /* index of the first event's value in `values` */
} list;

/* A step in the cache: the durations of its events, and how far the comparison has come. */
typedef struct compared {
    int64_t step;
    uint64_t used; /* When the entry was last used: the number of this use, counted over the uses of
                      all entries. 0: the entry is free. */
    size_t seen;   /* number of ranks whose events have been read */
    size_t next;   /* index of the list that is compared next */
    tm_vec lists; /* vector of list: in the order of the ranks; when the comparison starts, they are
                     sorted by `name` and `n` */
    tm_vec values;  /* vector of float: durations [ns]. The comparison replaces each duration by the
                       ratio  of tm_slow_event, or by 0 if there is no ratio. */
    size_t *firsts; /* owned; [n]: index of each rank's first value */
} compared;

struct tm_slow {
    tm_serve_reader *reader;
    size_t n; /* number of ranks */
    size_t most;
    uint64_t clock;
    compared kept[STEPS_KEPT];
    tm_vec events; /* vector of tm_serve_event: scratch */
};

tm_status tm_slow_open(tm_serve_reader *reader, size_t most, tm_slow **out, tm_error *err) {
    tm_slow *s = calloc(1, sizeof *s);
    if (!s)
        return tm_fail_memory(err);
    s->reader = reader;
    s->most = most;
    s->events = TM_VEC(tm_serve_event);
    (void)tm_serve_reader_ranks(reader, &s->n);
    for (size_t k = 0; k < STEPS_KEPT; k++)
        s->kept[k] = (compared){.lists = TM_VEC(list), .values = TM_VEC(float)};
    *out = s;
    return TM_OK;
}

static void forget(compared *c) {
    tm_vec_free(&c->lists);
    tm_vec_free(&c->values);
    free(c->firsts);
    *c = (compared){.lists = TM_VEC(list), .values = TM_VEC(float)};
}

void tm_slow_close(tm_slow *s) {
    if (!s)
        return;
    for (size_t k = 0; k < STEPS_KEPT; k++)
        forget(&s->kept[k]);
    tm_vec_free(&s->events);
    free(s);
}

/* Orders events by name, start and duration. If all are equal, the order does not matter. */
TM_ORDER_BY(by_name, tm_serve_event, name, begin_ns, duration_ns);

/* Reads the kernels and copies of a rank that start in a step, sorted by name and begin. */
static tm_status read_step(tm_slow *s, size_t at, int64_t step, tm_error *err) {
    tm_serve_stretch in;
    s->events.n = 0;
    if (!tm_serve_reader_step(s->reader, at, step, &in))
        return TM_OK;
    tm_serve_walk walk = {.reader = s->reader, .at = at, .from_ns = in.from_ns, .to_ns = in.to_ns};
    tm_serve_event e;
    for (bool found = true; found;) {
        TM_TRY(tm_serve_walk_next(&walk, &e, &found, err));
        const bool is = e.kind == TM_LANE_COMPUTE || e.kind == TM_LANE_COPIES;
        if (found && is && e.begin_ns >= in.from_ns && !tm_vec_append(&s->events, &e, 1))
            return tm_fail_memory(err);
    }
    tm_sort(s->events.data, s->events.n, s->events.size, by_name);
    return TM_OK;
}

/* Returns how many values the cache holds. Sets @p oldest to the least recently used step other
 * than the current one. */
static size_t held(tm_slow *s, compared **oldest) {
    size_t n = 0;
    *oldest = NULL;
    for (size_t k = 0; k < STEPS_KEPT; k++) {
        compared *c = &s->kept[k];
        n += c->values.n;
        if (c->used > 0 && c->used < s->clock && (!*oldest || c->used < (*oldest)->used))
            *oldest = c;
    }
    return n;
}

static tm_status make_room(tm_slow *s, compared *c, tm_error *err) {
    compared *oldest;
    const size_t n = s->events.n, most = s->most;
    while (held(s, &oldest) + n > most && oldest)
        forget(oldest);
    if (c->values.n + n <= most)
        return TM_OK;
    const long long step = c->step;
    forget(c);
    return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                   "step %lld has more than %zu kernels and copies, which are too many to compare",
                   step, most);
}

static tm_status add_rank(tm_slow *s, compared *c, tm_error *err) {
    TM_TRY(read_step(s, c->seen, c->step, err));
    TM_TRY(make_room(s, c, err));
    c->firsts[c->seen] = c->values.n;
    const tm_serve_event *v = s->events.data;
    for (size_t i = 0, to; v && i < s->events.n; i = to) {
        for (to = i; to < s->events.n && v[to].name == v[i].name; to++) {
            const float ns = (float)v[to].duration_ns;
            if (!tm_vec_append(&c->values, &ns, 1))
                return tm_fail_memory(err);
        }
        const list own = {v[i].name, (uint32_t)(to - i), c->firsts[c->seen] + i};
        if (!tm_vec_append(&c->lists, &own, 1))
            return tm_fail_memory(err);
    }
    c->seen++;
    return TM_OK;
}

TM_ORDER_BY(by_times, list, name, n, first);

/* Returns the value that index @p place would have if @p own, one of the values, were removed from
 * a sorted array of at least 2 values. */
static double without(const double *sorted, size_t place, double own) {
    return own > sorted[place] ? sorted[place] : sorted[place + 1];
}

static double median_without(const double *sorted, size_t n, double own) {
    const size_t rest = n - 1, middle = rest / 2;
    const double high = without(sorted, middle, own);
    return rest % 2 == 1 ? high : (without(sorted, middle - 1, own) + high) / 2;
}

/* Compares ranks that have equally many events of a name. Divides each duration by the median of
 * the durations at the same index on the other ranks. @param scratch [2 * n] */
static void compare(float *values, const list *lists, size_t n, double *scratch) {
    double *own = scratch + n;
    for (size_t k = 0; k < lists[0].n; k++) {
        for (size_t i = 0; i < n; i++)
            own[i] = scratch[i] = (double)values[lists[i].first + k];
        tm_sort_reals(scratch, n);
        for (size_t i = 0; i < n; i++) {
            const double median = n > 1 ? median_without(scratch, n, own[i]) : 0;
            values[lists[i].first + k] = median > 0 ? (float)(own[i] / median) : 0;
        }
    }
}

/* Compares until the time is up. The comparison is complete when c->next is at the end of the
 * lists. */
static tm_status compare_all(compared *c, int64_t end_ns, tm_error *err) {
    const list *v = c->lists.data;
    if (c->next == 0)
        tm_sort(c->lists.data, c->lists.n, c->lists.size, by_times);
    double *scratch = malloc((2 * c->seen + 1) * sizeof *scratch);
    if (!scratch)
        return tm_fail_memory(err);
    for (bool first = true; v && c->next < c->lists.n && (first || tm_now_ns() < end_ns);
         first = false) {
        size_t to = c->next;
        while (to < c->lists.n && v[to].name == v[c->next].name && v[to].n == v[c->next].n)
            to++;
        compare(c->values.data, v + c->next, to - c->next, scratch);
        c->next = to;
    }
    free(scratch);
    return TM_OK;
}

static tm_status take(tm_slow *s, int64_t step, compared **out, tm_error *err) {
    compared *oldest;
    *out = NULL;
    for (size_t k = 0; k < STEPS_KEPT && !*out; k++)
        if (s->kept[k].used > 0 && s->kept[k].step == step)
            *out = &s->kept[k];
    for (size_t k = 0; k < STEPS_KEPT && !*out; k++)
        if (s->kept[k].used == 0)
            *out = &s->kept[k];
    (void)held(s, &oldest);
    if (!*out)
        forget(*out = oldest);
    if (!(*out)->firsts && !((*out)->firsts = calloc(s->n + 1, sizeof *(*out)->firsts)))
        return tm_fail_memory(err);
    (*out)->step = step;
    (*out)->used = ++s->clock;
    return TM_OK;
}

static bool is_wanted(const tm_slow_wish *wish, int64_t rank) {
    return wish->n_ranks == 0 || tm_serve_in(wish->ranks, wish->n_ranks, rank);
}

/* Appends the events of a compared rank that overlap the window. */
static tm_status put_rank(tm_slow *s, const compared *c, size_t at, const tm_slow_wish *wish,
                          tm_vec *out, tm_error *err) {
    size_t n;
    const int64_t rank = tm_serve_reader_ranks(s->reader, &n)[at].rank;
    if (!is_wanted(wish, rank))
        return TM_OK;
    TM_TRY(read_step(s, at, c->step, err));
    const tm_serve_event *v = s->events.data;
    const float *ratios = c->values.data;
    for (size_t i = 0; v && ratios && i < s->events.n; i++) {
        const double ratio = (double)ratios[c->firsts[at] + i];
        const tm_slow_event e = {rank, v[i].begin_ns, v[i].duration_ns, ratio};
        if (ratio > 0 && e.begin_ns < wish->to && e.begin_ns + e.duration_ns >= wish->from &&
            !tm_vec_append(out, &e, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Finds the numbers of the steps that overlap the window on at least one requested rank, ascending.
 */
static tm_status find_steps(const tm_slow *s, const tm_slow_wish *wish, tm_vec *out,
                            tm_error *err) {
    size_t n, kept = 0;
    const tm_timeline *ranks = tm_serve_reader_ranks(s->reader, &n);
    for (size_t at = 0; at < n; at++)
        for (size_t k = 0; k < ranks[at].n_steps && is_wanted(wish, ranks[at].rank); k++) {
            const tm_step *step = &ranks[at].steps[k];
            if (tm_serve_drawn(s->reader, at, step->begin_ns) < wish->to &&
                tm_serve_drawn(s->reader, at, step->end_ns) > wish->from &&
                !tm_vec_append(out, &step->number, 1))
                return tm_fail_memory(err);
        }
    int64_t *v = out->data;
    if (!v)
        return TM_OK;
    tm_sort(v, out->n, sizeof *v, tm_compare_i64);
    for (size_t i = 0; i < out->n; i++)
        if (i == 0 || v[i] != v[i - 1])
            v[kept++] = v[i];
    out->n = kept;
    return TM_OK;
}

/* Continues at the work item out->next. The number of an item is (index of the step) * (number of
 * ranks) + (index of the rank). For each step, reads the events of all ranks, compares them, and
 * then appends the events of the requested ranks. */
static tm_status find(tm_slow *s, const tm_slow_wish *wish, const tm_vec *steps,
                      tm_slow_answer *out, tm_error *err) {
    const int64_t end_ns = tm_now_ns() + wish->budget_ns;
    const int64_t n = (int64_t)s->n, *v = steps->data;
    out->of = n;
    bool first = true;
    for (out->next = wish->at; n > 0 && out->next / n < (int64_t)steps->n; first = false) {
        compared *c;
        if (!first && tm_now_ns() >= end_ns)
            return TM_OK;
        TM_TRY(take(s, v[out->next / n], &c, err));
        out->step = c->step;
        if (c->seen < s->n) {
            TM_TRY(add_rank(s, c, err));
        } else if (c->next < c->lists.n) {
            TM_TRY(compare_all(c, end_ns, err));
        } else {
            TM_TRY(put_rank(s, c, (size_t)(out->next % n), wish, &out->events, err));
            out->next++;
        }
        out->seen = (int64_t)c->seen;
    }
    out->next = -1;
    return TM_OK;
}

tm_status tm_slow_find(tm_slow *s, const tm_slow_wish *wish, tm_slow_answer *out, tm_error *err) {
    tm_vec steps = TM_VEC(int64_t);
    *out = (tm_slow_answer){.events = TM_VEC(tm_slow_event)};
    tm_status status = find_steps(s, wish, &steps, err);
    if (status == TM_OK)
        status = find(s, wish, &steps, out, err);
    tm_vec_free(&steps);
    return status;
}
