#include "changes.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/agree.h"
#include "mpi/shuffle.h"
#include "replay/job.h"

/* Changes are tried so many at a time, and fewer where the job with their weights would be larger
 * than this, but never fewer than that: each time, all graphs are gone through. */
enum { MOST = 32, LEAST = 8 };
static const size_t JOB_BYTES = (size_t)32 << 20;

typedef struct batch {
    const tm_replay_ranks *r;
    const uint8_t *marks; /* of kernels that are chosen */
    tm_change changes[MOST];
    tm_whatif_item items[MOST];
    size_t n, most;
    int64_t total_ns;
} batch;

static size_t most_at_once(const tm_replay *job) {
    size_t n = JOB_BYTES / ((job->n_links + 1) * 2 * sizeof *job->ns);
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static tm_status reduce_ranks(const batch *b, tm_vec *words, tm_error *err) {
    tm_sets sets;
    tm_sets_init(&sets, b->changes, b->n);
    sets.marks = b->marks;
    const tm_replay_weigh weigh = {2 * b->n, tm_sets_weigh_changes, tm_sets_weigh_crew_changes,
                                   &sets, &sets};
    return tm_replay_reduce(b->r, &weigh, words, err);
}

/* On every process the same job. */
static tm_status make_job(const batch *b, tm_replay *job, tm_error *err) {
    tm_vec own = TM_VEC(int64_t), all = TM_VEC(int64_t);
    tm_status status = tm_mpi_agree(b->r->comm, reduce_ranks(b, &own, err), err);
    if (status == TM_OK)
        status = tm_replay_share(b->r->comm, &own, &all, err);
    tm_vec_free(&own);
    if (status == TM_OK)
        status = tm_replay_build(all.data, all.n, job, err);
    tm_vec_free(&all);
    return status == TM_OK ? tm_replay_count(job, b->r->steps, err) : status;
}

/* Those of this process. */
static tm_status try_changes(batch *b, const tm_replay *job, tm_vec *items, tm_error *err) {
    int self, n_processes;
    MPI_Comm_rank(b->r->comm, &self);
    MPI_Comm_size(b->r->comm, &n_processes);
    uint8_t *sets = malloc(job->n_ranks + 1);
    int64_t *ns = malloc((job->n_operations + job->n_steps + 1) * sizeof *ns);
    tm_status status = sets && ns ? TM_OK : tm_fail_memory(err);
    for (size_t i = (size_t)self; i < b->n && status == TM_OK; i += (size_t)n_processes) {
        tm_whatif_item *item = &b->items[i];
        memset(sets, (int)(2 * i + 1), job->n_ranks);
        tm_replay_forward(job, sets, ns);
        item->saved_most_ns = b->total_ns - tm_replay_total(job, ns);
        memset(sets, (int)(2 * i), job->n_ranks);
        tm_replay_forward(job, sets, ns);
        item->saved_ns = b->total_ns - tm_replay_total(job, ns);
        status = tm_replay_busiest(job, sets, ns, &item->next_rank, err);
        if (status == TM_OK && !tm_vec_append(items, item, 1))
            status = tm_fail_memory(err);
    }
    free(sets);
    free(ns);
    return status;
}

static tm_status try_batch(batch *b, tm_vec *items, tm_error *err) {
    tm_replay job = {0};
    tm_status status = tm_mpi_agree(b->r->comm, make_job(b, &job, err), err);
    if (status == TM_OK)
        status = tm_mpi_agree(b->r->comm, try_changes(b, &job, items, err), err);
    tm_replay_free(&job);
    b->n = 0;
    return status;
}

static tm_status try_all(batch *b, const tm_changes *chosen, const tm_scenario *scenario,
                         tm_vec *items, tm_error *err) {
    int self;
    bool ok = true;
    int64_t n_ranks = 0;
    for (size_t i = 0; i < b->r->n; i++)
        n_ranks += tm_replay_has(b->r, i);
    MPI_Allreduce(MPI_IN_PLACE, &n_ranks, 1, MPI_INT64_T, MPI_SUM, b->r->comm);
    MPI_Comm_rank(b->r->comm, &self);
    for (uint32_t i = 0; i < chosen->n; i++) {
        b->items[b->n] = chosen->items[i];
        b->items[b->n].ranks = n_ranks;
        b->changes[b->n] = chosen->changes[i];
        if (chosen->items[i].tried)
            b->n++;
        else if (self == 0 && ok)
            ok = tm_vec_append(items, &b->items[b->n], 1) != NULL;
        if (b->n == b->most)
            TM_TRY(try_batch(b, items, err));
    }
    if (scenario) {
        b->changes[b->n] = (tm_change){.factors = scenario->factors.data};
        b->items[b->n++] = (tm_whatif_item){.what = TM_WHATIF_SCENARIO,
                                            .ranks = scenario->n_ranks,
                                            .ideal_ns = -1,
                                            .next_rank = -1,
                                            .tried = true};
    }
    if (b->n > 0)
        TM_TRY(try_batch(b, items, err));
    return tm_mpi_agree(b->r->comm, ok ? TM_OK : tm_fail_memory(err), err);
}

tm_status tm_mpi_changes(const tm_replay_ranks *ranks, const tm_changes *chosen,
                         const tm_scenario *scenario, const tm_fixer *fixer, tm_vec *items,
                         tm_error *err) {
    uint8_t *marks = tm_changes_mark(chosen, tm_names_count(ranks->names));
    batch b = {.r = ranks,
               .marks = marks,
               .most = most_at_once(fixer->replay),
               .total_ns = fixer->total_ns};
    tm_status status = tm_mpi_agree(ranks->comm, marks ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = try_all(&b, chosen, scenario, items, err);
    free(marks);
    return status;
}
