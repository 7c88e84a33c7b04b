/* Perfetto's native trace, compressed, one rank after another. Times are nanoseconds since the
 * epoch on the job's clock, and are declared as Perfetto's REALTIME. So Perfetto can show the time
 * of day, and can show two exported windows of a job, or an export and a trace of the hosts, on one
 * time axis. tmerge reads the file back (readers/perfetto): fields that Perfetto ignores describe
 * the original tracks. */
#include "export_perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/export_mark.h"
#include "base/sorted.h"

enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };

static void put_clock(tm_perfetto *p, uint32_t id, int64_t time_ns) {
    size_t clock = tm_proto_begin(&p->block, SNAPSHOT_CLOCK);
    tm_proto_uint(&p->block, CLOCK_ID, id);
    tm_proto_int(&p->block, CLOCK_TIME, time_ns);
    tm_proto_end(&p->block, clock);
}

/* Writes a clock snapshot. The trace clock is REALTIME. BOOTTIME, which is Perfetto's default, is
 * set equal to it. */
static void put_snapshot(tm_perfetto *p, int64_t time_ns) {
    p->sequence = TM_EXPORT_SEQUENCE;
    size_t packet = tm_perfetto_packet(p, 0);
    size_t snapshot = tm_proto_begin(&p->block, PACKET_CLOCK_SNAPSHOT);
    put_clock(p, CLOCK_REALTIME_ID, time_ns);
    put_clock(p, CLOCK_BOOTTIME_ID, time_ns);
    tm_proto_uint(&p->block, SNAPSHOT_PRIMARY, CLOCK_REALTIME_ID);
    tm_proto_end(&p->block, snapshot);
    tm_proto_end(&p->block, packet);
}

static tm_status begin(tm_export *x, tm_error *err) {
    tm_perfetto *p = x->state;
    *p = (tm_perfetto){.block = TM_PROTO(),
                       .nest = TM_NEST(),
                       .counters = TM_VEC(tm_perfetto_counter),
                       .scan = TM_EXPORT_SCAN(),
                       .text = TM_OUT(),
                       .interned = malloc(tm_names_count(x->job->names) / 8 + 1)};
    if (!p->interned)
        return tm_fail_memory(err);
    tm_out_bytes(&x->out, TM_EXPORT_PACKET, sizeof TM_EXPORT_PACKET - 1);
    put_snapshot(p, x->job->begin_ns > 0 ? x->job->begin_ns : 0);
    tm_perfetto_root(p);
    return tm_perfetto_pack_begin(p, err);
}

/* Flow ids, unique in the trace. An arrow's id contains the job-wide row of the launched event. An
 * operation's id contains the job-wide row of its first member. */

static uint64_t launch_flow(int64_t first_row, uint32_t row) {
    return (uint64_t)(first_row + row + 1) * 2;
}

static uint64_t operation_flow(const tm_export *x, const tm_collective_attr *c) {
    return (uint64_t)(tm_export_operation(x, c) + 1) * 2 + 1;
}

/* Writes the flows of an event. A launch gets an arrow only if both of its ends are in the window.
 */
static void put_flows(tm_export *x, const tm_export_event *event) {
    tm_perfetto *p = x->state;
    const tm_export_scan *scan = &p->scan;
    uint32_t call = event->call;
    if (call != TM_NO_EVENT && tm_export_takes(scan, call))
        tm_proto_fixed64(&p->block, EVENT_FLOW, launch_flow(p->first_row, event->row));
    const tm_export_launch *launches = scan->launches.data;
    size_t n = scan->launches.n;
    while (p->next_launch < n && launches[p->next_launch].call < event->row)
        p->next_launch++;
    for (size_t i = p->next_launch; i < n && launches[i].call == event->row; i++)
        if (tm_export_takes(scan, launches[i].row))
            tm_proto_fixed64(&p->block, EVENT_FLOW, launch_flow(p->first_row, launches[i].row));
    const tm_collective_attr *c = event->collective;
    if (c && c->first_rank >= 0)
        tm_proto_fixed64(&p->block, EVENT_FLOW, operation_flow(x, c));
}

/* Interns a name in the first packet of the rank's sequence that uses it. */
static void intern_name(tm_export *x, uint32_t id) {
    tm_perfetto *p = x->state;
    uint8_t bit = (uint8_t)(1u << id % 8);
    if (id == TM_NO_NAME || p->interned[id / 8] & bit)
        return;
    p->interned[id / 8] |= bit;
    size_t interned = tm_proto_begin(&p->block, PACKET_INTERNED);
    size_t entry = tm_proto_begin(&p->block, INTERNED_NAME);
    tm_proto_uint(&p->block, ENTRY_ID, id);
    tm_perfetto_text(p, ENTRY_TEXT, tm_names_text(x->job->names, id));
    tm_proto_end(&p->block, entry);
    tm_proto_end(&p->block, interned);
}

static void put_event(tm_export *x, const tm_timeline *timeline, const tm_export_event *event,
                      uint64_t track) {
    tm_perfetto *p = x->state;
    bool instant = event->kind != TM_DURATION;
    uint32_t name = event->name;
    size_t packet = tm_perfetto_packet(p, STATE_NEEDED);
    tm_proto_int(&p->block, PACKET_TIMESTAMP, event->begin_ns);
    intern_name(x, name);
    size_t body = tm_proto_begin(&p->block, PACKET_TRACK_EVENT);
    tm_proto_uint(&p->block, EVENT_TYPE, instant ? TYPE_INSTANT : TYPE_BEGIN);
    tm_proto_uint(&p->block, EVENT_TRACK, track);
    tm_proto_uint(&p->block, EVENT_CATEGORY, event->category + 1u);
    if (name != TM_NO_NAME)
        tm_proto_uint(&p->block, EVENT_NAME, name);
    tm_perfetto_notes(x, timeline, event);
    put_flows(x, event);
    tm_proto_end(&p->block, body);
    tm_proto_end(&p->block, packet);
}

static void put_end(tm_perfetto *p, uint64_t track, int64_t time_ns) {
    size_t packet = tm_perfetto_packet(p, 0);
    tm_proto_int(&p->block, PACKET_TIMESTAMP, time_ns);
    size_t body = tm_proto_begin(&p->block, PACKET_TRACK_EVENT);
    tm_proto_uint(&p->block, EVENT_TYPE, TYPE_END);
    tm_proto_uint(&p->block, EVENT_TRACK, track);
    tm_proto_end(&p->block, body);
    tm_proto_end(&p->block, packet);
}

/* Writes the ends of the sub-track's events that end by @p now_ns. */
static void close_subtrack(tm_perfetto *p, tm_subtrack *subtrack, int64_t now_ns) {
    int64_t end_ns;
    while (tm_subtrack_close(subtrack, now_ns, &end_ns))
        put_end(p, subtrack->id, end_ns);
}

/* Writes an event on a sub-track. Perfetto's track for the sub-track is created only when its first
 * event is written, so that Perfetto shows no empty tracks. */
static tm_status put_on_subtrack(tm_export *x, const tm_timeline *timeline, const tm_track *track,
                                 const tm_export_event *event, tm_error *err) {
    tm_perfetto *p = x->state;
    tm_subtrack *subtrack = tm_nest_place(&p->nest, event->begin_ns, event->end_ns);
    if (!subtrack)
        return tm_fail_memory(err);
    if (subtrack->id == 0)
        subtrack->id = tm_perfetto_subtrack(x, timeline, track);
    close_subtrack(p, subtrack, event->begin_ns);
    put_event(x, timeline, event, subtrack->id);
    if (event->kind == TM_DURATION && !tm_subtrack_open(subtrack, event->end_ns))
        return tm_fail_memory(err);
    return TM_OK;
}

/* Writes the events of a track. The values of counters and the totals of memory get separate
 * tracks. An event that reports memory is also written on the track itself. */
static tm_status put_track(tm_export *x, tm_export_walk *walk, const tm_track *track,
                           tm_error *err) {
    tm_perfetto *p = x->state;
    const tm_export_event *event = &walk->event;
    tm_nest_restart(&p->nest);
    while (tm_export_walk_next(walk, (size_t)track->first + track->count)) {
        if (event->begin_ns < 0)
            return tm_fail(err, TM_ERR_USAGE, x->path, -1,
                           "rank %" PRId64 " has events before 1970, which this format cannot hold",
                           walk->timeline->rank);
        tm_perfetto_counters(x, track, event);
        if (event->kind != TM_COUNTER)
            TM_TRY(put_on_subtrack(x, walk->timeline, track, event, err));
        x->n_events++;
        TM_TRY(tm_perfetto_pack(x, false, err));
    }
    TM_TRY(walk->status);
    tm_subtrack *subtracks = p->nest.subtracks.data;
    for (size_t i = 0; i < p->nest.n_used; i++)
        close_subtrack(p, &subtracks[i], INT64_MAX);
    return TM_OK;
}

/* Writes a step. Its name is its number, so it is not interned. */
static void put_step(tm_perfetto *p, const tm_timeline *timeline, const tm_step *step,
                     uint64_t track) {
    enum { EVENT_NAME_TEXT = 23 };
    char name[40];
    int64_t begin_ns = tm_rank_clock_true(&timeline->clock, step->begin_ns);
    snprintf(name, sizeof name, "step %" PRId64, step->number);
    size_t packet = tm_perfetto_packet(p, STATE_NEEDED);
    tm_proto_int(&p->block, PACKET_TIMESTAMP, begin_ns);
    size_t body = tm_proto_begin(&p->block, PACKET_TRACK_EVENT);
    tm_proto_uint(&p->block, EVENT_TYPE, TYPE_BEGIN);
    tm_proto_uint(&p->block, EVENT_TRACK, track);
    tm_proto_string(&p->block, EVENT_NAME_TEXT, name);
    tm_proto_end(&p->block, body);
    tm_proto_end(&p->block, packet);
    put_end(p, track, tm_rank_clock_true(&timeline->clock, step->end_ns));
}

/* Writes the steps, which do not overlap. */
static void put_steps(tm_export *x, const tm_timeline *timeline) {
    uint64_t track = 0;
    for (size_t i = 0; i < timeline->n_steps; i++) {
        const tm_step *step = &timeline->steps[i];
        /* If a trace marks no steps, its only step is the whole trace. That step is not written. */
        if (!step->annotated ||
            tm_rank_clock_true(&timeline->clock, step->begin_ns) >= x->job->to_ns ||
            tm_rank_clock_true(&timeline->clock, step->end_ns) <= x->job->from_ns)
            continue;
        if (track == 0)
            track = tm_perfetto_track(x->state, (tm_text){"steps", 5}, 0);
        put_step(x->state, timeline, step, track);
    }
}

/* Writes a rank as a sequence that can be read without the others. Each sequence has
 * its own interned names and counters. */
static tm_status rank(tm_export *x, const tm_timeline *timeline, tm_error *err) {
    tm_perfetto *p = x->state;
    tm_export_walk walk;
    p->sequence++;
    p->first_row = x->first_row[tm_export_rank_index(x->job, timeline->rank)];
    p->counters.n = 0;
    memset(p->interned, 0, tm_names_count(x->job->names) / 8 + 1);
    p->next_launch = 0;
    TM_TRY(tm_export_look(&p->scan, x, timeline, false, err));
    tm_perfetto_begin_rank(x, timeline);
    put_steps(x, timeline);
    tm_export_walk_begin(&walk, x, timeline, err);
    for (size_t t = 0; t < timeline->n_tracks; t++)
        TM_TRY(put_track(x, &walk, &timeline->tracks[t], err));
    return TM_OK;
}

static tm_status end(tm_export *x, tm_error *err) {
    return tm_perfetto_pack(x, true, err);
}

static void destroy(tm_export *x) {
    tm_perfetto *p = x->state;
    tm_perfetto_pack_end(p);
    TM_VECS_FREE(&p->block.bytes, &p->counters, &p->text.bytes);
    tm_nest_free(&p->nest);
    free(p->interned);
    tm_export_scan_free(&p->scan);
}

const tm_export_format tm_export_perfetto = {
    .name = "perfetto",
    .ending = ".perfetto-trace",
    .summary = "Perfetto's format, compressed, for jobs of any size; opens in ui.perfetto.dev",
    .begins = TM_EXPORT_PACKET,
    .begins_size = sizeof TM_EXPORT_PACKET - 1,
    .state_size = sizeof(tm_perfetto),
    .attrs = (1u << TM_N_ATTRS) - 1,
    .metadata = true,
    .begin = begin,
    .rank = rank,
    .end = end,
    .destroy = destroy,
};
