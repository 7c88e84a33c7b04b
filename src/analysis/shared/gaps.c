#include "gaps.h"

#include "base/sorted.h"
#include "host_time.h"
#include "lost.h"
#include "timeline/host_comm.h"

/* Returns whether an event's launch call is known and began after the gap had started (HTA's rule).
 */
static bool launched_late(const tm_timeline *timeline, size_t row, int64_t gap_begin_ns) {
    uint32_t call = timeline->launch[row];
    return call != TM_NO_EVENT && timeline->begin_ns[call] > gap_begin_ns;
}

tm_idle_cause tm_idle_cause_of(const tm_timeline *timeline, size_t row, int64_t length_ns) {
    if (launched_late(timeline, row, timeline->begin_ns[row] - length_ns))
        return TM_IDLE_HOST;
    return length_ns < TM_SHORT_GAP_NS ? TM_IDLE_KERNEL : TM_IDLE_OTHER;
}

bool tm_queue_was_empty(const tm_timeline *timeline, size_t row, uint32_t call_before,
                        int64_t since_ns) {
    const uint32_t call = timeline->launch[row];
    if (launched_late(timeline, row, since_ns))
        return true;
    if (call == TM_NO_EVENT)
        return false;
    const int64_t end_ns = timeline->begin_ns[call] + timeline->duration_ns[call];
    const int64_t begin_ns = timeline->begin_ns[row];
    if (end_ns > begin_ns && timeline->role[row] == TM_ROLE_MEMORY)
        return false;
    const int64_t in_call_ns = (end_ns < begin_ns ? end_ns : begin_ns) - since_ns;
    return in_call_ns >= (call == call_before ? TM_SHORT_GAP_NS : 1);
}

/* Returns the shortest time from the end of a launch call to the start of its GPU event [ns]; 0 if
 * negative. All of it may be an offset between the clocks of device and host. */
static int64_t least_lag(const tm_timeline *timeline) {
    const uint32_t end = tm_timeline_work_end(timeline);
    int64_t least = INT64_MAX;
    for (uint32_t row = 0; row < end; row++) {
        const uint32_t call = timeline->launch[row];
        if (timeline->role[row] == TM_ROLE_NONE || call == TM_NO_EVENT)
            continue;
        const int64_t lag =
            timeline->begin_ns[row] - timeline->begin_ns[call] - timeline->duration_ns[call];
        least = lag < least ? lag : least;
    }
    return least == INT64_MAX || least < 0 ? 0 : least;
}

/* Returns how long the next event waited in the GPU's queue until the end of a gap [ns]. The first
 * TM_SHORT_GAP_NS after the launch call do not count, because they are a usual lag. The host is not
 * the cause of the rest; another process on the GPU may be. */
static int64_t held_of(const tm_timeline *timeline, size_t row, int64_t gap_begin_ns) {
    const uint32_t call = timeline->launch[row];
    if (call == TM_NO_EVENT)
        return 0;
    const int64_t end_ns = timeline->begin_ns[call] + timeline->duration_ns[call];
    const int64_t from_ns = (end_ns > gap_begin_ns ? end_ns : gap_begin_ns) + TM_SHORT_GAP_NS;
    return from_ns < timeline->begin_ns[row] ? timeline->begin_ns[row] - from_ns : 0;
}

static bool find_gaps(const tm_busy *busy, tm_vec *out) {
    tm_intervals idle = TM_INTERVALS();
    bool ok =
        tm_intervals_subtract(&busy->window, &busy->busy, &idle) && tm_vec_reserve(out, idle.n + 1);
    for (size_t i = 0; ok && i < idle.n; i++) {
        const tm_interval *gap = (const tm_interval *)idle.data + i;
        *(tm_gap *)tm_vec_push(out) =
            (tm_gap){.begin_ns = gap->begin_ns, .end_ns = gap->end_ns, .next = TM_NO_EVENT};
    }
    tm_vec_free(&idle);
    return ok;
}

/* Returns whether @p row rather than @p other ends a gap. Both start at the end of the gap. The
 * event that was launched first ends it. */
static bool comes_first(const tm_timeline *timeline, uint32_t row, uint32_t other) {
    uint32_t a = timeline->launch[row], b = other == TM_NO_EVENT ? other : timeline->launch[other];
    if (other == TM_NO_EVENT || (a != TM_NO_EVENT && b == TM_NO_EVENT))
        return true;
    return a != TM_NO_EVENT && timeline->begin_ns[a] < timeline->begin_ns[b];
}

/* Returns the first gap that ends at or after a time. Tries the next few gaps before bisecting. For
 * most events, one of these is the result, but the events of a rarely used stream are far apart. */
static tm_gap *gap_from(tm_gap *gap, const tm_gap *end, int64_t ns) {
    enum { NEAR = 8 };
    for (int i = 0; i < NEAR && gap < end && gap->end_ns < ns; i++)
        gap++;
    if (gap < end && gap->end_ns < ns)
        gap += TM_FIRST_FROM(tm_gap, end_ns, gap, (size_t)(end - gap), ns);
    return gap;
}

static void set_next(const tm_timeline *timeline, tm_gap *gap, uint32_t row, uint32_t call_before) {
    gap->next = row;
    gap->host = tm_queue_was_empty(timeline, row, call_before, gap->begin_ns);
}

/* Finds the events of a stream that end gaps. Events and gaps are sorted by time. */
static void find_next_events(const tm_timeline *timeline, const tm_track *track, tm_vec *found) {
    tm_gap *gap = found->data, *end = gap + found->n;
    uint32_t before = TM_NO_EVENT;
    for (uint32_t row = track->first; row < track->first + track->count; row++) {
        if (timeline->role[row] == TM_ROLE_NONE)
            continue;
        gap = gap_from(gap, end, timeline->begin_ns[row]);
        if (gap == end)
            return;
        /* several streams may resume at the same time */
        if (gap->end_ns == timeline->begin_ns[row] && comes_first(timeline, row, gap->next))
            set_next(timeline, gap, row, before);
        before = timeline->launch[row];
    }
}

/* Returns the interval of a set that contains a time; NULL if there is none. Times must ascend from
 * call to call. */
static const tm_interval *stretch_at(const tm_intervals *set, int64_t ns, size_t *next) {
    const tm_interval *v = set->data;
    while (*next < set->n && v[*next].end_ns <= ns)
        ++*next;
    return *next < set->n && v[*next].begin_ns < ns ? &v[*next] : NULL;
}

/* Returns how long the host had waited for the GPU in a call in which a gap began. A call in
 * may_sync first waits and then does other work, so its wait ended at the start of the gap or
 * earlier. So does the call of the copy that ends the gap. */
static int64_t waited_in(const tm_timeline *timeline, const tm_gap *gap, const tm_interval *sync,
                         const tm_interval *may) {
    const uint32_t next = gap->next;
    const bool own = next != TM_NO_EVENT && timeline->role[next] == TM_ROLE_MEMORY &&
                     !launched_late(timeline, next, gap->begin_ns);
    if (sync)
        return (own ? gap->begin_ns : sync->end_ns) - sync->begin_ns;
    return may ? gap->begin_ns - may->begin_ns : 0;
}

/* Sets waited_ns and held_ns of each gap. */
static void mark_gaps(const tm_timeline *timeline, const tm_host_time *host, tm_vec *found) {
    size_t next_sync = 0, next_may = 0;
    int64_t lag_ns = -1; /* computed only if needed, because it takes a pass over all events */
    for (size_t i = 0; i < found->n; i++) {
        tm_gap *gap = (tm_gap *)found->data + i;
        const tm_interval *sync = stretch_at(&host->sync, gap->begin_ns, &next_sync);
        const tm_interval *may = stretch_at(&host->may_sync, gap->begin_ns, &next_may);
        gap->waited_ns = waited_in(timeline, gap, sync, may);
        gap->held_ns = gap->host ? held_of(timeline, gap->next, gap->begin_ns) : 0;
        if (gap->held_ns > 0) {
            lag_ns = lag_ns < 0 ? least_lag(timeline) : lag_ns;
            gap->held_ns = gap->held_ns > lag_ns ? gap->held_ns - lag_ns : 0;
        }
    }
}

/* Disjoint sets of times. The part of a gap that is in set i is explained by causes_of_sets[i]. */
enum { N_SETS = 4 };
static const tm_idle_cause causes_of_sets[N_SETS] = {TM_IDLE_OTHER, TM_IDLE_INPUT,
                                                     TM_IDLE_COMMUNICATION, TM_IDLE_ALLOCATION};

static const tm_intervals *set_of(const tm_gaps *gaps, int i) {
    const tm_intervals *const sets[N_SETS] = {gaps->hidden, &gaps->input, &gaps->comm,
                                              &gaps->allocation};
    return sets[i];
}

/* Splits a gap by cause. The parts add up to the gap's duration. The host's wait for the GPU
 * explains at most as much time as it lasted.
 * @param in_ns  part of the gap that is in each set, before the next event was queued */
static void split(const tm_gap *gap, const int64_t in_ns[N_SETS], int64_t parts[TM_N_IDLE_CAUSES]) {
    int64_t length = gap->end_ns - gap->begin_ns, rest = length - gap->held_ns;
    for (int cause = 0; cause < TM_N_IDLE_CAUSES; cause++)
        parts[cause] = 0;
    if (!gap->host) {
        parts[length < TM_SHORT_GAP_NS ? TM_IDLE_KERNEL : TM_IDLE_OTHER] = length;
        return;
    }
    for (int i = 0; i < N_SETS; i++) {
        parts[causes_of_sets[i]] = in_ns[i];
        rest -= in_ns[i];
    }
    parts[TM_IDLE_OTHER] += gap->held_ns;
    parts[TM_IDLE_SYNC] = rest < gap->waited_ns ? rest : gap->waited_ns;
    parts[TM_IDLE_HOST] = rest - parts[TM_IDLE_SYNC];
}

tm_idle_cause tm_gap_cause(const tm_gaps *gaps, const tm_gap *gap) {
    int64_t parts[TM_N_IDLE_CAUSES], in_ns[N_SETS];
    /* If parts are equal, the first cause in tm_idle_cause counts. */
    int most = 0;
    for (int i = 0; i < N_SETS; i++)
        in_ns[i] =
            tm_intervals_length_in(set_of(gaps, i), gap->begin_ns, gap->end_ns - gap->held_ns);
    split(gap, in_ns, parts);
    for (int cause = 1; cause < TM_N_IDLE_CAUSES; cause++)
        most = parts[cause] > parts[most] ? cause : most;
    return (tm_idle_cause)most;
}

/* Returns the part of a gap that is in a set, before the next event was queued [ns]. Must be called
 * in the order of gaps.
 * @param next  first interval that may overlap this gap or a later one */
static int64_t length_in(const tm_intervals *set, const tm_gap *gap, size_t *next) {
    const tm_interval *v = set->data;
    const int64_t end_ns = gap->end_ns - gap->held_ns;
    int64_t sum = 0;
    while (*next < set->n && v[*next].end_ns <= gap->begin_ns)
        ++*next;
    for (size_t i = *next; i < set->n && v[i].begin_ns < end_ns; i++) {
        int64_t begin = v[i].begin_ns > gap->begin_ns ? v[i].begin_ns : gap->begin_ns;
        sum += (v[i].end_ns < end_ns ? v[i].end_ns : end_ns) - begin;
    }
    return sum;
}

static void sum_up(const tm_timeline *timeline, tm_gaps *gaps) {
    size_t next[N_SETS] = {0};
    for (size_t i = 0; i < gaps->gaps.n; i++) {
        tm_gap *gap = (tm_gap *)gaps->gaps.data + i;
        int64_t parts[TM_N_IDLE_CAUSES], in_ns[N_SETS];
        for (int k = 0; k < N_SETS; k++)
            in_ns[k] = length_in(set_of(gaps, k), gap, &next[k]);
        split(gap, in_ns, parts);
        for (int cause = 0; cause < TM_N_IDLE_CAUSES; cause++)
            gaps->sums[cause] += parts[cause];
        if (gap->next != TM_NO_EVENT && timeline->launch[gap->next] != TM_NO_EVENT &&
            parts[TM_IDLE_OTHER] > in_ns[0]) /* in_ns[0] is the part in gaps->hidden */
            gaps->queued_ns += parts[TM_IDLE_OTHER] - in_ns[0];
        gap->sync_ns = parts[TM_IDLE_SYNC];
    }
}

/* Subtracts n other sets from a set. */
static bool leave_out(const tm_intervals *set, const tm_intervals *const *others, size_t n,
                      tm_intervals *out) {
    bool ok = tm_intervals_subtract(set, others[0], out);
    for (size_t i = 1; i < n && ok; i++) {
        tm_intervals left = TM_INTERVALS();
        ok = tm_intervals_subtract(out, others[i], &left);
        tm_vec_free(out);
        *out = left;
    }
    return ok;
}

tm_status tm_gaps_find(const tm_rank_view *view, tm_gaps *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    const tm_host_time *host = view->host;
    const tm_intervals *const apart[] = {&view->lost->hidden, &host->input,
                                         &host->any_communication};
    *out = (tm_gaps){.gaps = TM_VEC(tm_gap),
                     .hidden = &view->lost->hidden,
                     .input = TM_INTERVALS(),
                     .comm = TM_INTERVALS(),
                     .allocation = TM_INTERVALS()};
    bool ok = find_gaps(view->busy, &out->gaps) && leave_out(&host->input, apart, 1, &out->input) &&
              leave_out(&host->any_communication, apart, 2, &out->comm) &&
              leave_out(&host->may_sync, apart, 3, &out->allocation);
    if (ok) {
        const uint32_t end = tm_timeline_work_end(timeline);
        for (size_t t = 0; t < timeline->n_tracks && timeline->tracks[t].first < end; t++)
            find_next_events(timeline, &timeline->tracks[t], &out->gaps);
        mark_gaps(timeline, host, &out->gaps);
        sum_up(timeline, out);
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_gaps_free(tm_gaps *gaps) {
    TM_VECS_FREE(&gaps->gaps, &gaps->input, &gaps->comm, &gaps->allocation);
}
