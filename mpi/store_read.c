#include "store_read.h"

#include <stdlib.h>

#include "mpi/exchange/agree.h"
#include "mpi/load/share.h"
#include "store/reader.h"
#include "timeline/build_timeline.h"

typedef struct restorer {
    MPI_Comm comm;
    int self;
    const tm_store *store;
    tm_timeline *ranks; /* [n] all ranks; only the ranks that this process reads have arrays */
    size_t n;
    bool *wanted; /* [n] whether this process reads the rank */
    tm_loaded *out;
} restorer;

static tm_status plan(restorer *r, tm_share_item *items, tm_error *err) {
    int n_processes;
    MPI_Comm_size(r->comm, &n_processes);
    for (size_t i = 0; i < r->n; i++)
        items[i] =
            (tm_share_item){.rank = r->ranks[i].rank, .weight = (int64_t)r->ranks[i].n_events};
    TM_TRY(tm_share_plan(items, r->n, &(tm_share_readers){.n = n_processes}, err));
    for (size_t i = 0; i < r->n; i++)
        r->wanted[i] = items[i].owner == r->self;
    return TM_OK;
}

/* Chooses the ranks that this process reads. All processes compute the same assignment. */
static tm_status share(restorer *r, tm_error *err) {
    tm_share_item *items = calloc(r->n, sizeof *items);
    r->wanted = calloc(r->n, sizeof *r->wanted);
    tm_status status = items && r->wanted ? plan(r, items, err) : tm_fail_memory(err);
    free(items);
    return status;
}

/* Moves this process's timelines to the result. */
static tm_status keep_wanted(restorer *r, tm_error *err) {
    tm_loaded *out = r->out;
    out->timelines = calloc(r->n, sizeof *out->timelines);
    out->ranks = calloc(r->n, sizeof *out->ranks);
    if (!out->timelines || !out->ranks)
        return tm_fail_memory(err);
    out->n_ranks = r->n;
    for (size_t i = 0; i < r->n; i++) {
        out->ranks[i] = r->ranks[i].rank;
        if (r->wanted[i]) {
            out->timelines[out->n_timelines++] = r->ranks[i];
            r->ranks[i] = (tm_timeline){.rank = r->ranks[i].rank};
        }
    }
    return TM_OK;
}

static tm_status read_own(restorer *r, tm_error *err) {
    int64_t world = -1;
    TM_TRY(tm_store_read_number(r->store, "world_size", -1, &world, err));
    if (world > TM_RANK_MAX)
        return tm_store_damaged(r->store, "its world_size is impossible", err);
    r->out->world_size = world;
    TM_TRY(tm_store_read_names(r->store, &r->out->names, err));
    TM_TRY(tm_store_read_ranks(r->store, &r->ranks, &r->n, err));
    TM_TRY(share(r, err));
    const tm_store_selection selection = {.ranks = r->wanted, .records = TM_STORE_ALL_RECORDS};
    TM_TRY(tm_store_read_timelines(r->store, r->out->names, r->ranks, &selection, r->n, err));
    TM_TRY(tm_store_read_older_metadata(r->store, r->out->names, r->ranks, NULL, r->n, err));
    return keep_wanted(r, err);
}

static tm_status find_roles(const tm_loaded *loaded, const tm_load_options *patterns,
                            tm_error *err) {
    tm_classifier *classifier = NULL;
    tm_step_names *steps = NULL;
    tm_status status = tm_classifier_create(patterns->comm_pattern, &classifier, err);
    if (status == TM_OK)
        status = tm_step_names_create(patterns->step_pattern, &steps, err);
    for (size_t i = 0; i < loaded->n_timelines && status == TM_OK; i++) {
        status = tm_timeline_find_roles(&loaded->timelines[i], loaded->names, classifier, err);
        if (status == TM_OK)
            status = tm_timeline_find_steps(&loaded->timelines[i], loaded->names, steps, err);
    }
    tm_classifier_destroy(classifier);
    tm_step_names_destroy(steps);
    return status;
}

tm_status tm_mpi_restore(MPI_Comm comm, const tm_store *store, const tm_load_options *patterns,
                         tm_table *left_out, tm_loaded *out, tm_error *err) {
    tm_loaded loaded = {.world_size = -1};
    restorer r = {.comm = comm, .store = store, .out = &loaded};
    MPI_Comm_rank(comm, &r.self);
    tm_status status = read_own(&r, err);
    for (size_t i = 0; i < r.n; i++)
        tm_timeline_destroy(&r.ranks[i]);
    free(r.ranks);
    free(r.wanted);
    if (status == TM_OK && r.self == 0)
        status = tm_store_read_table(store, left_out, err);
    if (status == TM_OK)
        status = find_roles(&loaded, patterns, err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        *out = loaded;
    else
        tm_loaded_free(&loaded);
    return status;
}
