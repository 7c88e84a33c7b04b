#include "serve/handler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_json.h"
#include "report/page_timeline.h"
#include "serve/answer.h"
#include "serve/find.h"
#include "serve/inside.h"
#include "serve/operation.h"
#include "serve/statement.h"
#include "serve/tile.h"
#include "serve/window_trace.h"
#include "tmerge/analysis.h"
#include "tmerge/store.h"

enum { ROWS_MOST = 16384, SLOW_MOST = 1 << 24 };

/* Time limit of an export to Perfetto, because other requests wait meanwhile. */
#define TRACE_NS INT64_C(3000000000)

struct tm_handler {
    tm_store *store;
    tm_names *names;
    tm_vec page; /* vector of char */
    tm_tiler tiler;
    tm_tables tables;   /* all tables; a table has rows only while a request for it is answered */
    tm_tables facts;    /* job.job and job.rank */
    const char **hosts; /* owned; by index of the rank; "" if unknown */
    tm_finder *finder;
    tm_meetings *meetings;
    tm_serve_reader *reader;
    tm_slow *slow;
    tm_counters *counters;
};

static tm_status read_job(tm_handler *handler, tm_error *err) {
    TM_TRY(tm_analysis_tables(&handler->tables, err));
    TM_TRY(tm_analysis_tables(&handler->facts, err));
    tm_table *jobs = tm_tables_find(&handler->facts, "job.job");
    TM_TRY(tm_store_read_table(handler->store, jobs, err));
    if (jobs->n_rows > 0 && !tm_table_cell(jobs, 0, "begin_ns")->null)
        handler->tiler.begin_ns = tm_table_cell(jobs, 0, "begin_ns")->value.i;
    return tm_store_read_table(handler->store, tm_tables_find(&handler->facts, "job.rank"), err);
}

/* Reads the ranks' hosts from the table, which has a number in place of an unknown name. */
static tm_status find_hosts(tm_handler *handler, tm_error *err) {
    size_t n;
    const tm_timeline *ranks = tm_serve_ranks(handler->tiler.events, &n);
    const tm_table *table = tm_tables_find(&handler->facts, "job.rank");
    handler->hosts = malloc((n + 1) * sizeof *handler->hosts);
    for (size_t i = 0; i < n && handler->hosts; i++) {
        size_t row = tm_table_find_row(table, &ranks[i].rank, 1);
        const tm_cell *host = row < table->n_rows ? tm_table_cell(table, row, "host") : NULL;
        handler->hosts[i] = host && !host->null ? host->value.text : "";
    }
    return handler->hosts ? TM_OK : tm_fail_memory(err);
}

static tm_status open_all(const char *path, tm_handler *handler, tm_error *err) {
    const char *slash = strrchr(path, '/');
    TM_TRY(tm_store_open(path, &handler->store, err));
    TM_TRY(tm_report_serve(handler->store, slash ? slash + 1 : path, TMERGE_VERSION, &handler->page,
                           err));
    tm_vec_trim(&handler->page);
    TM_TRY(read_job(handler, err));
    TM_TRY(tm_store_read_names(handler->store, &handler->names, err));
    handler->tiler.names = handler->names;
    TM_TRY(tm_serve_events_open(handler->store, handler->names, &handler->tiler.events, err));
    TM_TRY(find_hosts(handler, err));
    TM_TRY(tm_finder_open(&handler->tiler, &handler->finder, err));
    TM_TRY(tm_meetings_open(&handler->tiler, &handler->meetings, err));
    TM_TRY(tm_serve_reader_open(&handler->tiler, &handler->reader, err));
    TM_TRY(tm_counters_open(&handler->tiler, handler->reader, &handler->counters, err));
    TM_TRY(tm_slow_open(handler->reader, SLOW_MOST, &handler->slow, err));
    return tm_serve_levels_open(handler->store, &handler->tiler.levels, err);
}

tm_status tm_handler_open(const char *path, tm_handler **out, tm_error *err) {
    tm_handler *handler = calloc(1, sizeof *handler);
    if (!handler)
        return tm_fail_memory(err);
    handler->page = TM_VEC(char);
    tm_status status = open_all(path, handler, err);
    if (status == TM_OK)
        *out = handler;
    else
        tm_handler_close(handler);
    return status;
}

void tm_handler_close(tm_handler *handler) {
    if (!handler)
        return;
    tm_finder_close(handler->finder);
    tm_meetings_close(handler->meetings);
    tm_slow_close(handler->slow);
    tm_counters_close(handler->counters);
    tm_serve_reader_close(handler->reader);
    tm_serve_levels_close(handler->tiler.levels);
    tm_serve_events_close(handler->tiler.events);
    tm_names_destroy(handler->names);
    tm_tables_destroy(&handler->tables);
    tm_tables_destroy(&handler->facts);
    free(handler->hosts);
    tm_vec_free(&handler->page);
    tm_store_close(handler->store);
    free(handler);
}

bool tm_handler_has_levels(const tm_handler *handler) {
    return handler->tiler.levels != NULL;
}

/* Answers with bytes, or with the error if @p status is not TM_OK. */
static void answer_block(tm_status status, tm_bytes *bytes, const tm_error *err,
                         tm_http_answer *out) {
    if (status == TM_OK)
        tm_answer_bytes(&bytes->bytes, "application/octet-stream", out);
    else
        tm_answer_failure(status, err, out);
    tm_bytes_free(bytes);
}

/* Reads the time window of a request. A window that extends beyond the job is valid, because the
 * times of some ranks may count from 0. */
static bool read_window(tm_http_look *look, const void *query, tm_tile_wish *wish) {
    return tm_serve_number(look(query, "from"), &wish->from) &&
           tm_serve_number(look(query, "to"), &wish->to) && wish->from < wish->to;
}

/* Answers a request for a time window. If @p trace is set, the answer is a trace for Perfetto;
 * otherwise it is a tile of the timeline. */
static void answer_window(const tm_handler *handler, bool trace, tm_http_look *look,
                          const void *query, tm_http_answer *out) {
    int64_t ranks[TM_SERVE_RANKS_MAX], hosts[TM_SERVE_RANKS_MAX];
    tm_tile_wish wish = {.ranks = ranks, .hosts = hosts};
    int64_t shares = 0;
    if (!read_window(look, query, &wish) ||
        !tm_serve_numbers(look(query, "ranks"), ranks, &wish.n_ranks) || wish.n_ranks == 0 ||
        (!trace && (!tm_serve_numbers(look(query, "hosts"), hosts, &wish.n_hosts) ||
                    !tm_answer_number(look, query, "shares", &shares)))) {
        tm_answer_say(TM_ANSWER_BAD,
                      "ask for a window with from=NS, to=NS and ranks=N,N; for a tile also "
                      "hosts=N,N and shares=1",
                      out);
        return;
    }
    wish.shares = shares != 0;
    const tm_trace_job job = {handler->hosts, TMERGE_VERSION, TRACE_NS};
    tm_error err = {.status = TM_OK};
    tm_bytes bytes = tm_bytes_make();
    tm_status status = trace ? tm_serve_trace(&handler->tiler, &job, &wish, &bytes.bytes, &err)
                             : tm_tile_make(&handler->tiler, &wish, &bytes, &err);
    answer_block(status, &bytes, &err, out);
}

static void answer_operation(const tm_handler *handler, tm_http_look *look, const void *query,
                             tm_http_answer *out) {
    int64_t rank, begin;
    if (!tm_serve_number(look(query, "rank"), &rank) ||
        !tm_serve_number(look(query, "begin"), &begin)) {
        tm_answer_say(TM_ANSWER_BAD,
                      "name an operation by rank=N and begin=NS: the rank and the start of one of "
                      "its kernels",
                      out);
        return;
    }
    tm_error err = {.status = TM_OK};
    tm_bytes bytes = tm_bytes_make();
    tm_status status = tm_meeting_put(handler->meetings, rank, begin, &bytes, &err);
    answer_block(status, &bytes, &err, out);
}

/* Returns a table of the store that is shown to users; NULL if none has this name. */
static tm_table *find_table(const tm_handler *handler, const char *name) {
    tm_table *table = name ? tm_tables_look_up(&handler->tables, name) : NULL;
    return table && !table->def->internal && tm_store_has_table(handler->store, name) ? table
                                                                                      : NULL;
}

static void answer_rows(const tm_handler *handler, tm_http_look *look, const void *query,
                        tm_http_answer *out) {
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    int64_t first, n;
    tm_table *table = find_table(handler, look(query, "table"));
    if (!table || !tm_serve_number(look(query, "first"), &first) ||
        !tm_serve_number(look(query, "n"), &n) || n == 0 || n > ROWS_MOST) {
        tm_answer_say(TM_ANSWER_BAD,
                      "ask for rows with table=NAME, first=N and n=N (n from 1 to 16384)", out);
        return;
    }
    tm_status status = tm_store_read_slice(handler->store, table, (size_t)first, (size_t)n, &err);
    tm_report_json_columns(&json, table, handler->tiler.begin_ns);
    tm_table_clear(table);
    tm_answer_json(status, &json, &err, out);
}

/* Answers {"names": [[id, text, number of events], ...], "next": id or null} with the names of
 * events. */
static void answer_names(const tm_handler *handler, tm_http_look *look, const void *query,
                         tm_http_answer *out) {
    enum { TEXT_MOST = 1 << 20 };
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    int64_t first;
    if (!tm_serve_number(look(query, "first"), &first)) {
        tm_answer_say(TM_ANSWER_BAD, "names are first=N", out);
        return;
    }
    const uint32_t *counts = tm_finder_counts(handler->finder);
    size_t n = tm_names_count(handler->names), id = (size_t)first, put = 0;
    tm_out_string(&json, "{\"names\":[");
    for (; id < n && json.bytes.n < TEXT_MOST && !json.failed; id++) {
        if (counts[id] == 0)
            continue;
        tm_text text = tm_names_text(handler->names, (uint32_t)id);
        tm_answer_put(&json, put++ > 0 ? ",[" : "[", (int64_t)id);
        tm_out_char(&json, ',');
        tm_report_json_string(&json, text.bytes, text.size);
        tm_answer_put(&json, ",", counts[id]);
        tm_out_char(&json, ']');
    }
    if (id < n)
        tm_answer_put(&json, "],\"next\":", (int64_t)id);
    tm_out_string(&json, id < n ? "}" : "],\"next\":null}");
    tm_answer_json(TM_OK, &json, &err, out);
}

static bool read_kinds(const char *text, unsigned *kinds) {
    static tm_serve_range
        ranges[TM_SERVE_RANGES_MAX]; /* static, because requests are answered one at a time */
    size_t n;
    if (!tm_serve_ranges(text, ranges, &n))
        return false;
    *kinds = 0;
    for (int kind = 0; kind < TM_N_SHOWN_KINDS; kind++)
        *kinds |= n == 0 || tm_serve_in(ranges, n, kind) ? 1u << kind : 0;
    return *kinds != 0;
}

static bool read_search(tm_http_look *look, const void *query, tm_find_wish *wish) {
    static tm_serve_range names[TM_SERVE_RANGES_MAX], ranks[TM_SERVE_RANGES_MAX];
    wish->names = names;
    wish->ranks = ranks;
    return tm_serve_ranges(look(query, "names"), names, &wish->n_names) && wish->n_names > 0 &&
           tm_serve_ranges(look(query, "ranks"), ranks, &wish->n_ranks) &&
           read_kinds(look(query, "kinds"), &wish->kinds) &&
           tm_answer_number(look, query, "above", &wish->above) &&
           tm_answer_number(look, query, "below", &wish->below) &&
           tm_answer_number(look, query, "longer", &wish->longer) &&
           tm_answer_number(look, query, "at", &wish->from.block) &&
           tm_answer_number(look, query, "gpu", &wish->from.reach[0]) &&
           tm_answer_number(look, query, "host", &wish->from.reach[1]);
}

static int64_t at_least_0(int64_t number) {
    return number > 0 ? number : 0;
}

/* Writes an answer with these members:
 * "next": [at, gpu, host], or null at the end
 * "kinds": [[kind, count, sum, longest], ...]
 * "of": number of blocks in the store; the search is complete when "at" reaches it
 * "once": [time that GPU annotations cover, time that host events cover]
 * "events": [[rank, begin, duration, name, kind], ...] */
static void put_found(const tm_found *found, tm_out *json) {
    const tm_found_event *events = found->events.data;
    bool more = found->next.block < found->blocks;
    if (more) {
        tm_answer_put(json, "{\"next\":[", found->next.block);
        tm_answer_put(json, ",", at_least_0(found->next.reach[0]));
        tm_answer_put(json, ",", at_least_0(found->next.reach[1]));
    }
    tm_out_string(json, more ? "],\"kinds\":[" : "{\"next\":null,\"kinds\":[");
    for (int kind = 0, put = 0; kind < TM_N_SHOWN_KINDS; kind++) {
        const tm_found_sum *sum = &found->kinds[kind];
        if (sum->count == 0)
            continue;
        tm_answer_put(json, put++ > 0 ? ",[" : "[", kind);
        tm_answer_put(json, ",", sum->count);
        tm_answer_put(json, ",", sum->sum_ns);
        tm_answer_put(json, ",", sum->longest_ns);
        tm_out_char(json, ']');
    }
    tm_answer_put(json, "],\"of\":", found->blocks);
    tm_answer_put(json, ",\"once\":[", found->once_ns[0]);
    tm_answer_put(json, ",", found->once_ns[1]);
    tm_out_string(json, "],\"events\":[");
    for (size_t i = 0; i < found->events.n && !json->failed; i++) {
        tm_answer_put(json, i > 0 ? ",[" : "[", events[i].rank);
        tm_answer_put(json, ",", events[i].begin_ns);
        tm_answer_put(json, ",", events[i].duration_ns);
        tm_answer_put(json, ",", events[i].name);
        tm_answer_put(json, ",", events[i].kind);
        tm_out_char(json, ']');
    }
    tm_out_string(json, "]}");
}

static void answer_search(const tm_handler *handler, tm_http_look *look, const void *query,
                          tm_http_answer *out) {
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    tm_found found;
    tm_find_wish wish = {
        .above = -1, .below = INT64_MAX, .longer = -1, .budget_ns = TM_ANSWER_PART_NS};
    if (!read_search(look, query, &wish)) {
        tm_answer_say(TM_ANSWER_BAD,
                      "ask for a search with names=A-B,C, ranks=A-B,C, kinds=A-B,C, above=NS, "
                      "below=NS and longer=NS; to continue it, also at=N, gpu=NS and host=NS",
                      out);
        return;
    }
    tm_status status = tm_find(handler->finder, &wish, &found, &err);
    if (status == TM_OK)
        put_found(&found, &json);
    tm_answer_json(status, &json, &err, out);
    tm_vec_free(&found.events);
}

void tm_handler_answer(void *context, tm_serve_route route, tm_http_look *look, const void *query,
                       const tm_http_others *others, tm_http_answer *out) {
    tm_handler *handler = context;
    const tm_inside inside = {handler->reader, handler->names, handler->slow, handler->counters};
    switch (route) {
    case TM_SERVE_TILE:
    case TM_SERVE_TRACE:
        answer_window(handler, route == TM_SERVE_TRACE, look, query, out);
        return;
    case TM_SERVE_NAMES:
        answer_names(handler, look, query, out);
        return;
    case TM_SERVE_FIND:
        answer_search(handler, look, query, out);
        return;
    case TM_SERVE_OPERATION:
        answer_operation(handler, look, query, out);
        return;
    case TM_SERVE_AREA:
        tm_inside_area(&inside, look, query, out);
        return;
    case TM_SERVE_SAME:
        tm_inside_same(&inside, look, query, out);
        return;
    case TM_SERVE_SLOW:
        tm_inside_slow(&inside, look, query, out);
        return;
    case TM_SERVE_COUNTER:
        tm_inside_counter(&inside, look, query, out);
        return;
    case TM_SERVE_SQL:
        tm_statement_answer(handler->store, look, query, others, out);
        return;
    case TM_SERVE_ROWS:
        answer_rows(handler, look, query, out);
        return;
    default:
        *out = (tm_http_answer){TM_ANSWER_GOOD, "text/html; charset=utf-8", handler->page.data,
                                handler->page.n, true};
    }
}
