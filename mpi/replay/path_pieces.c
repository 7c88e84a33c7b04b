#include "path_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"

/* Results of tm_path_decide. `edges` and `boundaries` belong to the graph that was decided last. */
typedef struct decided {
    uint32_t *edges, *boundaries; /* owned; [n] */
    size_t n;
    uint32_t **kept; /* owned; [ranks] the `edges` of each rank that has its own graph; not set for
                        ranks in batches */
} decided;

static void decided_free(decided *d, size_t n_ranks) {
    free(d->edges);
    free(d->boundaries);
    for (size_t i = 0; i < n_ranks && d->kept; i++)
        free(d->kept[i]);
    free(d->kept);
}

static tm_status decide(const tm_graph *graph, decided *d, tm_error *err) {
    if (graph->n_nodes > d->n || !d->edges) {
        free(d->edges);
        free(d->boundaries);
        d->n = graph->n_nodes;
        d->edges = malloc((d->n + 1) * sizeof *d->edges);
        d->boundaries = malloc((d->n + 1) * sizeof *d->boundaries);
    }
    if (!d->edges || !d->boundaries)
        return tm_fail_memory(err);
    tm_path_decide(graph, d->edges, d->boundaries);
    return TM_OK;
}

static tm_status collect_boundaries(const tm_replay_ranks *r, decided *d, tm_vec *arrivals,
                                    tm_vec *ends, tm_error *err) {
    for (size_t i = 0; i < r->n; i++) {
        TM_TRY(tm_graph_open(&r->graphs[i], err));
        TM_TRY(decide(&r->graphs[i], d, err));
        TM_TRY(tm_path_boundaries(&r->graphs[i], d->boundaries, arrivals, ends, err));
        tm_replay_close_graph(r, i);
        d->kept[i] = d->edges;
        d->edges = NULL;
    }
    size_t n;
    const tm_batch *batches = tm_replay_batches(r, &n);
    for (size_t c = 0; c < n; c++)
        if (batches[c].n > 0)
            TM_TRY(tm_batch_boundaries(&batches[c], r->workspace, arrivals, ends, err));
    return TM_OK;
}

/* The hops of a rank. */
typedef struct own_hops {
    const tm_path_hop *hops; /* [n] */
    size_t n;
} own_hops;

static tm_status fill_rank(const tm_graph *graph, const tm_timeline *timeline,
                           const uint32_t *edges, own_hops own, tm_vec *pieces, tm_error *err) {
    for (size_t k = 0; k < own.n; k++)
        TM_TRY(tm_path_fill(graph, timeline, edges, &own.hops[k], pieces, err));
    return TM_OK;
}

/* Orders by rank, step and time, because tm_path_walk returns the hops of a path in reverse. */
TM_ORDER_BY(by_rank, tm_path_hop, rank, step, begin_ns);

static own_hops hops_of(const tm_vec *hops, int64_t rank) {
    const tm_path_hop *v = hops->data;
    size_t first = TM_FIRST_FROM(tm_path_hop, rank, v, hops->n, rank), after = first;
    while (after < hops->n && v[after].rank == rank)
        after++;
    return (own_hops){v + first, after - first};
}

static tm_status fill_batch(const tm_replay_ranks *r, const tm_batch *batch, decided *d,
                            const tm_vec *hops, tm_vec *pieces, tm_error *err) {
    bool set = false;
    for (size_t lane = 0; lane < batch->n; lane++) {
        const own_hops own = hops_of(hops, batch->rank[lane]);
        tm_graph graph;
        if (own.n == 0)
            continue;
        set = set || tm_batch_peers(batch, &r->places, r->workspace);
        if (!set)
            return tm_fail_memory(err);
        tm_status status = tm_batch_pick(batch, lane, r->workspace, false, &graph, err);
        if (status == TM_OK)
            status = decide(&graph, d, err);
        if (status == TM_OK)
            status =
                fill_rank(&graph, &r->timelines[batch->index[lane]], d->edges, own, pieces, err);
        tm_graph_free(&graph);
        TM_TRY(status);
    }
    return TM_OK;
}

/* Finds the pieces of the hops on this process's ranks. */
static tm_status fill(const tm_replay_ranks *r, decided *d, tm_vec *hops, tm_vec *pieces,
                      tm_error *err) {
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    tm_vec_sort(hops, by_rank);
    for (size_t i = 0; i < r->n; i++) {
        const own_hops own = hops_of(hops, r->timelines[i].rank);
        if (own.n == 0 || r->graphs[i].in_batch)
            continue;
        TM_TRY(tm_graph_open(&r->graphs[i], err));
        TM_TRY(fill_rank(&r->graphs[i], &r->timelines[i], d->kept[i], own, pieces, err));
        tm_replay_close_graph(r, i);
    }
    for (size_t c = 0; c < n_batches; c++)
        TM_TRY(fill_batch(r, &batches[c], d, hops, pieces, err));
    return TM_OK;
}

TM_ORDER_BY(by_time, tm_path_piece, step, begin_ns, ns);

static tm_status find(const tm_replay_ranks *r, decided *d, tm_vec boundaries[4], tm_vec *steps,
                      tm_vec *hops, tm_error *err) {
    tm_status status = d->kept ? collect_boundaries(r, d, &boundaries[0], &boundaries[1], err)
                               : tm_fail_memory(err);
    TM_TRY(tm_mpi_agree(r->comm, status, err));
    TM_TRY(tm_mpi_everywhere(r->comm, &boundaries[0], &boundaries[2], err));
    TM_TRY(tm_mpi_everywhere(r->comm, &boundaries[1], &boundaries[3], err));
    status = tm_path_walk(&boundaries[2], &boundaries[3], r->n_ranks, steps, hops, err);
    return tm_mpi_agree(r->comm, status, err);
}

/* Moves the pieces of the whole path to @p whole. They come before the pieces of the steps. */
static tm_status split_whole(tm_vec *pieces, tm_vec *whole, tm_error *err) {
    tm_path_piece *v = pieces->data;
    size_t n = 0;
    while (n < pieces->n && v[n].step == TM_PATH_WHOLE)
        n++;
    if (n > 0 && !tm_vec_append(whole, v, n))
        return tm_fail_memory(err);
    if (n > 0)
        memmove(v, v + n, (pieces->n - n) * sizeof *v);
    pieces->n -= n;
    tm_vec_trim(pieces);
    return TM_OK;
}

tm_status tm_mpi_replay_path(const tm_replay_ranks *ranks, tm_vec *steps, tm_vec *pieces,
                             tm_vec *whole, tm_error *err) {
    decided d = {.kept = calloc(ranks->n + 1, sizeof *d.kept)};
    tm_vec boundaries[4] = {TM_VEC(tm_path_arrival), TM_VEC(tm_path_end), TM_VEC(tm_path_arrival),
                            TM_VEC(tm_path_end)};
    tm_vec hops = TM_VEC(tm_path_hop), own = TM_VEC(tm_path_piece);
    tm_status status = find(ranks, &d, boundaries, steps, &hops, err);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, fill(ranks, &d, &hops, &own, err), err);
    decided_free(&d, ranks->n);
    if (status == TM_OK)
        status = tm_mpi_shuffle(ranks->comm, &own, tm_mpi_first_process, pieces, err);
    if (pieces->n > 1) /* fast, because each rank's pieces are already in order */
        tm_sort(pieces->data, pieces->n, pieces->size, by_time);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, split_whole(pieces, whole, err), err);
    for (size_t i = 0; i < 4; i++)
        tm_vec_free(&boundaries[i]);
    tm_vec_free(&hops);
    tm_vec_free(&own);
    return status;
}
