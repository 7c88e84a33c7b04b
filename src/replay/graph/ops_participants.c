#include "ops_participants.h"

#include <stdlib.h>

#include "base/sorted.h"

TM_ORDER_BY(by_time, tm_graph_participant, last_ns, operation);

static bool is_before(const void *participant, const void *key) {
    return by_time(participant, key) < 0;
}

bool tm_ops_sort_participants(tm_graph *graph) {
    tm_graph_participant *v = graph->participants.data;
    size_t n = graph->participants.n, n_edges = graph->first[graph->n_nodes];
    tm_graph_participant *before = malloc((n + 1) * sizeof *before);
    for (size_t i = 0; i < n && before; i++)
        before[i] = v[i];
    if (n > 1 && before)
        qsort(v, n, sizeof *v, by_time);
    for (size_t e = 0; e < n_edges && before; e++) {
        uint32_t *from = &graph->edges[e].from;
        if (*from != TM_FROM_ROOT && (*from & TM_FROM_OPERATION))
            *from = TM_FROM_OPERATION + (uint32_t)tm_bisect(v, n, sizeof *v,
                                                            &before[*from & ~TM_FROM_OPERATION],
                                                            is_before);
    }
    free(before);
    return before != NULL;
}
