/* Traces of Ascend NPUs by torch_npu's profiler: trace_view.json, an array of events in the Chrome
 * trace event format, one file per rank. */
#include <stdlib.h>
#include <string.h>

#include "ascend_emit.h"
#include "ascend_place.h"
#include "base/letters.h"
#include "readers/chrome.h"
#include "readers/formats.h"
#include "readers/scanner.h"

static const tm_chrome_field fields[N_FIELDS] = {TM_ASCEND_FIELDS(TM_CHROME_FIELD_ROW)};

static bool names_ascend(const tm_chrome_event *event) {
    static const char *const known[] = {"Ascend Hardware", "CANN", "HCCL", "Overlap Analysis",
                                        "AI Core Freq"};
    const tm_json_text *name = &event->fields[F_NAME].text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tm_chrome_has(event, F_NAME) && tm_json_is(name, known[i]))
            return true;
    return false;
}

/* Returns whether an event puts an item into the queue between two threads, or takes one out. */
static bool is_queued(const tm_json_text *category) {
    return tm_json_is(category, "enqueue") || tm_json_is(category, "dequeue");
}

/* Returns whether an event identifies an Ascend trace. Of the profilers that write an array of
 * events, only this one may write times in quotes. If times are not quoted, the trace is recognised
 * by the names of processes, or by categories and args that other profilers lack or write
 * differently. For example, Kineto writes dimensions as arrays, and writes a sequence number only
 * for operators that autograd counts. */
static bool tells(const tm_chrome_event *event) {
    if (event->phase == 'M')
        return names_ascend(event);
    return (event->phase && event->has_ts && event->quoted_ts) ||
           tm_chrome_has(event, F_TASK_TYPE) || tm_chrome_has(event, F_DIMS) ||
           tm_chrome_int(event, F_SEQUENCE, 0) == -1 ||
           (event->has_category && is_queued(&event->category));
}

static bool sniff_events(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p) {
    const tm_scanner *scanner = tm_scanner_best();
    tm_chrome_event event;
    for (char before = ','; before == ','; before = *p++) {
        p = tm_json_space(p);
        p = *p == '{' ? scanner->event_parse(cursor, keys, p, &event) : NULL;
        if (!p || !event.phase || tells(&event))
            return p && event.phase;
        p = tm_json_space(p);
    }
    return false;
}

static bool ascend_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    const char *p =
        tm_json_space(size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head);
    if (*p != '[')
        return false;
    tm_chrome_keys *keys = malloc(sizeof *keys);
    if (!keys)
        return false;
    tm_chrome_keys_init(keys, fields, N_FIELDS);
    keys->quoted_times = true;
    bool known = sniff_events(&cursor, keys, p + 1);
    free(keys);
    return known;
}

static bool emit(void *context, tm_json_cursor *cursor, tm_chrome_event *event) {
    static const tm_json_text none = {.bytes = ""};
    event->name = event->has_name ? event->name : none;
    event->category = event->has_category ? event->category : none;
    return tm_ascend_emit(context, cursor, event);
}

/* The metadata of every trace. It states the kind of device, and that the rank has a clock of its
 * own. */
static const char described[] = "{" TM_DEVICE_KIND "NPU\"," TM_OWN_CLOCK "}";

static const tm_chrome_form form = {
    .fields = fields, .n_fields = N_FIELDS, .quoted_times = true, .emit = emit};

/* Sets the rank, the host and the metadata. Only the names of the profiler's folders record the
 * rank and the host. */
static tm_status describe(const char *path, tm_names *names, tm_trace *out, tm_error *err) {
    char host[256];
    out->rank = tm_ascend_rank_of(path);
    out->metadata = tm_names_intern_string(names, described);
    if (tm_ascend_host_of(path, host, sizeof host))
        out->host = tm_names_intern_string(names, host);
    bool ok = out->host != TM_NAME_FAILED && out->metadata != TM_NAME_FAILED;
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Keeps the events of a truncated file. Fails only if there are none. */
static tm_status ascend_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    tm_part whole;
    tm_ascend_emitter *emitter = malloc(sizeof *emitter);
    if (!emitter)
        return tm_fail_memory(err);
    tm_part_init(&whole, out);
    tm_ascend_groups groups;
    tm_status status = tm_ascend_groups_read(tm_source_path(source), names, &groups, err);
    tm_ascend_emitter_init(emitter, &whole, names, &groups);
    if (status == TM_OK)
        status = tm_chrome_read_part(source, &form, -1, emitter, &whole, err);
    if (out->truncated && out->events.n > 0)
        status = TM_OK;
    if (status == TM_OK)
        status = tm_ascend_emitter_finish(emitter, err);
    if (status == TM_OK)
        status = describe(tm_source_path(source), names, out, err);
    tm_ascend_emitter_free(emitter);
    tm_ascend_groups_free(&groups);
    tm_part_free(&whole);
    free(emitter);
    return status;
}

/* Where traces are: in the folder of one rank, and in a folder of several ranks. */
static const char *const in_folders[] = {"ASCEND_PROFILER_OUTPUT/trace_view.json",
                                         "*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
                                         NULL};

/* A recording may be exported both as text and as a database in the same folder. The database holds
 * more: memory, and the full names of HCCL's groups. */
static bool ascend_is_covered(const char *path, const char *other) {
    static const char own[] = "trace_view.json", better[] = "ascend_pytorch_profiler";
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = strlen(other);
    return tm_format_ascend_db.accepts && strncmp(path + folder, own, sizeof own - 1) == 0 &&
           size > folder && strncmp(path, other, folder) == 0 &&
           strncmp(other + folder, better, sizeof better - 1) == 0 &&
           tm_ends_with(other, size, ".db");
}

const tm_format tm_format_ascend = {
    .name = "ascend",
    .summary =
        "Traces of Ascend NPUs by torch_npu's profiler (trace_view.json), plain, gzip or zstd",
    .cannot_tell = "The memory of tensors and the occupancy of kernels are not recorded; without a "
                   "communication.json next to a trace, HCCL groups are identified by only three "
                   "digits, so two groups with the same digits count as one.",
    .in_folders = in_folders,
    .sniff = ascend_sniff,
    .read = ascend_read,
    .is_covered = ascend_is_covered,
    .advice_unknown_group =
        "give the traces of all ranks: they show which ranks use which HCCL group",
};
