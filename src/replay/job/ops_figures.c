#include "ops_figures.h"

#include <stdlib.h>
#include <string.h>

void tm_ops_weigh(const void *context, const tm_graph *graph, uint32_t edge, int64_t *ns) {
    const tm_edge *e = &graph->edges[edge];
    const tm_weight weight = tm_graph_weight(graph, e);
    const bool lag = e->kind == TM_EDGE_GAP || e->kind == TM_EDGE_BEFORE;
    (void)context;
    ns[TM_OPS_SET_RECORDED] = lag ? 0 : weight.ns;
    ns[TM_OPS_SET_IDEAL] = lag ? 0 : weight.peer_ns;
}

typedef struct sweeper {
    const tm_replay *replay;
    const tm_ops_place *places;
    const bool *counts; /* NULL: all steps */
    uint8_t *sets;      /* [n_ranks] */
    int64_t *ns;        /* times from tm_replay_forward */
} sweeper;

/* Returns T with the weight sets in s->sets: the total time of the steps that count. */
static int64_t sweep(const sweeper *s) {
    tm_replay_forward(s->replay, s->sets, s->ns);
    const int64_t *ends = s->ns + s->replay->n_operations;
    int64_t sum = 0;
    for (size_t k = 0; k < s->replay->n_steps; k++)
        sum += !s->counts || s->counts[k] ? ends[k] - (k > 0 ? ends[k - 1] : 0) : 0;
    return sum;
}

static int64_t sweep_all(const sweeper *s, uint8_t set) {
    memset(s->sets, set, s->replay->n_ranks);
    return sweep(s);
}

static bool shares(const tm_ops_place *a, const tm_ops_place *b, bool stage) {
    return stage ? a->stage == b->stage : a->data == b->data;
}

/* Returns T if the ranks with the same data rank as rank i are as recorded, and all other ranks are
 * at the ideal. If @p stage, the ranks of the same stage as rank i are as recorded instead. */
static int64_t sweep_others(const sweeper *s, size_t i, bool stage) {
    for (size_t k = 0; k < s->replay->n_ranks; k++)
        s->sets[k] =
            shares(&s->places[k], &s->places[i], stage) ? TM_OPS_SET_RECORDED : TM_OPS_SET_IDEAL;
    return sweep(s);
}

/* Computes sweep_others for all ranks. Calls it only once for each data rank or stage. */
static void sweep_shared(const sweeper *s, bool stage, int64_t *out) {
    for (size_t i = 0; i < s->replay->n_ranks; i++) {
        size_t first = 0;
        while (!shares(&s->places[first], &s->places[i], stage))
            first++;
        out[i] = first < i ? out[first] : sweep_others(s, i, stage);
    }
}

/*
 * Returns T with the worst ranks at the ideal.
 *
 * @param scores  [ranks] the worst rank has the largest score
 */
static int64_t sweep_workers(const sweeper *s, const int64_t *scores) {
    enum { WORST_PCT = 3 };
    size_t n = s->replay->n_ranks, n_worst = (n * WORST_PCT + 99) / 100;
    memset(s->sets, TM_OPS_SET_RECORDED, n);
    for (; n_worst > 0; n_worst--) {
        size_t worst = n;
        for (size_t i = 0; i < n; i++)
            if (s->sets[i] == TM_OPS_SET_RECORDED && (worst == n || scores[i] > scores[worst]))
                worst = i;
        s->sets[worst] = TM_OPS_SET_IDEAL;
    }
    return sweep(s);
}

static int64_t sweep_last_stage(const sweeper *s) {
    for (size_t i = 0; i < s->replay->n_ranks; i++) {
        if (s->places[i].stages < 2)
            return -1;
        s->sets[i] =
            s->places[i].stage == s->places[i].stages - 1 ? TM_OPS_SET_IDEAL : TM_OPS_SET_RECORDED;
    }
    return sweep(s);
}

tm_status tm_ops_figures_find(const tm_replay *replay, const tm_ops_place *places,
                              tm_ops_figures *out, tm_error *err) {
    sweeper s = {replay, places, out->counts, calloc(replay->n_ranks + 1, 1),
                 calloc(replay->n_operations + replay->n_steps + 1, sizeof *s.ns)};
    bool ok = s.sets && s.ns;
    if (ok) {
        out->total_ns = sweep_all(&s, TM_OPS_SET_RECORDED);
        for (size_t k = 0; k < replay->n_steps; k++)
            out->ends_ns[k] = s.ns[replay->n_operations + k];
        out->ideal_ns = sweep_all(&s, TM_OPS_SET_IDEAL);
        sweep_shared(&s, false, out->ranks_ns);
        sweep_shared(&s, true, out->stages_ns);
        for (size_t i = 0; i < replay->n_ranks; i++)
            if (out->stages_ns[i] < out->ranks_ns[i])
                out->ranks_ns[i] = out->stages_ns[i];
        out->workers_ns = sweep_workers(&s, out->ranks_ns);
        out->stage_ns = sweep_last_stage(&s);
    }
    free(s.sets);
    free(s.ns);
    return ok ? TM_OK : tm_fail_memory(err);
}
