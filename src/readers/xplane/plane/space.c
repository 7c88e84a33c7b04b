#include "space.h"

#include <stdlib.h>

#include "base/sorted.h"

enum { METADATA_KEPT = 1 << 20 };

static bool copy_text(tm_space *space, const tm_wire_field *field, tm_text *out) {
    char *bytes = tm_arena_copy(&space->arena, (const char *)field->bytes, (size_t)field->value);
    *out = (tm_text){bytes, bytes ? (size_t)field->value : 0};
    return bytes;
}

static bool copy_message(tm_space *space, const tm_wire_field *field, tm_wire_message *out) {
    tm_text text;
    if (!copy_text(space, field, &text))
        return false;
    *out = (tm_wire_message){(const uint8_t *)text.bytes, (const uint8_t *)text.bytes + text.size};
    return true;
}

static double real_of_bits(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static inline void set_value(tm_xstat *stat, const tm_wire_field *field) {
    stat->type = (uint8_t)field->number;
    if (field->number == TM_X_TEXT || field->number == TM_X_BYTES)
        stat->text = tm_wire_text(field);
    else if (field->number == TM_X_DOUBLE)
        stat->r = real_of_bits(field->value);
    else {
        stat->i = (int64_t)field->value;
        stat->r = field->number == TM_X_UINT64 ? (double)field->value : (double)stat->i;
    }
}

static uint8_t type_of_value(uint32_t number) {
    return number == TM_X_DOUBLE                         ? TM_WIRE_FIXED64
           : number == TM_X_TEXT || number == TM_X_BYTES ? TM_WIRE_BYTES
                                                         : TM_WIRE_VARINT;
}

/* Fields of the wrong type are ignored, as in protobuf's own libraries. */
bool tm_xstat_read(tm_wire_message message, tm_xstat *out) {
    tm_wire_field field;
    *out = (tm_xstat){0};
    while (tm_wire_next(&message, &field)) {
        if (field.number == 1 && field.type == TM_WIRE_VARINT)
            out->id = (int64_t)field.value;
        else if (field.number >= TM_X_DOUBLE && field.number <= TM_X_REF &&
                 field.type == type_of_value(field.number))
            set_value(out, &field);
    }
    return !tm_wire_damaged(&message);
}

/* Reads an entry of a map. Sets *key to its key, and *value to its value, which is a message. */
static bool read_entry(const tm_wire_field *entry, int64_t *key, tm_wire_field *value) {
    tm_wire_message message = tm_wire_inner(entry);
    tm_wire_field field;
    *key = 0;
    *value = (tm_wire_field){.type = TM_WIRE_BYTES, .bytes = entry->bytes};
    while (tm_wire_next(&message, &field)) {
        if (field.number == 1 && field.type == TM_WIRE_VARINT)
            *key = (int64_t)field.value;
        else if (field.number == 2 && field.type == TM_WIRE_BYTES)
            *value = field;
    }
    return !tm_wire_damaged(&message);
}

static tm_status fail_inner(const tm_space *space, const uint8_t *at, tm_error *err) {
    return tm_wire_fail(&space->wire, at, "the message that starts here is damaged", err);
}

static tm_status add_metadata(tm_space *space, tm_xplane *plane, const tm_wire_field *entry,
                              tm_error *err) {
    tm_wire_field value, field;
    tm_xmeta meta = {0};
    if (!read_entry(entry, &meta.id, &value))
        return fail_inner(space, entry->bytes, err);
    meta.begin = tm_wire_at(&space->wire, value.bytes);
    meta.end = meta.begin + (int64_t)value.value;
    tm_wire_message message = tm_wire_inner(&value);
    bool large = value.value > METADATA_KEPT, ok = true;
    space->n_large += large;
    if (!large) {
        ok = copy_message(space, &value, &meta.message);
        message = meta.message;
    }
    while (ok && tm_wire_next(&message, &field)) {
        if (field.type != TM_WIRE_BYTES || (field.number != 2 && field.number != 4))
            continue;
        tm_text *text = field.number == 2 ? &meta.name : &meta.display_name;
        if (large)
            ok = copy_text(space, &field, text);
        else
            *text = tm_wire_text(&field);
    }
    if (ok && tm_wire_damaged(&message))
        return fail_inner(space, entry->bytes, err);
    return ok && tm_vec_append(&plane->metadata, &meta, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status add_stat_name(tm_space *space, tm_xplane *plane, const tm_wire_field *entry,
                               tm_error *err) {
    tm_wire_field value, field;
    tm_xname name = {.begin = tm_wire_at(&space->wire, entry->bytes)};
    if (!read_entry(entry, &name.id, &value))
        return fail_inner(space, entry->bytes, err);
    tm_wire_message message = tm_wire_inner(&value);
    while (tm_wire_next(&message, &field))
        if (field.number == 2 && field.type == TM_WIRE_BYTES &&
            !copy_text(space, &field, &name.name))
            return tm_fail_memory(err);
    if (tm_wire_damaged(&message))
        return fail_inner(space, entry->bytes, err);
    return tm_vec_append(&plane->stat_names, &name, 1) ? TM_OK : tm_fail_memory(err);
}

/* Counts and skips the events from wire->p to the end of the window. This must be fast, because
 * nearly all of a file is events. */
static void pass_events(tm_wire *wire, int64_t end, tm_xline *line) {
    enum { EVENT = 4 << 3 | TM_WIRE_BYTES };
    int64_t left = end - tm_wire_at(wire, wire->p);
    const uint8_t *p = wire->p, *stop = left < wire->end - p ? p + left : wire->end;
    uint64_t size;
    while (p < stop && *p == EVENT) {
        const uint8_t *body = tm_wire_varint(p + 1, stop, &size);
        if (!body || size > (uint64_t)(stop - body))
            break;
        p = body + size;
        line->n_events++;
    }
    wire->p = p;
}

static tm_status read_line(tm_space *space, int64_t end, tm_xplane *plane, tm_error *err) {
    tm_wire *wire = &space->wire;
    tm_xline line = {.begin = tm_wire_at(wire, wire->p), .end = end};
    tm_wire_field field;
    bool more;
    for (;;) {
        pass_events(wire, end, &line);
        TM_TRY(tm_wire_field_head(wire, end, &field, &more, err));
        if (!more)
            break;
        if (field.type != TM_WIRE_BYTES) {
            if (field.number == 1)
                line.id = (int64_t)field.value;
            else if (field.number == 3)
                line.timestamp_ns = (int64_t)field.value;
            continue;
        }
        TM_TRY(tm_wire_take(wire, &field, err));
        line.n_events += field.number == 4;
        if ((field.number == 2 && !copy_text(space, &field, &line.name)) ||
            (field.number == 11 && !copy_text(space, &field, &line.display_name)))
            return tm_fail_memory(err);
    }
    return tm_vec_append(&plane->lines, &line, 1) ? TM_OK : tm_fail_memory(err);
}

static tm_status take_plane_field(tm_space *space, tm_xplane *plane, tm_wire_field *field,
                                  tm_error *err) {
    tm_wire *wire = &space->wire;
    tm_wire_message stat;
    if (field->type != TM_WIRE_BYTES) {
        if (field->number == 1)
            plane->id = (int64_t)field->value;
        return TM_OK;
    }
    if (field->number == 3)
        return read_line(space, tm_wire_at(wire, wire->p) + (int64_t)field->value, plane, err);
    bool large = field->number == 4 && field->value > TM_WIRE_ITEM_MAX;
    space->n_large += large;
    if (large || (field->number != 2 && field->number != 4 && field->number != 5 &&
                  field->number != TM_X_PLANE_STATS))
        return tm_wire_seek(wire, tm_wire_at(wire, wire->p) + (int64_t)field->value, err);
    TM_TRY(tm_wire_take(wire, field, err));
    if (field->number == 4)
        return add_metadata(space, plane, field, err);
    if (field->number == 5)
        return add_stat_name(space, plane, field, err);
    bool ok = field->number == 2
                  ? copy_text(space, field, &plane->name)
                  : copy_message(space, field, &stat) && tm_vec_append(&plane->stats, &stat, 1);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Orders by id, then by position. The id and the position must be the first two members of the
 * elements. */
static int by_id(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    int order = tm_order_i64(x[0], y[0]);
    return order ? order : tm_order_i64(x[1], y[1]);
}

/* Sorts by id. If an id occurs several times, keeps the element that is last in the file. (A map of
 * protobuf does the same.) */
static void sort_by_id(tm_vec *vec) {
    char *v = vec->data;
    size_t n = 0, size = vec->size;
    tm_vec_sort(vec, by_id);
    for (size_t i = 0; i < vec->n; i++) {
        n -= n > 0 && memcmp(v + (n - 1) * size, v + i * size, sizeof(int64_t)) == 0;
        if (n != i)
            memcpy(v + n * size, v + i * size, size);
        n++;
    }
    vec->n = n;
}

static int64_t id_at(const tm_vec *vec, size_t i) {
    return *(const int64_t *)(const void *)((const char *)vec->data + i * vec->size);
}

/* Makes a table from ids to indices. The table is small, because the profiler numbers ids
 * consecutively. If ids are far apart, no table is made. */
static bool place_ids(const tm_vec *vec, tm_vec *places) {
    enum { NOWHERE = -1 };
    if (vec->n == 0 || vec->n >= UINT32_MAX)
        return true;
    uint64_t range = (uint64_t)id_at(vec, vec->n - 1) - (uint64_t)id_at(vec, 0);
    if (range > 8 * (uint64_t)vec->n + 1024)
        return true;
    uint32_t *at = tm_vec_append(places, NULL, (size_t)range + 1);
    if (!at)
        return false;
    for (size_t i = 0; i <= range; i++)
        at[i] = (uint32_t)NOWHERE;
    for (size_t i = 0; i < vec->n; i++)
        at[(uint64_t)id_at(vec, i) - (uint64_t)id_at(vec, 0)] = (uint32_t)i;
    return true;
}

static tm_status read_plane(tm_space *space, int64_t end, tm_error *err) {
    tm_wire *wire = &space->wire;
    tm_xplane *plane = tm_vec_push(&space->planes);
    tm_wire_field field;
    bool more;
    if (!plane)
        return tm_fail_memory(err);
    *plane = (tm_xplane){.lines = TM_VEC(tm_xline),
                         .metadata = TM_VEC(tm_xmeta),
                         .stat_names = TM_VEC(tm_xname),
                         .stats = TM_VEC(tm_wire_message),
                         .places = {TM_VEC(uint32_t), TM_VEC(uint32_t)},
                         .begin = tm_wire_at(wire, wire->p),
                         .end = end};
    for (;;) {
        TM_TRY(tm_wire_field_head(wire, end, &field, &more, err));
        if (!more)
            break;
        TM_TRY(take_plane_field(space, plane, &field, err));
    }
    sort_by_id(&plane->metadata);
    sort_by_id(&plane->stat_names);
    return place_ids(&plane->metadata, &plane->places[0]) &&
                   place_ids(&plane->stat_names, &plane->places[1])
               ? TM_OK
               : tm_fail_memory(err);
}

static tm_status take_space_field(tm_space *space, tm_wire_field *field, tm_error *err) {
    tm_wire *wire = &space->wire;
    tm_text text;
    if (field->type != TM_WIRE_BYTES)
        return TM_OK;
    if (field->number == 1)
        return read_plane(space, tm_wire_at(wire, wire->p) + (int64_t)field->value, err);
    tm_vec *texts = field->number == 2   ? &space->errors
                    : field->number == 3 ? &space->warnings
                    : field->number == 4 ? &space->hostnames
                                         : NULL;
    TM_TRY(tm_wire_take(wire, field, err));
    return !texts || (copy_text(space, field, &text) && tm_vec_append(texts, &text, 1))
               ? TM_OK
               : tm_fail_memory(err);
}

bool tm_space_was_text(const uint8_t *bytes, size_t size) {
    size_t n_replaced = 0;
    for (size_t i = 0; i + 3 <= size; i++) {
        if (bytes[i] < 0x80)
            continue;
        if (memcmp(bytes + i, "\xEF\xBF\xBD", 3) != 0)
            return false;
        n_replaced++;
        i += 2;
    }
    return n_replaced > 0;
}

static tm_status read_space(tm_space *space, tm_error *err) {
    tm_wire_field field;
    bool more;
    for (;;) {
        TM_TRY(tm_wire_field_head(&space->wire, space->wire.size, &field, &more, err));
        if (!more)
            return TM_OK;
        TM_TRY(take_space_field(space, &field, err));
    }
}

tm_status tm_space_open(tm_source *source, tm_space *out, tm_error *err) {
    enum { LOOKED_AT = 4096 };
    *out = (tm_space){.planes = TM_VEC(tm_xplane),
                      .errors = TM_VEC(tm_text),
                      .warnings = TM_VEC(tm_text),
                      .hostnames = TM_VEC(tm_text)};
    tm_wire *wire = &out->wire;
    TM_TRY(tm_wire_open(source, wire, err));
    TM_TRY(tm_wire_peek(wire, LOOKED_AT, err));
    size_t held = (size_t)(wire->end - wire->p);
    bool was_text = tm_space_was_text(wire->p, held < LOOKED_AT ? held : LOOKED_AT);
    tm_error found;
    tm_status status = read_space(out, &found);
    if (status == TM_ERR_INPUT && was_text)
        return tm_fail(err, status, found.path, found.offset,
                       "this file cannot be read: it was saved as text, which replaced every byte "
                       "above 7F by EF BF BD. Copy the profile again, in binary mode");
    if (status != TM_OK && err)
        *err = found;
    return status;
}

void tm_space_close(tm_space *space) {
    tm_xplane *planes = space->planes.data;
    for (size_t i = 0; i < space->planes.n; i++) {
        TM_VECS_FREE(&planes[i].lines, &planes[i].metadata, &planes[i].stat_names, &planes[i].stats,
                     &planes[i].places[0], &planes[i].places[1]);
    }
    TM_VECS_FREE(&space->planes, &space->errors, &space->warnings, &space->hostnames);
    tm_arena_free(&space->arena);
    tm_wire_close(&space->wire);
}

tm_status tm_space_enter(tm_space *space, const tm_xline *line, tm_error *err) {
    space->line_end = line->end;
    return tm_wire_seek(&space->wire, line->begin, err);
}

/* Reads all fields except the stats, which are read on demand. */
tm_status tm_space_read_event(const tm_space *space, tm_wire_message body, tm_xevent *out,
                              tm_error *err) {
    tm_wire_message message = body;
    tm_wire_field field;
    *out = (tm_xevent){.message = {message.end, message.end}};
    while (message.p < message.end) {
        const uint8_t *begin = message.p;
        if (!tm_wire_next(&message, &field))
            return fail_inner(space, body.p, err);
        if (field.type == TM_WIRE_BYTES) {
            if (out->message.p == message.end)
                out->message.p = begin; /* stop at the first stat, which nearly always comes after
                                           all other fields */
        } else if (field.number == 1)
            out->metadata = (int64_t)field.value;
        else if (field.number == 2)
            out->offset_ps = (int64_t)field.value;
        else if (field.number == 3)
            out->duration_ps = (int64_t)field.value;
        else if (field.number == 5)
            out->occurrences = (int64_t)field.value;
    }
    return TM_OK;
}

bool tm_space_held(tm_space *space, tm_wire_message *out) {
    enum { EVENT = 4 << 3 | TM_WIRE_BYTES };
    tm_wire *wire = &space->wire;
    uint64_t size;
    int64_t left = space->line_end - tm_wire_at(wire, wire->p);
    const uint8_t *end = left < wire->end - wire->p ? wire->p + left : wire->end;
    if (wire->p >= end || *wire->p != EVENT)
        return false;
    const uint8_t *body = tm_wire_varint(wire->p + 1, end, &size);
    if (!body || size > (uint64_t)(end - body))
        return false;
    *out = (tm_wire_message){body, body + size};
    wire->p = out->end;
    return true;
}

tm_status tm_space_next(tm_space *space, tm_xevent *out, bool *more, tm_error *err) {
    tm_wire_field field;
    tm_wire_message body;
    *more = true;
    if (tm_space_held(space, &body))
        return tm_space_read_event(space, body, out, err);
    for (;;) {
        TM_TRY(tm_wire_field_head(&space->wire, space->line_end, &field, more, err));
        if (!*more)
            return TM_OK;
        if (field.type != TM_WIRE_BYTES)
            continue;
        TM_TRY(tm_wire_take(&space->wire, &field, err));
        if (field.number == 4)
            return tm_space_read_event(space, tm_wire_inner(&field), out, err);
    }
}

tm_status tm_space_fail_stat(const tm_space *space, const uint8_t *at, tm_error *err) {
    return fail_inner(space, at, err);
}

/* Returns the index of the element with an id, in an array sorted by id; SIZE_MAX if absent. The id
 * must be the first member of the elements. */
static size_t find_id(const tm_vec *vec, const tm_vec *places, int64_t id) {
    size_t low = 0, high = vec->n;
    if (places->n > 0) {
        uint64_t ahead = (uint64_t)id - (uint64_t)id_at(vec, 0);
        uint32_t at = ahead < places->n ? ((const uint32_t *)places->data)[ahead] : UINT32_MAX;
        return at == UINT32_MAX ? SIZE_MAX : at;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (id_at(vec, middle) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vec->n && id_at(vec, low) == id ? low : SIZE_MAX;
}

const tm_xmeta *tm_xplane_metadata(const tm_xplane *plane, int64_t id) {
    size_t at = find_id(&plane->metadata, &plane->places[0], id);
    return at != SIZE_MAX ? (const tm_xmeta *)plane->metadata.data + at : NULL;
}

size_t tm_xplane_stat_index(const tm_xplane *plane, int64_t id) {
    return find_id(&plane->stat_names, &plane->places[1], id);
}

tm_text tm_xplane_stat_name(const tm_xplane *plane, int64_t id) {
    size_t at = tm_xplane_stat_index(plane, id);
    return at != SIZE_MAX ? ((const tm_xname *)plane->stat_names.data)[at].name : (tm_text){"", 0};
}

tm_text tm_xstat_text(const tm_xplane *plane, const tm_xstat *stat) {
    if (stat->type == TM_X_REF)
        return tm_xplane_stat_name(plane, stat->i);
    return stat->type == TM_X_TEXT ? stat->text : (tm_text){"", 0};
}

bool tm_xplane_stat(const tm_xplane *plane, const char *name, tm_xstat *out) {
    const tm_wire_message *stats = plane->stats.data;
    for (size_t i = 0; i < plane->stats.n; i++)
        if (tm_xstat_read(stats[i], out) && tm_text_is(tm_xplane_stat_name(plane, out->id), name))
            return true;
    return false;
}

const tm_xplane *tm_space_plane(const tm_space *space, const char *name) {
    const tm_xplane *planes = space->planes.data;
    for (size_t i = 0; i < space->planes.n; i++)
        if (tm_text_is(planes[i].name, name))
            return &planes[i];
    return NULL;
}
