#include "changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/exchange/agree.h"
#include "replay/job/replay_job.h"

/* A batch has at least LEAST changes. It has more as long as the estimated size of the reduced job
 * stays below JOB_BYTES. LINKS is an estimate of the number of links that a rank has for each of
 * its operations and for each end of a step. */
enum { LEAST = 8, LINKS = 4 };
static const int64_t JOB_BYTES = INT64_C(32) << 20;

/* Counts, over the whole job, the operations and ends of steps of all ranks, and the ranks with a
 * graph. */
static void count_boundaries(const tm_replay_ranks *r, int64_t *n_boundaries, int64_t *n_ranks) {
    int64_t n[2] = {0};
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    for (size_t i = 0; i < r->n; i++) {
        n[0] += (int64_t)(r->graphs[i].participants.n + r->graphs[i].steps.n);
        n[1] += tm_replay_has(r, i);
    }
    for (size_t c = 0; c < n_batches; c++)
        n[0] +=
            (int64_t)(batches[c].n * (batches[c].like->participants.n + batches[c].like->steps.n));
    MPI_Allreduce(MPI_IN_PLACE, n, 2, MPI_INT64_T, MPI_SUM, r->comm);
    *n_boundaries = n[0];
    *n_ranks = n[1];
}

/* Picks the changes of the next batch: first from t->chosen, then from t->more, then the
 * scenario. */
static void pick(tm_trying *t) {
    t->n = 0;
    for (; t->next < t->chosen->n && t->n < t->most; t->next++) {
        t->items[t->n] = t->chosen->items[t->next];
        t->items[t->n].ranks = t->n_ranks;
        t->changes[t->n] = t->chosen->changes[t->next];
        t->n += t->chosen->items[t->next].tried;
    }
    for (; t->next_more < t->more->changes.n && t->n < t->most; t->next_more++) {
        const tm_change_more *more = (const tm_change_more *)t->more->changes.data + t->next_more;
        t->items[t->n] = more->item;
        t->changes[t->n++] = more->change;
    }
    if (t->scenario && t->n < t->most) {
        t->changes[t->n] = (tm_change){.factors = t->scenario->factors.data};
        t->items[t->n++] = (tm_whatif_item){.what = TM_WHATIF_SCENARIO,
                                            .ranks = t->scenario->n_ranks,
                                            .ideal_ns = -1,
                                            .next_rank = -1,
                                            .tried = true};
        t->scenario = NULL;
    }
    tm_sets_init(&t->sets, t->changes, t->n);
    t->sets.marks = t->marks;
    t->sets.pairs = t->more->pairs;
}

tm_status tm_mpi_changes_open(const tm_replay_ranks *ranks, const tm_changes *chosen,
                              const tm_changes_more *more, const tm_scenario *scenario,
                              tm_trying *out, tm_error *err) {
    int64_t n_boundaries, most;
    *out = (tm_trying){.r = ranks, .chosen = chosen, .more = more, .scenario = scenario};
    out->words = TM_VEC(int64_t);
    out->marks = tm_changes_mark(chosen, tm_names_count(ranks->names));
    count_boundaries(ranks, &n_boundaries, &out->n_ranks);
    most = JOB_BYTES / (LINKS * (n_boundaries + 1) * 2 * (int64_t)sizeof(int64_t));
    out->most = (size_t)(most < LEAST ? LEAST : most);
    out->most = out->most > TM_CHANGES_AT_ONCE ? TM_CHANGES_AT_ONCE : out->most;
    pick(out);
    return tm_mpi_agree(ranks->comm, out->marks ? TM_OK : tm_fail_memory(err), err);
}

void tm_mpi_changes_free(tm_trying *trying) {
    free(trying->marks);
    tm_vec_free(&trying->words);
}

tm_replay_weigh tm_mpi_changes_weigh(tm_trying *trying) {
    return (tm_replay_weigh){2 * trying->n, tm_sets_weigh_changes, tm_sets_weigh_batch_changes(),
                             &trying->sets, &trying->sets,         &trying->words};
}

/* Makes the reduced job. Collects the reduced ranks of all processes, which are lists of numbers,
 * in @p all. */
static tm_status make_job(tm_trying *t, tm_vec *all, tm_replay *job, tm_error *err) {
    tm_status status = tm_replay_share(t->r->comm, &t->words, all, err);
    if (status == TM_OK)
        status = tm_replay_open(all->data, all->n, job, err);
    return status == TM_OK ? tm_replay_count(job, t->r->steps, err) : status;
}

/* A job, and memory for evaluating it with one set of weights after another. */
typedef struct sweep {
    const tm_replay *job;
    int64_t *all;  /* owned; [operations + steps][sets] times of operations and ends of steps with
                      each set of weights */
    uint8_t *sets; /* owned; [ranks] */
    int64_t *ns;   /* owned; [operations + steps] times with the set that is evaluated */
} sweep;

/* Returns the job's time T with set @p set of weights. */
static int64_t total_with(const sweep *s, size_t set) {
    const tm_replay *job = s->job;
    for (size_t i = 0; i < job->n_operations + job->n_steps; i++)
        s->ns[i] = s->all[i * job->n_sets + set];
    return tm_replay_total(job, s->ns);
}

/* Evaluates a change. The weights of set @p set show what the change saves; the weights of @p set +
 * 1 show what it saves at most. */
static tm_status try_change(const sweep *s, uint8_t set, int64_t total_ns, tm_whatif_item *item,
                            tm_error *err) {
    item->saved_most_ns = total_ns - total_with(s, (size_t)set + 1);
    item->saved_ns = total_ns - total_with(s, set);
    memset(s->sets, set, s->job->n_ranks);
    return tm_replay_busiest(s->job, s->sets, s->ns, &item->next_rank, err);
}

/* Evaluates this process's share of the changes in the batch. */
static tm_status try_changes(tm_trying *t, const tm_replay *job, int64_t total_ns, tm_vec *items,
                             tm_error *err) {
    int self, n_processes;
    MPI_Comm_rank(t->r->comm, &self);
    MPI_Comm_size(t->r->comm, &n_processes);
    const size_t n_targets = job->n_operations + job->n_steps;
    const sweep s = {job, malloc((n_targets * job->n_sets + 1) * sizeof *s.all),
                     malloc(job->n_ranks + 1), malloc((n_targets + 1) * sizeof *s.ns)};
    tm_status status = s.all && s.sets && s.ns ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        tm_replay_forward_all(job, s.all);
    for (size_t i = (size_t)self; i < t->n && status == TM_OK; i += (size_t)n_processes) {
        status = try_change(&s, (uint8_t)(2 * i), total_ns, &t->items[i], err);
        if (status == TM_OK && !tm_vec_append(items, &t->items[i], 1))
            status = tm_fail_memory(err);
    }
    free(s.all);
    free(s.sets);
    free(s.ns);
    return status;
}

static tm_status try_batch(tm_trying *t, int64_t total_ns, tm_vec *items, tm_error *err) {
    tm_replay job = {0};
    tm_vec all = TM_VEC(int64_t);
    tm_status status = tm_mpi_agree(t->r->comm, make_job(t, &all, &job, err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(t->r->comm, try_changes(t, &job, total_ns, items, err), err);
    tm_replay_free(&job);
    tm_vec_free(&all);
    return status;
}

/* Appends rows for the chosen changes that were not evaluated, because they cannot save much. */
static tm_status add_untried(const tm_trying *t, tm_vec *items, tm_error *err) {
    int self;
    MPI_Comm_rank(t->r->comm, &self);
    for (uint32_t i = 0; i < t->chosen->n && self == 0; i++) {
        tm_whatif_item item = t->chosen->items[i];
        item.ranks = t->n_ranks;
        if (!item.tried && !tm_vec_append(items, &item, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

tm_status tm_mpi_changes_try(tm_trying *trying, int64_t total_ns, tm_vec *items, tm_error *err) {
    while (trying->n > 0) {
        TM_TRY(try_batch(trying, total_ns, items, err));
        pick(trying);
        const tm_replay_weigh weigh = tm_mpi_changes_weigh(trying);
        TM_TRY(tm_mpi_agree(trying->r->comm,
                            trying->n == 0 ? TM_OK : tm_replay_reduce(trying->r, &weigh, 1, err),
                            err));
    }
    return tm_mpi_agree(trying->r->comm, add_untried(trying, items, err), err);
}

tm_status tm_mpi_changes_even(const tm_replay_ranks *ranks, tm_whatif_item *item, tm_error *err) {
    const tm_changes none = {.n = 0};
    const tm_change_more even = {
        {.what = TM_WHATIF_EVEN, .ideal_ns = -1, .next_rank = -1, .tried = true},
        {.kinds = 1 << TM_EDGE_COMPUTE, .factor = (double)NAN}};
    tm_changes_more more = {TM_VEC(tm_change_more), NULL};
    tm_vec items = TM_VEC(tm_whatif_item);
    tm_trying t;
    tm_status status = tm_vec_append(&more.changes, &even, 1) ? TM_OK : tm_fail_memory(err);
    TM_TRY(tm_mpi_agree(ranks->comm, status, err));
    status = tm_mpi_changes_open(ranks, &none, &more, NULL, &t, err);
    if (status == TM_OK) {
        const tm_replay_weigh weigh = tm_mpi_changes_weigh(&t);
        t.sets.marks = NULL; /* the graphs have no events yet */
        status = tm_mpi_agree(ranks->comm, tm_replay_reduce(ranks, &weigh, 1, err), err);
    }
    if (status == TM_OK)
        status = tm_mpi_changes_try(&t, 0, &items, err);
    if (items.n > 0)
        *item = *(const tm_whatif_item *)items.data;
    if (items.n > 0)
        item->ranks = t.n_ranks;
    tm_mpi_changes_free(&t);
    tm_vec_free(&more.changes);
    tm_vec_free(&items);
    return status;
}
