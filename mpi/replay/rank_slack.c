#include "rank_slack.h"

#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/job/sets.h"

enum {
    NEAR = 100,       /* an event with a slack below T / NEAR is near the critical path */
    RUNS_ALL = 32768, /* maximum number of runs of events in a job, shared equally by the ranks */
    RUNS_LEAST = 8,   /* minimum number of runs of a rank */
    RUNS_MOST = 2048  /* maximum number of runs of a rank */
};

/* State while slack is found, and the slack of this process's ranks. */
typedef struct finder {
    const tm_replay_ranks *r;
    const tm_fixer *fixer;
    int64_t *late;  /* owned; from find_late */
    tm_keys places; /* keys of type uint64_t: ids of operations, parallel to `late` */
    size_t runs;    /* maximum number of runs of a rank */
    tm_vec ranks;   /* vector of tm_whatif_rank */
    tm_vec slacks;  /* vector of tm_slack_run */
} finder;

/* Returns the latest time of each operation, then of each step, that does not delay the end of the
 * job; NULL when out of memory. */
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

static int64_t late_step(const finder *f, int64_t number) {
    const tm_replay *job = f->fixer->replay;
    return f->late[job->n_operations + tm_lower_bound(job->steps, job->n_steps, number)];
}

static int64_t late_participant(const finder *f, uint64_t operation) {
    return f->late[tm_keys_find(&f->places, &operation)];
}

/* Appends the slack of a rank, and the runs of its events. */
static bool add_rank(finder *f, size_t i, const tm_graph *g, const tm_slack_times *times,
                     tm_slack slack) {
    const tm_whatif_rank rank = {.rank = f->r->timelines[i].rank, .slack = slack};
    return tm_vec_append(&f->ranks, &rank, 1) &&
           tm_slack_runs(&f->r->timelines[i], g, times, f->runs, &f->slacks);
}

/* Finds the slack of a rank that is in no batch. */
static bool find_rank(finder *f, size_t i) {
    const tm_graph *g = &f->r->graphs[i];
    const tm_graph_participant *participants = g->participants.data;
    const tm_graph_step *steps = g->steps.data;
    if (g->n_nodes == 0)
        return true;
    int64_t *ends = malloc((g->participants.n + g->steps.n + 1) * sizeof *ends);
    int64_t *late = malloc((g->n_nodes + 1) * sizeof *late);
    bool ok = ends && late;
    for (size_t v = 0; v < g->participants.n && ok; v++)
        ends[v] = late_participant(f, participants[v].operation);
    for (size_t k = 0; k < g->steps.n && ok; k++)
        ends[g->participants.n + k] = late_step(f, steps[k].number);
    if (ok) {
        const tm_slack_times times = {g->ns, late, 1};
        const int64_t below_ns = f->fixer->total_ns / NEAR;
        ok = add_rank(f, i, g, &times,
                      tm_slack_find(g, ends, ends + g->participants.n, below_ns, late));
    }
    free(ends);
    free(late);
    return ok;
}

/* Finds the slack of each rank of a batch. */
static bool find_batch(finder *f, const tm_batch *batch) {
    const tm_graph *g = batch->like;
    const tm_graph_step *steps = g->steps.data;
    tm_batch_workspace *workspace = f->r->workspace;
    tm_slack slack[TM_LANES];
    tm_batch_row *participants_ns = malloc((g->participants.n + 1) * sizeof *participants_ns);
    int64_t *steps_ns = malloc((g->steps.n + 1) * sizeof *steps_ns);
    bool ok = participants_ns && steps_ns && tm_batch_workspace_fit(workspace, batch);
    for (size_t v = 0; v < g->participants.n && ok; v++)
        for (size_t k = 0; k < TM_LANES; k++)
            participants_ns[v].ns[k] = late_participant(f, batch->participants[v].operation[k]);
    for (size_t k = 0; k < g->steps.n && ok; k++)
        steps_ns[k] = late_step(f, steps[k].number);
    if (ok)
        tm_batch_slack(batch, participants_ns, steps_ns, f->fixer->total_ns / NEAR, workspace,
                       slack);
    for (size_t k = 0; k < batch->n && ok; k++) {
        const tm_slack_times times = {&workspace->ns->ns[k], &workspace->peer->ns[k], TM_LANES};
        ok = add_rank(f, batch->index[k], g, &times, slack[k]);
    }
    free(participants_ns);
    free(steps_ns);
    return ok;
}

static bool find_ranks(finder *f) {
    const tm_replay *job = f->fixer->replay;
    size_t n;
    const tm_batch *batches = tm_replay_batches(f->r, &n);
    bool ok = f->late != NULL;
    for (size_t i = 0; i < job->n_operations && ok; i++)
        ok = tm_keys_add(&f->places, &job->operations[i].operation) != TM_NO_KEY;
    for (size_t i = 0; i < f->r->n && ok; i++) {
        ok = tm_graph_open(&f->r->graphs[i], NULL) == TM_OK && find_rank(f, i);
        tm_replay_close_graph(f->r, i);
    }
    for (size_t c = 0; c < n && ok; c++)
        ok = batches[c].n == 0 || find_batch(f, &batches[c]);
    return ok;
}

TM_ORDER_BY(by_rank, tm_whatif_rank, rank);

TM_ORDER_BY(by_run, tm_slack_run, rank, device, stream, begin_ns, least_ns, most_ns);

static size_t runs_of_a_rank(const tm_replay *job) {
    const size_t share = RUNS_ALL / (job->n_ranks + 1);
    return share > RUNS_MOST ? RUNS_MOST : share < RUNS_LEAST ? RUNS_LEAST : share;
}

tm_status tm_mpi_slack(const tm_replay_ranks *ranks, const tm_fixer *fixer,
                       tm_replay_result *result, tm_error *err) {
    finder f = {.r = ranks,
                .fixer = fixer,
                .late = find_late(fixer),
                .places = TM_KEYS(uint64_t),
                .runs = runs_of_a_rank(fixer->replay),
                .ranks = TM_VEC(tm_whatif_rank),
                .slacks = TM_VEC(tm_slack_run)};
    tm_status status = tm_mpi_agree(ranks->comm, find_ranks(&f) ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(ranks->comm, &f.ranks, &result->ranks, err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(ranks->comm, &f.slacks, &result->slacks, err);
    tm_sort(result->ranks.data, result->ranks.n, result->ranks.size, by_rank);
    tm_sort(result->slacks.data, result->slacks.n, result->slacks.size, by_run);
    free(f.late);
    tm_keys_free(&f.places);
    tm_vec_free(&f.ranks);
    tm_vec_free(&f.slacks);
    return status;
}
