#include "serve/event_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "timeline/trace.h"

/* Attributes that a timeline shows, as bits. */
static const unsigned SHOWN_RECORDS = 1u << TM_RECORD_COLLECTIVES | 1u << TM_RECORD_KERNELS |
                                      1u << TM_RECORD_COPIES | 1u << TM_RECORD_SHAPES |
                                      1u << TM_RECORD_OPERATORS;

/* Time range of a block of a rank's rows, on the job's clock. */
typedef struct block {
    int64_t begin_ns, end_ns;
} block;

struct tm_serve_events {
    const tm_store *store;
    const tm_names *names;
    tm_timeline *ranks;  /* owned; [n] */
    tm_timeline *counts; /* owned; [n] the same ranks with their numbers of rows; the arrays in them
                            are borrowed from `ranks` */
    size_t n;
    tm_store_pieces *pieces,
        *more; /* `more` reads the attributes that tm_serve_events_want chose; NULL if it chose none
                */
    tm_vec blocks; /* vector of block: the blocks of the first rank, then those of the second, and
                      so on */
    size_t *first_block; /* owned; [n + 1] number of each rank's first block */
};

static bool add_block(tm_serve_events *e, const tm_timeline *rank, const tm_timeline *piece) {
    block *b = tm_vec_push(&e->blocks);
    if (!b)
        return false;
    *b = (block){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < piece->n_events; i++) {
        int64_t begin = tm_rank_clock_true(&rank->clock, piece->begin_ns[i]);
        int64_t end = begin + piece->duration_ns[i];
        b->begin_ns = begin < b->begin_ns ? begin : b->begin_ns;
        b->end_ns = end > b->end_ns ? end : b->end_ns;
    }
    return true;
}

static tm_status look(tm_serve_events *e, tm_error *err) {
    for (size_t at = 0; at < e->n; at++) {
        e->first_block[at] = e->blocks.n;
        for (size_t first = 0; first < e->ranks[at].n_events; first += TM_SERVE_BLOCK_ROWS) {
            const tm_timeline *piece;
            TM_TRY(tm_store_read_piece(e->pieces, at, first, TM_ROWS_TIMES, &piece, err));
            if (!add_block(e, &e->ranks[at], piece))
                return tm_fail_memory(err);
        }
    }
    e->first_block[e->n] = e->blocks.n;
    return TM_OK;
}

/* Selects the attribute columns shown in a timeline and its panels (report/timeline_details.h). */
static bool is_shown(int table, const tm_record_column *column) {
    switch (table) {
    case TM_RECORD_COLLECTIVES:
        return column->field_at == offsetof(tm_collective_attr, wait_ns);
    case TM_RECORD_OPERATORS:
        return column->field_at == offsetof(tm_operator_attr, stack);
    case TM_RECORD_COPIES:
        return column->field_at != offsetof(tm_copy_attr, bandwidth_gbps);
    default:
        return true;
    }
}

tm_status tm_serve_events_pieces(const tm_serve_events *e, const tm_store_visit_plan *plan,
                                 size_t most, tm_store_pieces **out, tm_error *err) {
    tm_store_visit_plan own = *plan;
    own.store = e->store;
    own.names = e->names;
    own.ranks = e->counts;
    own.n = e->n;
    return tm_store_open_pieces(&own, most, out, err);
}

tm_status tm_serve_events_want(tm_serve_events *e, unsigned attrs, tm_error *err) {
    unsigned records = 0;
    for (int a = 0; a < TM_N_ATTRS; a++)
        records |= attrs >> a & 1 ? 1u << (TM_RECORD_LAUNCHES + a) : 0;
    tm_store_close_pieces(e->more);
    e->more = NULL;
    const tm_store_visit_plan plan = {.records = records};
    return records ? tm_serve_events_pieces(e, &plan, TM_SERVE_BLOCK_ROWS, &e->more, err) : TM_OK;
}

/* Copies the tracks and steps that were read to `counts`. Each rank's first row is found from the
 * numbers of rows of the ranks before it. Only `counts` still has these numbers, because reading
 * the timelines has set them to 0 in `ranks`. */
static void keep_counts(tm_serve_events *e) {
    for (size_t i = 0; i < e->n; i++) {
        e->counts[i].tracks = e->ranks[i].tracks;
        e->counts[i].steps = e->ranks[i].steps;
    }
}

static tm_status open_all(tm_serve_events *e, const tm_store *store, const tm_names *names,
                          tm_error *err) {
    TM_TRY(tm_store_read_ranks(store, &e->ranks, &e->n, err));
    e->counts = malloc(e->n * sizeof *e->counts);
    e->first_block = calloc(e->n + 1, sizeof *e->first_block);
    bool *all = malloc(e->n);
    tm_status status = e->first_block && e->counts && all ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        memcpy(e->counts, e->ranks, e->n * sizeof *e->counts);
    const tm_store_visit_plan plan = {.records = SHOWN_RECORDS, .takes = is_shown};
    if (status == TM_OK)
        status = tm_serve_events_pieces(e, &plan, TM_SERVE_BLOCK_ROWS, &e->pieces, err);
    if (status == TM_OK) {
        memset(all, true, e->n);
        const tm_store_selection selection = {.ranks = all, .no_events = true};
        status = tm_store_read_timelines(store, names, e->ranks, &selection, e->n, err);
    }
    free(all);
    if (status != TM_OK)
        return status;
    keep_counts(e);
    TM_TRY(tm_store_index_pieces(e->pieces, err));
    return look(e, err);
}

tm_status tm_serve_events_open(const tm_store *store, const tm_names *names, tm_serve_events **out,
                               tm_error *err) {
    tm_serve_events *e = calloc(1, sizeof *e);
    if (!e)
        return tm_fail_memory(err);
    e->store = store;
    e->names = names;
    e->blocks = TM_VEC(block);
    tm_status status = open_all(e, store, names, err);
    if (status == TM_OK)
        *out = e;
    else
        tm_serve_events_close(e);
    return status;
}

void tm_serve_events_close(tm_serve_events *e) {
    if (!e)
        return;
    tm_store_close_pieces(e->pieces);
    tm_store_close_pieces(e->more);
    for (size_t i = 0; i < e->n; i++)
        tm_timeline_destroy(&e->ranks[i]);
    free(e->ranks);
    free(e->counts);
    free(e->first_block);
    tm_vec_free(&e->blocks);
    free(e);
}

/* An event without duration overlaps the window that contains its start. */
static bool overlaps(const block *own, int64_t from_ns, int64_t to_ns) {
    return own->begin_ns < to_ns && (own->end_ns > from_ns || own->begin_ns >= from_ns);
}

bool tm_serve_events_reach(const tm_serve_events *e, size_t at, size_t first, int64_t from_ns,
                           int64_t to_ns) {
    const block *own =
        (const block *)e->blocks.data + e->first_block[at] + first / TM_SERVE_BLOCK_ROWS;
    return overlaps(own, from_ns, to_ns);
}

const tm_timeline *tm_serve_ranks(const tm_serve_events *e, size_t *n) {
    *n = e->n;
    return e->ranks;
}

tm_status tm_serve_find_rank(const tm_serve_events *e, int64_t rank, size_t *at, tm_error *err) {
    *at = 0;
    while (*at < e->n && e->ranks[*at].rank != rank)
        ++*at;
    return *at < e->n ? TM_OK
                      : tm_fail(err, TM_ERR_USAGE, NULL, -1, "the store has no rank %lld",
                                (long long)rank);
}

typedef struct reader {
    tm_serve_events *events;
    const tm_serve_wish *wish;
    const tm_timeline *rank;
    tm_timeline *out;
    int64_t from_ns; /* start of the window. If launches are requested, the window of the host
                        events starts earlier, at the first launch */
    size_t gpu_rows; /* number of leading rows on GPU tracks */
    size_t room;     /* number of events that fit into the arrays of `out` */
    size_t next;     /* end of the rows that were read last; 0: none read */
    tm_vec rows;     /* vector of uint32_t: the rank's rows that were taken, ascending */
    tm_vec attrs[TM_N_ATTRS]; /* attributes of the taken rows. Until renumber() runs, they contain
                                 the row numbers of the whole rank */
    tm_vec shapes;            /* vector of tm_launch_shape: launch shapes of the taken kernels */
} reader;

size_t tm_serve_gpu_rows(const tm_timeline *rank) {
    size_t n = 0;
    while (n < rank->n_tracks && rank->tracks[n].kind == TM_TRACK_GPU)
        n++;
    return n < rank->n_tracks ? rank->tracks[n].first : rank->n_events;
}

static bool reaches(const reader *r, int64_t begin_ns, int64_t end_ns) {
    return overlaps(&(block){begin_ns, end_ns}, r->from_ns, r->wish->to_ns);
}

/* Counts the rows of [from, to) that are in blocks fully inside the window. */
static size_t count_within(const reader *r, size_t from, size_t to) {
    const size_t *first = r->events->first_block + r->wish->at;
    const block *blocks = r->events->blocks.data;
    size_t n = 0;
    for (size_t b = (from + TM_SERVE_BLOCK_ROWS - 1) / TM_SERVE_BLOCK_ROWS;
         (b + 1) * TM_SERVE_BLOCK_ROWS <= to; b++) {
        const block *own = &blocks[first[0] + b];
        n += own->begin_ns >= r->from_ns && own->end_ns <= r->wish->to_ns ? TM_SERVE_BLOCK_ROWS : 0;
    }
    return n;
}

/* Returns the enlarged array. When out of memory, returns the old array and sets *ok to false. */
static void *more(void *old, size_t n, size_t size, bool *ok) {
    void *grown = realloc(old, n * size);
    if (grown)
        return grown;
    *ok = false;
    return old;
}

static bool make_room(reader *r, size_t n) {
    tm_timeline *out = r->out;
    if (n <= r->room)
        return true;
    size_t room = 2 * n;
    bool ok = true;
    out->begin_ns = more(out->begin_ns, room, sizeof *out->begin_ns, &ok);
    out->duration_ns = more(out->duration_ns, room, sizeof *out->duration_ns, &ok);
    out->name = more(out->name, room, sizeof *out->name, &ok);
    out->step = more(out->step, room, sizeof *out->step, &ok);
    out->launch = more(out->launch, room, sizeof *out->launch, &ok);
    out->category = more(out->category, room, sizeof *out->category, &ok);
    out->kind = more(out->kind, room, sizeof *out->kind, &ok);
    out->role = more(out->role, room, sizeof *out->role, &ok);
    r->room = ok ? room : r->room;
    return ok;
}

static void take(reader *r, const tm_timeline *piece, size_t i) {
    tm_timeline *out = r->out;
    size_t n = out->n_events++;
    out->begin_ns[n] = piece->begin_ns[i];
    out->duration_ns[n] = piece->duration_ns[i];
    out->name[n] = piece->name[i];
    out->step[n] = piece->step[i];
    out->launch[n] = piece->launch[i];
    out->category[n] = piece->category[i];
    out->kind[n] = piece->kind[i];
    out->role[n] = piece->role[i];
}

/* Adds the launch shape of the kernel attribute that was added last. A window has few kernels, so
 * equal shapes are not merged. */
static bool take_shape(reader *r, const tm_timeline *piece) {
    tm_kernel_attr *kernel =
        (tm_kernel_attr *)r->attrs[TM_ATTR_KERNEL].data + r->attrs[TM_ATTR_KERNEL].n - 1;
    const tm_launch_shape *shape = &piece->shapes[kernel->shape];
    kernel->shape = (uint32_t)r->shapes.n;
    return tm_vec_append(&r->shapes, shape, 1) != NULL;
}

/* Copies the attributes of those rows of a piece that were taken. The copies still contain the row
 * numbers of the whole rank. */
static tm_status take_attrs(reader *r, const tm_timeline *piece, size_t first_taken,
                            tm_error *err) {
    const uint32_t *rows = r->rows.data;
    for (int a = 0; a < TM_N_ATTRS; a++) {
        size_t size = tm_attr_size((tm_attr)a), at = first_taken;
        char *attrs = piece->attrs[a];
        for (size_t i = 0; i < piece->n_attrs[a]; i++) {
            uint32_t event = *tm_attr_event((tm_attr)a, attrs + i * size);
            while (at < r->rows.n && rows[at] < event)
                at++;
            if (at == r->rows.n || rows[at] != event)
                continue;
            if (!tm_vec_append(&r->attrs[a], attrs + i * size, 1) ||
                (a == TM_ATTR_KERNEL && !take_shape(r, piece)))
                return tm_fail_memory(err);
        }
    }
    return TM_OK;
}

/* Takes those rows in [from, to) of a block that overlap the window. */
static tm_status take_block(reader *r, size_t first, size_t from, size_t to, tm_error *err) {
    tm_store_pieces *pieces = r->events->more ? r->events->more : r->events->pieces;
    const tm_timeline *piece;
    size_t first_taken = r->rows.n;
    if (first == 0 || first != r->next)
        TM_TRY(tm_store_seek_piece(pieces, r->wish->at, first, err));
    r->next = first + TM_SERVE_BLOCK_ROWS;
    TM_TRY(tm_store_read_piece(pieces, r->wish->at, first, TM_ROWS_ALL, &piece, err));
    if (!make_room(r, r->out->n_events + piece->n_events))
        return tm_fail_memory(err);
    for (size_t i = 0; i < piece->n_events; i++) {
        uint32_t row = (uint32_t)(first + i);
        int64_t begin = tm_rank_clock_true(&r->rank->clock, piece->begin_ns[i]);
        if (row < from || row >= to || !reaches(r, begin, begin + piece->duration_ns[i]))
            continue;
        take(r, piece, i);
        if (!tm_vec_append(&r->rows, &row, 1))
            return tm_fail_memory(err);
    }
    return take_attrs(r, piece, first_taken, err);
}

static tm_status take_rows(reader *r, size_t from, size_t to, tm_error *err) {
    const block *blocks = r->events->blocks.data;
    const block *own = blocks + r->events->first_block[r->wish->at];
    for (size_t b = from / TM_SERVE_BLOCK_ROWS; b * TM_SERVE_BLOCK_ROWS < to; b++)
        if (reaches(r, own[b].begin_ns, own[b].end_ns))
            TM_TRY(take_block(r, b * TM_SERVE_BLOCK_ROWS, from, to, err));
    return TM_OK;
}

static size_t place_of(const reader *r, uint32_t row) {
    const uint32_t *rows = r->rows.data;
    size_t low = 0, high = r->rows.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Converts a row of the rank to a row of the window; TM_NO_EVENT if the row was not taken. */
static uint32_t row_of(const reader *r, uint32_t row) {
    size_t place = row == TM_NO_EVENT ? r->rows.n : place_of(r, row);
    bool here = place < r->rows.n && ((const uint32_t *)r->rows.data)[place] == row;
    return here ? (uint32_t)place : TM_NO_EVENT;
}

static void renumber_attrs(reader *r) {
    r->out->shapes = r->shapes.data;
    r->out->n_shapes = r->shapes.n;
    for (int a = 0; a < TM_N_ATTRS; a++) {
        char *attrs = r->attrs[a].data;
        for (size_t i = 0; i < r->attrs[a].n; i++)
            for (int ref = 0; ref < tm_attr_n_refs((tm_attr)a); ref++) {
                uint32_t *row = tm_attr_ref((tm_attr)a, attrs + i * r->attrs[a].size, ref);
                *row = row_of(r, *row);
            }
        r->out->attrs[a] = attrs;
        r->out->n_attrs[a] = r->attrs[a].n;
    }
}

/* Copies the tracks and steps, and makes all references refer to rows of the window. */
static tm_status renumber(reader *r, tm_error *err) {
    tm_timeline *out = r->out;
    out->tracks = malloc((r->rank->n_tracks + 1) * sizeof *out->tracks);
    out->steps = malloc((r->rank->n_steps + 1) * sizeof *out->steps);
    if (!out->tracks || !out->steps)
        return tm_fail_memory(err);
    if (r->rank->n_steps > 0)
        memcpy(out->steps, r->rank->steps, r->rank->n_steps * sizeof *out->steps);
    out->n_steps = r->rank->n_steps;
    out->n_tracks = r->rank->n_tracks;
    for (size_t t = 0; t < out->n_tracks; t++) {
        tm_track track = r->rank->tracks[t];
        size_t first = place_of(r, track.first), end = place_of(r, track.first + track.count);
        track.first = (uint32_t)first;
        track.count = (uint32_t)(end - first);
        out->tracks[t] = track;
    }
    for (size_t i = 0; i < out->n_events; i++)
        out->launch[i] = row_of(r, out->launch[i]);
    return TM_OK;
}

/* Returns the earliest call on a track that launched a taken event; TM_NO_EVENT if none did. */
static uint32_t first_call(const reader *r, const tm_track *track) {
    uint32_t first = TM_NO_EVENT;
    for (size_t i = 0; i < r->out->n_events; i++) {
        uint32_t call = r->out->launch[i];
        if (call != TM_NO_EVENT && call - track->first < track->count && call < first)
            first = call;
    }
    return first;
}

static tm_status find_begin(reader *r, uint32_t row, int64_t *begin_ns, tm_error *err) {
    size_t first = (size_t)row / TM_SERVE_BLOCK_ROWS * TM_SERVE_BLOCK_ROWS;
    tm_store_pieces *pieces = r->events->more ? r->events->more : r->events->pieces;
    const tm_timeline *piece;
    TM_TRY(tm_store_seek_piece(pieces, r->wish->at, first, err));
    TM_TRY(tm_store_read_piece(pieces, r->wish->at, first, TM_ROWS_TIMES, &piece, err));
    *begin_ns = tm_rank_clock_true(&r->rank->clock, piece->begin_ns[row - first]);
    r->next = 0;
    return TM_OK;
}

/* Moves the start of the host's window back to the first call that launched a GPU event of the
 * window. Does nothing if the window then has too many events. */
static tm_status reach_back(reader *r, tm_error *err) {
    for (size_t t = 0; t < r->rank->n_tracks; t++) {
        const tm_track *track = &r->rank->tracks[t];
        uint32_t call = track->kind == TM_TRACK_GPU ? TM_NO_EVENT : first_call(r, track);
        int64_t begin_ns = r->from_ns;
        if (call != TM_NO_EVENT)
            TM_TRY(find_begin(r, call, &begin_ns, err));
        r->from_ns = begin_ns < r->from_ns ? begin_ns : r->from_ns;
    }
    if (count_within(r, r->gpu_rows, r->rank->n_events) > r->wish->host_most)
        r->from_ns = r->wish->from_ns;
    return TM_OK;
}

static tm_status read_all(reader *r, bool gpu, bool host, tm_error *err) {
    if (!make_room(r, 1))
        return tm_fail_memory(err);
    if (gpu)
        TM_TRY(take_rows(r, 0, r->gpu_rows, err));
    if (host && r->wish->launches)
        TM_TRY(reach_back(r, err));
    if (host)
        TM_TRY(take_rows(r, r->gpu_rows, r->rank->n_events, err));
    return renumber(r, err);
}

tm_status tm_serve_events_read(tm_serve_events *events, const tm_serve_wish *wish, tm_timeline *out,
                               bool *gpu, bool *host, tm_error *err) {
    const tm_timeline *rank = &events->ranks[wish->at];
    reader r = {.events = events,
                .wish = wish,
                .rank = rank,
                .out = out,
                .from_ns = wish->from_ns,
                .gpu_rows = tm_serve_gpu_rows(rank),
                .rows = TM_VEC(uint32_t),
                .shapes = TM_VEC(tm_launch_shape)};
    for (int a = 0; a < TM_N_ATTRS; a++)
        r.attrs[a] = (tm_vec){.size = tm_attr_size((tm_attr)a)};
    *out = (tm_timeline){.rank = rank->rank,
                         .world_size = rank->world_size,
                         .host = rank->host,
                         .format = rank->format,
                         .device = rank->device,
                         .clock = rank->clock};
    *gpu = count_within(&r, 0, r.gpu_rows) <= wish->gpu_most;
    *host = wish->host && count_within(&r, r.gpu_rows, rank->n_events) <= wish->host_most;
    tm_status status = read_all(&r, *gpu, *host, err);
    renumber_attrs(&r);
    tm_vec_free(&r.rows);
    return status;
}
