#include "perfetto_state.h"

#include <string.h>

#include "perfetto_json.h"

typedef struct tm_pf_entry {
    uint64_t id;
    uint32_t generation, table;
} tm_pf_entry;

typedef struct tm_pf_counted {
    int64_t time_ns; /* time of the last packet or snapshot */
    int64_t unit_ns;
    bool adds; /* whether a time on this clock is relative to the time of the previous packet */
} tm_pf_counted;

typedef struct tm_pf_offset {
    uint32_t sequence, clock; /* sequence: 0 if all sequences share the clock */
    int64_t from_ns;          /* time on `clock` from which the offset applies */
    int64_t offset_ns;        /* the trace's clock minus this clock */
} tm_pf_offset;

/* Times beyond this (146 years) are invalid. */
static const int64_t time_max_ns = INT64_MAX / 2;

void tm_pf_state_init(tm_pf_state *state, bool texts) {
    *state = (tm_pf_state){.texts = texts,
                           .ids = TM_KEYS(uint32_t),
                           .sequences = TM_VEC(tm_pf_sequence),
                           .interned = TM_KEYS(tm_pf_entry),
                           .entries = TM_VEC(tm_text),
                           .counting = TM_KEYS(uint32_t[2]),
                           .counted = TM_VEC(tm_pf_counted),
                           .offsets = TM_VEC(tm_pf_offset),
                           .clock = CLOCK_BOOTTIME,
                           .scratch = TM_VEC(char)};
}

void tm_pf_state_free(tm_pf_state *state) {
    tm_keys_free(&state->ids);
    tm_vec_free(&state->sequences);
    tm_keys_free(&state->interned);
    tm_vec_free(&state->entries);
    tm_arena_free(&state->arena);
    tm_keys_free(&state->counting);
    TM_VECS_FREE(&state->counted, &state->offsets, &state->scratch);
}

static tm_pf_sequence *sequence_of(tm_pf_state *state, uint32_t id) {
    size_t known = state->sequences.n;
    tm_pf_sequence *s = tm_keys_value(&state->ids, &state->sequences, &id);
    if (s && state->sequences.n > known) {
        s->id = id;
        s->generation = ++state->last_generation;
    }
    return s;
}

static uint32_t scope_of(uint32_t clock, uint32_t sequence) {
    return clock >= CLOCK_OF_SEQUENCE && clock < CLOCK_GLOBAL ? sequence : 0;
}

/* Converts a time to the trace's clock. Uses the last snapshot before the time or, if there is
 * none, the first snapshot. */
static bool to_trace(const tm_pf_state *state, uint32_t clock, uint32_t sequence, int64_t *ns) {
    const tm_pf_offset *o = state->offsets.data, *found = NULL;
    if (clock == state->clock)
        return true;
    uint32_t scope = scope_of(clock, sequence);
    for (size_t i = state->offsets.n; i-- > 0;) {
        if (o[i].clock != clock || o[i].sequence != scope)
            continue;
        found = &o[i];
        if (o[i].from_ns <= *ns)
            break;
    }
    if (found)
        *ns += found->offset_ns;
    return found != NULL && *ns >= -time_max_ns && *ns <= time_max_ns;
}

typedef struct snapshot_clock {
    uint32_t id;
    bool adds, valid;
    int64_t unit_ns, ns;
} snapshot_clock;

static snapshot_clock take_clock(tm_wire_message message) {
    snapshot_clock c = {.unit_ns = 1};
    uint64_t time = 0;
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == CLOCK_ID)
            c.id = (uint32_t)f.value;
        else if (f.number == CLOCK_TIME)
            time = f.value;
        else if (f.number == CLOCK_INCREMENTAL)
            c.adds = f.value != 0;
        else if (f.number == CLOCK_UNIT_NS && f.value > 0 && f.value <= 1000000000)
            c.unit_ns = (int64_t)f.value;
    }
    c.valid = time <= (uint64_t)(time_max_ns / c.unit_ns);
    c.ns = c.valid ? (int64_t)time * c.unit_ns : 0;
    return c;
}

/* Reads the next clock of a snapshot. Returns false at the end. Each caller reads a snapshot again
 * from its start, because a snapshot has only a few clocks. */
static bool next_clock(tm_wire_message *message, snapshot_clock *out) {
    tm_wire_field f;
    while (tm_wire_next(message, &f))
        if (f.number == SNAPSHOT_CLOCK && f.type == TM_WIRE_BYTES) {
            *out = take_clock(tm_wire_inner(&f));
            if (out->valid)
                return true;
        }
    return false;
}

/* Finds the snapshot's time on the trace's clock: directly, or through another known clock. */
static bool snapshot_time(const tm_pf_state *state, tm_wire_message message, uint32_t sequence,
                          int64_t *ns) {
    tm_wire_message rest = message;
    snapshot_clock c;
    while (next_clock(&rest, &c))
        if (c.id == state->clock) {
            *ns = c.ns;
            return true;
        }
    while (next_clock(&message, &c)) {
        *ns = c.ns;
        if (to_trace(state, c.id, sequence, ns))
            return true;
    }
    return false;
}

static bool note_clock(tm_pf_state *state, const snapshot_clock *c, uint32_t sequence,
                       bool has_time, int64_t time_ns) {
    const uint32_t key[2] = {scope_of(c->id, sequence), c->id};
    if (c->adds || c->unit_ns != 1) {
        tm_pf_counted *counted = tm_keys_value(&state->counting, &state->counted, key);
        if (!counted)
            return false;
        *counted = (tm_pf_counted){.time_ns = c->ns, .unit_ns = c->unit_ns, .adds = c->adds};
    }
    if (!has_time)
        return true;
    if (c->id == CLOCK_REALTIME && !state->has_epoch) {
        state->has_epoch = true;
        state->epoch_ns = c->ns - time_ns;
    }
    const tm_pf_offset offset = {key[0], c->id, c->ns, time_ns - c->ns};
    return c->id == state->clock || tm_vec_append(&state->offsets, &offset, 1);
}

/* Takes the trace's clock from the first snapshot with a primary clock. */
static void take_primary(tm_pf_state *state, tm_wire_message message) {
    tm_wire_field f;
    while (state->offsets.n == 0 && tm_wire_next(&message, &f))
        if (f.number == SNAPSHOT_PRIMARY && f.type == TM_WIRE_VARINT && f.value > 0)
            state->clock = (uint32_t)f.value;
}

static bool take_snapshot(tm_pf_state *state, tm_wire_message message, uint32_t sequence) {
    int64_t ns = 0;
    snapshot_clock c;
    take_primary(state, message);
    bool has_time = snapshot_time(state, message, sequence, &ns), ok = true;
    while (ok && next_clock(&message, &c))
        ok = note_clock(state, &c, sequence, has_time, ns);
    return ok;
}

static bool is_text_table(uint32_t table) {
    return table == TABLE_CATEGORY || table == TABLE_NAME || table == TABLE_NOTE_NAME ||
           table == TABLE_NOTE_TEXT || table == TABLE_GPU_SPEC || table == TABLE_KERNEL ||
           table == TABLE_ARGUMENT;
}

/* Keeps an interned entry: its text as a JSON string or, if it describes counters, the whole
 * message. */
static bool take_entry(tm_pf_state *state, const tm_pf_sequence *s, uint32_t table,
                       tm_wire_message message) {
    tm_pf_entry key = {.generation = s->generation, .table = table};
    tm_wire_message whole = message;
    tm_text text = {.bytes = ""};
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.number == ENTRY_ID && f.type == TM_WIRE_VARINT)
            key.id = f.value;
        else if (f.type == TM_WIRE_BYTES &&
                 (f.number == ENTRY_TEXT ||
                  (f.number == KERNEL_DEMANGLED && table == TABLE_KERNEL)))
            text = tm_wire_text(&f);
    }
    state->scratch.n = 0;
    if (table == TABLE_GPU_COUNTERS)
        text = (tm_text){(const char *)whole.p, (size_t)(whole.end - whole.p)};
    else if (tm_pf_put_text(&state->scratch, text))
        text = (tm_text){state->scratch.data, state->scratch.n};
    else
        return false;
    tm_text *entry = tm_keys_value(&state->interned, &state->entries, &key);
    const char *copy = entry ? tm_arena_copy(&state->arena, text.bytes, text.size) : NULL;
    if (copy)
        *entry = (tm_text){copy, text.size};
    return copy != NULL;
}

static bool take_interned(tm_pf_state *state, const tm_pf_sequence *s, tm_wire_message message) {
    tm_wire_field f;
    bool ok = true;
    while (ok && tm_wire_next(&message, &f))
        if (f.type == TM_WIRE_BYTES && (is_text_table(f.number) || f.number == TABLE_GPU_COUNTERS))
            ok = take_entry(state, s, f.number, tm_wire_inner(&f));
    return ok;
}

static void take_event_defaults(tm_pf_sequence *s, tm_wire_message message) {
    tm_wire_field f;
    while (tm_wire_next(&message, &f))
        if (f.number == EVENT_DEFAULTS_TRACK && f.type == TM_WIRE_VARINT) {
            s->has_track = true;
            s->track = f.value;
        }
}

static void take_defaults(tm_pf_sequence *s, tm_wire_message message) {
    tm_wire_field f;
    s->has_clock = s->has_track = false;
    while (tm_wire_next(&message, &f)) {
        if (f.number == DEFAULTS_CLOCK && f.type == TM_WIRE_VARINT) {
            s->has_clock = true;
            s->clock = (uint32_t)f.value;
        } else if (f.number == DEFAULTS_EVENT && f.type == TM_WIRE_BYTES) {
            take_event_defaults(s, tm_wire_inner(&f));
        }
    }
}

/* If packets were lost, interned data is invalid until the writer clears its state. */
static void take_flags(tm_pf_state *state, const tm_pf_packet *p, tm_pf_sequence *s) {
    if (p->dropped)
        s->valid = false;
    if (p->flags & STATE_CLEARED) {
        s->valid = true;
        s->has_clock = s->has_track = s->has_thread = false;
        s->generation = ++state->last_generation;
    }
}

bool tm_pf_state_take(tm_pf_state *state, const tm_pf_packet *p, tm_pf_sequence **sequence,
                      bool *usable) {
    tm_pf_sequence *s = sequence_of(state, p->sequence);
    bool ok = s != NULL;
    if (!ok)
        return false;
    take_flags(state, p, s);
    if (p->defaults.p)
        take_defaults(s, p->defaults);
    if (p->snapshot.p)
        ok = take_snapshot(state, p->snapshot, p->sequence);
    if (ok && p->interned.p && state->texts)
        ok = take_interned(state, s, p->interned);
    *sequence = s;
    *usable = s->valid || !(p->flags & STATE_NEEDED);
    return ok;
}

bool tm_pf_time(tm_pf_state *state, const tm_pf_packet *p, tm_pf_sequence *s, int64_t *time_ns) {
    uint32_t clock = p->has_clock ? p->clock : s->has_clock ? s->clock : state->clock;
    const uint32_t key[2] = {scope_of(clock, s->id), clock};
    uint32_t number = tm_keys_find(&state->counting, key);
    tm_pf_counted *counted =
        number == TM_NO_KEY ? NULL : (tm_pf_counted *)state->counted.data + number;
    int64_t unit = counted ? counted->unit_ns : 1, before = 0;
    if (!p->has_time || p->time > (uint64_t)(time_max_ns / unit))
        return false;
    if (counted && counted->adds)
        before = counted->time_ns;
    int64_t ns = (int64_t)p->time * unit;
    if (before > time_max_ns - ns)
        return false;
    ns += before;
    if (counted && counted->adds)
        counted->time_ns = ns;
    *time_ns = ns;
    return to_trace(state, clock, s->id, time_ns);
}

tm_text tm_pf_interned(const tm_pf_state *state, const tm_pf_sequence *sequence, uint32_t table,
                       uint64_t id) {
    const tm_pf_entry key = {id, sequence->generation, table};
    uint32_t number = tm_keys_find(&state->interned, &key);
    const tm_text *texts = state->entries.data, none = {.bytes = ""};
    return number == TM_NO_KEY ? none : texts[number];
}
