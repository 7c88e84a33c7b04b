#include "load.h"

#include <stdlib.h>

#include "communicator_ranks.h"
#include "loader.h"
#include "mpi/exchange/agree.h"

static tm_status prepare(tm_loader *l, tm_error *err) {
    l->out->names = tm_names_create();
    tm_status status = l->out->names ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_classifier_create(l->options->comm_pattern, &l->classifier, err);
    if (status == TM_OK)
        status = tm_step_names_create(l->options->step_pattern, &l->step_names, err);
    return tm_mpi_agree(l->comm, status, err);
}

static tm_status read_by_plan(tm_loader *l, tm_error *err) {
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_plan(l, err), err));
    return tm_mpi_read_traces(l, err);
}

/* Reads all traces and builds the timelines. If a trace gives its rank only after its events,
 * traces of one rank may have been read on several processes. Then the work is distributed again by
 * the ranks that are now known, and traces with a new owner are read again. Files that turn out to
 * hold several ranks are read again, too. */
static tm_status run(tm_loader *l, tm_error *err) {
    bool fused = false, split = false;
    TM_TRY(prepare(l, err));
    TM_TRY(tm_mpi_exports_make(l->comm, l->options, &l->readers, l->left_out, &l->exports, err));
    TM_TRY(tm_mpi_list_entries(l, err));
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_cut(l, err), err));
    TM_TRY(read_by_plan(l, err));
    TM_TRY(tm_mpi_list_fused(l, &fused, err));
    if (fused)
        TM_TRY(read_by_plan(l, err));
    TM_TRY(tm_mpi_find_ranks(l, &split, err));
    if (split)
        TM_TRY(read_by_plan(l, err));
    TM_TRY(tm_mpi_agree(l->comm, tm_loader_list_ranks(l, err), err));
    TM_TRY(tm_mpi_build_timelines(l, err));
    return tm_mpi_find_communicators(l->comm, l->out, err);
}

tm_status tm_mpi_load(MPI_Comm comm, const tm_load_options *options, tm_table *left_out,
                      tm_loaded *out, tm_error *err) {
    tm_loaded loaded = {.world_size = -1};
    tm_loader l = {.comm = comm, .options = options, .left_out = left_out, .out = &loaded};
    l.parts = TM_VEC(tm_mpi_part);
    l.moves = TM_VEC(tm_rank_move);
    MPI_Comm_rank(comm, &l.self);
    MPI_Comm_size(comm, &l.n_processes);
    l.readers = (tm_share_readers){.n = l.n_processes};
    if (options->hosts) {
        l.readers.n_hosts = options->hosts->n;
        l.readers.host_of = options->hosts->of;
    }
    tm_status status = run(&l, err);
    for (size_t i = 0; l.traces && i < l.n; i++)
        tm_loader_drop_trace(&l, i);
    tm_loader_drop_parts(&l);
    /* All processes have agreed on the status, so that no process reads the exports any more. */
    tm_exports_remove(&l.exports, options->hosts ? options->hosts->leads : l.self == 0);
    free(l.entries);
    free(l.items);
    free(l.traces);
    tm_vec_free(&l.moves);
    tm_classifier_destroy(l.classifier);
    tm_step_names_destroy(l.step_names);
    if (status == TM_OK)
        *out = loaded;
    else
        tm_loaded_free(&loaded);
    return status;
}

void tm_loaded_free(tm_loaded *loaded) {
    for (size_t i = 0; loaded->timelines && i < loaded->n_timelines; i++)
        tm_timeline_destroy(&loaded->timelines[i]);
    free(loaded->timelines);
    free(loaded->ranks);
    tm_names_destroy(loaded->names);
    *loaded = (tm_loaded){.world_size = -1};
}
