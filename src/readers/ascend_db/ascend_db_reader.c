#include "ascend_db_reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sums.h"

tm_status tm_ascend_db_scan(tm_ascend_db *d, const tm_db_query *query, tm_db_each *each,
                            tm_error *err) {
    return tm_db_scan(&d->db, query, 0, each, d, err);
}

void tm_ascend_db_tell(tm_ascend_db *d) {
    enum { REPORTED_AFTER = 1 << 14 };
    if (++d->n_done % REPORTED_AFTER == 0 && d->n_done <= d->n_rows)
        tm_source_tell(d->source,
                       (int64_t)((double)d->db.size * (double)d->n_done / (double)d->n_rows));
}

uint32_t tm_ascend_db_track(tm_ascend_db *d, tm_track_kind kind, int64_t process, tm_text thread) {
    char text[24];
    int n = snprintf(text, sizeof text, "%" PRId64, process);
    uint32_t pid = tm_names_intern(d->names, text, (size_t)n);
    uint32_t tid = tm_names_intern(d->names, thread.bytes, thread.size);
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index = tm_trace_track(d->trace, kind, pid, tid);
    if (index != UINT32_MAX && kind == TM_TRACK_GPU)
        ((tm_track *)d->trace->tracks.data)[index].device = tm_narrow_i32(process);
    return index;
}

/* Returns the track of a numbered thread of a process, or of a numbered stream of a device. */
static uint32_t numbered(tm_ascend_db *d, tm_track_kind kind, int64_t process, int64_t thread) {
    char text[24];
    tm_ascend_db_place *place =
        &d->places[((uint64_t)process ^ (uint64_t)thread) % TM_ASCEND_DB_PLACES];
    if (place->kind == kind && place->process == process && place->thread == thread)
        return place->track;
    int n = snprintf(text, sizeof text, "%" PRId64, thread);
    uint32_t track = tm_ascend_db_track(d, kind, process, (tm_text){text, (size_t)n});
    if (track != UINT32_MAX)
        *place = (tm_ascend_db_place){process, thread, track, (uint8_t)kind};
    return track;
}

uint32_t tm_ascend_db_thread(tm_ascend_db *d, int64_t thread) {
    return numbered(d, TM_TRACK_CPU, thread >> 32, thread & UINT32_MAX);
}

uint32_t tm_ascend_db_stream(tm_ascend_db *d, int64_t device, int64_t stream) {
    uint32_t track = numbered(d, TM_TRACK_GPU, device, stream);
    if (track != UINT32_MAX)
        ((tm_track *)d->trace->tracks.data)[track].stream = stream;
    return track;
}

/* Returns the reason to reject an event with these times. Returns TM_N_COUNTS if the event is
 * accepted. Its start must be in [0, 3e18] ns and its duration in [0, TM_DAY_NS]. */
static tm_count wrong_times(int64_t begin, int64_t end) {
    const int64_t most = INT64_C(3000000000000000000);
    if (begin < 0 || begin > most || end < 0)
        return TM_COUNT_NO_TIME;
    if (end < begin)
        return TM_COUNT_NEGATIVE_DURATION;
    return end - begin > TM_DAY_NS ? TM_COUNT_ABSURD_DURATION : TM_N_COUNTS;
}

tm_status tm_ascend_db_add(tm_ascend_db *d, sqlite3_value **values, tm_raw_event event,
                           uint32_t *row, tm_error *err) {
    tm_trace *trace = d->trace;
    int64_t begin = tm_db_int(values, 0, -1);
    int64_t end = event.kind == TM_DURATION ? tm_db_int(values, 1, -1) : begin;
    tm_count wrong = wrong_times(begin, end);
    *row = TM_NO_EVENT;
    if (wrong != TM_N_COUNTS) {
        trace->counts[wrong]++;
        return TM_OK;
    }
    event.begin_ns = begin;
    event.duration_ns = end - begin;
    event.launch = TM_NO_EVENT;
    if (event.name == TM_NAME_FAILED || event.track == UINT32_MAX ||
        trace->events.n >= TM_NO_EVENT - 1 || !tm_vec_append(&trace->events, &event, 1))
        return tm_fail_memory(err);
    trace->counts[TM_COUNT_NO_NAME] += event.name == TM_NO_NAME;
    trace->counts[TM_COUNT_ZERO_TIME] += begin == 0;
    *row = (uint32_t)(trace->events.n - 1);
    return TM_OK;
}
