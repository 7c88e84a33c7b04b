/* Scans a rank's events before they are written: finds the events in the window, and the events
 * that calls launched. */
#include <string.h>

#include "base/sorted.h"
#include "export.h"

TM_ORDER_BY(by_call, tm_export_launch, call, row);

/* Returns whether the window contains all events. Rows in the window are then not marked one by
 * one. */
static bool is_whole(const tm_export_job *job) {
    return job->from_ns == INT64_MIN && job->to_ns == INT64_MAX;
}

static bool add_launches(tm_export_scan *scan, const tm_timeline *piece, size_t first) {
    for (size_t i = 0; i < piece->n_events; i++) {
        const tm_export_launch launch = {piece->launch[i], (uint32_t)(first + i)};
        if (launch.call != TM_NO_EVENT && !tm_vec_append(&scan->launches, &launch, 1))
            return false;
    }
    return true;
}

static void take_rows(tm_export_scan *scan, const tm_export_job *job, const tm_rank_clock *clock,
                      const tm_timeline *piece, size_t first) {
    uint8_t *taken = scan->taken.data;
    for (size_t i = 0; i < piece->n_events; i++) {
        int64_t begin_ns = tm_rank_clock_true(clock, piece->begin_ns[i]);
        int64_t end_ns = piece->duration_ns[i] == 0
                             ? begin_ns
                             : tm_export_end_of(clock, piece->begin_ns[i], piece->duration_ns[i]);
        if (!tm_export_in_window(job, begin_ns, end_ns))
            continue;
        taken[(first + i) / 8] |= (uint8_t)(1u << (first + i) % 8);
        scan->n_taken++;
    }
}

/* Adds the starts of the calls in a piece. Launches are sorted by call, in the order of the rows.
 */
static bool add_begins(tm_export_scan *scan, const tm_rank_clock *clock, const tm_timeline *piece,
                       size_t first) {
    const tm_export_launch *launches = scan->launches.data;
    size_t end = first + piece->n_events;
    for (size_t i = scan->begins.n; i < scan->launches.n && launches[i].call < end; i++) {
        int64_t begin_ns = tm_rank_clock_true(clock, piece->begin_ns[launches[i].call - first]);
        if (!tm_vec_append(&scan->begins, &begin_ns, 1))
            return false;
    }
    return true;
}

static bool make_taken(tm_export_scan *scan, size_t n) {
    if (!tm_vec_append(&scan->taken, NULL, n / 8 + 1))
        return false;
    memset(scan->taken.data, 0, n / 8 + 1);
    return true;
}

tm_status tm_export_look(tm_export_scan *scan, const tm_export *x, const tm_timeline *timeline,
                         bool begins, tm_error *err) {
    const bool whole = is_whole(x->job);
    const tm_timeline *piece = NULL;
    size_t first = 0, n = timeline->n_events;
    scan->launches.n = scan->begins.n = scan->taken.n = scan->at = 0;
    scan->n_taken = whole ? (int64_t)n : 0;
    if (!whole && !make_taken(scan, n))
        return tm_fail_memory(err);
    for (size_t row = 0; row < n; row = first + piece->n_events) {
        TM_TRY(tm_event_rows_next(x->rows, timeline,
                                  whole ? TM_ROWS_LAUNCHES : TM_ROWS_LAUNCHES | TM_ROWS_TIMES,
                                  &first, &piece, err));
        if (!add_launches(scan, piece, first))
            return tm_fail_memory(err);
        if (!whole)
            take_rows(scan, x->job, &timeline->clock, piece, first);
    }
    tm_sort(scan->launches.data, scan->launches.n, sizeof(tm_export_launch), by_call);
    piece = NULL;
    for (size_t row = 0; begins && row < n; row = first + piece->n_events) {
        TM_TRY(tm_event_rows_next(x->rows, timeline, TM_ROWS_TIMES, &first, &piece, err));
        if (!add_begins(scan, &timeline->clock, piece, first))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

void tm_export_scan_free(tm_export_scan *scan) {
    TM_VECS_FREE(&scan->launches, &scan->begins, &scan->taken);
}

bool tm_export_takes(const tm_export_scan *scan, uint32_t row) {
    const uint8_t *taken = scan->taken.data;
    return scan->taken.n == 0 || (taken[row / 8] >> row % 8 & 1);
}

/* Searches first after the previous result: most events of a stream are launched soon after the
 * event before them. */
int64_t tm_export_call_begin(tm_export_scan *scan, uint32_t call) {
    enum { NEAR = 8 };
    const tm_export_launch *launches = scan->launches.data;
    size_t end = scan->at + NEAR < scan->launches.n ? scan->at + NEAR : scan->launches.n;
    while (scan->at < end && launches[scan->at].call < call)
        scan->at++;
    if (scan->at == end || launches[scan->at].call != call)
        scan->at = TM_FIRST_FROM(tm_export_launch, call, launches, scan->launches.n, call);
    return ((const int64_t *)scan->begins.data)[scan->at];
}
