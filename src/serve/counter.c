#include "serve/counter.h"

#include <math.h>
#include <stdlib.h>

#include "base/now.h"
#include "base/sorted.h"
#include "match/records.h"
#include "report/timeline_events.h"

/* A change of the counter: `by` is added to its value. */
typedef struct change {
    int64_t time_ns;
    double by;
} change;

/* A launched GPU event: its start, and the row of the call. */
typedef struct launched {
    int64_t begin_ns;
    uint32_t call;
} launched;

struct tm_counters {
    const tm_tiler *tiler;
    const tm_serve_reader *reader;
    tm_store_pieces *attrs;   /* attributes of copies and collectives; NULL until first needed */
    const tm_timeline *ranks; /* [n] */
    size_t n;
    tm_vec changes, launched;            /* scratch */
    double most[TM_COUNTER_COLUMNS_MAX]; /* scratch: maximum in each column */
};

typedef struct counting {
    tm_counters *c;
    const tm_counter_wish *wish;
    size_t at;
    const tm_timeline *rank;
    int64_t base_ns; /* start of the drawn timeline on the job's clock */
} counting;

tm_status tm_counters_open(const tm_tiler *tiler, const tm_serve_reader *reader, tm_counters **out,
                           tm_error *err) {
    tm_counters *c = calloc(1, sizeof *c);
    if (!c)
        return tm_fail_memory(err);
    c->tiler = tiler;
    c->reader = reader;
    c->ranks = tm_serve_reader_ranks(reader, &c->n);
    c->changes = TM_VEC(change);
    c->launched = TM_VEC(launched);
    *out = c;
    return TM_OK;
}

void tm_counters_close(tm_counters *c) {
    if (!c)
        return;
    tm_store_close_pieces(c->attrs);
    tm_vec_free(&c->changes);
    tm_vec_free(&c->launched);
    free(c);
}

/* Selects the columns of attributes needed for bytes and waits. */
static bool is_wanted(int table, const tm_record_column *column) {
    if (table == TM_RECORD_COPIES)
        return column->field_at == offsetof(tm_copy_attr, bytes);
    return table != TM_RECORD_COLLECTIVES ||
           (column->field_at != offsetof(tm_collective_attr, comms_id) &&
            column->field_at != offsetof(tm_collective_attr, group_ranks));
}

static tm_status open_attrs(tm_counters *c, tm_error *err) {
    const tm_store_visit_plan plan = {
        .records = 1u << TM_RECORD_COLLECTIVES | 1u << TM_RECORD_COPIES, .takes = is_wanted};
    if (c->attrs)
        return TM_OK;
    TM_TRY(tm_serve_events_pieces(c->tiler->events, &plan, TM_SERVE_BLOCK_ROWS, &c->attrs, err));
    return tm_store_index_pieces(c->attrs, err);
}

static int64_t drawn(const counting *s, int64_t recorded_ns) {
    return tm_serve_drawn(s->c->reader, s->at, recorded_ns);
}

/* Adds @p by to the counter from @p from to @p to, clipped to the window. */
static bool add(counting *s, int64_t from, int64_t to, double by) {
    from = from > s->wish->from ? from : s->wish->from;
    to = to < s->wish->to ? to : s->wish->to;
    return from >= to || (tm_vec_append(&s->c->changes, &(change){from, by}, 1) &&
                          tm_vec_append(&s->c->changes, &(change){to, -by}, 1));
}

TM_ORDER_BY(by_call, launched, call);

/* Counts each launched event as queued from its launch to its start. Sets @p any if at least one
 * launch was before the end of the window. */
static tm_status add_launched(counting *s, bool *any, tm_error *err) {
    tm_vec *all = &s->c->launched;
    const launched *v = all->data;
    const tm_timeline *piece = NULL;
    size_t first = 0;
    tm_sort(all->data, all->n, all->size, by_call);
    *any = false;
    for (size_t i = 0; v && i < all->n; i++) {
        const size_t block = v[i].call / TM_SERVE_BLOCK_ROWS * (size_t)TM_SERVE_BLOCK_ROWS;
        if (!piece || block != first)
            TM_TRY(tm_serve_reader_rows(s->c->reader, s->at, block, TM_ROWS_TIMES, &piece, err));
        first = block;
        const int64_t call = drawn(s, piece->begin_ns[v[i].call - block]);
        *any = *any || call < s->wish->to;
        if (!add(s, call, v[i].begin_ns, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Collects the events in a block of a stream that start after the start of the window. Sets @p
 * after if all of the block's events start after the end of the window. */
static tm_status find_launched(counting *s, const tm_track *track, size_t first, bool *after,
                               tm_error *err) {
    const tm_timeline *piece;
    s->c->launched.n = 0;
    *after = true;
    TM_TRY(tm_serve_reader_rows(s->c->reader, s->at, first,
                                TM_ROWS_TIMES | TM_ROWS_LAUNCHES | TM_ROWS_KINDS, &piece, err));
    for (size_t i = 0; i < piece->n_events; i++) {
        const launched own = {drawn(s, piece->begin_ns[i]), piece->launch[i]};
        if (first + i - track->first >= track->count)
            continue;
        *after = *after && own.begin_ns >= s->wish->to;
        if (own.call != TM_NO_EVENT && own.begin_ns > s->wish->from &&
            piece->role[i] != TM_ROLE_NONE && tm_shown_as(piece, track, i) != TM_SHOWN_NOT &&
            !tm_vec_append(&s->c->launched, &own, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Counts the queued events of each GPU track. A stream runs events in the order of their launches.
 * So the search of a track stops at the first block in which all events start, and all launches
 * happen, after the window. */
static tm_status count_queue(counting *s, tm_error *err) {
    for (size_t t = 0; t < s->rank->n_tracks; t++) {
        const tm_track *track = &s->rank->tracks[t];
        const size_t end = (size_t)track->first + track->count;
        size_t first = track->first / TM_SERVE_BLOCK_ROWS * (size_t)TM_SERVE_BLOCK_ROWS;
        for (; track->kind == TM_TRACK_GPU && first < end; first += TM_SERVE_BLOCK_ROWS) {
            bool after, any;
            if (!tm_serve_events_reach(s->c->tiler->events, s->at, first,
                                       s->base_ns + s->wish->from, INT64_MAX / 4))
                continue;
            TM_TRY(find_launched(s, track, first, &after, err));
            TM_TRY(add_launched(s, &any, err));
            if (after && !any)
                break;
        }
    }
    return TM_OK;
}

static double by_time(int64_t bytes, int64_t ns) {
    return bytes > 0 && ns > 0 ? (double)bytes / (double)ns : 0;
}

static bool add_copies(counting *s, size_t first, const tm_timeline *piece) {
    const tm_copy_attr *copies = piece->attrs[TM_ATTR_COPY];
    for (size_t k = 0; k < piece->n_attrs[TM_ATTR_COPY]; k++) {
        const size_t i = copies[k].event - first;
        const int64_t begin = drawn(s, piece->begin_ns[i]), ns = piece->duration_ns[i];
        if (!add(s, begin, begin + ns, by_time(copies[k].bytes, ns)))
            return false;
    }
    return true;
}

static bool add_collectives(counting *s, size_t first, const tm_timeline *piece) {
    const tm_collective_attr *attrs = piece->attrs[TM_ATTR_COLLECTIVE];
    for (size_t k = 0; k < piece->n_attrs[TM_ATTR_COLLECTIVE]; k++) {
        const size_t i = attrs[k].event - first;
        const int64_t begin = drawn(s, piece->begin_ns[i]), end = begin + piece->duration_ns[i];
        const int64_t from = begin + (attrs[k].wait_ns > 0 ? attrs[k].wait_ns : 0);
        const int64_t bytes =
            attrs[k].first_rank >= 0 ? tm_match_bytes(s->c->tiler->names, &attrs[k]) : 0;
        if (!add(s, from, end, by_time(bytes, end - from)))
            return false;
    }
    return true;
}

static tm_status count_bytes(counting *s, tm_error *err) {
    const size_t end = tm_serve_gpu_rows(s->rank);
    TM_TRY(open_attrs(s->c, err));
    for (size_t first = 0; first < end; first += TM_SERVE_BLOCK_ROWS) {
        const tm_timeline *piece;
        if (!tm_serve_events_reach(s->c->tiler->events, s->at, first, s->base_ns + s->wish->from,
                                   s->base_ns + s->wish->to))
            continue;
        TM_TRY(tm_store_seek_piece(s->c->attrs, s->at, first, err));
        TM_TRY(tm_store_read_piece(s->c->attrs, s->at, first, TM_ROWS_TIMES | TM_ROWS_ATTRS, &piece,
                                   err));
        if (!(s->wish->what == TM_COUNTER_COPIES ? add_copies : add_collectives)(s, first, piece))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* Orders by time. At equal times, falls come first. */
TM_ORDER_BY(by_time_of, change, time_ns, by);

/* Returns the column that contains a time. If @p end is set, the time is the end of a range: at the
 * border of two columns it belongs to the left one. */
static size_t column_of(const tm_counter_wish *wish, int64_t time_ns, bool end) {
    const double at = (double)(time_ns - wish->from) / (double)(wish->to - wish->from);
    const double column = at * (double)wish->n;
    const double place = end ? ceil(column) - 1 : floor(column);
    return place <= 0 ? 0 : place >= (double)wish->n ? wish->n - 1 : (size_t)place;
}

/* Computes the maximum in each column. Sets the value to exactly 0 whenever nothing is open, so
 * that rounding errors do not add up. */
static void sweep(counting *s) {
    const change *v = s->c->changes.data;
    const size_t n = s->c->changes.n;
    double value = 0;
    int64_t open = 0;
    tm_sort(s->c->changes.data, n, sizeof *v, by_time_of);
    for (size_t i = 0; i < s->wish->n; i++)
        s->c->most[i] = 0;
    for (size_t i = 0; v && i + 1 < n; i++) {
        open += v[i].by > 0 ? 1 : v[i].by < 0 ? -1 : 0;
        value = open == 0 ? 0 : value + v[i].by;
        if (value <= 0 || v[i + 1].time_ns == v[i].time_ns)
            continue;
        const size_t last = column_of(s->wish, v[i + 1].time_ns, true);
        for (size_t k = column_of(s->wish, v[i].time_ns, false); k <= last; k++)
            s->c->most[k] = value > s->c->most[k] ? value : s->c->most[k];
    }
}

static tm_status count_rank(tm_counters *c, const tm_counter_wish *wish, size_t at, tm_vec *steps,
                            tm_error *err) {
    counting s = {c, wish, at, &c->ranks[at], 0};
    s.base_ns = c->tiler->begin_ns - tm_tiler_shift(c->tiler, s.rank);
    c->changes.n = 0;
    TM_TRY((wish->what == TM_COUNTER_QUEUE ? count_queue : count_bytes)(&s, err));
    sweep(&s);
    for (size_t i = 0; i < wish->n; i++) {
        const tm_counter_step step = {s.rank->rank, (uint32_t)i, c->most[i]};
        const bool same = i > 0 && !(c->most[i] > c->most[i - 1]) && !(c->most[i] < c->most[i - 1]);
        if (!same && !tm_vec_append(steps, &step, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_counter_find(tm_counters *c, const tm_counter_wish *wish, tm_vec *steps, int64_t *next,
                          tm_error *err) {
    const int64_t end_ns = tm_now_ns() + wish->budget_ns;
    size_t at = (size_t)wish->at;
    for (bool first = true; at < c->n && (first || tm_now_ns() < end_ns); at++) {
        if (wish->n_ranks > 0 && !tm_serve_in(wish->ranks, wish->n_ranks, c->ranks[at].rank))
            continue;
        TM_TRY(count_rank(c, wish, at, steps, err));
        first = false;
    }
    *next = (int64_t)at;
    return TM_OK;
}
