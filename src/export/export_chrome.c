/* Exports the events of a window as Chrome JSON in Kineto's form, which tmerge can read back. Times
 * are relative to Kineto's member baseTimeNanoseconds. Viewers store times as doubles. Relative
 * times are small enough to be exact to the nanosecond as doubles. */
#include "export_chrome.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "base/export_mark.h"
#include "timeline/metadata.h"

/* Maximum number of events. Viewers need several hundred bytes of memory for each. */
enum { EVENTS_MAX = 4000000 };

enum { SECOND_NS = 1000000000 };

typedef struct chrome {
    int64_t base_ns;
    size_t n_ranks;      /* ranks to write */
    bool begun;          /* the text before the first event has been written */
    bool any;            /* at least one entry of traceEvents has been written */
    tm_export_scan scan; /* events of the current rank */
    /* metadata of the ranks written so far; only used if there are several ranks */
    tm_out members;
} chrome;

/* Sets the base to a full second before the start, so that no time is 0: readers take 0 for a
 * clamped time. */
static tm_status begin(tm_export *x, tm_error *err) {
    chrome *c = x->state;
    (void)err;
    c->members = TM_OUT();
    c->scan = TM_EXPORT_SCAN();
    int64_t into = x->job->begin_ns % SECOND_NS;
    c->base_ns = x->job->begin_ns - (into < 0 ? into + SECOND_NS : into);
    for (size_t i = 0; i < x->job->n_ranks; i++)
        c->n_ranks += x->job->wanted[i];
    return TM_OK;
}

static bool put_member(tm_out *out, const cJSON *metadata, const char *name) {
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(metadata, name);
    char *text = member ? cJSON_PrintUnformatted(member) : NULL;
    if (text) {
        tm_out_string(out, "\"");
        tm_out_string(out, name);
        tm_out_string(out, "\": ");
        tm_out_string(out, text);
        tm_out_string(out, ",\n");
    }
    out->failed = out->failed || (member && !text);
    cJSON_free(text);
    return member != NULL;
}

void tm_chrome_members(const tm_export *x, const tm_timeline *timeline, tm_out *out) {
    tm_vec text = TM_VEC(char);
    out->failed = !tm_timeline_metadata_whole(timeline, x->job->names, &text) || out->failed;
    cJSON *metadata = text.n > 0 ? cJSON_ParseWithLength(text.data, text.n) : NULL;
    tm_vec_free(&text);
    put_member(out, metadata, "deviceProperties");
    if (!put_member(out, metadata, "distributedInfo")) {
        tm_out_string(out, "\"distributedInfo\": {\"rank\": ");
        tm_json_put_int(out, timeline->rank);
        if (x->job->world_size > 0) {
            tm_out_string(out, ", \"world_size\": ");
            tm_json_put_int(out, x->job->world_size);
        }
        tm_out_string(out, "},\n");
    }
    cJSON_Delete(metadata);
}

/* Writes the list of ranks before the events, so that a reader that needs only some ranks can skip
 * the others. */
static void put_ranks(tm_export *x) {
    const char *before = "\"" TM_EXPORT_RANKS "\": [";
    for (size_t i = 0; i < x->job->n_ranks; i++)
        if (x->job->wanted[i]) {
            tm_out_string(&x->out, before);
            tm_json_put_int(&x->out, x->job->ranks[i].rank);
            before = ", ";
        }
    tm_out_string(&x->out, "],\n");
}

void tm_chrome_host(const tm_export *x, const tm_timeline *timeline, tm_out *out) {
    const char *host = x->job->hosts[tm_export_rank_index(x->job, timeline->rank)];
    if (*host == '\0')
        return;
    tm_out_string(out, "\"host_name\": ");
    tm_json_put_text(out, (tm_text){host, strlen(host)});
    tm_out_string(out, ",\n");
}

/* Collects the metadata of a rank, which is written after the events of all ranks. */
static void keep_members(const tm_export *x, const tm_timeline *timeline) {
    chrome *c = x->state;
    tm_out_string(&c->members, c->members.bytes.n > 0 ? ",\n\"" : "\n\"");
    tm_json_put_int(&c->members, timeline->rank);
    tm_out_string(&c->members, "\": {");
    tm_chrome_members(x, timeline, &c->members);
    tm_chrome_host(x, timeline, &c->members);
    tm_out_string(&c->members, "\"schemaVersion\": 1}");
}

/* @p timeline is NULL if there are no ranks */
static void put_head(tm_export *x, const tm_timeline *timeline) {
    chrome *c = x->state;
    tm_out_string(&x->out, TM_EXPORT_FIRST);
    if (c->n_ranks > 1)
        put_ranks(x);
    tm_out_string(&x->out, "\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n"
                           "\"baseTimeNanoseconds\": ");
    tm_json_put_int(&x->out, c->base_ns);
    tm_out_string(&x->out, ",\n");
    if (timeline && c->n_ranks == 1)
        tm_chrome_members(x, timeline, &x->out);
    tm_out_string(&x->out, "\"traceEvents\": [");
    c->begun = true;
}

/* Writes an id as a number if possible, as profilers do. */
static void put_ident(tm_export *x, uint32_t id) {
    tm_text text = tm_names_text(x->job->names, id);
    if (tm_json_is_int(text))
        tm_out_bytes(&x->out, text.bytes, text.size);
    else
        tm_json_put_text(&x->out, text);
}

/* Writes a process id. If there are several ranks, the id contains the rank, because processes of
 * different ranks may have equal ids. */
static void put_pid(tm_export *x, const tm_timeline *timeline, uint32_t pid) {
    const chrome *c = x->state;
    char text[80];
    tm_text given = tm_names_text(x->job->names, pid);
    if (c->n_ranks == 1) {
        put_ident(x, pid);
        return;
    }
    int size =
        snprintf(text, sizeof text, TM_EXPORT_PROCESS "%.*s", (long long)timeline->rank,
                 (int)(given.size < TM_EXPORT_PROCESS_MAX ? given.size : TM_EXPORT_PROCESS_MAX),
                 given.bytes);
    tm_json_put_text(&x->out, (tm_text){text, (size_t)size});
}

/* Writes an entry of traceEvents up to its thread id. The caller writes the rest and ends the
 * entry. */
static void put_entry(tm_export *x, const tm_timeline *timeline, const tm_track *track,
                      const char *phase) {
    chrome *c = x->state;
    tm_out_string(&x->out, c->any ? ",\n{\"ph\": \"" : "\n{\"ph\": \"");
    c->any = true;
    tm_out_string(&x->out, phase);
    tm_out_string(&x->out, "\", \"pid\": ");
    put_pid(x, timeline, track->pid);
    tm_out_string(&x->out, ", \"tid\": ");
    put_ident(x, track->tid);
}

static void put_metadata(tm_export *x, const tm_timeline *timeline, const tm_track *track,
                         const char *name, tm_text value) {
    put_entry(x, timeline, track, "M");
    tm_out_string(&x->out, ", \"name\": \"");
    tm_out_string(&x->out, name);
    tm_out_string(&x->out, "\", \"args\": {\"name\": ");
    tm_json_put_text(&x->out, value);
    tm_out_string(&x->out, "}}");
}

/* A linear search suffices, because there are only tens of tracks. */
static bool is_first_of_process(const tm_timeline *timeline, const tm_track *track) {
    for (const tm_track *other = timeline->tracks; other < track; other++)
        if (other->pid == track->pid)
            return false;
    return true;
}

/* Writes the process's name. If there are several ranks, the name is the rank and its host. */
static void put_process_name(tm_export *x, const tm_timeline *timeline, const tm_track *track) {
    const chrome *c = x->state;
    char name[512];
    tm_text given = tm_names_text(x->job->names, track->process_name);
    if (c->n_ranks == 1) {
        if (given.size > 0)
            put_metadata(x, timeline, track, "process_name", given);
        return;
    }
    tm_export_rank_name(x->job, timeline->rank, name, sizeof name);
    put_metadata(x, timeline, track, "process_name", (tm_text){name, strlen(name)});
    put_entry(x, timeline, track, "M");
    tm_out_string(&x->out, ", \"name\": \"process_sort_index\", \"args\": {\"sort_index\": ");
    tm_json_put_int(&x->out, timeline->rank);
    tm_out_string(&x->out, "}}");
}

static void put_track_names(tm_export *x, const tm_timeline *timeline, const tm_track *track) {
    tm_text name = tm_names_text(x->job->names, track->thread_name);
    if (is_first_of_process(timeline, track))
        put_process_name(x, timeline, track);
    if (name.size > 0)
        put_metadata(x, timeline, track, "thread_name", name);
}

static void put_time(tm_export *x, const char *key, int64_t ns) {
    tm_out_string(&x->out, key);
    tm_json_put_us(&x->out, ns);
}

static void put_event(tm_export *x, const tm_timeline *timeline, const tm_track *track,
                      const tm_export_event *event) {
    static const char *const phases[] = {
        [TM_DURATION] = "X", [TM_INSTANT] = "i", [TM_COUNTER] = "C"};
    const chrome *c = x->state;
    uint8_t kind = event->kind, category = event->category;
    put_entry(x, timeline, track, phases[kind <= TM_COUNTER ? kind : TM_INSTANT]);
    if (category != TM_CAT_NONE) {
        tm_out_string(&x->out, ", \"cat\": \"");
        tm_out_string(&x->out, tm_category_word((tm_category)category));
        tm_out_char(&x->out, '"');
    }
    tm_out_string(&x->out, ", \"name\": ");
    tm_json_put_text(&x->out, tm_names_text(x->job->names, event->name));
    put_time(x, ", \"ts\": ", event->begin_ns - c->base_ns);
    if (kind == TM_DURATION)
        put_time(x, ", \"dur\": ", event->end_ns - event->begin_ns);
    tm_out_string(&x->out, kind == TM_INSTANT ? ", \"s\": \"t\", \"args\": {" : ", \"args\": {");
    tm_chrome_args(x, track, event);
    tm_out_string(&x->out, "}}");
}

static void put_arrow_end(tm_export *x, const tm_timeline *timeline, uint32_t row, int64_t begin_ns,
                          const char *phase, int64_t id) {
    const chrome *c = x->state;
    put_entry(x, timeline, tm_timeline_track(timeline, row), phase);
    put_time(x, ", \"ts\": ", begin_ns - c->base_ns);
    tm_out_string(&x->out, ", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\", \"id\": ");
    tm_json_put_int(&x->out, id);
    tm_out_char(&x->out, '}');
}

/* Writes an arrow from a call to the event that it launched, if both are in the window. */
static void put_arrow(tm_export *x, const tm_timeline *timeline, const tm_export_event *event) {
    chrome *c = x->state;
    uint32_t call = event->call;
    int64_t id = x->first_row[tm_export_rank_index(x->job, timeline->rank)] + event->row;
    if (call == TM_NO_EVENT || !tm_export_takes(&c->scan, call))
        return;
    put_arrow_end(x, timeline, call, tm_export_call_begin(&c->scan, call), "s", id);
    put_arrow_end(x, timeline, event->row, event->begin_ns, "f", id);
}

static tm_status rank(tm_export *x, const tm_timeline *timeline, tm_error *err) {
    chrome *c = x->state;
    tm_export_walk walk;
    /* Counts the events before writing, so that too large an export fails at once and not after
     * minutes. */
    TM_TRY(tm_export_look(&c->scan, x, timeline, true, err));
    if (x->n_events + c->scan.n_taken > EVENTS_MAX)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                       "there are over %d events, more than any viewer opens as Chrome's JSON: use "
                       "--format perfetto, or choose fewer events with --from, --to and --rank",
                       EVENTS_MAX);
    if (!c->begun)
        put_head(x, timeline);
    if (c->n_ranks > 1)
        keep_members(x, timeline);
    tm_export_walk_begin(&walk, x, timeline, err);
    for (size_t t = 0; t < timeline->n_tracks; t++) {
        const tm_track *track = &timeline->tracks[t];
        put_track_names(x, timeline, track);
        while (tm_export_walk_next(&walk, (size_t)track->first + track->count)) {
            put_event(x, timeline, track, &walk.event);
            put_arrow(x, timeline, &walk.event);
            x->n_events++;
            TM_TRY(tm_export_spill(x, err));
        }
        TM_TRY(walk.status);
    }
    return TM_OK;
}

static tm_status end(tm_export *x, tm_error *err) {
    const chrome *c = x->state;
    (void)err;
    if (!c->begun)
        put_head(x, NULL);
    tm_out_string(&x->out, "\n]");
    if (c->members.bytes.n > 0) {
        tm_out_string(&x->out, ",\n\"" TM_EXPORT_MEMBERS "\": {");
        tm_out_bytes(&x->out, c->members.bytes.data, c->members.bytes.n);
        tm_out_char(&x->out, '}');
    }
    x->out.failed = x->out.failed || c->members.failed;
    tm_out_string(&x->out, "}\n");
    return TM_OK;
}

static void destroy(tm_export *x) {
    chrome *c = x->state;
    tm_vec_free(&c->members.bytes);
    tm_export_scan_free(&c->scan);
}

const tm_export_format tm_export_chrome = {
    .name = "chrome",
    .ending = ".json",
    .summary = "Chrome's JSON, for windows of up to 4 million events; tmerge reads it too",
    .begins = TM_EXPORT_FIRST,
    .begins_size = sizeof TM_EXPORT_FIRST - 1,
    .state_size = sizeof(chrome),
    .attrs = (1u << TM_N_ATTRS) - 1,
    .metadata = true,
    .begin = begin,
    .rank = rank,
    .end = end,
    .destroy = destroy,
};
