#include "files.h"

#include <stdlib.h>
#include <string.h>

tm_snapshots *tm_snapshots_create(void) {
    tm_snapshots *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = (tm_snapshots){.texts = tm_names_create(),
                        .devices = TM_VEC(tm_snapshot_device),
                        .sites = TM_VEC(tm_snapshot_site),
                        .timelines = TM_VEC(tm_memory_timeline)};
    if (s->texts)
        return s;
    tm_snapshots_destroy(s);
    return NULL;
}

void tm_snapshots_destroy(tm_snapshots *snapshots) {
    if (!snapshots)
        return;
    tm_names_destroy(snapshots->texts);
    TM_VECS_FREE(&snapshots->devices, &snapshots->sites, &snapshots->timelines);
    free(snapshots);
}

const char *tm_snapshots_text(tm_snapshots *snapshots, const char *text) {
    uint32_t id = tm_names_intern_string(snapshots->texts, text);
    return id == TM_NAME_FAILED ? NULL : tm_names_text(snapshots->texts, id).bytes;
}

const tm_snapshot_device *tm_snapshots_devices(const tm_snapshots *snapshots, size_t *n) {
    *n = snapshots->devices.n;
    return snapshots->devices.data;
}

const tm_snapshot_site *tm_snapshots_sites(const tm_snapshots *snapshots, size_t *n) {
    *n = snapshots->sites.n;
    return snapshots->sites.data;
}

const tm_memory_timeline *tm_snapshots_timelines(const tm_snapshots *snapshots, size_t *n) {
    *n = snapshots->timelines.n;
    return snapshots->timelines.data;
}

/* Detects the kind of a file by its first byte that is not blank. A timeline is a list, and starts
 * with "[". A picture of a timeline is an HTML page, and starts with "<". A pickle starts with its
 * protocol or, in the oldest protocol, with any opcode. */
tm_status tm_snapshots_read(tm_snapshots *snapshots, tm_source *source, tm_error *err) {
    enum { HEAD = 64 };
    char head[HEAD + 1] = "";
    size_t n, first;
    TM_TRY(tm_source_read(source, head, HEAD, &n, err));
    TM_TRY(tm_source_rewind(source, err));
    first = strspn(head, " \t\r\n");
    if (head[first] == '<')
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), -1,
                       "a page with a picture of a timeline: export it as .json or .raw.json.gz");
    return head[first] == '[' ? tm_snapshot_read_timeline(snapshots, source, err)
                              : tm_snapshot_read_pickle(snapshots, source, err);
}
