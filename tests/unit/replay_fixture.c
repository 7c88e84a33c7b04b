#include "replay_fixture.h"

#include <stdlib.h>
#include <string.h>

uint32_t replay_node(replay_case *c, size_t rank) {
    replay_rank *r = &c->ranks[rank];
    if (r->first.size == 0) {
        c->n_ranks = rank >= c->n_ranks ? rank + 1 : c->n_ranks;
        r->first = TM_VEC(uint32_t);
        r->edges = TM_VEC(tm_edge);
        r->weights = TM_VEC(int64_t);
        r->graph = (tm_graph){.rank = 10 + (int64_t)rank,
                              .participants = TM_VEC(tm_graph_participant),
                              .steps = TM_VEC(tm_graph_step)};
    }
    uint32_t *first = tm_vec_push(&r->first);
    assert_non_null(first);
    *first = (uint32_t)r->edges.n;
    return (uint32_t)r->graph.n_nodes++;
}

void replay_edge(replay_case *c, size_t rank, uint32_t from, const int64_t *ns) {
    tm_edge edge = {.from = from};
    assert_non_null(tm_vec_append(&c->ranks[rank].edges, &edge, 1));
    assert_non_null(tm_vec_append(&c->ranks[rank].weights, ns, REPLAY_SETS));
}

uint32_t replay_participant(replay_case *c, size_t rank, uint32_t node, uint64_t operation) {
    tm_vec *participants = &c->ranks[rank].graph.participants;
    tm_graph_participant participant = {.operation = operation, .node = node};
    assert_non_null(tm_vec_append(participants, &participant, 1));
    return TM_FROM_OPERATION + (uint32_t)(participants->n - 1);
}

void replay_step(replay_case *c, size_t rank, uint32_t node, int64_t number) {
    tm_graph_step step = {number, node};
    assert_non_null(tm_vec_append(&c->ranks[rank].graph.steps, &step, 1));
}

void replay_free(replay_case *c) {
    for (size_t r = 0; r < c->n_ranks; r++) {
        replay_rank *rank = &c->ranks[r];
        free(rank->graph.ns);
        tm_vec_free(&rank->first);
        tm_vec_free(&rank->edges);
        tm_vec_free(&rank->weights);
        tm_vec_free(&rank->graph.participants);
        tm_vec_free(&rank->graph.steps);
    }
    *c = (replay_case){0};
}

void replay_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    const replay_rank *rank = context;
    assert_ptr_equal(graph, &rank->graph);
    memcpy(ns, (int64_t *)rank->weights.data + (size_t)edge * REPLAY_SETS,
           REPLAY_SETS * sizeof *ns);
}

static int64_t weight(const replay_rank *rank, size_t edge, uint8_t set) {
    return ((int64_t *)rank->weights.data)[edge * REPLAY_SETS + set];
}

static void begin_times(const replay_case *c, int64_t ns, replay_times *times) {
    for (size_t r = 0; r < c->n_ranks; r++) {
        size_t n = c->ranks[r].graph.n_nodes;
        times->nodes[r] = malloc((n + 1) * sizeof(int64_t));
        assert_non_null(times->nodes[r]);
        for (size_t i = 0; i < n; i++)
            times->nodes[r][i] = ns;
    }
    for (size_t i = 0; i < REPLAY_OPERATIONS; i++)
        times->operations[i] = ns;
}

void replay_times_free(replay_times *times) {
    for (size_t r = 0; r < REPLAY_RANKS; r++)
        free(times->nodes[r]);
}

/* Returns a pointer to the time of an edge's source; NULL if the source is the root. */
static int64_t *source_of(const tm_graph *graph, replay_times *times, size_t rank, uint32_t from) {
    if (from == TM_FROM_ROOT)
        return NULL;
    if (from & TM_FROM_OPERATION)
        return &times->operations[((tm_graph_participant *)
                                       graph->participants.data)[from - TM_FROM_OPERATION]
                                      .operation];
    return &times->nodes[rank][from];
}

static bool raise(int64_t *at, int64_t ns) {
    bool higher = ns > *at;
    *at = higher ? ns : *at;
    return higher;
}

static bool pass_forward(const replay_case *c, size_t r, uint8_t set, replay_times *times) {
    const tm_graph *graph = &c->ranks[r].graph;
    bool changed = false;
    for (size_t v = 0; v < graph->n_nodes; v++)
        for (size_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const int64_t *source = source_of(graph, times, r, graph->edges[e].from);
            changed |=
                raise(&times->nodes[r][v], (source ? *source : 0) + weight(&c->ranks[r], e, set));
        }
    for (size_t i = 0; i < graph->participants.n; i++) {
        const tm_graph_participant *participant =
            (tm_graph_participant *)graph->participants.data + i;
        if (participant->node == TM_NO_NODE)
            continue;
        changed |=
            raise(&times->operations[participant->operation], times->nodes[r][participant->node]);
    }
    return changed;
}

void replay_forward(const replay_case *c, const uint8_t *set_of_rank, replay_times *times) {
    begin_times(c, INT64_MIN / 2, times);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < c->n_ranks; r++)
            changed |= pass_forward(c, r, set_of_rank[r], times);
    }
    memset(times->steps, 0, sizeof times->steps);
    for (size_t r = 0; r < c->n_ranks; r++)
        for (size_t i = 0; i < c->ranks[r].graph.steps.n; i++) {
            const tm_graph_step *step = (tm_graph_step *)c->ranks[r].graph.steps.data + i;
            for (int64_t k = step->number; k < REPLAY_STEPS; k++)
                raise(&times->steps[k], times->nodes[r][step->node]);
        }
}

static bool lower(int64_t *at, int64_t ns) {
    bool less = ns < *at;
    *at = less ? ns : *at;
    return less;
}

static bool pass_backward(const replay_case *c, size_t r, uint8_t set, replay_times *late) {
    const tm_graph *graph = &c->ranks[r].graph;
    bool changed = false;
    for (size_t i = 0; i < graph->participants.n; i++) {
        const tm_graph_participant *participant =
            (tm_graph_participant *)graph->participants.data + i;
        if (participant->node == TM_NO_NODE)
            continue;
        changed |=
            lower(&late->nodes[r][participant->node], late->operations[participant->operation]);
    }
    for (size_t v = graph->n_nodes; v-- > 0;)
        for (size_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            int64_t *source = source_of(graph, late, r, graph->edges[e].from);
            if (source && late->nodes[r][v] != TM_REPLAY_NEVER)
                changed |= lower(source, late->nodes[r][v] - weight(&c->ranks[r], e, set));
        }
    return changed;
}

void replay_backward(const replay_case *c, const uint8_t *set_of_rank, int64_t total_ns,
                     replay_times *late) {
    begin_times(c, TM_REPLAY_NEVER, late);
    for (size_t r = 0; r < c->n_ranks; r++)
        for (size_t i = 0; i < c->ranks[r].graph.steps.n; i++)
            late->nodes[r][((tm_graph_step *)c->ranks[r].graph.steps.data)[i].node] = total_ns;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < c->n_ranks; r++)
            changed |= pass_backward(c, r, set_of_rank[r], late);
    }
}

static int by_order(const void *a, const void *b) {
    const tm_graph_participant *x = a, *y = b;
    if (x->last_ns != y->last_ns)
        return x->last_ns < y->last_ns ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

/* Sorts the arrivals, and renumbers the edges that refer to them by `event`, the old index. */
static void order_participants(tm_graph *graph, const int64_t *operations) {
    tm_graph_participant *participants = graph->participants.data;
    uint32_t now[REPLAY_OPERATIONS];
    for (uint32_t i = 0; i < graph->participants.n; i++) {
        participants[i].last_ns = operations[participants[i].operation];
        participants[i].event = i;
    }
    if (graph->participants.n > 0)
        qsort(participants, graph->participants.n, sizeof *participants, by_order);
    for (uint32_t i = 0; i < graph->participants.n; i++)
        now[participants[i].event] = i;
    for (uint32_t e = 0; e < graph->first[graph->n_nodes]; e++)
        if (graph->edges[e].from != TM_FROM_ROOT && graph->edges[e].from & TM_FROM_OPERATION)
            graph->edges[e].from =
                TM_FROM_OPERATION + now[graph->edges[e].from - TM_FROM_OPERATION];
}

void replay_finish(replay_case *c) {
    static const uint8_t recorded[REPLAY_RANKS] = {0};
    replay_times times = {0};
    for (size_t r = 0; r < c->n_ranks; r++) {
        uint32_t n_edges = (uint32_t)c->ranks[r].edges.n;
        assert_non_null(tm_vec_append(&c->ranks[r].first, &n_edges, 1));
        c->ranks[r].graph.first = c->ranks[r].first.data;
        c->ranks[r].graph.edges = c->ranks[r].edges.data;
    }
    replay_forward(c, recorded, &times);
    for (size_t r = 0; r < c->n_ranks; r++) {
        c->ranks[r].graph.ns = times.nodes[r];
        order_participants(&c->ranks[r].graph, times.operations);
    }
}

void replay_words(const replay_case *c, bool backward, tm_vec *words) {
    tm_error err;
    for (size_t i = 0; i < c->n_ranks; i++) {
        const replay_rank *rank = &c->ranks[backward ? c->n_ranks - 1 - i : i];
        assert_int_equal(tm_reduce(&rank->graph, REPLAY_SETS, replay_weigh, rank, words, &err),
                         TM_OK);
    }
}

void replay_reduced(const replay_case *c, bool backward, tm_replay *job) {
    tm_vec words = TM_VEC(int64_t);
    tm_error err;
    replay_words(c, backward, &words);
    assert_int_equal(tm_replay_build(words.data, words.n, job, &err), TM_OK);
    tm_vec_free(&words);
}

/* A random case under construction: for each rank, the last end of a call and of each stream. */
enum { STREAMS = 3 };

typedef struct making {
    const replay_shape *shape;
    replay_case *c;
    uint64_t seed;
    uint32_t call[REPLAY_RANKS], ends[REPLAY_RANKS][STREAMS];
    bool in_step[REPLAY_RANKS][STREAMS]; /* whether the end counts for the current step */
} making;

static bool chance(making *m, uint32_t in_100) {
    return draw(&m->seed, 100) < in_100;
}

static void join(making *m, size_t rank, uint32_t from) {
    int64_t ns[REPLAY_SETS];
    for (size_t i = 0; i < REPLAY_SETS; i++)
        ns[i] = chance(m, m->shape->zeros_in_100)
                    ? 0
                    : m->shape->least + draw(&m->seed, m->shape->largest - m->shape->least + 1);
    replay_edge(m->c, rank, from, ns);
}

/* Adds a call and its kernel, which may also wait for another stream. Returns the kernel's node. */
static uint32_t launch(making *m, size_t r, size_t stream) {
    uint32_t begin = replay_node(m->c, r);
    join(m, r, m->call[r]);
    m->call[r] = replay_node(m->c, r);
    join(m, r, begin);
    if (chance(m, 10)) /* the call synchronises */
        join(m, r, m->ends[r][(size_t)draw(&m->seed, STREAMS)]);
    uint32_t kernel = replay_node(m->c, r);
    join(m, r, begin);
    join(m, r, m->ends[r][stream]);
    if (chance(m, 20))
        join(m, r, m->ends[r][(size_t)draw(&m->seed, STREAMS)]);
    return kernel;
}

static void end_kernel(making *m, size_t r, size_t stream, uint32_t from) {
    m->ends[r][stream] = replay_node(m->c, r);
    join(m, r, from);
    m->in_step[r][stream] = true;
}

static void operate(making *m, uint64_t operation) {
    size_t stream = (size_t)draw(&m->seed, STREAMS);
    bool joined = false;
    for (size_t r = 0; r < m->shape->n_ranks; r++) {
        if (chance(m, 30))
            continue;
        uint32_t kernel = launch(m, r, stream);
        /* true: the kernel starts after the operation, but does not arrive at it */
        bool lacks = joined && chance(m, 5);
        uint32_t participant = replay_participant(m->c, r, lacks ? TM_NO_NODE : kernel, operation);
        if (lacks)
            join(m, r, participant);
        end_kernel(m, r, stream, lacks || chance(m, 5) ? kernel : participant);
        joined = true;
    }
}

static void end_step(making *m, int64_t number) {
    static const int64_t none[REPLAY_SETS] = {0};
    for (size_t r = 0; r < m->shape->n_ranks; r++) {
        uint32_t node = UINT32_MAX;
        for (size_t i = 0; i < STREAMS; i++) {
            if (!m->in_step[r][i] || chance(m, m->shape->misses_in_100))
                continue;
            node = node == UINT32_MAX ? replay_node(m->c, r) : node;
            replay_edge(m->c, r, m->ends[r][i], none);
            m->in_step[r][i] = false;
        }
        if (node != UINT32_MAX)
            replay_step(m->c, r, node, number);
    }
}

void replay_random(const replay_shape *shape, uint64_t seed, replay_case *c) {
    making m = {.shape = shape, .c = c, .seed = seed};
    uint64_t operation = 0;
    *c = (replay_case){0};
    for (size_t r = 0; r < shape->n_ranks; r++) {
        m.call[r] = replay_node(c, r);
        join(&m, r, TM_FROM_ROOT);
        for (size_t i = 0; i < STREAMS; i++)
            m.ends[r][i] = TM_FROM_ROOT;
    }
    for (size_t i = 0; i < shape->n_actions; i++) {
        size_t r = (size_t)draw(&m.seed, (int64_t)shape->n_ranks);
        size_t stream = (size_t)draw(&m.seed, STREAMS);
        if (chance(&m, shape->operations_in_100) && operation < REPLAY_OPERATIONS)
            operate(&m, operation++);
        else
            end_kernel(&m, r, stream, launch(&m, r, stream));
        if ((i + 1) % (shape->n_actions / REPLAY_STEPS) == 0)
            end_step(&m, (int64_t)(i / (shape->n_actions / REPLAY_STEPS)));
    }
    replay_finish(c);
}
