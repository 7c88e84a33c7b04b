#include "timeline/levels.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "base/vec.h"
#include "timeline/lanes.h"

enum {
    EXPONENT_MAX = 60, /* largest exponent of a bucket's width that fits an int64 */
    FINER_MAX = 6      /* a caller may request a level this many exponents finer than the default */
};

/* One level: the rows of all sub-tracks. */
typedef struct level {
    tm_vec rows; /* vector of tm_level: sorted by sub-track, then by begin */
    int exponent;
    /* The members below are used while events are counted. `first`: where the rows of each
     * sub-track start. `last`: row of the last event of each sub-track. `others`: rows of buckets
     * that have events but no busy time. */
    size_t first[TM_N_LEVEL_LANES + 1], last[TM_N_LEVEL_LANES];
    tm_vec others;
} level;

enum { NEEDED = TM_ROWS_TIMES | TM_ROWS_KINDS | TM_ROWS_ATTRS };

/* A piece of the rank's events. `first` is the rank's row of the first event in the piece. */
typedef struct events {
    const tm_rank_clock *clock;
    const tm_timeline *piece;
    size_t first;
} events;

/* Returns the start of the bucket that contains a time, which may be before the epoch. */
static int64_t bucket_begin(int64_t ns, int exponent) {
    return ns & ~(((int64_t)1 << exponent) - 1);
}

TM_ORDER_BY(by_place, tm_level, lane, begin_ns);

static void join(tm_level *into, const tm_level *row) {
    into->busy_ns = tm_sum(into->busy_ns, row->busy_ns);
    into->events = tm_sum(into->events, row->events);
    into->longest_ns = row->longest_ns > into->longest_ns ? row->longest_ns : into->longest_ns;
}

/* Merges adjacent rows of the same bucket. */
static void put_together(tm_vec *rows) {
    tm_level *v = rows->data;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        if (n > 0 && by_place(&v[n - 1], &v[i]) == 0)
            join(&v[n - 1], &v[i]);
        else
            v[n++] = v[i];
    }
    rows->n = n;
}

static void sort(tm_vec *rows) {
    tm_vec_sort(rows, by_place);
    put_together(rows);
}

/* Adds the busy time of each interval to all buckets that the interval overlaps. */
static bool add_busy(level *l, tm_level_lane lane, const tm_intervals *set) {
    const tm_interval *v = set->data;
    const int64_t width = (int64_t)1 << l->exponent;
    for (size_t i = 0; i < set->n; i++)
        for (int64_t at = v[i].begin_ns; at < v[i].end_ns;) {
            int64_t begin = bucket_begin(at, l->exponent);
            int64_t end = v[i].end_ns - begin > width ? begin + width : v[i].end_ns;
            tm_level *last = l->rows.n > 0 ? (tm_level *)l->rows.data + l->rows.n - 1 : NULL;
            if (last && last->lane == (uint8_t)lane && last->begin_ns == begin) {
                last->busy_ns += end - at;
            } else {
                const tm_level row = {.begin_ns = begin,
                                      .busy_ns = end - at,
                                      .lane = (uint8_t)lane,
                                      .exponent = (uint8_t)l->exponent};
                if (!tm_vec_append(&l->rows, &row, 1))
                    return false;
            }
            at = end;
        }
    return true;
}

/* Returns the row of a bucket in which a sub-track is busy; NULL if it is idle. First tries the
 * bucket of the previous event and the one after. */
static tm_level *busy_row(level *l, tm_level_lane lane, int64_t begin) {
    tm_level *v = l->rows.data;
    size_t first = l->first[lane], end = l->first[lane + 1], at = l->last[lane];
    at += at + 1 < end && v[at].begin_ns < begin;
    if (at < end && v[at].begin_ns != begin)
        at = first + TM_FIRST_FROM(tm_level, begin_ns, v + first, end - first, begin);
    if (at == end || v[at].begin_ns != begin)
        return NULL;
    l->last[lane] = at;
    return &v[at];
}

/* Adds an event of a sub-track to the bucket of its start. */
static bool add_event(level *l, const events *e, tm_level_lane lane, size_t row,
                      int64_t longest_ns) {
    int64_t begin = tm_rank_clock_true(e->clock, e->piece->begin_ns[row]);
    const tm_level one = {.begin_ns = bucket_begin(begin, l->exponent),
                          .events = 1,
                          .longest_ns = longest_ns,
                          .lane = (uint8_t)lane,
                          .exponent = (uint8_t)l->exponent};
    tm_level *busy = busy_row(l, lane, one.begin_ns);
    if (busy) {
        join(busy, &one);
        return true;
    }
    tm_level *last = l->others.n > 0 ? (tm_level *)l->others.data + l->others.n - 1 : NULL;
    if (last && by_place(last, &one) == 0) {
        join(last, &one);
        return true;
    }
    return tm_vec_append(&l->others, &one, 1) != NULL;
}

/* Returns whether an event is host work: an operator or a call, not an annotation or frame around
 * them. */
static bool is_host_work(const tm_timeline *piece, size_t row) {
    uint8_t category = piece->category[row];
    return piece->kind[row] == TM_DURATION && piece->role[row] == TM_ROLE_NONE &&
           (category == TM_CAT_CPU_OP || category == TM_CAT_RUNTIME || category == TM_CAT_DRIVER);
}

static bool add_gpu_event(level *l, const events *e, size_t row) {
    int64_t duration = e->piece->duration_ns[row];
    switch (e->piece->role[row]) {
    case TM_ROLE_COMPUTE:
        return add_event(l, e, TM_LEVEL_COMPUTE, row, duration);
    case TM_ROLE_MEMORY:
        return add_event(l, e, TM_LEVEL_COPIES, row, duration);
    case TM_ROLE_COMMUNICATION:
        break;
    default:
        return !is_host_work(e->piece, row) || add_event(l, e, TM_LEVEL_HOST, row, duration);
    }
    const tm_collective_attr *attr = tm_timeline_collective(e->piece, (uint32_t)(e->first + row));
    if (!attr || attr->wait_ns < 0)
        return add_event(l, e, TM_LEVEL_UNMATCHED, row, duration);
    int64_t wait = attr->wait_ns < duration ? attr->wait_ns : duration;
    return (wait == 0 || add_event(l, e, TM_LEVEL_WAIT, row, wait)) &&
           add_event(l, e, TM_LEVEL_TRANSFER, row, duration - wait);
}

/* Finds the range of each sub-track among the rows of busy buckets. */
static void find_lanes(level *l) {
    const tm_level *v = l->rows.data;
    size_t at = 0;
    for (int lane = 0; lane < TM_N_LEVEL_LANES; lane++) {
        l->first[lane] = l->last[lane] = at;
        while (at < l->rows.n && v[at].lane == lane)
            at++;
    }
    l->first[TM_N_LEVEL_LANES] = at;
}

/* Merges the rows of buckets without busy time into the sorted rows. */
static bool merge_others(level *l) {
    sort(&l->others);
    size_t n = l->rows.n, m = l->others.n;
    if (m > 0 && !tm_vec_append(&l->rows, NULL, m))
        return false;
    tm_level *v = l->rows.data;
    const tm_level *others = l->others.data;
    for (size_t to = n + m; m > 0; to--) {
        bool other = n == 0 || by_place(&others[m - 1], &v[n - 1]) > 0;
        v[to - 1] = other ? others[m - 1] : v[n - 1];
        m -= other;
        n -= !other;
    }
    return true;
}

/* Adds the events of a piece. From time to time, merges the rows of the same bucket without busy
 * time, so that there are far fewer rows than events. */
static bool add_piece(level *l, const events *e, size_t *limit) {
    for (size_t row = 0; row < e->piece->n_events; row++) {
        if (!add_gpu_event(l, e, row))
            return false;
        if (l->others.n < *limit)
            continue;
        sort(&l->others);
        *limit = 2 * l->others.n + (1 << 16);
    }
    return true;
}

static tm_status add_events(level *l, const tm_timeline *timeline, const tm_event_rows *rows,
                            tm_error *err) {
    events e = {.clock = &timeline->clock};
    size_t limit = 1 << 16;
    find_lanes(l);
    for (size_t row = 0; row < timeline->n_events; row = e.first + e.piece->n_events) {
        TM_TRY(tm_event_rows_next(rows, timeline, NEEDED, &e.first, &e.piece, err));
        if (!add_piece(l, &e, &limit))
            return tm_fail_memory(err);
    }
    return merge_others(l) ? TM_OK : tm_fail_memory(err);
}

static bool add_host_piece(tm_intervals *host, const events *e) {
    const tm_timeline *piece = e->piece;
    bool ok = true;
    for (size_t row = 0; row < piece->n_events && ok; row++) {
        int64_t begin = tm_rank_clock_true(e->clock, piece->begin_ns[row]);
        ok = !is_host_work(piece, row) ||
             tm_intervals_add(host, begin, begin + piece->duration_ns[row]);
    }
    return ok;
}

static tm_status add_host(level *l, const tm_timeline *timeline, const tm_event_rows *rows,
                          tm_error *err) {
    tm_intervals host = TM_INTERVALS();
    events e = {.clock = &timeline->clock};
    tm_status status = TM_OK;
    for (size_t row = 0; row < timeline->n_events && status == TM_OK;) {
        status = tm_event_rows_next(rows, timeline, TM_ROWS_TIMES | TM_ROWS_KINDS, &e.first,
                                    &e.piece, err);
        if (status == TM_OK && !add_host_piece(&host, &e))
            status = tm_fail_memory(err);
        row = status == TM_OK ? e.first + e.piece->n_events : row;
    }
    tm_intervals_normalise(&host);
    if (status == TM_OK && !add_busy(l, TM_LEVEL_HOST, &host))
        status = tm_fail_memory(err);
    tm_vec_free(&host);
    return status;
}

static tm_status fill(level *l, const tm_timeline *timeline, const tm_event_rows *rows,
                      tm_error *err) {
    tm_lanes lanes;
    tm_status status = tm_lanes_make(timeline, rows, &lanes, err);
    bool ok = true;
    for (int k = 0; k < TM_N_LANE_KINDS && status == TM_OK && ok; k++)
        ok = add_busy(l, tm_level_lane_of((tm_lane_kind)k), &lanes.kinds[k]);
    tm_lanes_free(&lanes);
    if (status != TM_OK)
        return status;
    if (!ok)
        return tm_fail_memory(err);
    TM_TRY(add_host(l, timeline, rows, err));
    return add_events(l, timeline, rows, err);
}

/* Joins pairs of buckets. */
static void coarsen(level *l) {
    tm_level *v = l->rows.data;
    l->exponent++;
    for (size_t i = 0; i < l->rows.n; i++) {
        v[i].begin_ns = bucket_begin(v[i].begin_ns, l->exponent);
        v[i].exponent = (uint8_t)l->exponent;
    }
    put_together(&l->rows);
}

/* Returns the finest exponent at which a sub-track that is always busy has at most @p most rows. */
static int first_exponent(const tm_timeline *timeline, size_t most) {
    int64_t begin = 0, end = 0;
    if (!tm_timeline_range(timeline, &begin, &end))
        return 0;
    uint64_t range = (uint64_t)end - (uint64_t)begin; /* may exceed an int64 */
    int exponent = 0;
    while (exponent < EXPONENT_MAX && range >> exponent > most)
        exponent++;
    return exponent;
}

/* Returns whether some sub-track has more than two rows, which the next level can join. */
static bool can_join(const level *l) {
    const tm_level *v = l->rows.data;
    for (size_t i = 2; i < l->rows.n; i++)
        if (v[i].lane == v[i - 2].lane)
            return l->exponent < EXPONENT_MAX;
    return false;
}

static tm_status make(const tm_timeline *timeline, const tm_event_rows *rows, int finest, level *l,
                      const tm_level_sink *sink, tm_error *err) {
    /* 1 is added so that there is a level even for few events. */
    size_t most = timeline->n_events / TM_LEVEL_EVENTS + 1;
    int first = first_exponent(timeline, most);
    int least =
        /* Even finer levels would need too much memory. */
        first > FINER_MAX ? first - FINER_MAX : 0;
    l->exponent = finest < 0 || finest > first ? first : finest > least ? finest : least;
    TM_TRY(fill(l, timeline, rows, err));
    while ((finest >= 0 ? l->exponent < finest : l->rows.n > most) && can_join(l))
        coarsen(l);
    for (;; coarsen(l)) {
        TM_TRY(sink->take(sink->context, l->rows.data, l->rows.n, err));
        if (!can_join(l))
            return TM_OK;
    }
}

tm_status tm_levels_each(const tm_timeline *timeline, const tm_event_rows *rows, int finest,
                         const tm_level_sink *sink, tm_error *err) {
    level l = {.rows = TM_VEC(tm_level), .others = TM_VEC(tm_level)};
    tm_status status = make(timeline, rows, finest, &l, sink, err);
    tm_vec_free(&l.rows);
    tm_vec_free(&l.others);
    return status;
}

static tm_status append(void *context, const tm_level *rows, size_t n, tm_error *err) {
    return n == 0 || tm_vec_append(context, rows, n) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_levels_make(tm_timeline *timeline, tm_error *err) {
    tm_vec out = TM_VEC(tm_level);
    const tm_level_sink sink = {append, &out};
    tm_status status = tm_levels_each(timeline, NULL, -1, &sink, err);
    free(timeline->levels);
    timeline->levels = NULL;
    timeline->n_levels = 0;
    if (status != TM_OK) {
        tm_vec_free(&out);
        return status;
    }
    tm_vec_trim(&out);
    timeline->levels = out.data;
    timeline->n_levels = out.n;
    return TM_OK;
}
