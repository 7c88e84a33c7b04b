#include "ops_settle.h"

#include <stdlib.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "replay/graph/ops_participants.h"

typedef struct settler {
    tm_graph *graph;
    const tm_replay *job;
    const int64_t *ns;
    tm_keys places; /* keys of type uint64_t: ids of operations, in the order of job->operations */
} settler;

static size_t place_of(const settler *s, uint64_t operation) {
    return tm_keys_find(&s->places, &operation);
}

/* Returns the end of step k of the graph: as recorded, or as replayed. */
static int64_t end_of(const settler *s, size_t k, bool recorded) {
    const tm_graph_step *step = (const tm_graph_step *)s->graph->steps.data + k;
    size_t at = place_of(s, (uint64_t)step->number);
    return recorded ? s->job->operations[at].last_ns : s->ns[at];
}

/* Returns the time that must be added to the replayed times in step k, so that step k starts at the
 * recorded end of the previous step. */
static int64_t shift_of(const settler *s, size_t k) {
    return k > 0 ? end_of(s, k - 1, true) - end_of(s, k - 1, false) : 0;
}

static void set_participants(settler *s) {
    tm_graph_participant *participants = s->graph->participants.data;
    const tm_graph_step *steps = s->graph->steps.data;
    for (size_t i = 0; i < s->graph->participants.n; i++) {
        size_t k = 0;
        while (k + 1 < s->graph->steps.n && steps[k].node < participants[i].node)
            k++;
        bool end = steps[k].node == participants[i].node;
        participants[i].last_ns =
            end ? end_of(s, k, true)
                : s->ns[place_of(s, participants[i].operation)] + shift_of(s, k);
    }
}

/* Sets the times of all nodes, and the weights of lags. The last node of a step is the step's end.
 * False when out of memory. */
static bool set_nodes(settler *s) {
    tm_graph *g = s->graph;
    const tm_graph_step *steps = g->steps.data;
    for (size_t v = 0, k = 0; v < g->n_nodes; v++) {
        bool end = k < g->steps.n && steps[k].node == v;
        const int64_t lag = end ? shift_of(s, k + 1) - shift_of(s, k) : 0;
        const tm_weight weight = {lag, lag, lag > 0 ? lag : 0};
        g->ns[v] = INT64_MIN;
        for (uint32_t e = g->first[v]; e < g->first[v + 1]; e++) {
            tm_edge *edge = &g->edges[e];
            if (end || edge->kind == TM_EDGE_GAP) {
                tm_edge_flag(edge, lag > 0 ? TM_EDGE_OVER : 0);
                if (!tm_graph_weigh(g, edge, &weight))
                    return false;
            }
            const int64_t ns = tm_graph_reached_ns(g, edge);
            g->ns[v] = ns > g->ns[v] ? ns : g->ns[v];
        }
        k += end;
    }
    return true;
}

tm_status tm_ops_settle(tm_graph *graph, const tm_replay *job, const int64_t *ns, tm_error *err) {
    settler s = {graph, job, ns, TM_KEYS(uint64_t)};
    bool ok = true;
    for (size_t i = 0; i < job->n_operations && ok; i++)
        ok = tm_keys_add(&s.places, &job->operations[i].operation) != TM_NO_KEY;
    if (ok && graph->steps.n > 0) {
        set_participants(&s);
        ok = set_nodes(&s) && tm_ops_sort_participants(graph);
    }
    tm_keys_free(&s.places);
    return ok ? TM_OK : tm_fail_memory(err);
}
