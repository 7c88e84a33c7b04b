#include "slack.h"

#include <stdlib.h>

static void bring_down(int64_t *late, int64_t ns) {
    *late = ns < *late ? ns : *late;
}

/* When each node may be at the latest, from the last back; what follows from that of the rank. */
static tm_slack go_back(const tm_graph *graph, int64_t *late, int64_t below_ns) {
    tm_slack out = {.least_ns = -1};
    for (size_t v = graph->n_nodes; v-- > 0;) {
        if (late[v] == INT64_MAX)
            continue;
        const int64_t slack = late[v] - graph->ns[v];
        if (out.least_ns < 0 || slack < out.least_ns)
            out.least_ns = slack;
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            if (edge->from != TM_FROM_ROOT && !(edge->from & TM_FROM_VISIT))
                bring_down(&late[edge->from], late[v] - edge->ns);
            if (slack < below_ns && (edge->kind == TM_EDGE_COMPUTE || edge->kind == TM_EDGE_COPY))
                out.near_ns += edge->ns;
        }
    }
    return out;
}

tm_status tm_slack_find(const tm_graph *graph, const int64_t *visits_ns, const int64_t *steps_ns,
                        int64_t below_ns, tm_slack *out, tm_error *err) {
    const tm_graph_visit *visits = graph->visits.data;
    const tm_graph_step *steps = graph->steps.data;
    int64_t *late = malloc((graph->n_nodes + 1) * sizeof *late);
    if (!late)
        return tm_fail_memory(err);
    for (size_t v = 0; v < graph->n_nodes; v++)
        late[v] = INT64_MAX;
    for (size_t i = 0; i < graph->visits.n; i++)
        if (visits[i].node != TM_NO_NODE)
            bring_down(&late[visits[i].node], visits_ns[i]);
    for (size_t k = 0; k < graph->steps.n; k++)
        bring_down(&late[steps[k].node], steps_ns[k]);
    *out = go_back(graph, late, below_ns);
    free(late);
    return TM_OK;
}
