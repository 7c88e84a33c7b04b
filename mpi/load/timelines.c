/* Builds the timelines of ranks from their traces. */
#include <stdlib.h>

#include "loader.h"
#include "mpi/agree.h"

/* Truncated traces that lost their base time take that of the others, which are of the same job;
 * the latest, where those differ. */
static void adopt_bases(tm_loader *l) {
    int64_t base_ns = -1;
    for (size_t i = 0; i < l->n; i++)
        if (l->traces[i] && l->traces[i]->base_ns > base_ns)
            base_ns = l->traces[i]->base_ns;
    MPI_Allreduce(MPI_IN_PLACE, &base_ns, 1, MPI_INT64_T, MPI_MAX, l->comm);
    for (size_t i = 0; i < l->n && base_ns >= 0; i++)
        if (l->traces[i] && tm_trace_lacks_base(l->traces[i]))
            tm_trace_adopt_base(l->traces[i], base_ns);
}

/* Builds the timeline of one rank from its traces here, in the order of the arguments. */
static tm_status build_rank(tm_loader *l, int64_t rank, tm_error *err) {
    const tm_build_context context = {l->out->names, l->classifier, l->options->skip_bad,
                                      l->step_names};
    size_t n = 0;
    tm_trace **own = malloc(l->n * sizeof *own);
    size_t *input = malloc(l->n * sizeof *input);
    tm_status status = own && input ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < l->n && own && input; i++)
        if (l->traces[i] && l->entries[i].rank == rank) {
            input[n] = i;
            own[n++] = l->traces[i];
        }
    if (status == TM_OK && n > 0) {
        tm_timeline *timeline = &l->out->timelines[l->out->n_timelines];
        status = tm_timeline_build(own, n, rank, &context, timeline, err);
        l->out->n_timelines += status == TM_OK;
    }
    for (size_t k = 0; k < n && status == TM_OK; k++)
        if (own[k]->left_out)
            status = tm_entries_leave_out(l->left_out, tm_loader_path(l, input[k]), "overlapping",
                                          "covers the same time as another trace of its rank", err);
    free(own);
    free(input);
    return status;
}

tm_status tm_mpi_build_timelines(tm_loader *l, tm_error *err) {
    tm_status status = TM_OK;
    adopt_bases(l);
    l->out->timelines = calloc(l->out->n_ranks, sizeof *l->out->timelines);
    if (!l->out->timelines)
        status = tm_fail_memory(err);
    for (size_t r = 0; r < l->out->n_ranks && status == TM_OK; r++)
        status = build_rank(l, l->out->ranks[r], err);
    return tm_mpi_agree(l->comm, status, err);
}
