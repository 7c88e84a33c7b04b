#include "serve/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/sorted.h"

struct tm_finder {
    const tm_tiler *tiler;
    tm_store_pieces *pieces;
    const tm_timeline *ranks; /* [n] */
    size_t n;
    size_t *first_block; /* owned; [n + 1] number of each rank's first block */
    uint32_t *counts;    /* owned; [n_names] */
    bool *wanted;        /* owned; [n_names] true for the names that the current search looks for */
    size_t n_names;
};

static bool is_wait(int table, const tm_record_column *column) {
    return table != TM_RECORD_COLLECTIVES ||
           column->field_at == offsetof(tm_collective_attr, wait_ns);
}

static tm_status count_names(tm_finder *f, tm_error *err) {
    for (size_t at = 0; at < f->n; at++)
        for (size_t first = 0; first < f->ranks[at].n_events; first += TM_SERVE_BLOCK_ROWS) {
            const tm_timeline *piece;
            TM_TRY(tm_store_read_piece(f->pieces, at, first, TM_ROWS_NAMES, &piece, err));
            for (size_t i = 0; i < piece->n_events; i++)
                f->counts[piece->name[i]]++;
        }
    return TM_OK;
}

static tm_status open_finder(tm_finder *f, tm_error *err) {
    const tm_store_visit_plan plan = {.records = 1u << TM_RECORD_COLLECTIVES, .takes = is_wait};
    f->ranks = tm_serve_ranks(f->tiler->events, &f->n);
    f->n_names = tm_names_count(f->tiler->names);
    f->first_block = calloc(f->n + 1, sizeof *f->first_block);
    f->counts = calloc(f->n_names + 1, sizeof *f->counts);
    f->wanted = calloc(f->n_names + 1, sizeof *f->wanted);
    if (!f->first_block || !f->counts || !f->wanted)
        return tm_fail_memory(err);
    for (size_t at = 0; at < f->n; at++)
        f->first_block[at + 1] =
            f->first_block[at] +
            (f->ranks[at].n_events + TM_SERVE_BLOCK_ROWS - 1) / TM_SERVE_BLOCK_ROWS;
    TM_TRY(tm_serve_events_pieces(f->tiler->events, &plan, TM_SERVE_BLOCK_ROWS, &f->pieces, err));
    TM_TRY(tm_store_index_pieces(f->pieces, err));
    return count_names(f, err);
}

tm_status tm_finder_open(const tm_tiler *tiler, tm_finder **out, tm_error *err) {
    tm_finder *f = calloc(1, sizeof *f);
    if (!f)
        return tm_fail_memory(err);
    f->tiler = tiler;
    tm_status status = open_finder(f, err);
    if (status == TM_OK)
        *out = f;
    else
        tm_finder_close(f);
    return status;
}

void tm_finder_close(tm_finder *f) {
    if (!f)
        return;
    tm_store_close_pieces(f->pieces);
    free(f->first_block);
    free(f->counts);
    free(f->wanted);
    free(f);
}

const uint32_t *tm_finder_counts(const tm_finder *f) {
    return f->counts;
}

typedef struct search {
    tm_finder *f;
    const tm_find_wish *wish;
    tm_found *out;
    int64_t longer; /* Only events longer than this [ns] are listed. The value rises when the list
                       is full. */
    const tm_track *track;    /* the track to which from.reach applies */
    size_t at, first;         /* the current block: index of the block's rank, and number of the
                                 block's first row */
    int64_t clock_ns;         /* offset [ns] from a time on the job's clock to the time that is
                                 drawn */
    const tm_timeline *piece; /* the rows of the current block */
    size_t attr;              /* index of the next collective attribute */
} search;

/* Orders all fields, so that the order does not depend on whether the sort is stable. */
TM_ORDER_FALLING(by_length, tm_found_event, duration_ns, rank, begin_ns, name, kind);

static void keep_longest(search *s) {
    tm_vec *events = &s->out->events;
    tm_sort(events->data, events->n, sizeof(tm_found_event), by_length);
    if (events->n < TM_FIND_MOST)
        return;
    events->n = TM_FIND_MOST;
    int64_t least = ((const tm_found_event *)events->data)[TM_FIND_MOST - 1].duration_ns;
    s->longer = least > s->longer ? least : s->longer;
}

static bool list(search *s, const tm_found_event *event) {
    tm_vec *events = &s->out->events;
    if (event->duration_ns <= s->longer)
        return true;
    if (events->n == 2 * (size_t)TM_FIND_MOST)
        keep_longest(s);
    return event->duration_ns <= s->longer || tm_vec_append(events, event, 1);
}

/* Returns how much of an event [ns] is after @p reach, the latest end of the events before it. Then
 * moves @p reach to the event's end if this is later. */
static int64_t once(int64_t *reach, const tm_found_event *event) {
    int64_t end = event->begin_ns + event->duration_ns;
    int64_t from = event->begin_ns > *reach ? event->begin_ns : *reach;
    *reach = end > *reach ? end : *reach;
    return end > from ? end - from : 0;
}

static bool add(search *s, const tm_found_event *event) {
    tm_found_sum *sum = &s->out->kinds[event->kind];
    sum->count++;
    sum->sum_ns += event->duration_ns;
    sum->longest_ns = event->duration_ns > sum->longest_ns ? event->duration_ns : sum->longest_ns;
    int which = event->kind > TM_SHOWN_GPU_ANNOTATION;
    if (event->kind >= TM_SHOWN_GPU_ANNOTATION)
        s->out->once_ns[which] += once(&s->out->next.reach[which], event);
    return list(s, event);
}

static const tm_collective_attr *collective_of(search *s, uint32_t row) {
    const tm_collective_attr *attrs = s->piece->attrs[TM_ATTR_COLLECTIVE];
    size_t n = s->piece->n_attrs[TM_ATTR_COLLECTIVE];
    while (s->attr < n && attrs[s->attr].event < row)
        s->attr++;
    return s->attr < n && attrs[s->attr].event == row ? &attrs[s->attr] : NULL;
}

static void enter_track(search *s, const tm_track *track) {
    if (track == s->track)
        return;
    s->track = track;
    s->out->next.reach[0] = s->out->next.reach[1] = INT64_MIN;
}

static bool look_at(search *s, size_t i) {
    const tm_timeline *piece = s->piece, *rank = &s->f->ranks[s->at];
    uint32_t row = (uint32_t)(s->first + i);
    if (row - s->track->first >= s->track->count)
        enter_track(s, tm_timeline_track(rank, row));
    if (!s->f->wanted[piece->name[i]] || tm_shown_as(piece, s->track, i) == TM_SHOWN_NOT ||
        piece->duration_ns[i] <= s->wish->above || piece->duration_ns[i] >= s->wish->below)
        return true;
    const tm_found_event event = {
        .rank = rank->rank,
        .begin_ns = tm_rank_clock_true(&rank->clock, piece->begin_ns[i]) + s->clock_ns,
        .duration_ns = piece->duration_ns[i],
        .name = piece->name[i],
        .kind = tm_shown_kind_of(piece->role[i], piece->category[i], s->track->kind != TM_TRACK_GPU,
                                 collective_of(s, row))};
    return !(s->wish->kinds >> event.kind & 1) || add(s, &event);
}

static tm_status read_rows(search *s, unsigned what, tm_error *err) {
    TM_TRY(tm_store_seek_piece(s->f->pieces, s->at, s->first, err));
    return tm_store_read_piece(s->f->pieces, s->at, s->first, what, &s->piece, err);
}

static tm_status look_block(search *s, tm_error *err) {
    const tm_timeline *rank = &s->f->ranks[s->at];
    bool any = false;
    TM_TRY(read_rows(s, TM_ROWS_NAMES, err));
    for (size_t i = 0; i < s->piece->n_events && !any; i++)
        any = s->f->wanted[s->piece->name[i]];
    if (!any)
        return TM_OK;
    s->attr = 0;
    s->clock_ns = tm_tiler_shift(s->f->tiler, rank) - s->f->tiler->begin_ns;
    TM_TRY(read_rows(s, TM_ROWS_NAMES | TM_ROWS_TIMES | TM_ROWS_KINDS | TM_ROWS_ATTRS, err));
    for (size_t i = 0; i < s->piece->n_events; i++)
        if (!look_at(s, i))
            return tm_fail_memory(err);
    return TM_OK;
}

/* Returns the index of the rank that owns a block; n if the block is after the last. */
static size_t rank_of(const tm_finder *f, size_t block) {
    size_t at = 0;
    while (at < f->n && f->first_block[at + 1] <= block)
        at++;
    return at;
}

static bool is_rank_wanted(const search *s) {
    return s->wish->n_ranks == 0 ||
           tm_serve_in(s->wish->ranks, s->wish->n_ranks, s->f->ranks[s->at].rank);
}

static tm_status look_on(search *s, tm_error *err) {
    const tm_finder *f = s->f;
    int64_t end_ns = tm_now_ns() + s->wish->budget_ns;
    size_t block = (size_t)s->wish->from.block;
    for (s->at = rank_of(f, block); s->at < f->n; s->at++) {
        if (!is_rank_wanted(s)) {
            block = f->first_block[s->at + 1];
            continue;
        }
        for (; block < f->first_block[s->at + 1]; block++) {
            s->out->next.block = (int64_t)block;
            s->first = (block - f->first_block[s->at]) * TM_SERVE_BLOCK_ROWS;
            const tm_track *track = tm_timeline_track(&f->ranks[s->at], (uint32_t)s->first);
            bool begins = !s->track; /* true for the first block of this call */
            if (begins)
                s->track = track;
            enter_track(s, track);
            if (!begins && tm_now_ns() >= end_ns)
                return TM_OK;
            TM_TRY(look_block(s, err));
        }
    }
    s->out->next.block = s->out->blocks;
    return TM_OK;
}

static void want_names(const tm_finder *f, const tm_find_wish *wish) {
    memset(f->wanted, false, f->n_names);
    for (size_t i = 0; i < wish->n_names; i++)
        for (int64_t id = wish->names[i].first;
             id <= wish->names[i].last && id < (int64_t)f->n_names; id++)
            f->wanted[id] = true;
}

tm_status tm_find(tm_finder *finder, const tm_find_wish *wish, tm_found *out, tm_error *err) {
    *out = (tm_found){.events = TM_VEC(tm_found_event),
                      .next = wish->from,
                      .blocks = (int64_t)finder->first_block[finder->n]};
    search s = {.f = finder, .wish = wish, .out = out, .longer = wish->longer};
    want_names(finder, wish);
    tm_status status = look_on(&s, err);
    keep_longest(&s);
    return status;
}
