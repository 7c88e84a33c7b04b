#include "even_stages.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/bytes.h"
#include "mpi/exchange/shuffle.h"
#include "timeline/packed_events.h"
#include "waits/stages.h"

void tm_mpi_split_free(tm_split *split) {
    tm_vec_free(&split->stages);
    free(split->of_rank);
    free(split->pairs);
    split->of_rank = NULL;
    split->pairs = NULL;
}

/* Returns, for each step of a timeline, whether the result has the step and all ranks recorded it;
 * NULL when out of memory. */
static bool *pick_steps(const tm_timeline *t, const tm_replay_result *result) {
    const tm_path_step *steps = result->path_steps.data;
    bool *counts = calloc(t->n_steps + 1, sizeof *counts);
    for (size_t i = 0; i < t->n_steps && counts; i++)
        for (size_t k = 0; k < result->path_steps.n && !counts[i]; k++)
            counts[i] = steps[k].number == t->steps[i].number && !steps[k].partial;
    return counts;
}

static tm_status collect(const tm_replay_ranks *r, const tm_replay_result *result, tm_vec *out,
                         tm_error *err) {
    for (size_t i = 0; i < r->n; i++) {
        const int64_t stage = tm_stage_of(&r->collectives->stages, r->timelines[i].rank);
        if (stage < 0 || !tm_replay_has(r, i))
            continue;
        bool *counts = pick_steps(&r->timelines[i], result);
        tm_status status = counts ? tm_timeline_open(&r->timelines[i], err) : tm_fail_memory(err);
        if (status == TM_OK)
            status = tm_split_collect(&r->timelines[i], stage, counts, out, err);
        free(counts);
        TM_TRY(status);
        tm_timeline_close(&r->timelines[i]);
    }
    return TM_OK;
}

/* Sets the factors of each rank of this process to the factors of its stage; 1 if the rank has no
 * stage. */
static bool set_factors(const tm_replay_ranks *r, tm_split *out) {
    const tm_split_stage *v = out->stages.data;
    out->of_rank = malloc((2 * r->n + 1) * sizeof *out->of_rank);
    for (size_t i = 0; i < r->n && out->of_rank; i++) {
        const int64_t stage = tm_stage_of(&r->collectives->stages, r->timelines[i].rank);
        const size_t at = TM_FIRST_FROM(tm_split_stage, stage, v, out->stages.n, stage);
        const bool known = at < out->stages.n && v[at].stage == stage;
        for (size_t k = 0; k < 2; k++)
            out->of_rank[2 * i + k] = known ? v[at].factors[k] : 1.0;
    }
    return out->of_rank != NULL;
}

/* Returns an array by name id: 1 for names of this process's kernels that send or receive,
 * otherwise 0. Returns NULL when out of memory. */
static uint8_t *mark_pairs(const tm_replay_ranks *r) {
    uint8_t *pairs = calloc(tm_names_count(r->names) + 1, 1);
    for (size_t i = 0; i < r->n && pairs; i++) {
        const tm_timeline *t = &r->timelines[i];
        const tm_collective_attr *attrs = t->attrs[TM_ATTR_COLLECTIVE];
        for (size_t k = 0; k < t->n_attrs[TM_ATTR_COLLECTIVE]; k++)
            if (attrs[k].kind == TM_COLL_SEND || attrs[k].kind == TM_COLL_RECV ||
                attrs[k].kind == TM_COLL_SENDRECV)
                pairs[t->name[attrs[k].event]] = 1;
    }
    return pairs;
}

/* Broadcasts the stages from process 0. */
static tm_status share(MPI_Comm comm, tm_vec *stages, tm_error *err) {
    void *bytes = stages->data;
    size_t size = stages->n * stages->size;
    TM_TRY(tm_mpi_broadcast_bytes(comm, &bytes, &size, err));
    if (bytes == stages->data)
        return TM_OK;
    const bool ok = tm_vec_append(stages, bytes, size / stages->size) != NULL || size == 0;
    free(bytes);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_mpi_split(const tm_replay_ranks *ranks, const tm_replay_result *result, tm_split *out,
                       tm_error *err) {
    tm_vec own = TM_VEC(tm_split_kernel), all = TM_VEC(tm_split_kernel);
    *out = (tm_split){.stages = TM_VEC(tm_split_stage)};
    if (ranks->collectives->pipeline.stages < 2 || ranks->is_ops)
        return TM_OK;
    int64_t n_steps = 0;
    for (size_t k = 0; k < result->path_steps.n; k++)
        n_steps += !((const tm_path_step *)result->path_steps.data)[k].partial;
    tm_status status = tm_mpi_agree(ranks->comm, collect(ranks, result, &own, err), err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(ranks->comm, &own, tm_mpi_first_process, &all, err);
    if (status == TM_OK && n_steps > 0)
        status = tm_mpi_agree(ranks->comm, tm_split_compare(&all, n_steps, &out->stages, err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, share(ranks->comm, &out->stages, err), err);
    if (status == TM_OK && out->stages.n > 0)
        out->pairs = mark_pairs(ranks);
    if (status == TM_OK && out->stages.n > 0)
        status = tm_mpi_agree(
            ranks->comm, set_factors(ranks, out) && out->pairs ? TM_OK : tm_fail_memory(err), err);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

bool tm_mpi_split_change(const tm_split *split, tm_vec *more) {
    const tm_split_stage *v = split->stages.data;
    tm_change_more it = {
        .item = {.what = TM_WHATIF_SPLIT, .ideal_ns = -1, .next_rank = -1, .tried = true},
        .change = {.kinds = 1 << TM_EDGE_COMPUTE | 1 << TM_EDGE_GAP | 1 << TM_EDGE_HOST |
                            1 << TM_EDGE_CALL | 1 << TM_EDGE_TRANSFER,
                   .of_rank = split->of_rank}};
    for (size_t i = 0; i < split->stages.n; i++)
        it.item.ranks += v[i].differs ? v[i].ranks : 0;
    return split->stages.n == 0 || tm_vec_append(more, &it, 1) != NULL;
}
