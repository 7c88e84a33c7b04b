#include "serve/inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/keys.h"
#include "report/page_json.h"
#include "serve/answer.h"
#include "serve/area.h"
#include "serve/same.h"

/* Writes each name in an answer once: [id, text]. */
static void put_names(const tm_inside *inside, const tm_vec *sums, tm_out *json) {
    tm_keys keys = TM_KEYS(uint32_t);
    const tm_area_sum *v = sums->data;
    bool ok = true;
    for (size_t i = 0; i < sums->n && ok; i++)
        ok = tm_keys_add(&keys, &v[i].name) != TM_NO_KEY;
    json->failed = json->failed || !ok;
    for (size_t i = 0; i < keys.keys.n && ok; i++) {
        const uint32_t id = ((const uint32_t *)keys.keys.data)[i];
        const tm_text text = tm_names_text(inside->names, id);
        tm_answer_put(json, i > 0 ? ",[" : "[", id);
        tm_out_char(json, ',');
        tm_report_json_string(json, text.bytes, text.size);
        tm_out_char(json, ']');
    }
    tm_keys_free(&keys);
}

typedef struct window {
    int64_t from, to, at;
    tm_serve_range ranks[TM_SERVE_RANGES_MAX];
    size_t n_ranks;
} window;

static bool read_window(tm_http_look *look, const void *query, window *out) {
    out->at = 0;
    return tm_serve_number(look(query, "from"), &out->from) &&
           tm_serve_number(look(query, "to"), &out->to) && out->from < out->to &&
           tm_serve_ranges(look(query, "ranks"), out->ranks, &out->n_ranks) &&
           tm_answer_number(look, query, "at", &out->at);
}

static void put_next(tm_out *json, int64_t next, bool more) {
    tm_out_string(json, "{\"next\":");
    if (more)
        tm_answer_put(json, "", next);
    else
        tm_out_string(json, "null");
}

/* Writes an answer with these members:
 * "next": number or null
 * "seen": number of ranks
 * "names": [[id, text], ...]
 * "sums": [[rank, name, kind, count, sum, self, longest], ...] */
static void put_area(const tm_inside *inside, const tm_vec *sums, int64_t next, int64_t seen,
                     tm_out *json) {
    const tm_area_sum *v = sums->data;
    size_t n;
    (void)tm_serve_reader_ranks(inside->reader, &n);
    put_next(json, next, next < (int64_t)n);
    tm_answer_put(json, ",\"seen\":", seen);
    tm_out_string(json, ",\"names\":[");
    put_names(inside, sums, json);
    tm_out_string(json, "],\"sums\":[");
    for (size_t i = 0; i < sums->n && !json->failed; i++) {
        const int64_t cells[] = {v[i].name,   v[i].kind,    v[i].count,
                                 v[i].sum_ns, v[i].self_ns, v[i].longest_ns};
        tm_answer_put(json, i > 0 ? ",[" : "[", v[i].rank);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
            tm_answer_put(json, ",", cells[c]);
        tm_out_char(json, ']');
    }
    tm_out_string(json, "]}");
}

void tm_inside_area(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out) {
    static window in; /* static, because requests are answered one at a time */
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    tm_vec sums = TM_VEC(tm_area_sum);
    int64_t host = 0, next, seen;
    if (!read_window(look, query, &in) || !tm_answer_number(look, query, "host", &host)) {
        tm_answer_say(TM_ANSWER_BAD,
                      "ask for an area with from=NS, to=NS, ranks=A-B,C and host=1; to continue "
                      "it, also at=N",
                      out);
        return;
    }
    const tm_area_wish wish = {.from = in.from,
                               .to = in.to,
                               .host = host != 0,
                               .ranks = in.ranks,
                               .n_ranks = in.n_ranks,
                               .at = in.at,
                               .budget_ns = TM_ANSWER_PART_NS};
    tm_status status = tm_serve_area(inside->reader, &wish, &sums, &next, &seen, &err);
    if (status == TM_OK)
        put_area(inside, &sums, next, seen, &json);
    tm_answer_json(status, &json, &err, out);
    tm_vec_free(&sums);
}

static void put_event(tm_out *json, const char *before, const tm_serve_event *event) {
    tm_out_string(json, before);
    if (event->duration_ns < 0) {
        tm_out_string(json, "null");
        return;
    }
    tm_answer_put(json, "[", event->begin_ns);
    tm_answer_put(json, ",", event->duration_ns);
    tm_out_char(json, ']');
}

/* Writes an answer with the members of tm_same:
 * "next": rank at which to continue, or null
 * "step": number or null
 * "place", "times", "index", "all", "median"
 * "before" and "after": [begin, duration] or null
 * "longest": [rank, begin, duration]
 * "peers": [[rank, times, begin, duration] or [rank, times], ...] */
static void put_same(const tm_same *same, tm_out *json) {
    const tm_same_peer *peers = same->peers.data;
    put_next(json, same->next, same->next < same->ranks);
    if (same->step == TM_SERVE_NO_STEP)
        tm_out_string(json, ",\"step\":null");
    else
        tm_answer_put(json, ",\"step\":", same->step);
    tm_answer_put(json, ",\"place\":", same->place);
    tm_answer_put(json, ",\"times\":", same->times);
    tm_answer_put(json, ",\"index\":", same->index);
    tm_answer_put(json, ",\"all\":", same->all);
    tm_answer_put(json, ",\"median\":", same->median_ns);
    put_event(json, ",\"before\":", &same->before);
    put_event(json, ",\"after\":", &same->after);
    tm_answer_put(json, ",\"longest\":[", same->longest.rank);
    tm_answer_put(json, ",", same->longest.begin_ns);
    tm_answer_put(json, ",", same->longest.duration_ns);
    tm_out_string(json, "],\"peers\":[");
    for (size_t i = 0; i < same->peers.n && !json->failed; i++) {
        tm_answer_put(json, i > 0 ? ",[" : "[", peers[i].rank);
        tm_answer_put(json, ",", peers[i].times);
        if (peers[i].duration_ns >= 0) {
            tm_answer_put(json, ",", peers[i].begin_ns);
            tm_answer_put(json, ",", peers[i].duration_ns);
        }
        tm_out_char(json, ']');
    }
    tm_out_string(json, "]}");
}

void tm_inside_same(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out) {
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    int64_t host = 0;
    tm_same same;
    tm_same_wish wish = {.budget_ns = TM_ANSWER_PART_NS};
    if (!tm_serve_number(look(query, "rank"), &wish.rank) ||
        !tm_serve_number(look(query, "begin"), &wish.begin_ns) ||
        !tm_serve_number(look(query, "duration"), &wish.duration_ns) ||
        !tm_answer_number(look, query, "host", &host) ||
        !tm_answer_number(look, query, "at", &wish.at)) {
        tm_answer_say(TM_ANSWER_BAD,
                      "name an event by rank=N, begin=NS, duration=NS and host=1; to continue, "
                      "also give at=N",
                      out);
        return;
    }
    wish.host = host != 0;
    tm_status status = tm_serve_same(inside->reader, &wish, &same, &err);
    if (status == TM_OK)
        put_same(&same, &json);
    tm_answer_json(status, &json, &err, out);
    tm_vec_free(&same.peers);
}

/* Writes an answer with these members:
 * "next": number or null
 * "step": number
 * "seen": number of ranks read for the step so far
 * "of": number of ranks
 * "ranks": [[rank, begin, duration, ratio, begin, ...], ...]
 * A ratio is 10^6 times the event's duration divided by the median duration on other ranks. */
static void put_slow(const tm_slow_answer *slow, tm_out *json) {
    const tm_slow_event *v = slow->events.data;
    put_next(json, slow->next, slow->next >= 0);
    tm_answer_put(json, ",\"step\":", slow->step);
    tm_answer_put(json, ",\"seen\":", slow->seen);
    tm_answer_put(json, ",\"of\":", slow->of);
    tm_out_string(json, ",\"ranks\":[");
    for (size_t i = 0; i < slow->events.n && !json->failed; i++) {
        const double ratio = round(1e6 * v[i].ratio);
        if (i == 0 || v[i].rank != v[i - 1].rank)
            tm_answer_put(json, i > 0 ? "],[" : "[", v[i].rank);
        tm_answer_put(json, ",", v[i].begin_ns);
        tm_answer_put(json, ",", v[i].duration_ns);
        tm_answer_put(json, ",",
                      ratio < 1      ? 1
                      : ratio < 1e15 ? (int64_t)ratio
                                     : INT64_C(1000000000000000));
    }
    tm_out_string(json, slow->events.n > 0 ? "]]}" : "]}");
}

void tm_inside_slow(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out) {
    static window in; /* static, because requests are answered one at a time */
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    tm_slow_answer slow;
    if (!read_window(look, query, &in)) {
        tm_answer_say(TM_ANSWER_BAD,
                      "choose the kernels to compare by from=NS, to=NS and ranks=A-B,C; to "
                      "continue, also give at=N",
                      out);
        return;
    }
    const tm_slow_wish wish = {.from = in.from,
                               .to = in.to,
                               .ranks = in.ranks,
                               .n_ranks = in.n_ranks,
                               .at = in.at,
                               .budget_ns = TM_ANSWER_PART_NS};
    tm_status status = tm_slow_find(inside->slow, &wish, &slow, &err);
    if (status == TM_OK)
        put_slow(&slow, &json);
    tm_answer_json(status, &json, &err, out);
    tm_vec_free(&slow.events);
}

/* Writes {"next": rank or null, "ranks": [[rank, column, maximum, column, maximum, ...], ...]}.
 * Columns divide the window. A maximum holds from its column up to the next listed one. */
static void put_counter(const tm_vec *steps, int64_t next, bool more, tm_out *json) {
    const tm_counter_step *v = steps->data;
    char most[32];
    put_next(json, next, more);
    tm_out_string(json, ",\"ranks\":[");
    for (size_t i = 0; i < steps->n && !json->failed; i++) {
        if (v[i].column == 0)
            tm_answer_put(json, i > 0 ? "],[" : "[", v[i].rank);
        tm_answer_put(json, ",", v[i].column);
        snprintf(most, sizeof most, ",%.7g", v[i].most);
        tm_out_string(json, most);
    }
    tm_out_string(json, steps->n > 0 ? "]]}" : "]}");
}

static bool read_what(const char *text, tm_counter_what *out) {
    static const char *const names[TM_N_COUNTERS] = {
        [TM_COUNTER_QUEUE] = "queue",
        [TM_COUNTER_COPIES] = "copies",
        [TM_COUNTER_COLLECTIVES] = "collectives",
    };
    for (int what = 0; what < TM_N_COUNTERS && text; what++)
        if (strcmp(text, names[what]) == 0) {
            *out = (tm_counter_what)what;
            return true;
        }
    return false;
}

void tm_inside_counter(const tm_inside *inside, tm_http_look *look, const void *query,
                       tm_http_answer *out) {
    static window in; /* static, because requests are answered one at a time */
    tm_error err = {.status = TM_OK};
    tm_out json = TM_OUT();
    tm_vec steps = TM_VEC(tm_counter_step);
    int64_t n = 0, next;
    size_t n_all;
    tm_counter_what what;
    if (!read_what(look(query, "what"), &what) || !read_window(look, query, &in) ||
        !tm_serve_number(look(query, "n"), &n) || n == 0 || n > TM_COUNTER_COLUMNS_MAX) {
        tm_answer_say(TM_ANSWER_BAD,
                      "ask for a counter with what=queue, copies or collectives, from=NS, to=NS, "
                      "ranks=A-B,C and n=N (columns, up to 16384); to continue it, also at=N",
                      out);
        return;
    }
    const tm_counter_wish wish = {.what = what,
                                  .from = in.from,
                                  .to = in.to,
                                  .n = (size_t)n,
                                  .ranks = in.ranks,
                                  .n_ranks = in.n_ranks,
                                  .at = in.at,
                                  .budget_ns = TM_ANSWER_PART_NS};
    (void)tm_serve_reader_ranks(inside->reader, &n_all);
    tm_status status = tm_counter_find(inside->counters, &wish, &steps, &next, &err);
    if (status == TM_OK)
        put_counter(&steps, next, next < (int64_t)n_all, &json);
    tm_answer_json(status, &json, &err, out);
    tm_vec_free(&steps);
}
