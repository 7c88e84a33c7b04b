#include "opening.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"

/* A recording of a rank, on the job's clock. Sent as bytes. */
typedef struct recording {
    int64_t rank, begin_ns, end_ns;
} recording;

/* A kernel that waited for the start of another rank's profiler. Sent as bytes. */
typedef struct opened {
    int64_t rank;
    int64_t after_ns; /* time from the kernel's start to the arrival of the last member */
    uint32_t event;
    uint32_t none; /* padding, 0 */
} opened;

TM_ORDER_BY(by_rank, recording, rank, begin_ns);

static tm_status share_recordings(MPI_Comm comm, const tm_timeline *timelines, size_t n,
                                  tm_vec *all, tm_error *err) {
    tm_vec own = TM_VEC(recording);
    bool ok = true;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < timelines[i].n_spans && ok; k++) {
            const tm_span *span = &timelines[i].spans[k];
            const tm_rank_clock *clock = &timelines[i].clock;
            const recording added = {timelines[i].rank, tm_rank_clock_true(clock, span->begin_ns),
                                     tm_rank_clock_true(clock, span->end_ns)};
            ok = span->n_durations == 0 || tm_vec_append(&own, &added, 1);
        }
    tm_status status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, all, err);
    tm_vec_sort(all, by_rank);
    tm_vec_free(&own);
    return status;
}

static bool begins_by(const void *element, const void *key) {
    return by_rank(element, key) <= 0;
}

/* Returns the recording that contains a kernel of a rank. */
static const recording *recording_of(const tm_vec *all, const tm_comm_record *record) {
    const recording key = {record->rank, record->begin_ns, 0}, *v = all->data;
    const size_t after = tm_bisect(v, all->n, sizeof *v, &key, begins_by);
    return after > 0 && v[after - 1].rank == record->rank ? &v[after - 1] : NULL;
}

/* Returns whether a member waited because another member's recording had not started. Returns false
 * if a member ended before the last one arrived, because then the clocks are wrong. */
static bool shows_opening(const tm_instance *instance, const tm_comm_record *members,
                          const tm_vec *all) {
    int64_t open_ns = INT64_MIN;
    for (size_t i = 0; i < instance->n; i++) {
        const recording *r = recording_of(all, &members[i]);
        open_ns = r && r->begin_ns > open_ns ? r->begin_ns : open_ns;
        if (members[i].end_ns < instance->last_ns)
            return false;
    }
    for (size_t i = 0; i < instance->n; i++) {
        const recording *r = recording_of(all, &members[i]);
        const int64_t before_ns =
            open_ns - members[i].begin_ns; /* part of the member's wait that was before open_ns */
        if (r && before_ns > 0 && before_ns >= (r->end_ns - r->begin_ns) / TM_OPENING_SHARE &&
            before_ns >= (instance->last_ns - members[i].begin_ns) / 2)
            return true;
    }
    return false;
}

/* Removes the waits of an operation's members, and appends the members to @p out. */
static bool set_apart(const tm_instance *instance, tm_comm_record *members, tm_vec *out) {
    for (size_t i = 0; i < instance->n; i++) {
        const opened member = {.rank = members[i].rank,
                               .after_ns = instance->last_ns - members[i].begin_ns,
                               .event = members[i].event};
        if (!tm_vec_append(out, &member, 1))
            return false;
        members[i].begin_ns = instance->last_ns;
    }
    return true;
}

static bool look(tm_collectives *collectives, const tm_vec *all, tm_vec *out) {
    const tm_instance *instances = collectives->instances.data;
    int64_t latest = INT64_MIN; /* start of the recording that started last; operations that start
                                   later show no opening */
    for (size_t i = 0; i < all->n; i++)
        if (((const recording *)all->data)[i].begin_ns > latest)
            latest = ((const recording *)all->data)[i].begin_ns;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        tm_comm_record *members = (tm_comm_record *)collectives->records.data + instances[i].first;
        int64_t first = INT64_MAX;
        for (size_t k = 0; k < instances[i].n; k++)
            first = members[k].begin_ns < first ? members[k].begin_ns : first;
        if (first < latest && (instances[i].waits || instances[i].transfers) &&
            shows_opening(&instances[i], members, all) && !set_apart(&instances[i], members, out))
            return false;
    }
    return true;
}

static void open_at(tm_timeline *timeline, const opened *member) {
    const int64_t begin_ns = timeline->begin_ns[member->event];
    const int64_t open_ns = begin_ns + member->after_ns;
    const tm_span *found = tm_timeline_span(timeline, begin_ns);
    tm_span *span = found ? &timeline->spans[found - timeline->spans] : NULL;
    if (!span || open_ns <= span->open_ns)
        return;
    span->open_ns = open_ns;
    for (size_t k = 0; k < timeline->n_steps; k++) {
        tm_step *step = &timeline->steps[k];
        if (step->begin_ns < span->begin_ns || step->begin_ns >= open_ns)
            continue;
        step->begin_ns = open_ns;
        step->end_ns = step->end_ns > open_ns ? step->end_ns : open_ns;
    }
}

tm_status tm_mpi_opening(MPI_Comm comm, tm_timeline *timelines, size_t n,
                         tm_collectives *collectives, tm_error *err) {
    tm_vec recordings = TM_VEC(recording), own = TM_VEC(opened), all = TM_VEC(opened);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < timelines[i].n_spans; k++)
            timelines[i].spans[k].open_ns = timelines[i].spans[k].begin_ns;
    tm_status status = share_recordings(comm, timelines, n, &recordings, err);
    const bool ok = status != TM_OK || look(collectives, &recordings, &own);
    if (status == TM_OK)
        status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(comm, &own, &all, err);
    for (size_t i = 0; i < all.n; i++) {
        const opened *member = (const opened *)all.data + i;
        const size_t k = TM_FIRST_FROM(tm_timeline, rank, timelines, n, member->rank);
        if (k < n && timelines[k].rank == member->rank)
            open_at(&timelines[k], member);
    }
    TM_VECS_FREE(&recordings, &own, &all);
    return status;
}
