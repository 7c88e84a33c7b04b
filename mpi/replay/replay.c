#include "replay.h"

#include <inttypes.h>

#include "mpi/replay/path_pieces.h"
#include "mpi/replay/rank_graphs.h"
#include "mpi/replay/replay_ops.h"
#include "mpi/replay/scenario_parts.h"
#include "mpi/replay/try_fixes.h"

static bool is_asked_for(const tm_list *steps, int64_t number) {
    return number != TM_STEP_WARM_UP && (!steps || tm_list_has(steps, number));
}

/* Sets the figures of the result that are sums over the job's ranks (time of communication,
 * inferred waits, steps), and the largest clock uncertainty. */
static void sum_ranks(const tm_replay_ranks *r, tm_replay_result *result) {
    enum { COMM, UNMATCHED, INFERRED, BLOCKED, WINDOWS, MARKED, N_SUMS };
    int64_t sums[N_SUMS] = {[COMM] = r->comm_ns, [UNMATCHED] = r->unmatched_ns}, uncertainty = 0;
    for (size_t i = 0; i < r->n; i++) {
        const tm_graph *g = &r->graphs[i];
        const tm_timeline *t = &r->timelines[i];
        sums[INFERRED] += g->in_batch ? 0 : g->n_inferred;
        sums[BLOCKED] += g->blocked_ns;
        int64_t before_ns = sums[WINDOWS];
        for (size_t k = 0; k < t->n_steps; k++)
            if (t->steps[k].annotated && is_asked_for(r->steps, t->steps[k].number))
                sums[WINDOWS] += t->steps[k].end_ns - t->steps[k].begin_ns;
        sums[MARKED] += sums[WINDOWS] > before_ns;
        if (t->clock.uncertainty_ns > uncertainty)
            uncertainty = t->clock.uncertainty_ns;
    }
    size_t n;
    const tm_batch *batches = tm_replay_batches(r, &n);
    for (size_t c = 0; c < n; c++) {
        for (size_t e = 0; e < tm_batch_edges(&batches[c]); e++)
            for (size_t k = 0; batches[c].like->edges[e].kind == TM_EDGE_COMM && k < batches[c].n;
                 k++)
                sums[UNMATCHED] += tm_batch_ns(&batches[c], (uint32_t)e, k);
        sums[INFERRED] += (int64_t)batches[c].n * batches[c].like->n_inferred;
    }
    MPI_Allreduce(MPI_IN_PLACE, sums, N_SUMS, MPI_INT64_T, MPI_SUM, r->comm);
    MPI_Allreduce(MPI_IN_PLACE, &uncertainty, 1, MPI_INT64_T, MPI_MAX, r->comm);
    result->comm_ns = sums[COMM];
    result->unmatched_ns = sums[UNMATCHED];
    result->n_inferred = sums[INFERRED];
    result->blocked_ns = sums[BLOCKED];
    result->window_ns = sums[MARKED] > 0 ? sums[WINDOWS] / sums[MARKED] : 0;
    result->uncertainty_ns = uncertainty;
}

/* Returns whether the clocks of all ranks are aligned. */
static bool is_comparable(const tm_replay_ranks *r) {
    int64_t counts[2] = {(int64_t)r->n, 0};
    for (size_t i = 0; i < r->n; i++)
        counts[1] += r->timelines[i].clock.way == TM_CLOCK_UNKNOWN;
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, r->comm);
    return counts[0] < 2 || counts[1] == 0;
}

/* Returns whether some rank records more than communication. If none does, the time before an
 * operation is work that was not recorded, so no replay shows what a fix saves. */
static bool records_work(const tm_replay_ranks *r) {
    int works = 0;
    for (size_t i = 0; i < r->n; i++)
        works |= !tm_timeline_lacks_compute(&r->timelines[i]);
    MPI_Allreduce(MPI_IN_PLACE, &works, 1, MPI_INT, MPI_MAX, r->comm);
    return works != 0;
}

/* Sets job_ns to the time of all steps, then removes steps that were not requested, and their
 * pieces of the path. */
static tm_status keep_steps(const tm_list *list, tm_replay_result *result, tm_error *err) {
    tm_path_step *steps = result->path_steps.data;
    tm_path_piece *pieces = result->pieces.data;
    int64_t first = result->path_steps.n > 0 ? steps[0].number : 0, last = first;
    size_t n = 0, n_pieces = 0, n_before = first == TM_STEP_WARM_UP;
    for (size_t k = 0; k < result->path_steps.n; k++) {
        last = steps[k].number;
        result->job_ns += last == TM_STEP_WARM_UP ? 0 : steps[k].end_ns - steps[k].begin_ns;
        first = k == n_before ? last : first;
        if (is_asked_for(list, last))
            steps[n++] = steps[k];
    }
    for (size_t i = 0; i < result->pieces.n; i++)
        if (is_asked_for(list, pieces[i].step))
            pieces[n_pieces++] = pieces[i];
    if (n == 0 && result->path_steps.n > n_before)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "--step: the job has none of these steps; it has %" PRId64 "-%" PRId64,
                       first, last);
    if (n + n_before < result->path_steps.n)
        result->whole.n = 0; /* the whole path leads through removed steps, so it is removed, too */
    result->path_steps.n = n;
    result->pieces.n = n_pieces;
    return TM_OK;
}

static tm_status replay(tm_replay_ranks *r, const tm_replay_plan *plan, tm_replay_result *result,
                        tm_error *err) {
    TM_TRY(tm_mpi_replay_ranks(r, err));
    result->n_ranks = r->n_ranks;
    result->works = r->works;
    r->works = (tm_works){0};
    result->extras = r->extras;
    r->extras = TM_VEC(tm_extra_row);
    sum_ranks(r, result);
    if (plan->scenario)
        TM_TRY(tm_mpi_scenario(r, plan->scenario, err));
    TM_TRY(tm_mpi_replay_path(r, &result->path_steps, &result->pieces, &result->whole, err));
    TM_TRY(keep_steps(r->steps, result, err));
    if (result->path_steps.n == 0)
        return TM_OK;
    TM_TRY(tm_mpi_whatif(r, plan->scenario, result, err));
    result->base_ns = result->total_ns;
    return r->is_ops ? tm_mpi_ops_figures(r, result, err) : TM_OK;
}

tm_status tm_mpi_replay(MPI_Comm comm, const tm_replay_plan *plan,
                        const tm_collectives *collectives, tm_replay_result *result,
                        tm_error *err) {
    tm_replay_ranks ranks = {.comm = comm,
                             .base = TM_TIMEBASE(INT64_MAX),
                             .timelines = plan->timelines,
                             .n = plan->n_timelines,
                             .collectives = collectives,
                             .names = plan->names,
                             .steps = plan->steps,
                             .packs = plan->scenario == NULL,
                             .alone = plan->scenario != NULL};
    result->names = plan->names;
    result->world_size = plan->world_size;
    result->scenario = plan->scenario ? plan->scenario->text : NULL;
    tm_status status = TM_OK;
    if (is_comparable(&ranks) && records_work(&ranks))
        status = replay(&ranks, plan, result, err);
    result->base = ranks.base;
    ranks.base = TM_TIMEBASE(INT64_MAX);
    tm_replay_ranks_free(&ranks);
    return status;
}
