#include "serve/same.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/now.h"
#include "base/sorted.h"

typedef struct search {
    tm_serve_reader *reader;
    const tm_same_wish *wish;
    tm_same *out;
    tm_vec events; /* vector of tm_serve_event: the events of this name on one rank, ascending by
                      begin */
} search;

TM_ORDER_BY(by_begin, tm_serve_event, begin_ns, duration_ns, kind);

/* Finds the events of this name that start in a time range on a rank. If `first` is set, takes the
 * name from the requested event, which is identified by its start and duration. */
static tm_status find(search *s, size_t at, tm_serve_stretch in, bool first, tm_error *err) {
    tm_serve_walk walk = {.reader = s->reader,
                          .at = at,
                          .host = s->wish->host,
                          .from_ns = in.from_ns,
                          .to_ns = in.to_ns};
    tm_serve_event e;
    s->events.n = 0;
    for (bool found = true; found;) {
        TM_TRY(tm_serve_walk_next(&walk, &e, &found, err));
        const bool is =
            first ? e.begin_ns == s->wish->begin_ns && e.duration_ns == s->wish->duration_ns
                  : e.name == s->out->event.name && e.begin_ns >= in.from_ns;
        if (found && is && !tm_vec_append(&s->events, &e, 1))
            return tm_fail_memory(err);
    }
    tm_sort(s->events.data, s->events.n, s->events.size, by_begin);
    return TM_OK;
}

static void find_step(search *s, size_t at) {
    size_t n;
    const tm_timeline *rank = &tm_serve_reader_ranks(s->reader, &n)[at];
    s->out->step = TM_SERVE_NO_STEP;
    for (size_t k = 0; k < rank->n_steps; k++)
        if (tm_serve_drawn(s->reader, at, rank->steps[k].begin_ns) <= s->wish->begin_ns &&
            s->wish->begin_ns < tm_serve_drawn(s->reader, at, rank->steps[k].end_ns))
            s->out->step = rank->steps[k].number;
}

/* Returns the index of the requested event in s->events; -1 if it is not there. */
static int64_t place_of(const search *s) {
    const tm_serve_event *v = s->events.data;
    for (size_t i = 0; v && i < s->events.n; i++)
        if (v[i].begin_ns == s->wish->begin_ns && v[i].duration_ns == s->wish->duration_ns)
            return (int64_t)i;
    return -1;
}

static void see_longest(search *s, int64_t rank) {
    const tm_serve_event *v = s->events.data;
    for (size_t i = 0; v && i < s->events.n; i++)
        if (v[i].duration_ns > s->out->longest.duration_ns)
            s->out->longest =
                (tm_same_peer){rank, v[i].begin_ns, v[i].duration_ns, (int64_t)s->events.n};
}

/* Finds the events of this name on the requested event's rank: on the whole rank, and in the step.
 */
static tm_status find_own(search *s, size_t at, tm_error *err) {
    tm_same *out = s->out;
    tm_serve_stretch in;
    const tm_serve_stretch then = {s->wish->begin_ns, s->wish->begin_ns + 1};
    TM_TRY(find(s, at, then, true, err));
    if (s->events.n == 0)
        return TM_OK;
    out->event = *(const tm_serve_event *)s->events.data;
    (void)tm_serve_reader_step(s->reader, at, TM_SERVE_NO_STEP, &in);
    TM_TRY(find(s, at, in, false, err));
    const tm_serve_event *v = s->events.data;
    out->index = place_of(s);
    if (!v || out->index < 0)
        return TM_OK;
    out->all = (int64_t)s->events.n;
    if (out->index > 0)
        out->before = v[out->index - 1];
    if (out->index + 1 < out->all)
        out->after = v[out->index + 1];
    int64_t *durations = malloc((s->events.n + 1) * sizeof *durations);
    if (!durations)
        return tm_fail_memory(err);
    for (size_t i = 0; i < s->events.n; i++)
        durations[i] = v[i].duration_ns;
    out->median_ns = tm_median_any(durations, s->events.n);
    free(durations);
    find_step(s, at);
    if (!tm_serve_reader_step(s->reader, at, s->out->step, &in))
        return TM_OK;
    TM_TRY(find(s, at, in, false, err));
    out->place = place_of(s);
    out->times = out->place >= 0 ? (int64_t)s->events.n : 0;
    see_longest(s, s->wish->rank);
    return TM_OK;
}

static tm_status find_peer(search *s, size_t at, int64_t rank, tm_error *err) {
    tm_same_peer peer = {.rank = rank, .duration_ns = -1};
    tm_serve_stretch in;
    s->events.n = 0;
    if (tm_serve_reader_step(s->reader, at, s->out->step, &in))
        TM_TRY(find(s, at, in, false, err));
    const tm_serve_event *v = s->events.data;
    peer.times = (int64_t)s->events.n;
    if (v && peer.times == s->out->times) {
        peer.begin_ns = v[s->out->place].begin_ns;
        peer.duration_ns = v[s->out->place].duration_ns;
    }
    see_longest(s, rank);
    return tm_vec_append(&s->out->peers, &peer, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status find_peers(search *s, size_t own, tm_error *err) {
    size_t n, at = (size_t)s->wish->at;
    const tm_timeline *ranks = tm_serve_reader_ranks(s->reader, &n);
    const int64_t end_ns = tm_now_ns() + s->wish->budget_ns;
    for (; at < n && s->out->times > 0 && (s->out->peers.n == 0 || tm_now_ns() < end_ns); at++)
        if (at != own)
            TM_TRY(find_peer(s, at, ranks[at].rank, err));
    s->out->next = s->out->times > 0 ? (int64_t)at : (int64_t)n;
    s->out->ranks = (int64_t)n;
    return TM_OK;
}

tm_status tm_serve_same(tm_serve_reader *reader, const tm_same_wish *wish, tm_same *out,
                        tm_error *err) {
    *out = (tm_same){.step = TM_SERVE_NO_STEP,
                     .before = {.duration_ns = -1},
                     .after = {.duration_ns = -1},
                     .peers = TM_VEC(tm_same_peer),
                     .longest = {.duration_ns = -1}};
    search s = {.reader = reader, .wish = wish, .out = out, .events = TM_VEC(tm_serve_event)};
    size_t own;
    tm_status status = tm_serve_reader_find(reader, wish->rank, &own, err);
    if (status == TM_OK)
        status = find_own(&s, own, err);
    if (status == TM_OK)
        status = find_peers(&s, own, err);
    tm_vec_free(&s.events);
    return status;
}
