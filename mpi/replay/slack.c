#include "slack.h"

#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "mpi/agree.h"
#include "mpi/shuffle.h"
#include "replay/result.h"
#include "replay/sets.h"

/* What is nearer to the path than T / 100 is near. */
enum { NEAR = 100 };

/* The latest time of each operation, then of each step. */
static int64_t *find_late(const tm_fixer *fixer) {
    const tm_replay *job = fixer->replay;
    int64_t *late = malloc((job->n_operations + job->n_steps + 1) * sizeof *late);
    uint8_t *sets = malloc(job->n_ranks + 1);
    if (late && sets) {
        memset(sets, TM_SET_RECORDED, job->n_ranks);
        tm_replay_backward(job, sets, fixer->recorded_ns, late);
    }
    if (!sets) {
        free(late);
        late = NULL;
    }
    free(sets);
    return late;
}

/* The latest time of everything that a rank leads to, and what that leaves it. */
static tm_status find_rank(const tm_fixer *fixer, const tm_graph *g, const int64_t *late,
                           const tm_keys *places, tm_vec *own, tm_error *err) {
    const tm_replay *job = fixer->replay;
    const tm_graph_visit *visits = g->visits.data;
    const tm_graph_step *steps = g->steps.data;
    int64_t *ends = malloc((g->visits.n + g->steps.n + 1) * sizeof *ends);
    tm_whatif_rank rank = {.rank = g->rank};
    for (size_t v = 0; v < g->visits.n && ends; v++)
        ends[v] = late[tm_keys_find(places, &visits[v].operation)];
    for (size_t k = 0; k < g->steps.n && ends; k++)
        ends[g->visits.n + k] =
            late[job->n_operations + tm_lower_bound(job->steps, job->n_steps, steps[k].number)];
    tm_status status =
        ends ? tm_slack_find(g, ends, ends + g->visits.n, fixer->total_ns / NEAR, &rank.slack, err)
             : tm_fail_memory(err);
    if (status == TM_OK && g->n_nodes > 0 && !tm_vec_append(own, &rank, 1))
        status = tm_fail_memory(err);
    free(ends);
    return status;
}

/* The same of a crew's ranks. */
static bool find_crew(const tm_crew *crew, tm_crew_desk *desk, const tm_fixer *fixer,
                      const int64_t *late, const tm_keys *places, tm_vec *own) {
    const tm_replay *job = fixer->replay;
    const tm_graph *g = crew->like;
    const tm_graph_step *steps = g->steps.data;
    tm_slack slack[TM_LANES];
    tm_crew_row *visits_ns = malloc((g->visits.n + 1) * sizeof *visits_ns);
    int64_t *steps_ns = malloc((g->steps.n + 1) * sizeof *steps_ns);
    bool ok = visits_ns && steps_ns && tm_crew_desk_fit(desk, crew);
    for (size_t v = 0; v < g->visits.n && ok; v++)
        for (size_t k = 0; k < TM_LANES; k++)
            visits_ns[v].ns[k] = late[tm_keys_find(places, &crew->visits[v].operation[k])];
    for (size_t k = 0; k < g->steps.n && ok; k++)
        steps_ns[k] =
            late[job->n_operations + tm_lower_bound(job->steps, job->n_steps, steps[k].number)];
    if (ok)
        tm_crew_slack(crew, visits_ns, steps_ns, fixer->total_ns / NEAR, desk, slack);
    for (size_t k = 0; k < crew->n && ok; k++) {
        const tm_whatif_rank rank = {.rank = crew->rank[k], .slack = slack[k]};
        ok = tm_vec_append(own, &rank, 1) != NULL;
    }
    free(visits_ns);
    free(steps_ns);
    return ok;
}

static tm_status find_ranks(const tm_replay_ranks *ranks, const tm_fixer *fixer, tm_vec *own,
                            tm_error *err) {
    const tm_replay *job = fixer->replay;
    tm_keys places = TM_KEYS(uint64_t);
    int64_t *late = find_late(fixer);
    bool ok = late != NULL;
    for (size_t i = 0; i < job->n_operations && ok; i++)
        ok = tm_keys_add(&places, &job->operations[i].operation) != TM_NO_KEY;
    tm_status status = ok ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < ranks->n && status == TM_OK; i++)
        status = find_rank(fixer, &ranks->graphs[i], late, &places, own, err);
    size_t n;
    const tm_crew *crews = tm_replay_crews(ranks, &n);
    for (size_t c = 0; c < n && status == TM_OK; c++)
        if (crews[c].n > 0 && !find_crew(&crews[c], ranks->desk, fixer, late, &places, own))
            status = tm_fail_memory(err);
    free(late);
    tm_keys_free(&places);
    return status;
}

static int by_rank(const void *a, const void *b) {
    return tm_order_i64(((const tm_whatif_rank *)a)->rank, ((const tm_whatif_rank *)b)->rank);
}

tm_status tm_mpi_slack(const tm_replay_ranks *ranks, const tm_fixer *fixer, tm_vec *out,
                       tm_error *err) {
    tm_vec own = TM_VEC(tm_whatif_rank);
    tm_status status = tm_mpi_agree(ranks->comm, find_ranks(ranks, fixer, &own, err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(ranks->comm, &own, out, err);
    if (out->n > 1)
        qsort(out->data, out->n, out->size, by_rank);
    tm_vec_free(&own);
    return status;
}
