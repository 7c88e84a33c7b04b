#include "assign_restarts.h"

#include "base/vec.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "timeline/restarts.h"

/* A recording of a rank that recorded every run of the job. Contains no pointers, so that it can be
 * sent. */
typedef struct seen {
    int64_t begin_ns, end_ns;
    int64_t restarts;
} seen;

static bool add_spans(const tm_timeline *timeline, tm_vec *out) {
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        const seen added = {span->begin_ns, span->end_ns,
                            tm_timeline_restarts(timeline, span->begin_ns)};
        if (span->n_durations > 0 && !tm_vec_append(out, &added, 1))
            return false;
    }
    return true;
}

static int64_t between(const tm_span *a, const seen *b) {
    const int64_t before = b->begin_ns - a->end_ns, after = a->begin_ns - b->end_ns;
    const int64_t apart = before > after ? before : after;
    return apart > 0 ? apart : 0;
}

/* Returns the number of restarts before the recording in @p all that is nearest in time to @p span;
 * if several recordings are equally near, the lowest of their numbers. */
static int64_t restarts_of(const tm_span *span, const tm_vec *all) {
    const seen *v = all->data, *best = v;
    for (size_t i = 1; i < all->n; i++) {
        const int64_t apart = between(span, &v[i]), least = between(span, best);
        if (apart < least || (apart == least && v[i].restarts < best->restarts))
            best = &v[i];
    }
    return best->restarts;
}

/* Adds @p by to the number of each step, once for each restart of the job before the step. A second
 * call with -@p by restores the numbers. */
static void number_steps(tm_timeline *timeline, int64_t by) {
    for (size_t k = 0; k < timeline->n_steps && timeline->steps[k].annotated; k++)
        timeline->steps[k].number +=
            by * tm_timeline_restarts(timeline, timeline->steps[k].begin_ns);
}

static void place(tm_timeline *timeline, const tm_vec *all) {
    int64_t before = 0, most = 0;
    for (size_t k = 0; k < timeline->n_steps; k++)
        most = timeline->steps[k].number > most ? timeline->steps[k].number : most;
    number_steps(timeline, -tm_run_steps(most));
    for (size_t i = 0; i < timeline->n_spans && timeline->spans[i].n_durations > 0; i++) {
        int64_t *count = &timeline->spans[i].counts[TM_COUNT_RESTART];
        const int64_t restarts = restarts_of(&timeline->spans[i], all);
        const int64_t added = restarts > before ? restarts - before : 0;
        timeline->counts[TM_COUNT_RESTART] += added - *count;
        *count = added;
        before += added;
    }
    number_steps(timeline, tm_run_steps(most));
}

tm_status tm_mpi_restarts(MPI_Comm comm, tm_timeline *timelines, size_t n, tm_error *err) {
    tm_vec own = TM_VEC(seen), all = TM_VEC(seen);
    int64_t most = 0;
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        if (timelines[i].counts[TM_COUNT_RESTART] > most)
            most = timelines[i].counts[TM_COUNT_RESTART];
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
    if (most == 0)
        return TM_OK;
    for (size_t i = 0; i < n && ok; i++)
        ok = timelines[i].counts[TM_COUNT_RESTART] < most || add_spans(&timelines[i], &own);
    tm_status status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, &all, err);
    for (size_t i = 0; i < n && status == TM_OK; i++)
        if (timelines[i].counts[TM_COUNT_RESTART] < most)
            place(&timelines[i], &all);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}
