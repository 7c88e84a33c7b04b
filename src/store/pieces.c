/* Reads events of ranks in pieces. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "timeline/sanity_check.h"

/* Number of attribute rows that are read at a time to find the end of a piece. */
enum { AHEAD_ROWS = 4096 };

enum { PIECE_ELEMENT = sizeof(int64_t) };

typedef struct piece_table {
    tm_store_column **columns; /* owned; [n_columns] NULL for a column that is not read */
    int event;      /* only for attribute tables: index of the column with the row of each
                       attribute's event */
    size_t *starts; /* owned. For each piece: number of the piece's first row in this table, counted
                       from the rank's first row. NULL if the table is not indexed. */
    size_t done;    /* number of the rank's rows read so far */
    size_t room;    /* number of rows for which the array has room */
    tm_vec ahead;   /* vector of int64_t: rows of events, read ahead from the attribute table.
                       Element i is for the rank's attribute row `done` + i */
} piece_table;

struct tm_store_pieces {
    const tm_store *store;
    const tm_timeline *ranks;
    size_t n_ranks, n_names, most;
    size_t *first_start; /* owned; [n_ranks + 1] index in `starts` of each rank's first piece; NULL
                            if not indexed */
    tm_row_base *bases;  /* owned; [n_ranks + 1] first row of each rank, in each table */
    piece_table tables[TM_N_RECORDS];
    tm_vec rows;       /* vector of char: buffer for rows of a column */
    tm_timeline piece; /* the arrays of this timeline are owned */
    tm_timeline shown; /* The timeline that the caller sees. It has only those columns of `piece`
                          that were read for it. Its arrays are borrowed from `piece`. */
    int64_t begin_before_ns; /* start of the last event that was read */
};

static void *array_of(const tm_record_column *column, const tm_timeline *timeline) {
    void *array;
    memcpy(&array, (const char *)timeline + column->array_at, sizeof array);
    return array;
}

/* Sets the pointer to a column's array. Copies the pointer's bytes, because arrays have many types.
 */
static void set_array(const tm_record_column *column, tm_timeline *timeline, void *array) {
    memcpy((char *)timeline + column->array_at, &array, sizeof array);
}

static bool is_of_shape(const tm_record_column *column) {
    return column->array_at == offsetof(tm_timeline, shapes);
}

/* Makes room in the arrays of a table. Each column of /events has its own array. The columns of an
 * attribute table share one array, except the columns of launch shapes, which share a second array.
 */
static tm_status make_room(tm_store_pieces *p, int table, size_t n, tm_error *err) {
    const tm_record_table *record = &tm_record_tables[table];
    piece_table *t = &p->tables[table];
    if (n <= t->room)
        return TM_OK;
    bool shapes = false; /* shapes are allocated */
    for (int c = 0; c < record->n_columns; c++) {
        const tm_record_column *column = &record->columns[c];
        bool first = is_of_shape(column) ? !shapes : table == TM_RECORD_EVENTS || c == t->event;
        if (!t->columns[c] || column->stride == 0 || !first)
            continue;
        shapes |= is_of_shape(column);
        void *array = realloc(array_of(column, &p->piece), n * column->stride);
        if (!array)
            return tm_fail_memory(err);
        set_array(column, &p->piece, array);
    }
    t->room = n;
    return TM_OK;
}

/* Returns whether a column is read. The column with the rows of the attributes' events is always
 * read. */
static bool is_taken(const tm_store_visit_plan *plan, int table, const tm_record_column *column) {
    return column->take && !tm_store_is_later(plan->store, table, column) &&
           (!plan->takes || column->refers == TM_REFERS_EVENT || plan->takes(table, column));
}

static tm_status open_table(tm_store_pieces *p, const tm_store_visit_plan *plan, int table,
                            size_t n_rows, tm_error *err) {
    const tm_record_table *record = &tm_record_tables[table];
    piece_table *t = &p->tables[table];
    t->columns = calloc((size_t)record->n_columns, sizeof *t->columns);
    if (!t->columns)
        return tm_fail_memory(err);
    for (int c = 0; c < record->n_columns; c++) {
        const tm_record_column *column = &record->columns[c];
        if (column->refers == TM_REFERS_EVENT)
            t->event = c;
        if (is_taken(plan, table, column))
            TM_TRY(tm_store_open_record(p->store, table, column, n_rows, &t->columns[c], err));
    }
    return table == TM_RECORD_EVENTS ? make_room(p, table, p->most, err) : TM_OK;
}

static tm_status open_all(tm_store_pieces *p, const tm_store_visit_plan *plan, tm_error *err) {
    p->bases = calloc(plan->n + 1, sizeof *p->bases);
    if (!p->bases)
        return tm_fail_memory(err);
    TM_TRY(tm_store_lay_out(plan->store, plan->ranks, plan->n, p->bases, err));
    for (int t = 0; t < TM_N_RECORDS; t++)
        if (tm_record_is_of_events(t) && (t == TM_RECORD_EVENTS || plan->records >> t & 1) &&
            p->bases[plan->n].first[t] > 0)
            TM_TRY(open_table(p, plan, t, (size_t)p->bases[plan->n].first[t], err));
    return TM_OK;
}

tm_status tm_store_open_pieces(const tm_store_visit_plan *plan, size_t most, tm_store_pieces **out,
                               tm_error *err) {
    tm_store_pieces *p = calloc(1, sizeof *p);
    if (!p)
        return tm_fail_memory(err);
    *p = (tm_store_pieces){.store = plan->store,
                           .ranks = plan->ranks,
                           .n_ranks = plan->n,
                           .n_names = tm_names_count(plan->names),
                           .most = most,
                           .rows = TM_VEC(char)};
    for (int t = 0; t < TM_N_RECORDS; t++)
        p->tables[t].ahead = TM_VEC(int64_t);
    tm_status status = open_all(p, plan, err);
    if (status == TM_OK)
        *out = p;
    else
        tm_store_close_pieces(p);
    return status;
}

void tm_store_close_pieces(tm_store_pieces *p) {
    if (!p)
        return;
    for (int t = 0; t < TM_N_RECORDS; t++) {
        for (int c = 0; p->tables[t].columns && c < tm_record_tables[t].n_columns; c++)
            tm_store_close_column(p->tables[t].columns[c]);
        free(p->tables[t].columns);
        free(p->tables[t].starts);
        tm_vec_free(&p->tables[t].ahead);
    }
    tm_vec_free(&p->rows);
    tm_timeline_destroy(&p->piece);
    free(p->bases);
    free(p->first_start);
    free(p);
}

/* A range of rows in a rank's part of a table. */
typedef struct range {
    size_t at; /* index of the rank */
    size_t first, n;
} range;

/* Reads rows of a column to the start of the piece's array. */
static tm_status take_rows(tm_store_pieces *p, int table, int c, const range *r, tm_error *err) {
    const tm_record_column *column = &tm_record_tables[table].columns[c];
    const piece_table *t = &p->tables[table];
    const void *rows = t->ahead.data;
    if (table == TM_RECORD_EVENTS || c != t->event || t->starts) {
        p->rows.n = 0;
        if (!tm_vec_append(&p->rows, NULL, r->n * PIECE_ELEMENT))
            return tm_fail_memory(err);
        TM_TRY(tm_store_read_rows(t->columns[c], (size_t)p->bases[r->at].first[table] + r->first,
                                  r->n, p->rows.data, err));
        rows = p->rows.data;
    }
    return column->take(column, &p->piece, &p->bases[r->at], 0, r->n, rows)
               ? TM_OK
               : tm_store_bad_value(p->store, table, column, err);
}

/* Counts the next attribute rows whose events are before the job-wide row @p end. */
static tm_status count_rows(tm_store_pieces *p, int table, size_t at, int64_t end, size_t *n,
                            tm_error *err) {
    piece_table *t = &p->tables[table];
    size_t base = (size_t)p->bases[at].first[table];
    size_t all = (size_t)p->bases[at + 1].first[table] - base;
    for (*n = 0;;) {
        const int64_t *events = t->ahead.data;
        while (*n < t->ahead.n && events[*n] < end)
            ++*n;
        size_t known = t->done + t->ahead.n;
        if (*n < t->ahead.n || known == all)
            return TM_OK;
        size_t more = all - known < AHEAD_ROWS ? all - known : AHEAD_ROWS;
        int64_t *to = tm_vec_append(&t->ahead, NULL, more);
        if (!to)
            return tm_fail_memory(err);
        TM_TRY(tm_store_read_rows(t->columns[t->event], base + known, more, to, err));
    }
}

static tm_status take_attrs(tm_store_pieces *p, int table, const range *r, tm_error *err) {
    const tm_record_table *record = &tm_record_tables[table];
    const piece_table *t = &p->tables[table];
    const tm_record_column *event = &record->columns[t->event];
    TM_TRY(make_room(p, table, r->n, err));
    if (r->n > 0) /* Columns that the store lacks, or that were not requested, are 0. */
        memset(array_of(event, &p->piece), 0, r->n * event->stride);
    for (int c = 0; c < record->n_columns && r->n > 0; c++)
        if (t->columns[c])
            TM_TRY(take_rows(p, table, c, r, err));
    memcpy((char *)&p->piece + record->rows_at, &r->n, sizeof r->n);
    tm_kernel_attr *kernels = table == TM_RECORD_KERNELS ? p->piece.attrs[TM_ATTR_KERNEL] : NULL;
    for (size_t i = 0; kernels && i < r->n; i++)
        kernels[i].shape = (uint32_t)i;
    return TM_OK;
}

static tm_status read_attrs(tm_store_pieces *p, int table, const range *events, tm_error *err) {
    piece_table *t = &p->tables[table];
    size_t at = events->at, end = events->first + events->n;
    range r = {.at = at};
    if (t->starts) {
        assert(p->most > 0);
        const size_t *starts = t->starts + p->first_start[at] + events->first / p->most;
        r.first = starts[0];
        r.n = events->n > 0 ? starts[1] - starts[0] : 0;
        return take_attrs(p, table, &r, err);
    }
    TM_TRY(
        count_rows(p, table, at, p->bases[at].first[TM_RECORD_EVENTS] + (int64_t)end, &r.n, err));
    r.first = t->done;
    TM_TRY(take_attrs(p, table, &r, err));
    t->done += r.n;
    t->ahead.n -= r.n;
    if (r.n > 0)
        memmove(t->ahead.data, (int64_t *)t->ahead.data + r.n, t->ahead.n * sizeof(int64_t));
    bool rest = end == p->ranks[at].n_events && t->ahead.n > 0;
    return rest ? tm_store_bad_rank(p->store, p->ranks[at].rank,
                                    "attributes are not in the order of its events", err)
                : TM_OK;
}

static bool is_wanted(const tm_record_column *column, unsigned what) {
    switch (column->array_at) {
    case offsetof(tm_timeline, begin_ns):
    case offsetof(tm_timeline, duration_ns):
        return what & TM_ROWS_TIMES;
    case offsetof(tm_timeline, launch):
        return what & TM_ROWS_LAUNCHES;
    case offsetof(tm_timeline, name):
        return what & TM_ROWS_NAMES;
    case offsetof(tm_timeline, category):
    case offsetof(tm_timeline, kind):
    case offsetof(tm_timeline, role):
        return what & TM_ROWS_KINDS;
    default:
        return what == TM_ROWS_ALL;
    }
}

static tm_status read_events(tm_store_pieces *p, const range *r, unsigned what, tm_error *err) {
    const tm_record_table *record = &tm_record_tables[TM_RECORD_EVENTS];
    for (int c = 0; c < record->n_columns && r->n > 0; c++)
        if (p->tables[TM_RECORD_EVENTS].columns[c] && is_wanted(&record->columns[c], what))
            TM_TRY(take_rows(p, TM_RECORD_EVENTS, c, r, err));
    for (int t = TM_RECORD_LAUNCHES; tm_record_is_of_events(t) && what & TM_ROWS_ATTRS; t++)
        if (p->tables[t].columns)
            TM_TRY(read_attrs(p, t, r, err));
    return TM_OK;
}

/* Makes the timeline that the caller sees. Sets columns that were not read to NULL, because their
 * arrays still hold an earlier piece. */
static void show(tm_store_pieces *p, size_t n, unsigned what) {
    const tm_record_table *record = &tm_record_tables[TM_RECORD_EVENTS];
    p->shown = p->piece;
    p->shown.n_events = n;
    p->shown.n_steps = 0;
    for (int c = 0; c < record->n_columns; c++)
        if (record->columns[c].stride > 0 && !is_wanted(&record->columns[c], what))
            set_array(&record->columns[c], &p->shown, NULL);
    for (int a = 0; a < TM_N_ATTRS && !(what & TM_ROWS_ATTRS); a++)
        p->shown.n_attrs[a] = 0;
}

tm_status tm_store_read_piece(tm_store_pieces *p, size_t at, size_t first, unsigned what,
                              const tm_timeline **out, tm_error *err) {
    const tm_timeline *rank = &p->ranks[at];
    size_t left = rank->n_events - first, n = left < p->most ? left : p->most;
    for (int t = 0; t < TM_N_RECORDS && first == 0; t++)
        p->tables[t].done = p->tables[t].ahead.n = 0;
    p->piece.rank = rank->rank;
    p->piece.n_events = rank->n_events; /* row numbers in columns refer to all events of the rank */
    p->piece.n_steps = rank->n_steps;
    const range events = {at, first, n};
    TM_TRY(read_events(p, &events, what, err));
    show(p, n, what);
    const tm_sanity_check_rows rows = {&p->shown, first,
                                       first > 0 ? p->begin_before_ns : INT64_MIN};
    const char *fault = tm_rows_fault(rank, &rows, p->n_names);
    if (fault)
        return tm_store_bad_rank(p->store, rank->rank, fault, err);
    if (p->shown.begin_ns && n > 0)
        p->begin_before_ns = p->shown.begin_ns[n - 1];
    *out = &p->shown;
    return TM_OK;
}

/* Moves to the first attribute row whose event is the job-wide row @p event or a later one. */
static tm_status find_row(tm_store_pieces *p, int table, size_t at, int64_t event, tm_error *err) {
    piece_table *t = &p->tables[table];
    size_t base = (size_t)p->bases[at].first[table], low = 0;
    size_t high = (size_t)p->bases[at + 1].first[table] - base;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t found;
        TM_TRY(tm_store_read_rows(t->columns[t->event], base + middle, 1, &found, err));
        if (found < event)
            low = middle + 1;
        else
            high = middle;
    }
    t->done = low;
    t->ahead.n = 0;
    return TM_OK;
}

tm_status tm_store_seek_piece(tm_store_pieces *p, size_t at, size_t first, tm_error *err) {
    int64_t event = p->bases[at].first[TM_RECORD_EVENTS] + (int64_t)first;
    for (int t = TM_RECORD_LAUNCHES; tm_record_is_of_events(t); t++)
        if (p->tables[t].columns && !p->tables[t].starts)
            TM_TRY(find_row(p, t, at, event, err));
    p->begin_before_ns = INT64_MIN;
    return TM_OK;
}

/* Indexes a rank: stores the number of the first attribute row of each piece, then the number of
 * rows. */
static tm_status index_rank(tm_store_pieces *p, int table, size_t at, tm_error *err) {
    const piece_table *t = &p->tables[table];
    const tm_record_column *column = &tm_record_tables[table].columns[t->event];
    size_t base = (size_t)p->bases[at].first[table], n_events = p->ranks[at].n_events;
    size_t all = (size_t)p->bases[at + 1].first[table] - base, n, piece = 0;
    size_t *starts = t->starts + p->first_start[at];
    int64_t events[AHEAD_ROWS], first = p->bases[at].first[TM_RECORD_EVENTS];
    for (size_t done = 0; done < all; done += n) {
        n = all - done < AHEAD_ROWS ? all - done : AHEAD_ROWS;
        TM_TRY(tm_store_read_rows(t->columns[t->event], base + done, n, events, err));
        for (size_t i = 0; i < n; i++) {
            uint64_t event = (uint64_t)events[i] - (uint64_t)first, own = event / p->most;
            if (events[i] != -1 && event > n_events)
                return tm_store_bad_value(p->store, table, column, err);
            if (event >= n_events || own + 1 < piece)
                return tm_store_bad_rank(p->store, p->ranks[at].rank,
                                         "attributes are not in the order of its events", err);
            while (piece <= own)
                starts[piece++] = done + i;
        }
    }
    while (piece < p->first_start[at + 1] - p->first_start[at])
        starts[piece++] = all;
    return TM_OK;
}

tm_status tm_store_index_pieces(tm_store_pieces *p, tm_error *err) {
    p->first_start = calloc(p->n_ranks + 1, sizeof *p->first_start);
    if (!p->first_start)
        return tm_fail_memory(err);
    for (size_t at = 0; at < p->n_ranks; at++)
        p->first_start[at + 1] =
            p->first_start[at] + (p->ranks[at].n_events + p->most - 1) / p->most + 1;
    for (int t = TM_RECORD_LAUNCHES; tm_record_is_of_events(t); t++) {
        if (!p->tables[t].columns)
            continue;
        p->tables[t].starts = calloc(p->first_start[p->n_ranks] + 1, sizeof(size_t));
        if (!p->tables[t].starts)
            return tm_fail_memory(err);
        for (size_t at = 0; at < p->n_ranks; at++)
            TM_TRY(index_rank(p, t, at, err));
    }
    return TM_OK;
}
