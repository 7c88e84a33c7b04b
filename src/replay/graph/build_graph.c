#include "build_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "builder.h"

void tm_graph_free(tm_graph *graph) {
    free(graph->ns);
    free(graph->event);
    free(graph->parts);
    free(graph->first);
    free(graph->edges);
    free(graph->fixes);
    tm_weights_free(&graph->apart);
    tm_vec_free(&graph->participants);
    tm_vec_free(&graph->steps);
    graph->ns = NULL;
    graph->event = graph->parts = graph->first = NULL;
    graph->edges = NULL;
    graph->fixes = NULL;
}

bool tm_weights_set_long(tm_weights *weights, size_t i, const tm_weight *weight) {
    ((tm_short_weight *)weights->shorts.data)[i] =
        (tm_short_weight){TM_LONG, (int32_t)weights->longs.n, 0};
    return tm_vec_append(&weights->longs, weight, 1) != NULL;
}

void tm_weights_free(tm_weights *weights) {
    tm_vec_free(&weights->shorts);
    tm_vec_free(&weights->longs);
}

bool tm_graph_weigh_apart(tm_graph *graph, tm_edge *edge, const tm_weight *weight) {
    if (edge->ns != TM_EDGE_NS) {
        tm_vec *shorts = &graph->apart.shorts;
        if (shorts->n == (size_t)2 * TM_EDGE_MORE || !tm_vec_push(shorts))
            return false;
        edge->ns = TM_EDGE_NS;
        edge->more = (uint32_t)(shorts->n - 1) & TM_EDGE_MORE_BITS;
    }
    return tm_weights_set(&graph->apart, edge->more, weight);
}

int64_t tm_builder_lag(const tm_builder *m, int64_t ns) {
    const tm_cause *causes = m->causes.data;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < m->causes.n; i++) {
        int64_t lag = ns - tm_cause_reaches(&causes[i], ns);
        least = lag < least ? lag : least;
    }
    return least;
}

bool tm_builder_settle(tm_builder *m, uint32_t to, int64_t ns) {
    const bool ok = tm_builder_lead(m, to, ns, m->causes.data, m->causes.n);
    m->causes.n = 0;
    return ok;
}

bool tm_builder_grow(tm_builder *m, size_t n) {
    const bool ok = tm_vec_reserve(&m->edges, m->edges.n + n) &&
                    tm_vec_reserve(&m->weights.shorts, m->edges.n + n);
    m->room = m->edges.cap < m->weights.shorts.cap ? m->edges.cap : m->weights.shorts.cap;
    return ok;
}

TM_ORDER_BY(by_operation, tm_graph_participant, last_ns, operation, event);

/* Sorts the participations. Returns an array that maps old indices to new indices, or NULL when out
 * of memory. Overwrites `node` of each participation with the old index. Sets *moved to whether the
 * order changed. */
static uint32_t *sort_participants(tm_vec *participants, bool *moved) {
    uint32_t *place = malloc((participants->n + 1) * sizeof *place);
    tm_graph_participant *v = participants->data;
    for (size_t i = 0; i < participants->n; i++)
        v[i].node = (uint32_t)i;
    tm_sort(v, participants->n, sizeof *v, by_operation);
    *moved = false;
    for (size_t i = 0; i < participants->n && place; i++) {
        *moved = *moved || v[i].node != i;
        place[v[i].node] = (uint32_t)i;
    }
    return place;
}

static bool add_participants(tm_builder *m) {
    tm_graph_participant *participants =
        tm_vec_append(&m->graph->participants, NULL, m->n_participants);
    for (size_t i = 0; i < m->n_participants && participants; i++)
        participants[i] = (tm_graph_participant){.operation = m->participants[i].operation,
                                                 .last_ns = m->participants[i].last_ns,
                                                 .event = m->participants[i].event};
    bool moved;
    uint32_t *place = participants ? sort_participants(&m->graph->participants, &moved) : NULL;
    tm_loose_edge *edges = m->edges.data;
    for (size_t i = 0; place && moved && i < m->edges.n; i++)
        if (edges[i].from != TM_FROM_ROOT && (edges[i].from & TM_FROM_OPERATION))
            edges[i].from = TM_FROM_OPERATION + place[edges[i].from & ~TM_FROM_OPERATION];
    free(place);
    return place != NULL;
}

TM_ORDER_BY(by_number, tm_graph_step, number);

static bool ends_step(const tm_part_event *e) {
    return e->step != TM_NO_STEP && e->last;
}

/* Adds edges to the end of each step, from the step's last event on each stream. */
static bool add_ends(tm_builder *m, size_t *next, uint32_t parts) {
    const tm_part_event *events = m->input->events.data;
    const size_t n_steps = m->input->timeline->n_steps;
    for (uint32_t i = 0; i < m->input->events.n; i++)
        next[events[i].step + 1] += ends_step(&events[i]);
    for (size_t k = 0; k < n_steps; k++)
        next[k + 1] += next[k];
    const size_t first = m->edges.n;
    if (!tm_builder_room(m, next[n_steps]))
        return false;
    for (uint32_t i = 0; i < m->input->events.n; i++) {
        const tm_new_edge edge = {.from = tm_event_end(i), .kind = TM_EDGE_BEFORE};
        if (ends_step(&events[i]) && !tm_builder_set(m, first + next[events[i].step]++,
                                                     parts + (uint32_t)events[i].step, &edge))
            return false;
    }
    m->edges.n += next[n_steps];
    return true;
}

/* Adds the end of the warm-up: the time when all events before the first step have ended, and the
 * first launch of the first step has started. */
static bool add_warm_up(tm_builder *m, uint32_t part) {
    const tm_part_event *events = m->input->events.data;
    const size_t n_tracks = m->input->timeline->n_tracks;
    const uint32_t after = tm_warm_up_after(m->input);
    uint32_t *last = malloc((n_tracks + 1) * sizeof *last); /* [tracks] last event of the warm-up */
    tm_new_edge edge = {.from = tm_event_begin(after), .kind = TM_EDGE_BEFORE};
    if (!last)
        return false;
    memset(last, 0xff, n_tracks * sizeof *last);
    for (uint32_t i = 0; i < m->input->events.n; i++) {
        uint32_t *at = &last[events[i].stream];
        if (tm_warm_up_has(m->input, &events[i]) &&
            (*at == TM_NO_PART || events[i].end_ns >= events[*at].end_ns))
            *at = i;
    }
    if (events[after].call != TM_NO_PART)
        edge.from = tm_call_begin(m, events[after].call);
    bool ok = tm_builder_edge(m, part, &edge);
    for (size_t k = 0; k < n_tracks && ok; k++) {
        edge.from = tm_event_end(last[k]);
        ok = last[k] == TM_NO_PART || tm_builder_edge(m, part, &edge);
    }
    free(last);
    const tm_graph_step step = {TM_STEP_WARM_UP, part};
    return ok && tm_vec_append(&m->graph->steps, &step, 1);
}

static bool add_steps(tm_builder *m) {
    const tm_timeline *t = m->input->timeline;
    const uint32_t parts = 2 * (uint32_t)(m->input->events.n + m->input->calls.n);
    /* for each step: index after its last edge in the list of edges to ends of steps */
    size_t *after = calloc(t->n_steps + 2, sizeof *after);
    bool ok = after && add_ends(m, after, parts);
    for (size_t k = 0; k < t->n_steps && ok; k++) {
        const tm_graph_step step = {t->steps[k].number, parts + (uint32_t)k};
        ok = after[k] == (k > 0 ? after[k - 1] : 0) || tm_vec_append(&m->graph->steps, &step, 1);
    }
    free(after);
    if (ok && m->input->warm_up)
        ok = add_warm_up(m, parts + (uint32_t)t->n_steps);
    if (ok && m->graph->steps.n > 1)
        qsort(m->graph->steps.data, m->graph->steps.n, sizeof(tm_graph_step), by_number);
    return ok;
}

/* Returns the time at which a call starts or ends [ns].
 * @param part  number of the part, counted from the start of the first call */
static int64_t call_ns(const tm_part_call *calls, uint32_t part) {
    return part % 2 ? calls[part / 2].end_ns : calls[part / 2].begin_ns;
}

static bool cut_edge(tm_builder *m, size_t i, int64_t from_ns) {
    tm_weight weight = tm_weights_at(&m->weights, i);
    const int64_t ns = from_ns + weight.ns;
    ((tm_loose_edge *)m->edges.data)[i].from = TM_FROM_ROOT;
    weight.ns = weight.peer_ns = ns > 0 ? ns : 0;
    return tm_weights_set(&m->weights, i, &weight);
}

/* An edge that starts before the root and ends after it keeps only the part after the root: the
 * root becomes its source. Work before the root belongs to no step, so no scenario may remove it
 * from a step. Only calls start before the root, never GPU events. False when out of memory. */
static bool cut_at_root(tm_builder *m) {
    const tm_part_call *calls = m->input->calls.data;
    const uint32_t first = tm_call_begin(m, 0);
    uint32_t n_before = 0, n_parts = 2 * (uint32_t)m->input->calls.n;
    bool ok = true;
    while (n_before < m->input->calls.n && calls[n_before].begin_ns < 0)
        n_before++;
    for (size_t i = 0; i < m->edges.n && n_before > 0 && ok; i++) {
        const tm_loose_edge *edge = (const tm_loose_edge *)m->edges.data + i;
        const uint32_t from = edge->from - first, to = edge->to - first;
        if (from >= 2 * n_before || call_ns(calls, from) >= 0 ||
            (edge->to >= first && (to >= n_parts || call_ns(calls, to) < 0)))
            continue;
        ok = cut_edge(m, i, call_ns(calls, from));
    }
    return ok;
}

bool tm_builder_loose(tm_builder *m) {
    const tm_graph_input *input = m->input;
    *m->graph = (tm_graph){.rank = input->timeline->rank,
                           .participants = TM_VEC(tm_graph_participant),
                           .steps = TM_VEC(tm_graph_step),
                           .apart = TM_WEIGHTS(),
                           .n_inferred = m->recorded->streams ? m->recorded->n_guessed
                                                              : (int64_t)m->waits->n};
    /* Estimated number of edges: three lead to an event, two to a call, and few to other nodes. If
     * it were too low, a third of the memory would be left unused. */
    size_t usual =
        3 * input->events.n + 2 * input->calls.n + m->waits->n + input->timeline->n_steps;
    return tm_builder_grow(m, usual + usual / 16) && tm_builder_events(m) && tm_builder_calls(m) &&
           add_participants(m) && add_steps(m) && cut_at_root(m);
}

tm_status tm_graph_build(const tm_recorded *recorded, const tm_vec *waits,
                         const tm_replay_participant *participants, size_t n, tm_graph *out,
                         tm_error *err) {
    tm_builder m = {.input = recorded->input,
                    .recorded = recorded,
                    .waits = waits,
                    .participants = participants,
                    .n_participants = n,
                    .graph = out,
                    .edges = TM_VEC(tm_loose_edge),
                    .weights = TM_WEIGHTS(),
                    .causes = TM_VEC(tm_cause)};
    tm_status status = tm_builder_loose(&m) ? tm_builder_order(&m, err) : tm_fail_memory(err);
    tm_vec_free(&m.edges);
    tm_weights_free(&m.weights);
    tm_vec_free(&m.causes);
    free(m.origin);
    return status;
}
