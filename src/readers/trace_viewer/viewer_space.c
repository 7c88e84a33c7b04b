#include "viewer_space.h"

#include <string.h>

#include "viewer_wire.h"

/* Field numbers of the messages (tsl/profiler/protobuf/xplane.proto). */
enum { SPACE_PLANE = 1 };
enum { PLANE_ID = 1, PLANE_NAME, PLANE_LINE, PLANE_META, PLANE_STAT_NAME, PLANE_STAT };
enum { LINE_ID = 1, LINE_NAME, LINE_EVENT = 4 };
enum { EVENT_META = 1, EVENT_OFFSET, EVENT_DURATION, EVENT_STAT };
enum { STAT_ID = 1, STAT_REAL, STAT_INT = 4, STAT_BYTES = 6, STAT_REF };
enum { ENTRY_KEY = 1, ENTRY_VALUE };
enum { META_ID = 1, META_NAME, META_SHOWN = 4 };
bool tm_viewer_space_init(tm_viewer_space *space) {
    *space = (tm_viewer_space){.texts = tm_names_create(),
                               .planes = TM_VEC(tm_viewer_plane),
                               .lines = TM_VEC(tm_viewer_line),
                               .stats = TM_VEC(uint8_t)};
    return space->texts != NULL;
}

void tm_viewer_space_free(tm_viewer_space *space) {
    for (size_t i = 0; i < space->planes.n; i++) {
        tm_viewer_plane *plane = (tm_viewer_plane *)space->planes.data + i;
        tm_vec_free(&plane->metas);
        tm_vec_free(&plane->texts);
    }
    for (size_t i = 0; i < space->lines.n; i++)
        tm_vec_free(&((tm_viewer_line *)space->lines.data + i)->events);
    tm_names_destroy(space->texts);
    TM_VECS_FREE(&space->planes, &space->lines, &space->stats);
}

tm_viewer_plane *tm_viewer_plane_of(tm_viewer_space *space, int64_t process) {
    tm_viewer_plane *v = space->planes.data;
    for (size_t i = 0; i < space->planes.n; i++)
        if (v[i].process == process)
            return &v[i];
    tm_viewer_plane *plane = tm_vec_push(&space->planes);
    if (plane)
        *plane = (tm_viewer_plane){
            .process = process, .core = -1, .metas = TM_VEC(uint32_t), .texts = TM_VEC(uint8_t)};
    return plane;
}

tm_viewer_line *tm_viewer_line_of(tm_viewer_space *space, int64_t process, int64_t id) {
    tm_viewer_line *v = space->lines.data;
    /* the events of a line are adjacent in the JSON */
    for (size_t i = 0; i < space->lines.n; i++) {
        size_t at = (space->last + i) % space->lines.n;
        if (v[at].process == process && v[at].id == id) {
            space->last = at;
            return &v[at];
        }
    }
    tm_viewer_line *line = tm_vec_push(&space->lines);
    if (!line)
        return NULL;
    *line = (tm_viewer_line){.process = process, .id = id, .events = TM_VEC(uint8_t)};
    space->last = space->lines.n - 1;
    return line;
}

/* Sets the entry of a table for name id `at`. Entries that are not set are 0. */
static bool mark(tm_vec *table, uint32_t at, const void *value) {
    if (at >= table->n) {
        size_t had = table->n, more = (size_t)at + 1 - had;
        if (!tm_vec_append(table, NULL, more))
            return false;
        memset((char *)table->data + had * table->size, 0, more * table->size);
    }
    memcpy((char *)table->data + at * table->size, value, table->size);
    return true;
}

bool tm_viewer_add_int(tm_viewer_space *space, uint32_t stat, int64_t value) {
    uint8_t bytes[2 * TM_VIEWER_FIELD_MAX];
    size_t n = tm_viewer_put_varint(bytes, STAT_ID << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, stat);
    n += tm_viewer_put_varint(bytes + n, STAT_INT << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, (uint64_t)value);
    return tm_viewer_add_bytes(&space->stats, EVENT_STAT, bytes, n);
}

bool tm_viewer_add_real(tm_viewer_space *space, uint32_t stat, double value) {
    uint8_t bytes[2 * TM_VIEWER_FIELD_MAX];
    uint64_t bits;
    size_t n = tm_viewer_put_varint(bytes, STAT_ID << 3 | TM_VIEWER_VARINT);
    memcpy(&bits, &value, sizeof bits);
    n += tm_viewer_put_varint(bytes + n, stat);
    n += tm_viewer_put_varint(bytes + n, STAT_REAL << 3 | TM_VIEWER_FIXED64);
    for (int i = 0; i < 8; i++)
        bytes[n++] = (uint8_t)(bits >> 8 * i);
    return tm_viewer_add_bytes(&space->stats, EVENT_STAT, bytes, n);
}

bool tm_viewer_add_text(tm_viewer_space *space, tm_viewer_plane *plane, uint32_t stat,
                        uint32_t text) {
    const uint8_t is_used = 1;
    uint8_t bytes[2 * TM_VIEWER_FIELD_MAX];
    size_t n = tm_viewer_put_varint(bytes, STAT_ID << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, stat);
    n += tm_viewer_put_varint(bytes + n, STAT_REF << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, (uint64_t)text + TM_VIEWER_STATS);
    return mark(&plane->texts, text, &is_used) &&
           tm_viewer_add_bytes(&space->stats, EVENT_STAT, bytes, n);
}

/* Metadata ids are 1 + name id, because 0 means none. */
bool tm_viewer_add_event(tm_viewer_space *space, tm_viewer_line *line, tm_viewer_plane *plane,
                         const tm_viewer_event *event) {
    uint8_t bytes[3 * TM_VIEWER_FIELD_MAX];
    uint32_t name = event->name;
    const uint32_t shown_as = (event->shown == TM_NO_NAME ? name : event->shown) + 1;
    size_t n = tm_viewer_put_varint(bytes, EVENT_META << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, (uint64_t)name + 1);
    n += tm_viewer_put_varint(bytes + n, EVENT_OFFSET << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, (uint64_t)event->begin_ps);
    n += tm_viewer_put_varint(bytes + n, EVENT_DURATION << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, (uint64_t)event->duration_ps);
    bool ok =
        mark(&plane->metas, name, &shown_as) &&
        tm_viewer_add_head(&line->events, LINE_EVENT, n + space->stats.n) &&
        tm_vec_append(&line->events, bytes, n) &&
        (space->stats.n == 0 || tm_vec_append(&line->events, space->stats.data, space->stats.n));
    space->stats.n = 0;
    return ok;
}

static bool add_text(tm_vec *out, uint32_t field, const tm_names *texts, uint32_t id) {
    tm_text text = tm_names_text(texts, id);
    return text.size == 0 || tm_viewer_add_bytes(out, field, text.bytes, text.size);
}

static bool add_lines(tm_viewer_space *space, int64_t process, tm_vec *out, tm_vec *head) {
    tm_viewer_line *lines = space->lines.data;
    for (size_t i = 0; i < space->lines.n; i++) {
        tm_viewer_line *line = &lines[i];
        head->n = 0;
        if (line->process != process)
            continue;
        if (!tm_viewer_add_varint(head, LINE_ID, (uint64_t)line->id) ||
            !add_text(head, LINE_NAME, space->texts, line->name) ||
            !tm_viewer_add_head(out, PLANE_LINE, head->n + line->events.n) ||
            !tm_vec_append(out, head->data, head->n) ||
            (line->events.n > 0 && !tm_vec_append(out, line->events.data, line->events.n)))
            return false;
        tm_vec_free(&line->events);
    }
    return true;
}

/* Writes an entry of a map from ids to messages: the id, then a message that contains the same id
 * and a name. */
static bool add_entry(tm_vec *out, uint32_t field, uint64_t id, tm_text name, tm_text shown,
                      tm_vec *message) {
    uint8_t key[TM_VIEWER_FIELD_MAX];
    message->n = 0;
    if (!tm_viewer_add_varint(message, META_ID, id) ||
        !tm_viewer_add_bytes(message, META_NAME, name.bytes, name.size) ||
        (shown.size > 0 && !tm_viewer_add_bytes(message, META_SHOWN, shown.bytes, shown.size)))
        return false;
    uint8_t value[TM_VIEWER_FIELD_MAX];
    size_t n = tm_viewer_put_varint(key, ENTRY_KEY << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(key + n, id);
    size_t n_value = tm_viewer_put_varint(value, ENTRY_VALUE << 3 | TM_VIEWER_BYTES);
    n_value += tm_viewer_put_varint(value + n_value, message->n);
    return tm_viewer_add_head(out, field, n + n_value + message->n) && tm_vec_append(out, key, n) &&
           tm_vec_append(out, value, n_value) && tm_vec_append(out, message->data, message->n);
}

static bool add_names(const tm_viewer_space *space, const tm_viewer_plane *plane,
                      const char *const *stats, uint32_t n, tm_vec *out, tm_vec *message) {
    const tm_text none = {"", 0};
    const uint32_t *metas = plane->metas.data;
    const uint8_t *texts = plane->texts.data;
    bool ok = true;
    for (uint32_t id = 0; id < plane->metas.n && ok; id++)
        if (metas[id] != 0)
            ok = add_entry(out, PLANE_META, (uint64_t)id + 1, tm_names_text(space->texts, id),
                           metas[id] == id + 1 ? none : tm_names_text(space->texts, metas[id] - 1),
                           message);
    for (uint32_t id = 0; id < n && ok; id++)
        if (stats[id])
            ok = add_entry(out, PLANE_STAT_NAME, id, (tm_text){stats[id], strlen(stats[id])}, none,
                           message);
    for (uint32_t id = 0; id < plane->texts.n && ok; id++)
        if (texts[id])
            ok = add_entry(out, PLANE_STAT_NAME, (uint64_t)id + TM_VIEWER_STATS,
                           tm_names_text(space->texts, id), none, message);
    return ok;
}

/* Writes the global core number: the sixth field of core_details. */
static bool add_core(const tm_viewer_plane *plane, uint32_t stat, tm_vec *out) {
    enum { GLOBAL_CORE = 6 };
    uint8_t core[TM_VIEWER_FIELD_MAX], bytes[3 * TM_VIEWER_FIELD_MAX];
    if (plane->core < 0)
        return true;
    size_t n_core = tm_viewer_put_varint(core, GLOBAL_CORE << 3 | TM_VIEWER_VARINT);
    n_core += tm_viewer_put_varint(core + n_core, (uint64_t)plane->core);
    size_t n = tm_viewer_put_varint(bytes, STAT_ID << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, stat);
    n += tm_viewer_put_varint(bytes + n, STAT_BYTES << 3 | TM_VIEWER_BYTES);
    n += tm_viewer_put_varint(bytes + n, n_core);
    memcpy(bytes + n, core, n_core);
    return tm_viewer_add_bytes(out, PLANE_STAT, bytes, n + n_core);
}

bool tm_viewer_write(tm_viewer_space *space, const char *const *stats, uint32_t n, tm_vec *out) {
    tm_vec plane = TM_VEC(uint8_t), scratch = TM_VEC(uint8_t);
    bool ok = true;
    for (size_t i = 0; i < space->planes.n && ok; i++) {
        const tm_viewer_plane *p = (const tm_viewer_plane *)space->planes.data + i;
        plane.n = 0;
        ok = tm_viewer_add_varint(&plane, PLANE_ID, (uint64_t)p->process) &&
             add_text(&plane, PLANE_NAME, space->texts, p->name) &&
             add_lines(space, p->process, &plane, &scratch) &&
             add_names(space, p, stats, n, &plane, &scratch) && add_core(p, n - 1, &plane) &&
             tm_viewer_add_bytes(out, SPACE_PLANE, plane.data, plane.n);
    }
    tm_vec_free(&plane);
    tm_vec_free(&scratch);
    return ok;
}
