#include "host_shift.h"

#include <stdlib.h>

#include "base/median.h"

/* Larger errors are not corrected, because other faults of a trace cause them, such as wrong links.
 */
static const int64_t MOST_NS = 200000;
/* A call that is shorter than this may have found its event done. */
static const int64_t WAIT_NS = 20000;
/* The middle half of the calls must agree within this; otherwise, they waited for other events. */
static const int64_t SPREAD_NS = 20000;
/* LEAST: minimum number of events or calls that show the error. WAITS_MOST: number of waiting
 * calls that are looked at. */
enum { LEAST = 3, WAITS_MOST = 256 };

/* Times from the start of a launch to the start of its event [ns]. */
typedef struct lags {
    int64_t first[LEAST]; /* the smallest, ascending */
    int64_t positive;     /* the smallest that is not negative */
} lags;

static void add_lag(lags *found, int64_t ns) {
    if (ns >= 0 && ns < found->positive)
        found->positive = ns;
    for (size_t k = 0; k < LEAST; k++)
        if (ns < found->first[k]) {
            const int64_t larger = found->first[k];
            found->first[k] = ns;
            ns = larger;
        }
}

static lags find_lags(const tm_timeline *t) {
    lags found = {.positive = MOST_NS};
    for (size_t k = 0; k < LEAST; k++)
        found.first[k] = MOST_NS;
    for (uint32_t row = 0; row < t->n_events; row++)
        if (t->role[row] != TM_ROLE_NONE && t->launch[row] != TM_NO_EVENT && t->launch[row] != row)
            add_lag(&found, t->begin_ns[row] - t->begin_ns[t->launch[row]]);
    return found;
}

static int64_t launched_ns(const tm_timeline *t, uint32_t row) {
    return t->begin_ns[t->launch[row] == TM_NO_EVENT ? row : t->launch[row]];
}

/* Returns the event of a GPU track that was launched last before @p ns; TM_NO_EVENT if there is
 * none. Events of a track start in the order of their launches. */
static uint32_t launched_before(const tm_timeline *t, const tm_track *track, int64_t ns) {
    uint32_t low = track->first, high = track->first + track->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (launched_ns(t, middle) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > track->first && t->role[low - 1] != TM_ROLE_NONE ? low - 1 : TM_NO_EVENT;
}

/* Returns by how much the event that was launched last before a call ends after the call [ns];
 * MOST_NS if there is no event. */
static int64_t ends_after(const tm_timeline *t, uint32_t call) {
    uint32_t last = TM_NO_EVENT;
    for (size_t k = 0; k < t->n_tracks; k++) {
        const uint32_t row = t->tracks[k].kind == TM_TRACK_GPU
                                 ? launched_before(t, &t->tracks[k], t->begin_ns[call])
                                 : TM_NO_EVENT;
        if (row != TM_NO_EVENT &&
            (last == TM_NO_EVENT || launched_ns(t, row) > launched_ns(t, last)))
            last = row;
    }
    return last == TM_NO_EVENT ? MOST_NS
                               : t->begin_ns[last] + t->duration_ns[last] - t->begin_ns[call] -
                                     t->duration_ns[call];
}

static bool waits(const tm_timeline *t, uint32_t row, tm_call_classes *classes) {
    if (t->kind[row] != TM_DURATION ||
        (t->category[row] != TM_CAT_RUNTIME && t->category[row] != TM_CAT_DRIVER))
        return false;
    const tm_call_class_kind kind = tm_call_classes_at(classes, t->name[row]);
    return kind == TM_CALL_WAITS_DEVICE || kind == TM_CALL_WAITS_STREAM;
}

/* Returns by how much events end after the calls that waited for them, as the median [ns]. 0 if
 * calls are too few or do not agree. */
static int64_t find_after(const tm_timeline *t, tm_call_classes *classes) {
    int64_t values[WAITS_MOST];
    size_t n = 0;
    for (size_t k = 0; k < t->n_tracks; k++) {
        const tm_track *track = &t->tracks[k];
        const uint32_t end = track->kind == TM_TRACK_CPU ? track->first + track->count : 0;
        for (uint32_t row = track->first; row < end && n < WAITS_MOST; row++) {
            values[n] = waits(t, row, classes) ? ends_after(t, row) : MOST_NS;
            n += llabs(values[n]) < MOST_NS && (values[n] > 0 || t->duration_ns[row] >= WAIT_NS);
        }
    }
    if (n < LEAST)
        return 0;
    tm_sort_values(values, n);
    return values[n - 1 - n / 4] - values[n / 4] <= SPREAD_NS ? tm_median(values, n) : 0;
}

int64_t tm_host_shift(const tm_timeline *timeline, tm_call_classes *classes) {
    const lags found = find_lags(timeline);
    if (found.first[LEAST - 1] < 0)
        return found.first[LEAST - 1] > -MOST_NS ? found.first[LEAST - 1] : 0;
    const int64_t after = found.positive > 0 ? find_after(timeline, classes) : 0;
    return after <= 0 ? 0 : after < found.positive ? after : found.positive;
}
