#include "stretches.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "timeline/host_comm.h"

/* A kernel that starts at most this long after the previous kernel on its stream waited for the
 * stream. */
static const int64_t FOLLOWS_NS = 5000;
/* A compute kernel is inside a communication kernel if it ends at least this much earlier than the
 * communication kernel. */
static const int64_t INSIDE_NS = 1000;

/* A compute kernel. The last three members are about all kernels that had started when this one
 * started, including itself: their latest end, the stream of the kernel with this end, and the
 * latest end on all other streams. */
typedef struct span {
    int64_t begin_ns, end_ns;
    uint32_t track; /* the kernel's stream: first row of its track */
    int64_t until_ns, other_ns;
    uint32_t until_track;
} span;

TM_ORDER_BY(by_begin, span, begin_ns, end_ns, track);

static void find_longest(span *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        v[i].until_ns = v[i].end_ns;
        v[i].until_track = v[i].track;
        v[i].other_ns = INT64_MIN;
        if (i == 0)
            continue;
        const span *before = &v[i - 1];
        bool same = before->until_track == v[i].track;
        if (before->until_ns > v[i].end_ns) {
            v[i].until_ns = before->until_ns;
            v[i].until_track = before->until_track;
            v[i].other_ns = before->other_ns;
            if (!same && v[i].end_ns > v[i].other_ns)
                v[i].other_ns = v[i].end_ns;
        } else {
            v[i].other_ns = same ? before->other_ns : before->until_ns;
        }
    }
}

static bool collect_compute(const tm_timeline *timeline, tm_vec *out) {
    const uint32_t end = tm_timeline_work_end(timeline);
    for (size_t k = 0; k < timeline->n_tracks && timeline->tracks[k].first < end; k++) {
        const tm_track *track = &timeline->tracks[k];
        for (uint32_t row = track->first; row < track->first + track->count; row++) {
            int64_t begin = timeline->begin_ns[row];
            span s = {begin, begin + timeline->duration_ns[row], track->first, 0, 0, 0};
            if (timeline->role[row] == TM_ROLE_COMPUTE && !tm_vec_append(out, &s, 1))
                return false;
        }
    }
    tm_sort(out->data, out->n, out->size, by_begin);
    find_longest(out->data, out->n);
    return true;
}

/* Returns the last compute kernel that had started by a moment; NULL if there is none. */
static const span *last_by(const tm_vec *compute, int64_t ns) {
    const span *v = compute->data;
    size_t i = TM_FIRST_AFTER(span, begin_ns, v, compute->n, ns);
    return i > 0 ? &v[i - 1] : NULL;
}

static bool computes_inside(const tm_vec *compute, int64_t begin, int64_t end, uint32_t track) {
    const span *v = compute->data;
    int64_t nearly = end - INSIDE_NS;
    size_t i = TM_FIRST_AFTER(span, begin_ns, v, compute->n, begin);
    while (i < compute->n && v[i].begin_ns < end && v[i].end_ns > nearly)
        i++;
    if (i < compute->n && v[i].begin_ns < end)
        return true;
    const span *last = last_by(compute, nearly);
    return last && (last->until_track == track ? last->other_ns : last->until_ns) > nearly;
}

/* Returns the end of the last computation before a moment; the moment itself if a compute kernel
 * runs then. */
static int64_t done_before(const tm_vec *compute, int64_t begin) {
    const span *last = last_by(compute, begin);
    return !last || last->until_ns > begin ? begin : last->until_ns;
}

static bool follows(const tm_timeline *timeline, uint32_t event) {
    uint32_t first = tm_timeline_track(timeline, event)->first, before = event;
    /* goes to the stream's previous kernel; the stream may also contain annotations */
    while (before > first && timeline->role[before - 1] == TM_ROLE_NONE)
        before--;
    if (before == first || timeline->role[before - 1] != TM_ROLE_COMMUNICATION)
        return false;
    int64_t free_ns = timeline->begin_ns[before - 1] + timeline->duration_ns[before - 1];
    return timeline->begin_ns[event] - free_ns <= FOLLOWS_NS;
}

tm_status tm_stretches_look(const tm_timeline *timeline, tm_participant *participants, size_t n,
                            tm_error *err) {
    tm_vec compute = TM_VEC(span);
    const bool unseen = tm_timeline_lacks_compute(timeline);
    bool ok = collect_compute(timeline, &compute);
    for (size_t i = 0; i < n && ok; i++) {
        int64_t begin = timeline->begin_ns[participants[i].event];
        participants[i].host = tm_timeline_host(timeline);
        participants[i].done_ns = done_before(&compute, begin);
        participants[i].unseen = unseen;
        participants[i].follows = follows(timeline, participants[i].event);
        participants[i].computes =
            computes_inside(&compute, begin, begin + timeline->duration_ns[participants[i].event],
                            tm_timeline_track(timeline, participants[i].event)->first);
    }
    tm_vec_free(&compute);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_stretches_agree(const tm_collectives *collectives, tm_participant *participants) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        bool free_all = true, meets = true, seen = true;
        if (!instances[i].waits && !instances[i].transfers)
            continue;
        for (size_t k = 0; k < instances[i].n; k++) {
            free_all = free_all && !participants[k].follows;
            meets = meets && !participants[k].computes;
            seen = seen && !participants[k].unseen;
        }
        tm_arrival arrival = free_all        ? TM_ARRIVAL_BEGIN
                             : meets && seen ? TM_ARRIVAL_DONE
                                             : TM_ARRIVAL_UNKNOWN;
        for (size_t k = 0; k < instances[i].n; k++) {
            participants[k].arrival = (uint8_t)arrival;
            participants[k].meets = meets;
        }
        participants += instances[i].n;
    }
}

tm_status tm_stretches_take(const tm_collectives *collectives, const tm_participant *participants,
                            tm_vec *out, tm_error *err) {
    const tm_instance *instances = collectives->instances.data;
    for (size_t i = 0; i < collectives->instances.n; i++) {
        const tm_instance *instance = &instances[i];
        const tm_comm_record *members =
            (const tm_comm_record *)collectives->records.data + instance->first;
        bool all = instance->waits;
        for (size_t k = 0; k < instance->n && all; k++)
            all = participants[k].own_ns >= 0;
        for (size_t k = 0; k < instance->n && all; k++) {
            tm_own_time own = {.group = members[k].group,
                               .key = members[k].key,
                               .last_ns = instance->last_ns,
                               .step = members->step,
                               .rank = members[k].rank,
                               .ns = participants[k].own_ns,
                               .host = participants[k].host};
            if (!tm_vec_append(out, &own, 1))
                return tm_fail_memory(err);
        }
        participants += instance->waits || instance->transfers ? instance->n : 0;
    }
    return TM_OK;
}

TM_ORDER_BY(by_group, tm_own_time, group, last_ns, key, rank);

int64_t tm_stretches_sort(tm_vec *own_times) {
    const tm_own_time *v = own_times->data, *first = v;
    int64_t n = 0;
    tm_vec_sort(own_times, by_group);
    for (size_t i = 0; i < own_times->n; i++) {
        first = v[i].group == first->group ? first : &v[i];
        n += v[i].key == first->key && v[i].last_ns == first->last_ns;
    }
    return n;
}
