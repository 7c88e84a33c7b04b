#include "ops_graph.h"

#include <stdlib.h>

#include "base/median.h"
#include "base/sorted.h"
#include "ops_participants.h"

/* If a transfer ends more than this before its last member starts, its times are wrong. Its
 * duration then counts as 0, as in the paper. */
static const int64_t TOO_EARLY_NS = 10000000;

bool tm_ops_ask_ends(const tm_ops_input *input, uint32_t rank, int32_t origin, tm_vec *members) {
    const tm_ops_end *ends = input->ends.data;
    for (uint32_t k = 0; k < input->ends.n; k++) {
        const tm_ops_member member = {
            .operation = (uint64_t)input->timeline->steps[ends[k].step].number,
            .arrival_ns = ends[k].end_ns,
            .begin_ns = ends[k].end_ns,
            .rank = rank,
            .part = k,
            .origin = origin,
            .is_end = 1,
        };
        if (!tm_vec_append(members, &member, 1))
            return false;
    }
    return true;
}

/* Computes when operations arrive. An operation that follows no other operation arrives when its
 * step starts. In the first step, it arrives at the root. */
static void arrive(tm_ops_input *input) {
    tm_ops_part *parts = input->parts.data;
    const tm_ops_edge *edges = input->edges.data;
    const tm_ops_end *ends = input->ends.data;
    for (size_t k = 0, i = 0, e = 0; i < input->parts.n; i++) {
        while (k + 1 < input->ends.n && i >= ends[k + 1].first)
            k++;
        bool follows = e < input->edges.n && edges[e].to == i;
        int64_t ns = follows ? INT64_MIN : k > 0 ? ends[k - 1].join_ns : 0;
        for (; e < input->edges.n && edges[e].to == i; e++)
            ns = parts[edges[e].from].end_ns > ns ? parts[edges[e].from].end_ns : ns;
        parts[i].arrival_ns = ns;
    }
}

bool tm_ops_ask_joins(tm_ops_input *input, uint32_t rank, int32_t origin, tm_vec *members) {
    const tm_ops_part *parts = input->parts.data;
    arrive(input);
    for (uint32_t i = 0; i < input->parts.n; i++) {
        const tm_ops_member member = {.operation = parts[i].operation,
                                      .arrival_ns = parts[i].arrival_ns,
                                      .begin_ns = parts[i].begin_ns,
                                      .rank = rank,
                                      .part = i,
                                      .origin = origin};
        if (parts[i].operation != 0 && !tm_vec_append(members, &member, 1))
            return false;
    }
    return true;
}

TM_ORDER_BY(by_operation, tm_ops_member, operation, origin, rank, part);

void tm_ops_answer(tm_vec *members) {
    tm_ops_member *v = members->data;
    tm_vec_sort(members, by_operation);
    for (size_t first = 0, end = 0; first < members->n; first = end) {
        int64_t arrival = INT64_MIN, begin = INT64_MIN;
        for (; end < members->n && v[end].operation == v[first].operation; end++) {
            arrival = v[end].arrival_ns > arrival ? v[end].arrival_ns : arrival;
            begin = v[end].begin_ns > begin ? v[end].begin_ns : begin;
        }
        for (size_t i = first; i < end; i++) {
            v[i].arrival_ns = arrival;
            v[i].begin_ns = begin;
        }
    }
}

void tm_ops_take(tm_ops_input *input, const tm_ops_member *answer) {
    if (answer->is_end) {
        ((tm_ops_end *)input->ends.data)[answer->part].join_ns = answer->arrival_ns;
        return;
    }
    tm_ops_part *part = (tm_ops_part *)input->parts.data + answer->part;
    part->join_ns = answer->arrival_ns;
    part->last_ns = answer->begin_ns;
}

/* Returns the duration of an operation [ns]. If the operation joins ranks, it is measured from the
 * start of the last member. Otherwise, it is measured from the operation's own start. */
static int64_t time_of(const tm_ops_part *part) {
    int64_t ns = part->end_ns - (part->operation != 0 ? part->last_ns : part->begin_ns);
    return ns > -TOO_EARLY_NS ? ns : 0;
}

bool tm_ops_sample_rank(const tm_ops_input *input, tm_vec *samples) {
    const tm_ops_part *parts = input->parts.data;
    for (size_t i = 0; i < input->parts.n; i++) {
        const tm_ops_sample sample = {time_of(&parts[i]), parts[i].type};
        if (!tm_vec_append(samples, &sample, 1))
            return false;
    }
    return true;
}

TM_ORDER_BY(by_type, tm_ops_sample, type, ns);

tm_ops_times tm_ops_ideal(tm_vec *samples) {
    const tm_ops_sample *v = samples->data;
    tm_ops_times out = {{0}};
    tm_vec_sort(samples, by_type);
    for (size_t first = 0, end = 0; first < samples->n; first = end) {
        int64_t sum = 0;
        for (; end < samples->n && v[end].type == v[first].type; end++)
            sum += v[end].ns;
        size_t n = end - first;
        int64_t low = v[first + (n - 1) / 2].ns, high = v[first + n / 2].ns;
        out.ns[v[first].type] = tm_ops_computes((uint8_t)v[first].type)
                                    ? tm_round_ratio(sum, (int64_t)n)
                                    : low + (high - low) / 2;
    }
    return out;
}

/* State while a graph is built. Nodes are appended in order. The edges into a node are appended
 * directly after the node. */
typedef struct builder {
    const tm_ops_input *input;
    const tm_ops_times *ideal;
    tm_graph *graph;
    tm_vec ns, event, first, edges;
    uint32_t *end_node; /* [parts] */
    uint32_t *arrived;  /* [parts] if the operation joins ranks: node at which the rank arrives at
                           the operation */
    uint32_t *participant_of; /* [parts] if the operation joins ranks: index of the rank's
                           participation */
    bool ok;
} builder;

static uint32_t add_node(builder *m, int64_t ns, uint32_t event) {
    const uint32_t first = (uint32_t)m->edges.n;
    m->ok = m->ok && tm_vec_append(&m->ns, &ns, 1) && tm_vec_append(&m->event, &event, 1) &&
            tm_vec_append(&m->first, &first, 1);
    return (uint32_t)m->ns.n - 1;
}

/* Adds an edge to the node that was added last. */
static void add_edge(builder *m, uint32_t from, uint8_t kind, tm_weight weight) {
    tm_edge edge = {.from = from, .kind = kind & TM_EDGE_KIND_BITS};
    tm_edge_flag(&edge, weight.over_ns > 0 ? TM_EDGE_OVER : 0);
    m->ok = m->ok && tm_graph_weigh(m->graph, &edge, &weight) && tm_vec_append(&m->edges, &edge, 1);
}

/* Adds an edge for an unexplained time. The ideal of such a time is 0. */
static void add_lag(builder *m, uint32_t from, int64_t ns) {
    add_edge(m, from, TM_EDGE_GAP, ns > 0 ? (tm_weight){ns, 0, ns} : (tm_weight){ns, ns, 0});
}

/* Adds an edge from each operation that operation @p part follows. The operation that ended last
 * explains the start of @p part. The time from its end to @p ns is a lag. */
static void add_causes(builder *m, size_t part, size_t *edge, size_t end, int64_t ns) {
    const tm_ops_edge *edges = m->input->edges.data;
    const tm_ops_part *parts = m->input->parts.data;
    int64_t arrival = parts[part].arrival_ns;
    bool bound = false;
    if (*edge == m->input->edges.n || edges[*edge].to != part) {
        /* Until the participations are sorted, participation k is the end of step k. */
        uint32_t from = end > 0 ? TM_FROM_OPERATION + (uint32_t)end - 1 : TM_FROM_ROOT;
        add_lag(m, from, ns - arrival);
        return;
    }
    for (; *edge < m->input->edges.n && edges[*edge].to == part; ++*edge) {
        int64_t lag = ns - parts[edges[*edge].from].end_ns;
        bool binds = !bound && parts[edges[*edge].from].end_ns == arrival;
        bound = bound || binds;
        int64_t weight = binds || lag < 0 ? lag : 0;
        add_lag(m, m->end_node[edges[*edge].from], weight);
    }
}

/* Adds the start and the end of an operation that joins no ranks. */
static void add_alone(builder *m, size_t i, size_t *edge, size_t end) {
    const tm_ops_part *p = (const tm_ops_part *)m->input->parts.data + i;
    static const uint8_t kinds[TM_N_OPS_TYPES] = {
        [TM_OPS_FORWARD] = TM_EDGE_COMPUTE,
        [TM_OPS_BACKWARD] = TM_EDGE_COMPUTE,
        [TM_OPS_OPTIMIZER] = TM_EDGE_COMPUTE,
        [TM_OPS_GC] = TM_EDGE_CALL,
    };
    uint8_t kind = tm_ops_computes(p->type) ? kinds[p->type] : TM_EDGE_COMM;
    int64_t time = time_of(p), begin = p->end_ns - time;
    uint32_t node = add_node(m, begin, p->row);
    add_causes(m, i, edge, end, begin);
    m->end_node[i] = add_node(m, p->end_ns, p->row);
    add_edge(m, node, kind, (tm_weight){time, m->ideal->ns[p->type], 0});
}

/* Adds the three nodes of an operation that joins ranks: the rank's arrival, the start of the last
 * member, and the operation's end on the rank. */
static void add_member(builder *m, size_t i, size_t *edge, size_t end) {
    const tm_ops_part *p = (const tm_ops_part *)m->input->parts.data + i;
    int64_t time = time_of(p), begin = p->end_ns - time;
    m->arrived[i] = add_node(m, p->arrival_ns, p->row);
    add_causes(m, i, edge, end, p->arrival_ns);
    uint32_t node = add_node(m, begin, p->row);
    add_lag(m, TM_FROM_OPERATION + m->participant_of[i], begin - p->join_ns);
    m->end_node[i] = add_node(m, p->end_ns, p->row);
    add_edge(m, node, TM_EDGE_TRANSFER, (tm_weight){time, m->ideal->ns[p->type], 0});
}

/* Adds the end of step k, with an edge from each operation of the step that no other operation
 * follows. */
static void add_end(builder *m, size_t k, const bool *followed) {
    const tm_ops_end *ends = m->input->ends.data;
    size_t after = k + 1 < m->input->ends.n ? ends[k + 1].first : m->input->parts.n;
    const tm_graph_step step = {m->input->timeline->steps[ends[k].step].number,
                                add_node(m, ends[k].end_ns, TM_NO_EVENT)};
    for (size_t i = ends[k].first; i < after; i++)
        if (!followed[i])
            add_edge(m, m->end_node[i], TM_EDGE_BEFORE, (tm_weight){0, 0, 0});
    m->ok = m->ok && tm_vec_append(&m->graph->steps, &step, 1);
}

/* Adds the participations: first one for the end of each step, at which the next step starts, then
 * one for each operation that joins ranks. */
static void add_participants(builder *m) {
    const tm_ops_part *parts = m->input->parts.data;
    const tm_ops_end *ends = m->input->ends.data;
    for (size_t k = 0; k < m->input->ends.n; k++) {
        const tm_graph_participant participant = {
            .operation = (uint64_t)m->input->timeline->steps[ends[k].step].number,
            .last_ns = ends[k].join_ns,
            .event = TM_NO_EVENT};
        m->ok = m->ok && tm_vec_append(&m->graph->participants, &participant, 1);
    }
    for (size_t i = 0; i < m->input->parts.n; i++) {
        m->participant_of[i] = (uint32_t)m->graph->participants.n;
        const tm_graph_participant participant = {.operation = parts[i].operation,
                                                  .last_ns = parts[i].join_ns,
                                                  .node = (uint32_t)i,
                                                  .event = parts[i].row};
        if (parts[i].operation != 0)
            m->ok = m->ok && tm_vec_append(&m->graph->participants, &participant, 1);
    }
}

/* Sets the node of each participation, after all nodes were added. The participations in ends of
 * steps come first. */
static void set_nodes(builder *m) {
    tm_graph_participant *v = m->graph->participants.data;
    const tm_graph_step *steps = m->graph->steps.data;
    for (size_t i = 0; i < m->graph->participants.n; i++)
        v[i].node = i < m->input->ends.n ? steps[i].node : m->arrived[v[i].node];
}

static void add_all(builder *m, const bool *followed) {
    const tm_ops_part *parts = m->input->parts.data;
    const tm_ops_end *ends = m->input->ends.data;
    size_t edge = 0, end = 0;
    for (size_t i = 0; i < m->input->parts.n && m->ok; i++) {
        if (end + 1 < m->input->ends.n && i == ends[end + 1].first)
            add_end(m, end++, followed);
        if (parts[i].operation != 0)
            add_member(m, i, &edge, end);
        else
            add_alone(m, i, &edge, end);
    }
    if (m->input->parts.n > 0 && m->ok)
        add_end(m, end, followed);
}

/* Moves the result to the graph. After this, nothing in the builder must be freed. */
static void finish(builder *m) {
    tm_graph *g = m->graph;
    uint32_t after = (uint32_t)m->edges.n;
    m->ok = m->ok && tm_vec_append(&m->first, &after, 1);
    if (!m->ok)
        return;
    g->n_nodes = m->ns.n;
    g->ns = m->ns.data;
    g->event = m->event.data;
    g->first = m->first.data;
    g->edges = m->edges.data;
    m->ns.data = m->event.data = m->first.data = m->edges.data = NULL;
    set_nodes(m);
    m->ok = tm_ops_sort_participants(g);
}

tm_status tm_ops_graph(const tm_ops_input *input, const tm_ops_times *ideal, tm_graph *out,
                       tm_error *err) {
    *out = (tm_graph){.rank = input->timeline->rank,
                      .participants = TM_VEC(tm_graph_participant),
                      .steps = TM_VEC(tm_graph_step),
                      .apart = TM_WEIGHTS()};
    size_t n = input->parts.n;
    builder m = {.input = input,
                 .ideal = ideal,
                 .graph = out,
                 .ns = TM_VEC(int64_t),
                 .event = TM_VEC(uint32_t),
                 .first = TM_VEC(uint32_t),
                 .edges = TM_VEC(tm_edge),
                 .end_node = calloc(n + 1, sizeof *m.end_node),
                 .arrived = calloc(n + 1, sizeof *m.arrived),
                 .participant_of = calloc(n + 1, sizeof *m.participant_of)};
    bool *followed = calloc(n + 1, sizeof *followed);
    m.ok = m.end_node && m.arrived && m.participant_of && followed;
    const tm_ops_edge *edges = input->edges.data;
    for (size_t e = 0; e < input->edges.n && m.ok; e++)
        followed[edges[e].from] = true;
    if (m.ok) {
        add_participants(&m);
        add_all(&m, followed);
        finish(&m);
    }
    TM_VECS_FREE(&m.ns, &m.event, &m.first, &m.edges);
    free(m.end_node);
    free(m.arrived);
    free(m.participant_of);
    free(followed);
    return m.ok ? TM_OK : tm_fail_memory(err);
}
