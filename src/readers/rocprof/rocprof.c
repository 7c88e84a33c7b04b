/* ROCm traces: the JSON of rocprofv3 (rocprofiler-sdk), streamed. Times are on a monotonic clock
 * that all processes of a host share. */
#include <string.h>

#include "readers/formats.h"
#include "rocprof_units.h"

/* Recognises a file by the key "rocprofiler-sdk-tool", which is the only key of the outermost
 * object. */
static bool rocprof_sniff(const char *head, size_t size, bool whole) {
    tm_json_cursor cursor = {.end = head + size, .final = whole};
    tm_json_text key = {0};
    bool more;
    const char *p = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? head + 3 : head;
    p = tm_json_space(p);
    return *p == '{' && tm_json_member(&cursor, p + 1, true, &key, &more) && more &&
           tm_walk_is(&key, "rocprofiler-sdk-tool");
}

static tm_status rocprof_list_units(tm_source *source, bool known, tm_vec *units, bool *foreign,
                                    tm_error *err) {
    (void)known;
    *foreign = false;
    return tm_rocprof_list_units(tm_rocprof_document, source, units, err);
}

static tm_status rocprof_read_unit(tm_source *source, const tm_unit *unit, tm_names *names,
                                   tm_trace *out, tm_error *err) {
    return tm_rocprof_read_unit(tm_rocprof_document, source, unit, names, out, err);
}

/* X_results.db beside X_results.json has the same records, and also the environment of the
 * process. */
static bool rocprof_is_covered(const char *path, const char *other) {
    static const char own_end[] = "_results.json", better_end[] = "_results.db";
    const char *end = strstr(path, own_end);
    for (const char *next = end; next; next = strstr(next + 1, own_end))
        end = next;
    if (!end || !tm_format_rocpd.accepts) /* a build may not contain the reader of rocpd */
        return false;
    const char *packed = end + sizeof own_end - 1;
    size_t stem = (size_t)(end - path);
    return (*packed == '\0' || strcmp(packed, ".gz") == 0 || strcmp(packed, ".zst") == 0) &&
           strncmp(path, other, stem) == 0 && strcmp(other + stem, better_end) == 0;
}

static tm_status rocprof_read(tm_source *source, tm_names *names, tm_trace *out, tm_error *err) {
    return rocprof_read_unit(source, NULL, names, out, err);
}

const tm_format tm_format_rocprof = {
    .name = "rocprof",
    .summary = "ROCm profiler traces (rocprofv3 --output-format json), plain, gzip or zstd",
    .cannot_tell = "Times count from the start of each host, so hosts are aligned only by "
                   "collectives. The group and size of collectives are not recorded.",
    .by_path = true,
    .sniff = rocprof_sniff,
    .read = rocprof_read,
    .list_units = rocprof_list_units,
    .read_unit = rocprof_read_unit,
    .is_covered = rocprof_is_covered,
    .richer = "torch.profiler",
};
