#include "xplane_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sums.h"
#include "base/utf8.h"

static const char *const role_names[TM_X_N_ROLES] = {
#define TM_X_ROLE_NAME(id, name) name,
    TM_X_ROLES(TM_X_ROLE_NAME)
#undef TM_X_ROLE_NAME
};

static uint8_t find_role(const tm_xstats *stats, int64_t id) {
    size_t at = tm_xplane_stat_index(stats->plane, id);
    return at != SIZE_MAX ? stats->roles[at] : TM_X_N_ROLES;
}

tm_status tm_xstats_init(tm_xstats *stats, const tm_xplane *plane, tm_error *err) {
    const tm_xname *names = plane->stat_names.data;
    size_t n = plane->stat_names.n;
    *stats = (tm_xstats){
        .plane = plane, .roles = malloc(n + 1), .names = calloc(n + 1, sizeof *stats->names)};
    if (!stats->roles || !stats->names) {
        tm_xstats_free(stats);
        return tm_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        stats->roles[i] = 0;
        while (stats->roles[i] < TM_X_N_ROLES &&
               !tm_text_is(names[i].name, role_names[stats->roles[i]]))
            stats->roles[i]++;
    }
    for (int id = 0; id < TM_X_NEAR; id++)
        stats->near[id] = find_role(stats, id);
    return TM_OK;
}

void tm_xstats_free(tm_xstats *stats) {
    free(stats->roles);
    free(stats->names);
    *stats = (tm_xstats){0};
}

static inline uint8_t role_of(const tm_xstats *stats, int64_t id) {
    return id >= 0 && id < TM_X_NEAR ? stats->near[id] : find_role(stats, id);
}

/* Returns the role of a stat that starts with its id, as nearly all stats do. For any other stat,
 * returns a role that makes the caller parse the stat. */
static inline uint8_t role_ahead(const tm_xstats *stats, tm_wire_message stat) {
    enum { ID = 1 << 3 | TM_WIRE_VARINT };
    uint64_t id;
    if (stat.p == stat.end || *stat.p != ID || !tm_wire_varint(stat.p + 1, stat.end, &id))
        return 0;
    return role_of(stats, (int64_t)id);
}

const uint8_t *tm_xstats_read(const tm_xstats *stats, tm_wire_message message, uint32_t number,
                              tm_xvalues *out) {
    tm_wire_field field;
    while (tm_wire_next(&message, &field)) {
        if (field.number != number || field.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message inner = tm_wire_inner(&field);
        uint8_t role = role_ahead(stats, inner);
        if (role == TM_X_N_ROLES)
            continue;
        tm_xstat stat;
        if (!tm_xstat_read(inner, &stat))
            return inner.p;
        role = role_of(stats, stat.id);
        if (role == TM_X_N_ROLES)
            continue;
        out->values[role] = stat;
        out->present |= UINT64_C(1) << role;
    }
    return tm_wire_damaged(&message) ? message.p : NULL;
}

/* Reads a varint that ends at `end` at the latest. Most have one byte. */
static inline const uint8_t *usual_varint(const uint8_t *p, const uint8_t *end, uint64_t *out) {
    const uint8_t *after = p + 1;
    if (*p < 0x80)
        *out = *p;
    else
        after = tm_wire_short_varint(p, out);
    return after && after <= end ? after : NULL;
}

/* Reads a stat's value if it fills the rest of the stat. */
static inline bool usual_value(const uint8_t *p, const uint8_t *end, tm_xstat *out) {
    enum {
        DOUBLE = TM_X_DOUBLE << 3 | TM_WIRE_FIXED64,
        UINT64 = TM_X_UINT64 << 3 | TM_WIRE_VARINT,
        INT64 = TM_X_INT64 << 3 | TM_WIRE_VARINT,
        TEXT = TM_X_TEXT << 3 | TM_WIRE_BYTES,
        REF = TM_X_REF << 3 | TM_WIRE_VARINT
    };
    uint64_t value;
    uint8_t tag = p < end ? *p++ : 0;
    out->type = tag >> 3;
    if (tag == UINT64 || tag == INT64 || tag == REF) {
        if (usual_varint(p, end, &value) != end)
            return false;
        out->i = (int64_t)value;
        out->r = (double)out->i; /* below 2^56, so signed and unsigned are the same */
        return true;
    }
    out->i = 0;
    out->r = 0;
    /* the length of the text is one byte, because the stat is shorter than 128 bytes */
    if (tag == TEXT && p < end && *p == end - p - 1) {
        out->text = (tm_text){(const char *)p + 1, *p};
        return true;
    }
    if (tag != DOUBLE || end - p != sizeof out->r)
        return false;
    (void)tm_wire_fixed(p, end, sizeof value, &value);
    memcpy(&out->r, &value, sizeof value);
    return true;
}

/* Reads a number of an event, which may be missing. Returns the position after the number; NULL if
 * the number is damaged. */
static inline const uint8_t *usual_number(const uint8_t *p, const uint8_t *end, uint8_t field,
                                          int64_t *out) {
    uint64_t value = 0;
    if (p && p < end && *p == (field << 3 | TM_WIRE_VARINT))
        p = usual_varint(p + 1, end, &value);
    *out = (int64_t)value;
    return p;
}

/* Reads an event of the usual form: metadata, offset and duration, then stats, each with an id and
 * a value. Returns false for an event that has another form or is damaged; the caller then reads it
 * in the general way. */
static bool read_usual(const tm_xstats *stats, tm_wire_message body, tm_xevent *event,
                       tm_xvalues *v) {
    enum { STAT = TM_X_EVENT_STATS << 3 | TM_WIRE_BYTES, ID = 1 << 3 };
    const uint8_t *p = body.p, *end = body.end;
    uint64_t id;
    p = usual_number(p, end, 1, &event->metadata);
    p = usual_number(p, end, 2, &event->offset_ps);
    p = usual_number(p, end, 3, &event->duration_ps);
    event->occurrences = 0;
    if (!p)
        return false;
    v->present = 0;
    while (p < end) {
        const uint8_t *stat_end = p + 2 + p[1];
        if (*p != STAT || p[1] >= 0x80 || stat_end > end || p[2] != ID)
            return false;
        p = usual_varint(p + 3, stat_end, &id);
        if (!p)
            return false;
        uint8_t role = role_of(stats, (int64_t)id);
        if (role != TM_X_N_ROLES && !usual_value(p, stat_end, &v->values[role]))
            return false;
        v->present |= role != TM_X_N_ROLES ? UINT64_C(1) << role : 0;
        p = stat_end;
    }
    return true;
}

tm_status tm_xstats_next(const tm_xstats *stats, tm_space *space, tm_xevent *event, tm_xvalues *v,
                         bool *more, tm_error *err) {
    tm_wire_message body;
    *more = true;
    if (!tm_space_held(space, &body)) {
        TM_TRY(tm_space_next(space, event, more, err));
        if (!*more)
            return TM_OK;
    } else if (read_usual(stats, body, event, v)) {
        return TM_OK;
    } else {
        TM_TRY(tm_space_read_event(space, body, event, err));
    }
    v->present = 0;
    const uint8_t *damaged = tm_xstats_read(stats, event->message, TM_X_EVENT_STATS, v);
    return damaged ? tm_space_fail_stat(space, damaged, err) : TM_OK;
}

/* Whether a text is ASCII without zero bytes. Nearly all texts are. */
static bool is_plain(tm_text text) {
    for (size_t i = 0; i < text.size; i++)
        if ((signed char)text.bytes[i] <= 0)
            return false;
    return true;
}

uint32_t tm_xread_intern(tm_xread *r, tm_text text) {
    if (text.size == 0)
        return TM_NO_NAME;
    if (is_plain(text))
        return tm_names_intern(r->names, text.bytes, text.size);
    r->scratch.n = 0;
    if (text.size >= SIZE_MAX / 4 || !tm_vec_reserve(&r->scratch, text.size * 3 + 1))
        return TM_NAME_FAILED;
    size_t size = tm_utf8_repair(text.bytes, text.size, r->scratch.data);
    return tm_names_intern(r->names, r->scratch.data, size);
}

uint32_t tm_xread_intern_stat(tm_xread *r, tm_xstats *stats, const tm_xstat *stat) {
    tm_text text = tm_xstat_text(stats->plane, stat);
    if (stat->type != TM_X_REF)
        return text.size > 0 ? tm_xread_intern(r, text) : TM_NO_NAME;
    size_t at = tm_xplane_stat_index(stats->plane, stat->i);
    if (at == SIZE_MAX)
        return TM_NO_NAME;
    if (stats->names[at] == 0)
        stats->names[at] = tm_xread_intern(r, text) + 1;
    return stats->names[at] - 1;
}

static uint32_t number_text(tm_xread *r, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return tm_names_intern_string(r->names, text);
}

bool tm_xread_add_communicator(tm_xread *r, const tm_communicator *added) {
    tm_vec *all = &r->trace->communicators;
    const tm_communicator *v = all->data;
    for (size_t i = 0; i < all->n; i++)
        if (v[i].name == added->name)
            return true;
    return tm_vec_append(all, added, 1) != NULL;
}

/* All threads belong to one process, whose number is not in the file. */
uint32_t tm_xread_thread(tm_xread *r, const tm_xline *line) {
    tm_text shown = line->display_name.size > 0 ? line->display_name : line->name;
    uint32_t pid = number_text(r, 0), tid = number_text(r, line->id);
    uint32_t name = tm_xread_intern(r, shown);
    uint32_t process = tm_names_intern_string(r->names, "host");
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED || name == TM_NAME_FAILED ||
        process == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index = tm_trace_track(r->trace, TM_TRACK_CPU, pid, tid);
    if (index == UINT32_MAX)
        return UINT32_MAX;
    tm_track *track = (tm_track *)r->trace->tracks.data + index;
    track->process_name = process;
    track->thread_name = track->thread_name == TM_NO_NAME ? name : track->thread_name;
    return index;
}

uint32_t tm_xread_stream(tm_xread *r, const tm_xline *line, bool counts) {
    int64_t device = r->device->number;
    uint32_t pid = number_text(r, device), name = tm_xread_intern(r, line->name);
    uint32_t tid = counts ? number_text(r, line->id) : name;
    if (pid == TM_NAME_FAILED || tid == TM_NAME_FAILED || name == TM_NAME_FAILED)
        return UINT32_MAX;
    uint32_t index = tm_trace_track(r->trace, TM_TRACK_GPU, pid, tid);
    if (index == UINT32_MAX)
        return UINT32_MAX;
    tm_track *track = (tm_track *)r->trace->tracks.data + index;
    track->device = tm_narrow_i32(device);
    track->stream = counts ? line->id : -1;
    track->thread_name = name;
    return index;
}

/* A begin must be in [-1e18, 3e18] ns, a duration in [0, TM_DAY_NS]. */
static tm_count wrong_times(const tm_xevent *at, int64_t base_ns) {
    const int64_t least = -INT64_C(1000000000000000000), most = INT64_C(3000000000000000000);
    if (at->occurrences != 0 || at->offset_ps > INT64_MAX / 2 || at->offset_ps < INT64_MIN / 2 ||
        base_ns < least / 2 || base_ns > most - INT64_MAX / 1000)
        return TM_COUNT_NO_TIME;
    if (at->duration_ps < 0)
        return TM_COUNT_NEGATIVE_DURATION;
    return at->duration_ps > TM_DAY_NS * 1000 ? TM_COUNT_ABSURD_DURATION : TM_N_COUNTS;
}

tm_status tm_xread_add(tm_xread *r, const tm_xline *line, const tm_xevent *at, tm_raw_event event,
                       uint32_t *row, tm_error *err) {
    tm_trace *trace = r->trace;
    /* some lines count from the epoch, others from the start of the profile */
    bool absolute = line->timestamp_ns >= TM_FIRST_DAY_NS;
    int64_t base_ns = line->timestamp_ns;
    if (!absolute && base_ns >= -TM_FIRST_DAY_NS)
        base_ns += r->epoch_ns;
    tm_count wrong = wrong_times(at, base_ns);
    *row = TM_NO_EVENT;
    if (wrong != TM_N_COUNTS) {
        trace->counts[wrong]++;
        return TM_OK;
    }
    event.begin_ns = base_ns + tm_x_ns_of_ps(at->offset_ps);
    event.duration_ns = base_ns + tm_x_ns_of_ps(at->offset_ps + at->duration_ps) - event.begin_ns;
    if (event.kind != TM_DURATION)
        event.duration_ns = 0;
    tm_raw_event *added = trace->events.n < TM_NO_EVENT - 1 ? tm_vec_push(&trace->events) : NULL;
    if (event.name == TM_NAME_FAILED || event.track == UINT32_MAX || !added)
        return tm_fail_memory(err);
    *added = event;
    trace->counts[TM_COUNT_NO_NAME] += event.name == TM_NO_NAME;
    *row = (uint32_t)(trace->events.n - 1);
    return TM_OK;
}
