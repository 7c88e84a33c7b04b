#include "works.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/job/works_sum.h"
#include "waits/stages.h"

static bool is_before_rank(const void *at_once, const void *index) {
    return ((const tm_works_at_once *)at_once)->index < *(const size_t *)index;
}

/* Appends room for the sums of one of this process's ranks. Returns the sums, all 0 except AT_ONCE;
 * NULL when out of memory. */
static int64_t *add_rank(const tm_replay_ranks *r, size_t i, const tm_works_shape *shape,
                         tm_vec *own) {
    const tm_timeline *t = &r->timelines[i];
    const uint32_t host = tm_timeline_host(t);
    tm_works_rank *rank = tm_vec_push(own);
    if (!rank)
        return NULL;
    memset(rank, 0, own->size);
    *rank = (tm_works_rank){t->rank, tm_stage_of(&r->collectives->stages, t->rank),
                            host == TM_NO_NAME ? -1 : (int64_t)host};
    int64_t *sums = (int64_t *)(void *)(rank + 1);
    const tm_works_at_once *v = r->at_once.data;
    for (size_t k = tm_bisect(v, r->at_once.n, sizeof *v, &i, is_before_rank);
         k < r->at_once.n && v[k].index == i; k++)
        tm_works_add_at_once(shape, &v[k], sums);
    return sums;
}

/* Appends the sums of a batch's ranks, which are all of one stage. */
static bool add_batch(const tm_replay_ranks *r, const tm_batch *batch, tm_works_of *of,
                      tm_vec *own) {
    int64_t *sums[TM_LANES];
    /* `own` must not grow below, because add_rank returns pointers into it */
    if (!tm_vec_reserve(own, own->n + batch->n))
        return false;
    for (size_t k = 0; k < batch->n; k++)
        sums[k] = add_rank(r, batch->index[k], of->shape, own);
    if (batch->n == 0)
        return true;
    of->n_peers = tm_replay_count_stage(r, tm_stage_of(&r->collectives->stages, batch->rank[0]));
    tm_works_add_batch(of, batch, sums);
    return !of->calls || tm_works_batch_calls(of, batch, sums);
}

/* Sums the own work of each rank of this process. Adds the work at places that some ranks do not
 * have to @p apart_ns. */
static bool sum_ranks(const tm_replay_ranks *r, const tm_works_shape *shape, tm_vec *own,
                      int64_t *apart_ns) {
    tm_works_of of = {
        .shape = shape, .places = &r->places, .calls = r->host_times.n > 0, .apart_ns = apart_ns};
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    bool ok = true;
    for (size_t i = 0; i < r->n && ok; i++) {
        if (r->graphs[i].n_nodes == 0 || !r->items[i].places)
            continue;
        int64_t *sums = add_rank(r, i, shape, own);
        ok = sums != NULL;
        of.n_peers =
            tm_replay_count_stage(r, tm_stage_of(&r->collectives->stages, r->timelines[i].rank));
        if (ok)
            tm_works_add(&of, &r->items[i], sums);
        ok = ok && (!of.calls || tm_works_calls(&of, &r->items[i], sums));
    }
    for (size_t c = 0; c < n_batches && ok; c++)
        ok = add_batch(r, &batches[c], &of, own);
    return ok;
}

/* Returns whether most of the GPUs' own work is at places that all ranks have. If not, the ranks
 * run different programs, although no stages are known.
 * @param apart_ns  work at places that not all ranks have [ns] */
static bool is_most(const tm_replay_ranks *r, const tm_vec *own, size_t n_rows, int64_t apart_ns) {
    int64_t ns[2] = {-apart_ns, r->work_ns}; /* work at places that all ranks have; all work */
    for (size_t i = 0; i < own->n; i++) {
        const int64_t *sums = (const void *)((const char *)own->data + i * own->size);
        for (size_t row = 0; row < n_rows; row++)
            ns[0] += sums[TM_WORKS_RANK_WORDS + TM_WORKS_DEVICE * n_rows + row];
    }
    MPI_Allreduce(MPI_IN_PLACE, ns, 2, MPI_INT64_T, MPI_SUM, r->comm);
    return ns[0] > ns[1] / 2;
}

TM_ORDER_BY(by_stage, tm_works_rank, stage, rank);

/* Returns the lowest step number with this tm_place_step on this process's ranks; INT64_MAX if
 * there is none. */
static int64_t number_of(const tm_replay_ranks *r, unsigned step) {
    int64_t number = INT64_MAX;
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < r->timelines[i].n_steps; k++) {
            const int64_t n = r->timelines[i].steps[k].number;
            if (n >= 0 && 1 + n % TM_PLACE_STEPS == (int64_t)step && n < number)
                number = n;
        }
    return number;
}

/* Orders the rows by step number. Sets n_rows and steps of @p out. */
static bool number_rows(const tm_replay_ranks *r, tm_works_shape *shape, tm_works *out) {
    int64_t numbers[TM_PLACE_STEPS + 1];
    int64_t sorted[TM_PLACE_STEPS + 1];
    size_t n = 0;
    for (unsigned step = 0; step <= TM_PLACE_STEPS; step++)
        numbers[step] = shape->step_at[step] < shape->n_steps ? number_of(r, step) : INT64_MAX;
    MPI_Allreduce(MPI_IN_PLACE, numbers, TM_PLACE_STEPS + 1, MPI_INT64_T, MPI_MIN, r->comm);
    for (unsigned step = 0; step <= TM_PLACE_STEPS; step++)
        if (shape->step_at[step] < shape->n_steps)
            sorted[n++] = numbers[step];
    tm_sort_values(sorted, n);
    for (unsigned step = 0; step <= TM_PLACE_STEPS; step++)
        if (shape->step_at[step] < shape->n_steps)
            shape->step_at[step] = (uint8_t)tm_lower_bound(sorted, n, numbers[step]);
    out->n_rows = tm_works_rows(shape);
    out->steps = malloc((out->n_rows + 1) * sizeof *out->steps);
    for (size_t i = 0; i < out->n_rows && out->steps; i++)
        out->steps[i] = sorted[i / shape->n_parts];
    return out->steps != NULL;
}

tm_status tm_mpi_works(const tm_replay_ranks *r, tm_works *out, tm_error *err) {
    uint64_t steps[(TM_PLACE_STEPS + 1) / 64] = {0};
    tm_works_steps(&r->places, steps);
    MPI_Allreduce(MPI_IN_PLACE, steps, sizeof steps / sizeof *steps, MPI_UINT64_T, MPI_BOR,
                  r->comm);
    tm_works_shape shape = tm_works_shape_of(steps);
    if (shape.n_steps == 0)
        return TM_OK;
    const bool numbered = number_rows(r, &shape, out);
    TM_TRY(tm_mpi_agree(r->comm, numbered ? TM_OK : tm_fail_memory(err), err));
    out->ranks.size = sizeof(tm_works_rank) + TM_N_WORKS * out->n_rows * sizeof(int64_t);
    tm_vec own = {.size = out->ranks.size};
    int64_t apart_ns = 0;
    const bool ok = sum_ranks(r, &shape, &own, &apart_ns);
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK && !is_most(r, &own, out->n_rows, apart_ns))
        out->n_rows = 0;
    else if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &own, tm_mpi_first_process, &out->ranks, err);
    tm_vec_sort(&out->ranks, by_stage);
    tm_vec_free(&own);
    return status;
}
