/* Reads HOST.trace.json.gz. The profiler of TensorFlow and JAX writes this file for its trace
 * viewer. The file has the events of the XSpace in the same folder, in the Chrome format. The
 * events are converted back to an XSpace, and the reader of XSpaces reads this XSpace. The JSON
 * lacks flows, device properties and the time of day. */
#include <stdio.h>
#include <string.h>

#include "readers/formats.h"
#include "readers/json.h"
#include "readers/json_walk.h"
#include "tmerge/reader.h"
#include "viewer_events.h"

/* What a metadata event says about the file. */
typedef enum verdict { GO_ON, IS, IS_NOT } verdict;

static bool names_a_plane(const tm_json_text *text) {
    static const char *const starts[] = {"/device:", "/host:"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text->size > strlen(starts[i]) && tm_json_begins(text, starts[i]))
            return true;
    return false;
}

/* Returns a text member of the object at p; an empty text if absent. */
static tm_json_text text_member(const char *p, const tm_json_cursor *in, const char *word) {
    tm_json_cursor cursor = *in;
    tm_json_text key, found = {.bytes = ""};
    bool more = *p == '{';
    p++;
    for (bool first = true; more && p; first = false) {
        p = tm_json_member(&cursor, p, first, &key, &more);
        if (!p || !more)
            break;
        if (*p == '"' && tm_walk_is(&key, word)) {
            p = tm_json_string(&cursor, p + 1, &found);
            found.size = p ? found.size : 0;
        } else {
            p = tm_json_skip_value(&cursor, p);
        }
    }
    return found;
}

/* Recognises a file whose processes are named like planes. The names come before the first
 * event. */
static verdict judge(const char *event, const tm_json_cursor *cursor) {
    tm_json_text phase = text_member(event, cursor, "ph"), key;
    tm_json_text name = text_member(event, cursor, "name");
    tm_json_cursor inner = *cursor;
    bool more = true;
    if (!tm_walk_is(&phase, "M"))
        return IS_NOT;
    if (!tm_walk_is(&name, "process_name"))
        return GO_ON;
    const char *p = event + 1;
    for (bool first = true; p; first = false) {
        p = tm_json_member(&inner, p, first, &key, &more);
        if (!p || !more)
            return GO_ON;
        if (tm_walk_is(&key, "args") && *p == '{') {
            tm_json_text plane = text_member(p, &inner, "name");
            return names_a_plane(&plane) ? IS : IS_NOT;
        }
        p = tm_json_skip_value(&inner, p);
    }
    return GO_ON;
}

static bool judge_events(tm_json_cursor *cursor, const char *p) {
    for (p = tm_json_space(p); p && *p == '{';) {
        verdict found = judge(p, cursor);
        if (found != GO_ON)
            return found == IS;
        p = tm_json_skip_value(cursor, p);
        p = p ? tm_json_space(p) : NULL;
        if (p && *p == ',')
            p = tm_json_space(p + 1);
    }
    return false;
}

static bool viewer_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    const char *p = tm_json_space(head);
    bool more = *p == '{';
    tm_json_text key;
    p++;
    for (bool first = true; more && p; first = false) {
        p = tm_json_member(&cursor, p, first, &key, &more);
        if (!p || !more)
            return false;
        if (*p == '[' && tm_walk_is(&key, "traceEvents"))
            return judge_events(&cursor, p + 1);
        /* These members occur only in PyTorch's JSON, and may be long: the GPUs of a host, and the
         * ranks of a job. */
        if (tm_walk_is(&key, "deviceProperties") || tm_walk_is(&key, "distributedInfo"))
            return false;
        p = tm_json_skip_value(&cursor, p);
    }
    return false;
}

/* folder_size returns the length of a path's folder, including the last slash. stem_size returns
 * the length of a path up to the ending @p end; 0 if the path does not contain it. */
static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

static size_t stem_size(const char *path, const char *end) {
    size_t folder = folder_size(path);
    const char *found = strstr(path + folder, end);
    return found ? (size_t)(found - path) : 0;
}

/* Whether another file has the same recording. HOST.xplane.pb beside HOST.trace.json has all data
 * of the trace. Any trace beside perfetto_trace.json has the same data. */
static bool viewer_is_covered(const char *path, const char *other) {
    static const char own_end[] = ".trace.json", better_end[] = ".xplane.pb";
    size_t folder = folder_size(path);
    size_t own = stem_size(path, own_end), better = stem_size(other, better_end);
    if (folder_size(other) != folder || memcmp(path, other, folder) != 0)
        return false;
    if (strncmp(path + folder, "perfetto_trace.json", 19) == 0)
        return better > 0 || stem_size(other, own_end) > 0;
    return own > 0 && better == own && memcmp(path, other, own) == 0;
}

/* Makes a path for the XSpace. The reader of XSpaces takes the host from the part before the
 * extension. */
static void space_path(const char *path, char *out, size_t size) {
    size_t stem = stem_size(path, ".trace.json");
    if (stem > 0 && stem < size - sizeof ".xplane.pb")
        snprintf(out, size, "%.*s.xplane.pb", (int)stem, path);
    else
        snprintf(out, size, "%s", path);
}

/* Opens the JSON as a source of an XSpace.
 * @param bytes  must stay valid as long as the source */
static tm_status open_space(tm_source *source, tm_trace *trace, tm_vec *bytes, tm_source **out,
                            tm_error *err) {
    char path[TM_PATH_MAX + 16];
    TM_TRY(tm_viewer_to_space(source, trace, bytes, err));
    space_path(tm_source_path(source), path, sizeof path);
    return tm_source_open_memory(bytes->data, bytes->n, path, out, err);
}

static tm_status viewer_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                   tm_error *err) {
    const tm_format *format = tm_format_find("xplane");
    tm_vec bytes = TM_VEC(uint8_t);
    tm_source *space;
    tm_trace trace;
    *foreign = false;
    tm_trace_init(&trace);
    tm_status status = open_space(source, &trace, &bytes, &space, err);
    if (status == TM_OK) {
        status = format->list_units(space, known, units, foreign, err);
        tm_source_close(space);
    }
    tm_trace_free(&trace);
    tm_vec_free(&bytes);
    return status;
}

/* Adds the counts of the JSON to the counts of the XSpace. */
static tm_status viewer_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                  tm_trace *out, tm_error *err) {
    const tm_format *format = tm_format_find("xplane");
    tm_vec bytes = TM_VEC(uint8_t);
    tm_source *space;
    tm_status status = open_space(source, out, &bytes, &space, err);
    if (status == TM_OK) {
        bool cut = out->truncated;
        status = unit ? format->read_unit(space, unit, names, out, err)
                      : format->read(space, names, out, err);
        out->truncated = out->truncated || cut;
        tm_source_close(space);
    }
    tm_vec_free(&bytes);
    return status;
}

static tm_status viewer_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return viewer_read_unit(source, NULL, names, out, err);
}

const tm_format tm_format_trace_viewer = {
    .name = "trace_viewer",
    .summary = "TensorFlow and JAX profiles for the trace viewer (.trace.json), plain, gzip or "
               "zstd; read if their .xplane.pb is missing",
    .cannot_tell = "The trace viewer's JSON does not have the time of day or device properties. "
                   "Hosts are aligned only by steps and collectives.",
    .by_path = true,
    .sniff = viewer_sniff,
    .read = viewer_read,
    .list_units = viewer_list_units,
    .read_unit = viewer_read_unit,
    .is_covered = viewer_is_covered,
};
