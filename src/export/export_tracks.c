#include "export_perfetto.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/export_mark.h"
#include "export_chrome.h"
#include "tmerge/timeline.h"

enum {
    TRACK_ID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_CHILD_ORDER = 11,
    TRACK_PLACE = 12,
    TRACK_PROCESS_ORDER = 19,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABEL = 8 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum { ORDER_EXPLICIT = 3, PROCESS_ORDER_EXPLICIT = 1 };

enum { CLOCK_REALTIME_ID = 1 };
enum { RANK_NAME_MAX = 512 };

/* Positions at which Perfetto shows a rank's tracks: counters come after the steps and before the
 * streams. */
enum { PLACE_COUNTERS = 1, PLACE_TRACKS = 2 };

static void intern_categories(tm_perfetto *p) {
    for (uint32_t c = 0; c < TM_N_CATEGORIES; c++) {
        size_t entry = tm_proto_begin(&p->block, INTERNED_CATEGORY);
        tm_proto_uint(&p->block, ENTRY_ID, c + 1);
        tm_proto_string(&p->block, ENTRY_TEXT, tm_category_word((tm_category)c));
        tm_proto_end(&p->block, entry);
    }
}

/* Starts the rank's sequence. Sets the trace clock to REALTIME for all its packets. */
static void begin_sequence(tm_perfetto *p) {
    size_t packet = tm_perfetto_packet(p, STATE_CLEARED);
    tm_proto_uint(&p->block, PACKET_FIRST_OF_SEQUENCE, 1);
    size_t defaults = tm_proto_begin(&p->block, PACKET_DEFAULTS);
    tm_proto_uint(&p->block, PACKET_CLOCK, CLOCK_REALTIME_ID);
    tm_proto_end(&p->block, defaults);
    size_t interned = tm_proto_begin(&p->block, PACKET_INTERNED);
    intern_categories(p);
    tm_perfetto_intern_notes(p);
    tm_proto_end(&p->block, interned);
    tm_proto_end(&p->block, packet);
}

void tm_perfetto_root(tm_perfetto *p) {
    size_t packet = tm_perfetto_packet(p, 0);
    size_t track = tm_proto_begin(&p->block, PACKET_TRACK);
    tm_proto_uint(&p->block, TRACK_ID, 0);
    tm_proto_uint(&p->block, TRACK_PROCESS_ORDER, PROCESS_ORDER_EXPLICIT);
    tm_proto_end(&p->block, track);
    tm_proto_end(&p->block, packet);
}

/* Writes the process of a rank. Its number is rank + 1, because Perfetto hides process 0 as the
 * idle process. */
static void put_process(tm_perfetto *p, int64_t rank, const char *name, const char *host) {
    size_t process = tm_proto_begin(&p->block, TRACK_PROCESS);
    tm_proto_int(&p->block, PROCESS_PID, rank + 1);
    tm_proto_string(&p->block, PROCESS_NAME, name);
    if (host[0] != '\0')
        tm_proto_string(&p->block, PROCESS_LABEL, host);
    tm_proto_end(&p->block, process);
}

/* Writes the metadata of the rank's trace, for tmerge's reader. */
static void put_members(tm_export *x, const tm_timeline *timeline) {
    tm_perfetto *p = x->state;
    p->text.bytes.n = 0;
    tm_chrome_members(x, timeline, &p->text);
    tm_chrome_host(x, timeline, &p->text);
    tm_proto_int(&p->block, TM_EXPORT_TRACK_RANK, timeline->rank);
    tm_proto_bytes(&p->block, TM_EXPORT_TRACK_MEMBERS, p->text.bytes.data, p->text.bytes.n);
}

void tm_perfetto_begin_rank(tm_export *x, const tm_timeline *timeline) {
    tm_perfetto *p = x->state;
    char name[RANK_NAME_MAX];
    size_t index = tm_export_rank_index(x->job, timeline->rank);
    tm_export_rank_name(x->job, timeline->rank, name, sizeof name);
    begin_sequence(p);
    p->rank_id = ++p->last_id;
    size_t packet = tm_perfetto_packet(p, 0);
    size_t track = tm_proto_begin(&p->block, PACKET_TRACK);
    tm_proto_uint(&p->block, TRACK_ID, p->rank_id);
    tm_proto_string(&p->block, TRACK_NAME, name);
    put_process(p, timeline->rank, name, x->job->hosts[index]);
    tm_proto_uint(&p->block, TRACK_CHILD_ORDER, ORDER_EXPLICIT);
    tm_proto_int(&p->block, TRACK_PLACE, (int64_t)index);
    put_members(x, timeline);
    tm_proto_end(&p->block, track);
    tm_proto_end(&p->block, packet);
}

/* Offsets of a packet and of its track descriptor. begin_track has started both, and end_track will
 * end them. */
typedef struct open_track {
    size_t packet, track;
} open_track;

static open_track begin_track(tm_perfetto *p, tm_text name, int place) {
    open_track opened = {.packet = tm_perfetto_packet(p, 0)};
    opened.track = tm_proto_begin(&p->block, PACKET_TRACK);
    tm_proto_uint(&p->block, TRACK_ID, ++p->last_id);
    tm_proto_uint(&p->block, TRACK_PARENT, p->rank_id);
    tm_perfetto_text(p, TRACK_NAME, name);
    tm_proto_int(&p->block, TRACK_PLACE, place);
    return opened;
}

static void end_track(tm_perfetto *p, open_track opened) {
    tm_proto_end(&p->block, opened.track);
    tm_proto_end(&p->block, opened.packet);
}

uint64_t tm_perfetto_track(tm_perfetto *p, tm_text name, int place) {
    end_track(p, begin_track(p, name, place));
    return p->last_id;
}

/* Writes the track as the store describes it. tmerge's reader needs these fields, Perfetto ignores
 * them. */
static void put_origin(tm_export *x, const tm_track *track) {
    tm_perfetto *p = x->state;
    const tm_names *names = x->job->names;
    tm_perfetto_text(p, TM_EXPORT_TRACK_PID, tm_names_text(names, track->pid));
    tm_perfetto_text(p, TM_EXPORT_TRACK_TID, tm_names_text(names, track->tid));
    tm_perfetto_text(p, TM_EXPORT_TRACK_PROCESS_NAME, tm_names_text(names, track->process_name));
    tm_perfetto_text(p, TM_EXPORT_TRACK_THREAD_NAME, tm_names_text(names, track->thread_name));
    if (track->kind == TM_TRACK_GPU && track->device != -1)
        tm_proto_int(&p->block, TM_EXPORT_TRACK_DEVICE, track->device);
    if (track->kind == TM_TRACK_GPU && track->stream != -1)
        tm_proto_int(&p->block, TM_EXPORT_TRACK_STREAM, track->stream);
}

/* Perfetto shows sub-tracks with the same name and parent as one track. */
uint64_t tm_perfetto_subtrack(tm_export *x, const tm_timeline *timeline, const tm_track *track) {
    tm_perfetto *p = x->state;
    char made[96];
    tm_text name = tm_names_text(x->job->names, track->thread_name);
    tm_text tid = tm_names_text(x->job->names, track->tid);
    if (track->kind == TM_TRACK_GPU && track->stream >= 0 && track->device >= 0)
        snprintf(made, sizeof made, "stream %" PRId64 " of GPU %" PRId32, track->stream,
                 track->device);
    else
        snprintf(made, sizeof made, "%s %.*s", track->kind == TM_TRACK_GPU ? "stream" : "thread",
                 (int)(tid.size < 64 ? tid.size : 64), tid.bytes);
    if (track->kind == TM_TRACK_GPU || name.size == 0)
        name = (tm_text){made, strlen(made)};
    open_track opened = begin_track(p, name, PLACE_TRACKS + (int)(track - timeline->tracks));
    put_origin(x, track);
    end_track(p, opened);
    return p->last_id;
}

static tm_perfetto_counter *find_counter(tm_perfetto *p, const tm_perfetto_counter *wanted) {
    tm_perfetto_counter *known = p->counters.data;
    for (size_t i = 0; i < p->counters.n; i++)
        if (known[i].kind == wanted->kind && known[i].a == wanted->a && known[i].b == wanted->b &&
            known[i].track == wanted->track)
            return &known[i];
    return NULL;
}

static void name_device(const tm_perfetto_counter *counter, char *out, size_t size) {
    const char *what = counter->kind == COUNTER_ALLOCATED ? "allocated" : "reserved";
    if (counter->a == 0)
        snprintf(out, size, "memory %s on the CPU", what);
    else
        snprintf(out, size, "memory %s on GPU %" PRId64, what, counter->b);
}

/* Builds "name" or "name series". If a counter has only one series, the series often has no name.
 */
static void name_series(const tm_names *names, const tm_perfetto_counter *counter, char *out,
                        size_t size) {
    tm_text name = tm_names_text(names, (uint32_t)counter->a);
    tm_text series = tm_names_text(names, (uint32_t)counter->b);
    int n = (int)(name.size < size / 2 ? name.size : size / 2 - 2);
    snprintf(out, size, "%.*s%s%.*s", n, name.bytes, series.size > 0 ? " " : "",
             (int)(series.size < size / 2 ? series.size : size / 2 - 2), series.bytes);
}

static uint64_t counter_id(tm_export *x, tm_perfetto_counter counter) {
    tm_perfetto *p = x->state;
    char name[256];
    const tm_perfetto_counter *known = find_counter(p, &counter);
    if (known)
        return known->id;
    if (counter.kind == COUNTER_SERIES)
        name_series(x->job->names, &counter, name, sizeof name);
    else
        name_device(&counter, name, sizeof name);
    open_track track = begin_track(p, (tm_text){name, strlen(name)}, PLACE_COUNTERS);
    size_t descriptor = tm_proto_begin(&p->block, TRACK_COUNTER);
    if (counter.kind != COUNTER_SERIES)
        tm_proto_uint(&p->block, COUNTER_UNIT, UNIT_BYTES);
    tm_proto_end(&p->block, descriptor);
    if (counter.kind == COUNTER_SERIES) {
        put_origin(x, counter.track);
        tm_perfetto_text(p, TM_EXPORT_TRACK_COUNTER,
                         tm_names_text(x->job->names, (uint32_t)counter.a));
        tm_perfetto_text(p, TM_EXPORT_TRACK_SERIES,
                         tm_names_text(x->job->names, (uint32_t)counter.b));
    }
    end_track(p, track);
    counter.id = p->last_id;
    if (!tm_vec_append(&p->counters, &counter, 1))
        p->block.failed = true;
    return counter.id;
}

/* Starts a counter's value. The caller writes the value, then ends the event and its packet. */
static open_track begin_value(tm_export *x, int64_t time_ns, tm_perfetto_counter counter) {
    tm_perfetto *p = x->state;
    uint64_t id = counter_id(x, counter);
    open_track opened = {.packet = tm_perfetto_packet(p, STATE_NEEDED)};
    tm_proto_int(&p->block, PACKET_TIMESTAMP, time_ns);
    opened.track = tm_proto_begin(&p->block, PACKET_TRACK_EVENT);
    tm_proto_uint(&p->block, EVENT_TYPE, TYPE_COUNTER);
    tm_proto_uint(&p->block, EVENT_TRACK, id);
    return opened;
}

static void put_total(tm_export *x, const tm_export_event *event, tm_perfetto_counter_kind kind,
                      int64_t bytes) {
    tm_perfetto *p = x->state;
    if (bytes < 0)
        return;
    open_track value =
        begin_value(x, event->begin_ns,
                    (tm_perfetto_counter){
                        .kind = kind, .a = event->memory->device_type, .b = event->memory->device});
    tm_proto_int(&p->block, EVENT_COUNTER, bytes);
    end_track(p, value);
}

void tm_perfetto_counters(tm_export *x, const tm_track *track, const tm_export_event *event) {
    tm_perfetto *p = x->state;
    if (event->memory) {
        put_total(x, event, COUNTER_ALLOCATED, event->memory->allocated_bytes);
        put_total(x, event, COUNTER_RESERVED, event->memory->reserved_bytes);
    }
    for (size_t i = 0; i < event->n_counters; i++) {
        open_track value = begin_value(x, event->begin_ns,
                                       (tm_perfetto_counter){.kind = COUNTER_SERIES,
                                                             .a = event->name,
                                                             .b = event->counters[i].series,
                                                             .track = track});
        tm_proto_uint(&p->block, EVENT_CATEGORY, event->category + 1u);
        tm_proto_double(&p->block, EVENT_COUNTER_REAL, event->counters[i].value);
        end_track(p, value);
    }
}
