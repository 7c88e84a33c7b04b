/* The events of all ranks as an SQLite virtual table; only requested ranks are read. */
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "sql/sql_source.h"

/* Maximum number of events of the ranks that are read together. (If ranks were read one by one,
 * chunks that contain several ranks would be unpacked repeatedly.) */
enum { BATCH_EVENTS = 1 << 19 };

typedef struct cursor cursor;

/* Passes a value of an event to SQLite. Passing nothing makes the value null. */
typedef void putter(const cursor *c, sqlite3_context *out, uint32_t row);

/* clang-format off: one line for each column with its doc */
#define COLUMNS(X)                                                                                 \
    X(event, TM_INT, "", "Number of the event in the job, in order of rank, track and time.")      \
    X(rank, TM_INT, "", "Global rank.")                                                            \
    X(host, TM_TEXT, "", "Host of the rank, as in job.rank.")                                      \
    X(track, TM_TEXT, "", "Kind of track: gpu for a stream of a device, cpu for a thread.")        \
    X(device, TM_INT, "", "Number of the device; null for a thread.")                              \
    X(stream, TM_INT, "", "Number of the stream; null for a thread.")                              \
    X(thread, TM_TEXT, "", "Name of the thread, or else its number; null for a stream.")           \
    X(category, TM_TEXT, "", "Category assigned by the profiler.")                                 \
    X(kind, TM_TEXT, "", "Kind of event: duration, instant or counter.")                           \
    X(role, TM_TEXT, "", "Role of a device event: compute, communication or memory; else null.")   \
    X(step, TM_INT, "", "Number of the event's step; null outside of steps.")                      \
    X(begin_ns, TM_INT, "ns", "Start of the event on the job's clock, since the epoch.")           \
    X(duration_ns, TM_INT, "ns", "Duration as recorded; 0 for instants and counters.")             \
    X(name, TM_TEXT, "", "Name of the event; null if it has no name.")                             \
    X(launch, TM_INT, "", "Number of the event that launched this event; null if unknown.")        \
    X(collective, TM_TEXT, "", "Kind of collective; null for other events.")                       \
    X(process_group, TM_TEXT, "", "Name of a collective's process group; null for other events.")  \
    X(operation, TM_INT, "",                                                                       \
      "Number of the matched operation: the event number of its kernel on the "                    \
      "operation's lowest rank. Null for all other events.")                                       \
    X(wait_ns, TM_INT, "ns",                                                                       \
      "Time that the kernel waited until its operation's last rank arrived; null without a wait.") \
    X(exposed_ns, TM_INT, "ns",                                                                    \
      "Time of a communication kernel in which no compute kernel of its rank runs; null for "      \
      "other events. If several kernels communicate at once, the time counts for each of them; "   \
      "in overlap.rank it counts once.")                                                           \
    X(bytes, TM_INT, "B", "Bytes copied or set; null for other events, or if not recorded.")
/* clang-format on */

#define COLUMN_ENUM(name, type, unit, doc) AT_##name,
#define COLUMN_ROW(name, type, unit, doc) {#name, type, unit, doc},
#define COLUMN_PUTTER(name, type, unit, doc) static putter put_##name;
#define COLUMN_PUT(name, type, unit, doc) put_##name,
enum { COLUMNS(COLUMN_ENUM) N_COLUMNS };
static const tm_column columns[] = {COLUMNS(COLUMN_ROW)};
COLUMNS(COLUMN_PUTTER)
static putter *const putters[] = {COLUMNS(COLUMN_PUT)};

const tm_table_def tm_sql_events = {
    .name = "events",
    .doc = "A row for each event of all ranks; for tmerge query and exports to SQLite.",
    TM_ARRAY(columns, columns),
    .n_keys = 1,
    .top = -1,
};

/* Columns by which SQLite can look up rows without reading all. */
enum { BY_EVENT, BY_RANK, BY_BEGIN, N_FOUND };
static const int found_by[N_FOUND] = {AT_event, AT_rank, AT_begin_ns};

typedef struct events {
    sqlite3_vtab base; /* SQLite requires this member to be the first */
    tm_sql_source *source;
} events;

struct cursor {
    sqlite3_vtab_cursor base;
    tm_sql_source *source;
    tm_timeline *ranks;     /* owned; [source->n_ranks]; only ranks that were read have arrays */
    bool *wanted;           /* owned; [source->n_ranks] */
    size_t first_read, end; /* ranks that are in memory: [first_read, end) */
    const tm_table *hosts;
    tm_sql_range ranges[N_FOUND];
    size_t at, track; /* The current rank and track. Rows [row, last) of the track are not returned
                         yet. */
    size_t row, last;
};

static int connect_events(sqlite3 *db, void *aux, int argc, const char *const *argv,
                          sqlite3_vtab **out, char **message) {
    (void)argc;
    (void)argv;
    (void)message;
    events *made = sqlite3_malloc(sizeof *made);
    if (!made)
        return SQLITE_NOMEM;
    *made = (events){.source = aux};
    int code = tm_sql_declare(db, &tm_sql_events);
    if (code != SQLITE_OK)
        sqlite3_free(made);
    else
        *out = &made->base;
    return code;
}

static int disconnect(sqlite3_vtab *made) {
    sqlite3_free(made);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    const tm_sql_source *source = ((const events *)base)->source;
    int n_equal[N_FOUND], n_other[N_FOUND];
    int code = tm_sql_plan(info, found_by, N_FOUND, n_equal, n_other);
    if (code != SQLITE_OK)
        return code;
    double n = (double)source->first_row[source->n_ranks] + 1.0, left = n;
    left /= n_equal[BY_RANK] > 0 ? (double)source->n_ranks : n_other[BY_RANK] > 0 ? 2.0 : 1.0;
    left /= n_equal[BY_BEGIN] > 0 ? 1000.0 : n_other[BY_BEGIN] > 0 ? 4.0 : 1.0;
    if (n_equal[BY_EVENT] > 0)
        left = 1.0;
    info->estimatedCost = left;
    info->estimatedRows = (sqlite3_int64)left + 1;
    /* rows are sorted by event, and therefore by rank */
    info->orderByConsumed =
        info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
        (info->aOrderBy[0].iColumn == AT_event || info->aOrderBy[0].iColumn == AT_rank);
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    cursor *c = (cursor *)base;
    for (size_t i = c->first_read; i < c->end; i++)
        tm_timeline_destroy(&c->ranks[i]);
    free(c->ranks);
    free(c->wanted);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    tm_sql_source *source = ((events *)base)->source;
    cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (cursor){.source = source,
                  .ranks = calloc(source->n_ranks, sizeof *c->ranks),
                  .wanted = calloc(source->n_ranks, sizeof *c->wanted)};
    if (!c->ranks || !c->wanted) {
        (void)close_cursor(&c->base);
        return SQLITE_NOMEM;
    }
    memcpy(c->ranks, source->ranks, source->n_ranks * sizeof *c->ranks);
    *out = &c->base;
    return SQLITE_OK;
}

static bool is_wanted(const cursor *c, size_t i) {
    const int64_t *first = c->source->first_row;
    return c->ranks[i].rank >= c->ranges[BY_RANK].least &&
           c->ranks[i].rank <= c->ranges[BY_RANK].most && first[i] <= c->ranges[BY_EVENT].most &&
           first[i + 1] > c->ranges[BY_EVENT].least;
}

/* Frees the ranks that were read, and reads the next batch, which starts at rank index @p at. */
static bool read_batch(cursor *c, size_t at) {
    tm_sql_source *source = c->source;
    size_t n = 0;
    for (size_t i = c->first_read; i < c->end; i++) {
        tm_timeline_destroy(&c->ranks[i]);
        c->ranks[i] = source->ranks[i];
    }
    memset(c->wanted, 0, source->n_ranks * sizeof *c->wanted);
    c->first_read = c->end = at;
    while (c->end < source->n_ranks &&
           (c->end == at || n + source->ranks[c->end].n_events <= BATCH_EVENTS)) {
        c->wanted[c->end] = is_wanted(c, c->end);
        n += c->wanted[c->end] ? source->ranks[c->end].n_events : 0;
        c->end++;
    }
    const tm_store_selection selection = {
        .ranks = c->wanted, .records = 1u << TM_RECORD_COLLECTIVES | 1u << TM_RECORD_COPIES};
    return tm_store_read_timelines(source->store, source->names, c->ranks, &selection,
                                   source->n_ranks, &source->failed) == TM_OK;
}

/* Search key: a time on the job's clock. */
typedef struct moment {
    const tm_rank_clock *clock;
    int64_t time_ns;
} moment;

static bool begins_before(const void *begin_ns, const void *key) {
    const moment *m = key;
    return tm_rank_clock_true(m->clock, *(const int64_t *)begin_ns) < m->time_ns;
}

static size_t row_from(const tm_timeline *timeline, const tm_track *track, int64_t time_ns) {
    const moment key = {&timeline->clock, time_ns};
    return track->first + tm_bisect(timeline->begin_ns + track->first, track->count,
                                    sizeof *timeline->begin_ns, &key, begins_before);
}

/* Selects the rows of the current track that the query can need. They are adjacent, because the
 * events of a track are sorted by begin. */
static void enter_track(cursor *c) {
    const tm_timeline *timeline = &c->ranks[c->at];
    const tm_track *track = &timeline->tracks[c->track];
    const tm_sql_range *event = &c->ranges[BY_EVENT], *begin = &c->ranges[BY_BEGIN];
    int64_t base = c->source->first_row[c->at];
    c->row = begin->least == INT64_MIN ? track->first : row_from(timeline, track, begin->least);
    c->last = begin->most == INT64_MAX ? (size_t)track->first + track->count
                                       : row_from(timeline, track, begin->most + 1);
    if (event->least > base + (int64_t)c->row)
        c->row = (size_t)(event->least - base);
    if (event->most < base + (int64_t)c->last - 1)
        c->last = event->most < base ? 0 : (size_t)(event->most - base) + 1;
}

static bool enter_rank(cursor *c) {
    bool was_read = c->at >= c->first_read && c->at < c->end && c->wanted[c->at];
    c->track = 0;
    return was_read || read_batch(c, c->at);
}

/* Advances to the next event after the end of a track or rank. */
static int settle(cursor *c) {
    while (c->at < c->source->n_ranks && c->row >= c->last) {
        if (c->track < c->ranks[c->at].n_tracks && c->ranks[c->at].tracks) {
            enter_track(c);
            c->track++;
            continue;
        }
        do
            c->at++;
        while (c->at < c->source->n_ranks && !is_wanted(c, c->at));
        c->row = c->last = 0;
        if (c->at < c->source->n_ranks && !enter_rank(c))
            return SQLITE_IOERR;
    }
    return SQLITE_OK;
}

static const tm_table *hosts_of(tm_sql_source *source) {
    const tm_table *known = tm_tables_find(&source->tables, "job.rank");
    return tm_sql_table(source, (size_t)(known - source->tables.tables));
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int n_values,
                  sqlite3_value **values) {
    (void)number;
    cursor *c = (cursor *)base;
    for (int i = 0; i < N_FOUND; i++)
        c->ranges[i] = (tm_sql_range){INT64_MIN, INT64_MAX};
    tm_sql_ranges(plan, n_values, values, c->ranges);
    c->hosts = hosts_of(c->source);
    if (!c->hosts || !tm_sql_names(c->source))
        return SQLITE_IOERR;
    c->row = c->last = 0;
    for (c->at = 0; c->at < c->source->n_ranks && !is_wanted(c, c->at);)
        c->at++;
    if (c->at < c->source->n_ranks && !enter_rank(c))
        return SQLITE_IOERR;
    return settle(c);
}

static int next(sqlite3_vtab_cursor *base) {
    cursor *c = (cursor *)base;
    c->row++;
    return settle(c);
}

static int is_at_end(sqlite3_vtab_cursor *base) {
    const cursor *c = (const cursor *)base;
    return c->at >= c->source->n_ranks;
}

static int64_t number_of(const cursor *c, uint32_t row) {
    return c->source->first_row[c->at] + row;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    const cursor *c = (const cursor *)base;
    *out = number_of(c, (uint32_t)c->row);
    return SQLITE_OK;
}

/* Passes a value to SQLite. A negative value means unknown, and becomes null. */
static void put_known(sqlite3_context *out, int64_t value) {
    if (value >= 0)
        sqlite3_result_int64(out, value);
}

static void put_text(const cursor *c, sqlite3_context *out, uint32_t id) {
    if (id != TM_NO_NAME)
        tm_sql_result_text(out, tm_names_text(c->source->names, id));
}

static void put_word(sqlite3_context *out, const char *word) {
    sqlite3_result_text(out, word, -1, SQLITE_STATIC);
}

static void put_event(const cursor *c, sqlite3_context *out, uint32_t row) {
    sqlite3_result_int64(out, number_of(c, row));
}

static void put_rank(const cursor *c, sqlite3_context *out, uint32_t row) {
    (void)row;
    sqlite3_result_int64(out, c->ranks[c->at].rank);
}

static void put_host(const cursor *c, sqlite3_context *out, uint32_t row) {
    (void)row;
    size_t found = tm_table_find_row(c->hosts, &c->ranks[c->at].rank, 1);
    const tm_cell *host = found < c->hosts->n_rows ? tm_table_cell(c->hosts, found, "host") : NULL;
    if (host && !host->null)
        put_word(out, host->value.text);
}

static const tm_track *track_of(const cursor *c) {
    return &c->ranks[c->at].tracks[c->track - 1];
}

static void put_track(const cursor *c, sqlite3_context *out, uint32_t row) {
    (void)row;
    put_word(out, track_of(c)->kind == TM_TRACK_GPU ? "gpu" : "cpu");
}

static void put_device(const cursor *c, sqlite3_context *out, uint32_t row) {
    (void)row;
    put_known(out, track_of(c)->device);
}

static void put_stream(const cursor *c, sqlite3_context *out, uint32_t row) {
    (void)row;
    put_known(out, track_of(c)->stream);
}

static void put_thread(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_track *track = track_of(c);
    (void)row;
    if (track->kind != TM_TRACK_GPU)
        put_text(c, out, track->thread_name ? track->thread_name : track->tid);
}

static void put_category(const cursor *c, sqlite3_context *out, uint32_t row) {
    put_word(out, tm_category_word((tm_category)c->ranks[c->at].category[row]));
}

static void put_kind(const cursor *c, sqlite3_context *out, uint32_t row) {
    uint8_t kind = c->ranks[c->at].kind[row];
    put_word(out, kind == TM_INSTANT ? "instant" : kind == TM_COUNTER ? "counter" : "duration");
}

static void put_role(const cursor *c, sqlite3_context *out, uint32_t row) {
    static const char *const roles[] = {NULL, "compute", "communication", "memory"};
    uint8_t role = c->ranks[c->at].role[row];
    if (role != TM_ROLE_NONE && role <= TM_ROLE_MEMORY)
        put_word(out, roles[role]);
}

static void put_step(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_timeline *timeline = &c->ranks[c->at];
    if (timeline->step[row] != TM_NO_STEP)
        sqlite3_result_int64(out, timeline->steps[timeline->step[row]].number);
}

static void put_begin_ns(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_timeline *timeline = &c->ranks[c->at];
    sqlite3_result_int64(out, tm_rank_clock_true(&timeline->clock, timeline->begin_ns[row]));
}

static void put_duration_ns(const cursor *c, sqlite3_context *out, uint32_t row) {
    sqlite3_result_int64(out, c->ranks[c->at].duration_ns[row]);
}

static void put_name(const cursor *c, sqlite3_context *out, uint32_t row) {
    put_text(c, out, c->ranks[c->at].name[row]);
}

static void put_launch(const cursor *c, sqlite3_context *out, uint32_t row) {
    uint32_t launch = c->ranks[c->at].launch[row];
    if (launch != TM_NO_EVENT)
        sqlite3_result_int64(out, number_of(c, launch));
}

static const tm_collective_attr *collective_of(const cursor *c, uint32_t row) {
    return tm_timeline_collective(&c->ranks[c->at], row);
}

static void put_collective(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_collective_attr *of = collective_of(c, row);
    if (of)
        put_word(out, tm_collective_word((tm_collective_kind)of->kind));
}

static void put_process_group(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_collective_attr *of = collective_of(c, row);
    if (of)
        put_text(c, out, of->group);
}

static void put_operation(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_sql_source *s = c->source;
    const tm_collective_attr *of = collective_of(c, row);
    if (!of || of->first_rank < 0)
        return;
    int64_t rank = of->first_rank;
    size_t i = TM_FIRST_FROM(tm_timeline, rank, s->ranks, s->n_ranks, rank);
    if (i < s->n_ranks)
        sqlite3_result_int64(out, s->first_row[i] + of->first_event);
}

static void put_wait_ns(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_collective_attr *of = collective_of(c, row);
    if (of)
        put_known(out, of->wait_ns);
}

static void put_exposed_ns(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_collective_attr *of = collective_of(c, row);
    if (of)
        put_known(out, of->exposed_ns);
}

static void put_bytes(const cursor *c, sqlite3_context *out, uint32_t row) {
    const tm_timeline *timeline = &c->ranks[c->at];
    const tm_copy_attr *copies = timeline->attrs[TM_ATTR_COPY];
    size_t n = timeline->n_attrs[TM_ATTR_COPY];
    size_t i = TM_FIRST_FROM(tm_copy_attr, event, copies, n, row);
    if (i < n && copies[i].event == row)
        put_known(out, copies[i].bytes);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *out, int at) {
    const cursor *c = (const cursor *)base;
    putters[at](c, out, (uint32_t)c->row);
    return SQLITE_OK;
}

const sqlite3_module tm_sql_events_module = {
    .xCreate = connect_events,
    .xConnect = connect_events,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = column,
    .xRowid = row_id,
};
