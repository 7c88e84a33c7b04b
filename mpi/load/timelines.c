/* Builds the timeline of each rank from its traces. */
#include <stdlib.h>

#include "base/sorted.h"
#include "loader.h"
#include "mpi/exchange/agree.h"
#include "timeline/regroup.h"

/* Some truncated traces lack their base time. They get the base time of the job's other traces; if
 * these differ, the latest one. */
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

typedef struct own_trace {
    int64_t rank;
    size_t input;
} own_trace;

TM_ORDER_BY(by_rank, own_trace, rank, input);

/* Builds the timeline of a rank from its [n] traces on this process, in the order of the
 * arguments. */
static tm_status build_rank(tm_loader *l, const own_trace *own, size_t n, tm_error *err) {
    const tm_build_context context = {l->out->names, l->classifier, l->options->skip_bad,
                                      l->step_names};
    tm_trace **traces = malloc(n * sizeof *traces);
    tm_status status = traces ? TM_OK : tm_fail_memory(err);
    for (size_t k = 0; k < n && status == TM_OK; k++) {
        int64_t replica = l->entries[own[k].input].replica;
        traces[k] = l->traces[own[k].input];
        if (replica >= 0)
            status = tm_trace_regroup(traces[k], l->out->names, &l->moves, replica, err);
    }
    if (status == TM_OK) {
        tm_timeline *timeline = &l->out->timelines[l->out->n_timelines];
        status = tm_timeline_build(traces, n, own->rank, &context, timeline, err);
        l->out->n_timelines += status == TM_OK;
    }
    for (size_t k = 0; k < n && status == TM_OK; k++)
        if (traces[k]->left_out)
            status =
                tm_entries_leave_out(l->left_out, tm_loader_path(l, own[k].input), "overlapping",
                                     "covers the same time as another trace of its rank", err);
    free(traces);
    return status;
}

static tm_status build_ranks(tm_loader *l, tm_error *err) {
    size_t n = 0;
    own_trace *own = malloc((l->n + 1) * sizeof *own);
    l->out->timelines = calloc(l->out->n_ranks, sizeof *l->out->timelines);
    tm_status status = own && l->out->timelines ? TM_OK : tm_fail_memory(err);
    for (size_t i = 0; i < l->n && own; i++)
        if (l->traces[i])
            own[n++] = (own_trace){l->entries[i].rank, i};
    if (n > 1)
        qsort(own, n, sizeof *own, by_rank);
    for (size_t first = 0, end; first < n && status == TM_OK; first = end) {
        for (end = first + 1; end < n && own[end].rank == own[first].rank;)
            end++;
        status = build_rank(l, &own[first], end - first, err);
    }
    free(own);
    return status;
}

tm_status tm_mpi_build_timelines(tm_loader *l, tm_error *err) {
    adopt_bases(l);
    return tm_mpi_agree(l->comm, build_ranks(l, err), err);
}
