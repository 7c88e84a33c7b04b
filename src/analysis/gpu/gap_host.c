#include "gap_host.h"

#include "base/keys.h"
#include "base/sorted.h"

/* Replaces a call's name id while the thread is in no recorded call. */
#define NOWHERE UINT32_MAX

typedef struct open_call {
    int64_t end_ns;
    uint32_t name;
} open_call;

/* Key of a sum of times: a gap, and the name of calls in it. */
typedef struct part_key {
    uint32_t gap, name;
} part_key;

typedef struct walk {
    const tm_gap *gaps; /* [n] */
    const bool *wanted; /* [n] whether this thread kept the GPU idle in the gap (thread_of) */
    /* number of gaps, and index of the first gap that ends after at_ns */
    size_t n, gap;
    int64_t at_ns;
    tm_vec open;   /* vector of open_call, innermost last */
    tm_keys parts; /* keys of part_key */
    tm_vec times;  /* [parts] vector of int64_t: time of each key [ns] */
} walk;

static bool add_part(walk *w, uint32_t gap, uint32_t name, int64_t time_ns) {
    const part_key key = {gap, name};
    int64_t *sum = tm_keys_value(&w->parts, &w->times, &key);
    if (sum)
        *sum += time_ns;
    return sum != NULL;
}

/* Adds the time from at_ns to until_ns to @p name, separately for each of this thread's gaps that
 * overlaps this time. */
static bool stay(walk *w, uint32_t name, int64_t until_ns) {
    bool ok = true;
    while (w->gap < w->n && w->gaps[w->gap].end_ns <= w->at_ns)
        w->gap++;
    for (size_t i = w->gap; ok && i < w->n && w->gaps[i].begin_ns < until_ns; i++) {
        const tm_gap *gap = &w->gaps[i];
        int64_t begin = gap->begin_ns > w->at_ns ? gap->begin_ns : w->at_ns;
        int64_t end = gap->end_ns < until_ns ? gap->end_ns : until_ns;
        /* skip gaps of other threads */
        if (w->wanted[i] && end > begin)
            ok = add_part(w, (uint32_t)i, name, end - begin);
    }
    w->at_ns = until_ns > w->at_ns ? until_ns : w->at_ns;
    return ok;
}

/* Moves at_ns to until_ns. Closes the calls that end until then. The time that has passed counts
 * for the innermost open call. */
static bool advance(walk *w, int64_t until_ns) {
    bool ok = true;
    while (ok && w->open.n > 0) {
        const open_call *top = (const open_call *)w->open.data + w->open.n - 1;
        if (top->end_ns > until_ns)
            break;
        ok = stay(w, top->name, top->end_ns);
        w->open.n--;
    }
    /* after inner calls have ended, the thread is in the call around them */
    uint32_t inside =
        w->open.n > 0 ? ((const open_call *)w->open.data)[w->open.n - 1].name : NOWHERE;
    return ok && stay(w, inside, until_ns);
}

/* Returns whether an event counts as a call. Steps and the profiler's own events do not count,
 * because they enclose everything. */
static bool tells(const tm_timeline *timeline, uint32_t row) {
    return timeline->kind[row] == TM_DURATION && timeline->category[row] != TM_CAT_TRACE &&
           timeline->category[row] != TM_CAT_OVERHEAD && !tm_timeline_is_step(timeline, row);
}

static bool walk_thread(const tm_timeline *timeline, const tm_track *track, walk *w) {
    int64_t last_ns = w->gaps[w->n - 1].end_ns;
    size_t next = 0; /* the thread's first gap that ends after the call's start */
    bool ok = true;
    w->at_ns = INT64_MIN;
    for (uint32_t row = track->first; ok && row < track->first + track->count; row++) {
        int64_t begin = timeline->begin_ns[row], end = begin + timeline->duration_ns[row];
        while (next < w->n && (!w->wanted[next] || w->gaps[next].end_ns <= begin))
            next++;
        /* Calls are sorted by start, so later calls overlap no gap. */
        if (next == w->n)
            break;
        /* the call ends before the gap */
        if (end <= w->gaps[next].begin_ns || !tells(timeline, row))
            continue;
        const open_call call = {end, timeline->name[row]};
        ok = advance(w, begin) && tm_vec_append(&w->open, &call, 1);
    }
    return ok && advance(w, last_ns);
}

/* Sets the call with the most time in each gap. If times are equal, the call that came first
 * stays. */
static void collect(const walk *w, tm_gap_host *out) {
    const part_key *keys = w->parts.keys.data;
    const int64_t *times = w->times.data;
    for (size_t i = 0; i < w->times.n; i++) {
        tm_gap_host *host = &out[keys[i].gap];
        if (keys[i].name == NOWHERE) {
            host->unrecorded_ns = times[i];
        } else if (times[i] > host->longest_ns) {
            host->longest = keys[i].name;
            host->longest_ns = times[i];
        }
    }
}

/* Returns the thread that kept the GPU idle. This is the thread that enqueued the next work, if it
 * did so after the gap started. Otherwise it is the thread that launched the next work. */
static const tm_track *thread_of(const tm_timeline *timeline, const tm_gap *gap) {
    if (gap->next == TM_NO_EVENT || timeline->launch[gap->next] == TM_NO_EVENT)
        return NULL;
    uint32_t asked = tm_timeline_asked(timeline, gap->next);
    bool late = timeline->begin_ns[asked] > gap->begin_ns;
    return tm_timeline_track(timeline, late ? asked : timeline->launch[gap->next]);
}

tm_status tm_gap_hosts(const tm_rank_view *view, const tm_gap *gaps, size_t n, tm_gap_host *out,
                       tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_vec wanted = TM_VEC(bool);
    if (!tm_vec_append(&wanted, NULL, n + 1))
        return tm_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        out[i] = (tm_gap_host){.known = thread_of(timeline, &gaps[i]) != NULL};
    bool ok = true;
    /* Walks each thread that kept the GPU idle; one walk covers all gaps of the thread. */
    for (size_t t = 0; t < timeline->n_tracks && ok; t++) {
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            const tm_track *thread = thread_of(timeline, &gaps[i]);
            bool its = thread && thread == &timeline->tracks[t];
            ((bool *)wanted.data)[i] = its;
            any = any || its;
        }
        if (!any)
            continue;
        walk w = {.gaps = gaps, .wanted = wanted.data, .n = n, .open = TM_VEC(open_call)};
        w.parts = TM_KEYS(part_key);
        w.times = TM_VEC(int64_t);
        ok = walk_thread(timeline, &timeline->tracks[t], &w);
        if (ok)
            collect(&w, out);
        tm_vec_free(&w.open);
        tm_keys_free(&w.parts);
        tm_vec_free(&w.times);
    }
    tm_vec_free(&wanted);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the last GPU event of a track that starts before a time; TM_NO_EVENT if there is none. */
static uint32_t last_before(const tm_timeline *timeline, const tm_track *track, int64_t time_ns) {
    size_t n = tm_lower_bound(timeline->begin_ns + track->first, track->count, time_ns);
    for (uint32_t row = track->first + (uint32_t)n; row-- > track->first;)
        if (timeline->role[row] != TM_ROLE_NONE)
            return row;
    return TM_NO_EVENT;
}

uint32_t tm_gap_last_event(const tm_timeline *timeline, const tm_gap *gap) {
    uint32_t found = TM_NO_EVENT;
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        if (timeline->tracks[t].kind != TM_TRACK_GPU)
            continue;
        uint32_t row = last_before(timeline, &timeline->tracks[t], gap->begin_ns);
        if (row != TM_NO_EVENT &&
            timeline->begin_ns[row] + timeline->duration_ns[row] == gap->begin_ns)
            found = row;
    }
    return found;
}
