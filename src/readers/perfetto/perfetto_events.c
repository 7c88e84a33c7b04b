#include "perfetto_events.h"

#include <string.h>

#include "base/letters.h"
#include "perfetto_json.h"
#include "perfetto_kinds.h"
#include "perfetto_slices.h"

static void take_legacy(tm_wire_message message, tm_pf_event *out) {
    tm_wire_field f;
    while (tm_wire_next(&message, &f)) {
        if (f.type != TM_WIRE_VARINT)
            continue;
        if (f.number == LEGACY_NAME_ID)
            out->name_id = f.value;
        else if (f.number == LEGACY_PHASE)
            out->phase = (uint32_t)f.value;
        else if (f.number == LEGACY_DURATION_US) {
            out->has_duration = true;
            out->duration_us = (int64_t)f.value;
        }
    }
}

static void take_number(const tm_wire_field *f, tm_pf_event *out) {
    switch (f->number) {
    case EVENT_TYPE:
        out->type = (uint32_t)f->value;
        break;
    case EVENT_TRACK:
        out->has_track = true;
        out->track = f->value;
        break;
    case EVENT_NAME_ID:
        out->name_id = f->value;
        break;
    case EVENT_CATEGORY_ID:
        out->category_id = out->category_id ? out->category_id : f->value;
        break;
    case EVENT_COUNTER:
    case EVENT_COUNTER_REAL:
        out->has_counter = true;
        out->real_counter = f->number == EVENT_COUNTER_REAL;
        out->counter = f->value;
        break;
    case EVENT_DELTA_US:
    case EVENT_TIME_US:
        out->has_legacy_time = true;
        out->has_delta = f->number == EVENT_DELTA_US;
        out->legacy_us = (int64_t)f->value;
        break;
    default:
        break;
    }
}

void tm_pf_event_parse(tm_wire_message message, tm_pf_event *out) {
    tm_wire_field f;
    *out = (tm_pf_event){.name = {.bytes = ""}, .category = {.bytes = ""}, .message = message};
    while (tm_wire_next(&message, &f)) {
        if (f.type != TM_WIRE_BYTES)
            take_number(&f, out);
        else if (f.number == EVENT_NAME)
            out->name = tm_wire_text(&f);
        else if (f.number == EVENT_CATEGORY && out->category.size == 0)
            out->category = tm_wire_text(&f);
        else if (f.number == EVENT_CATEGORY_ID) /* a packed list: only its first id is used */
            (void)tm_wire_varint(f.bytes, f.bytes + f.value, &out->category_id);
        else if (f.number == EVENT_LEGACY)
            take_legacy(tm_wire_inner(&f), out);
    }
}

uint32_t tm_pf_event_type(const tm_pf_event *event) {
    if (event->type != TYPE_NONE)
        return event->type;
    switch (event->phase) {
    case 'B':
    case 'X':
        return TYPE_BEGIN;
    case 'E':
        return TYPE_END;
    case 'I':
    case 'i':
    case 'R':
        return TYPE_INSTANT;
    default:
        return TYPE_NONE;
    }
}

void tm_pf_writer_free(tm_pf_writer *writer) {
    TM_VECS_FREE(&writer->name, &writer->category, &writer->scratch);
}

/* Ends the counter event that is open. Its series are values from several tracks, which were
 * written one by one. */
static bool end_counter(tm_pf_writer *w) {
    bool open = w->counting;
    w->counting = false;
    return !open || tm_pf_put(w->out, "}}");
}

bool tm_pf_write_end(tm_pf_writer *w) {
    return end_counter(w) && tm_pf_put(w->out, "\n]}\n");
}

bool tm_pf_begin_element(tm_pf_writer *w, char phase) {
    const char text[] = {phase, '"', '\0'};
    bool first = !w->any;
    w->any = true;
    return end_counter(w) && tm_pf_put(w->out, first ? "\n{\"ph\":\"" : ",\n{\"ph\":\"") &&
           tm_pf_put(w->out, text);
}

bool tm_pf_put_member(tm_pf_writer *w, const char *key, tm_text json) {
    return tm_pf_put(w->out, ",\"") && tm_pf_put(w->out, key) && tm_pf_put(w->out, "\":") &&
           tm_pf_put_bytes(w->out, json);
}

/* A slice without an end gets no duration: the reader counts it as unfinished. */
bool tm_pf_put_times(tm_pf_writer *w, int64_t time_ns, bool slice, int64_t duration_ns) {
    bool ok = tm_pf_put(w->out, ",\"ts\":") && tm_pf_put_us(w->out, time_ns - w->base_ns);
    if (slice && duration_ns != TM_PF_OPEN)
        ok = ok && tm_pf_put(w->out, ",\"dur\":") && tm_pf_put_us(w->out, duration_ns);
    return ok;
}

static bool put_place(tm_pf_writer *w, uint32_t track) {
    const tm_pf_track *t = tm_pf_track_at(w->tracks, track);
    return tm_pf_put_member(w, "pid", t->pid_text) && tm_pf_put_member(w, "tid", t->tid_text);
}

static bool write_name(tm_pf_writer *w, uint32_t track, const char *what, tm_text name) {
    return name.size == 0 || (tm_pf_begin_element(w, 'M') && put_place(w, track) &&
                              tm_pf_put(w->out, ",\"name\":\"") && tm_pf_put(w->out, what) &&
                              tm_pf_put(w->out, "\",\"args\":{\"name\":") &&
                              tm_pf_put_bytes(w->out, name) && tm_pf_put(w->out, "}}"));
}

bool tm_pf_write_names(tm_pf_writer *w) {
    bool ok = true;
    for (uint32_t i = 0; i < w->tracks->tracks.n && ok; i++) {
        const tm_pf_track *t = tm_pf_track_at(w->tracks, i);
        if (w->exported && !t->is_reported)
            continue;
        ok = write_name(w, i, "process_name",
                        t->process_name.size > 0 || !t->has_process ? t->process_name : t->name) &&
             write_name(w, i, "thread_name",
                        t->thread_name.size > 0 || !t->has_thread ? t->thread_name : t->name);
    }
    return ok;
}

/* Sets *out to a text of an event, in quotes. The event contains either the text itself (@p own) or
 * the id of an interned text. */
static bool text_of(tm_pf_writer *w, const tm_pf_sequence *s, uint32_t table, uint64_t id,
                    tm_text own, tm_text *out) {
    tm_vec *text = table == TABLE_NAME ? &w->name : &w->category;
    *out = (tm_text){.bytes = ""};
    if (own.size == 0) {
        if (id != 0)
            *out = tm_pf_interned(w->state, s, table, id);
        return true;
    }
    text->n = 0;
    bool ok = tm_pf_put_text(text, own);
    *out = (tm_text){text->data, text->n};
    return ok;
}

/* Returns the signs (tm_pf_sign) of all args of an event. */
static unsigned signs_of(tm_pf_writer *w, const tm_pf_sequence *s, tm_wire_message message) {
    tm_wire_field f;
    unsigned signs = 0;
    while (tm_wire_next(&message, &f)) {
        w->scratch.n = 0;
        if (f.number == EVENT_NOTE && f.type == TM_WIRE_BYTES)
            signs |= tm_pf_sign_of(tm_pf_note_name(w->state, s, tm_wire_inner(&f), &w->scratch));
    }
    return signs;
}

static bool put_category(tm_pf_writer *w, tm_text category, const char *word) {
    if (!word)
        return category.size == 0 || tm_pf_put_member(w, "cat", category);
    return tm_pf_put(w->out, ",\"cat\":\"") && tm_pf_put(w->out, word) && tm_pf_put(w->out, "\"");
}

/* Returns the array that a text contains; size 0 if the text was truncated. */
static tm_text array_of(tm_wire_message note) {
    tm_wire_field f;
    while (tm_wire_next(&note, &f))
        if (f.number == NOTE_TEXT && f.type == TM_WIRE_BYTES && f.value > 1 && f.bytes[0] == '[' &&
            f.bytes[f.value - 1] == ']')
            return tm_wire_text(&f);
    return (tm_text){.bytes = ""};
}

/*
 * Writes an arg of an event in a tmerge export. Args that tmerge computes again anyway are left
 * out.
 * @param first  as in put_arg
 */
static bool put_exported(tm_pf_writer *w, const tm_pf_sequence *s, tm_text word,
                         tm_wire_message note, bool memory, bool *first) {
    const tm_pf_exported known = tm_pf_exported_of(word, memory);
    const tm_text array = known.is_json ? array_of(note) : (tm_text){.bytes = ""};
    if (!known.key || (known.is_json && array.size == 0))
        return true;
    bool ok = tm_pf_put(w->out, *first ? "\"" : ",\"") && tm_pf_put(w->out, known.key) &&
              tm_pf_put(w->out, "\":");
    *first = false;
    return ok && (known.is_json ? tm_pf_put_bytes(w->out, array)
                                : tm_pf_put_note(w->out, w->state, s, note, 0));
}

/* Writes an arg.
 * @param first  whether it is the first arg; set to false after one was written */
static bool put_arg(tm_pf_writer *w, tm_text key, const tm_pf_sequence *s, tm_wire_message note,
                    bool *first) {
    bool ok = (*first || tm_pf_put(w->out, ",")) && tm_pf_put_bytes(w->out, key) &&
              tm_pf_put(w->out, ":");
    *first = false;
    return ok && tm_pf_put_note(w->out, w->state, s, note, 0);
}

static bool put_number(tm_pf_writer *w, const char *key, int64_t value, bool *first) {
    bool ok = tm_pf_put(w->out, *first ? "\"" : ",\"") && tm_pf_put(w->out, key) &&
              tm_pf_put(w->out, "\":") && tm_pf_put_int(w->out, value);
    *first = false;
    return ok;
}

/*
 * Writes the args of an event.
 * @param rocm  whether to translate the args' names from ROCm's to Kineto's
 */
static bool put_args(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e, bool rocm) {
    const tm_pf_track *t = tm_pf_track_at(w->tracks, e->track);
    const bool memory = e->type == TYPE_INSTANT;
    tm_wire_message message = e->event.message;
    tm_wire_field f;
    bool first = true, ok = tm_pf_put(w->out, ",\"args\":{");
    ok = ok && (!t->has_device || put_number(w, "device", t->device, &first)) &&
         (!t->has_stream || put_number(w, "stream", t->stream, &first));
    while (ok && tm_wire_next(&message, &f)) {
        if (f.number != EVENT_NOTE || f.type != TM_WIRE_BYTES)
            continue;
        w->scratch.n = 0;
        tm_text key = tm_pf_note_name(w->state, s, tm_wire_inner(&f), &w->scratch);
        if (key.size > 0 && w->exported)
            ok = put_exported(w, s, key, tm_wire_inner(&f), memory, &first);
        else if (key.size > 0)
            ok = put_arg(w, rocm ? tm_pf_rocm_key(key) : key, s, tm_wire_inner(&f), &first);
    }
    return ok && tm_pf_put(w->out, "}}");
}

/* Returns whether an event of an export has the category "none", which stands for no category. */
static bool is_none(tm_text category) {
    return tm_text_is(category, "\"none\"");
}

static bool write_event(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e, char phase,
                        int64_t duration_ns) {
    const tm_pf_event *event = &e->event;
    tm_text name, category;
    bool ok = text_of(w, s, TABLE_NAME, event->name_id, event->name, &name) &&
              text_of(w, s, TABLE_CATEGORY, event->category_id, event->category, &category);
    const char *rocm = ok && !w->exported ? tm_pf_rocm_category(category) : NULL;
    const char *word = rocm;
    if (ok && w->exported && is_none(category))
        category.size = 0;
    else if (ok && category.size == 0)
        word = tm_pf_guess(signs_of(w, s, event->message), name,
                           tm_pf_track_at(w->tracks, e->track)->thread_name);
    ok = ok && tm_pf_begin_element(w, phase) && put_category(w, category, word) &&
         (name.size == 0 || tm_pf_put_member(w, "name", name)) && put_place(w, e->track) &&
         tm_pf_put_times(w, e->time_ns, phase == 'X', duration_ns);
    return ok && put_args(w, s, e, rocm != NULL);
}

bool tm_pf_write_slice(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e,
                       int64_t duration_ns) {
    return write_event(w, s, e, 'X', duration_ns);
}

bool tm_pf_write_instant(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e) {
    return write_event(w, s, e, 'i', 0);
}

/* Writes the value of a counter; for an incremental counter, the sum of the differences so far. */
static bool put_count(tm_pf_writer *w, const tm_pf_event *event, tm_pf_track *t) {
    if (event->real_counter)
        return tm_pf_put_real(w->out, event->counter);
    uint64_t value = event->counter * (uint64_t)t->multiplier;
    if (t->incremental)
        value += (uint64_t)t->sum;
    t->sum = (int64_t)value;
    return tm_pf_put_int(w->out, (int64_t)value);
}

/* Writes a value of a counter of a tmerge export. In an export, the series of a counter event are
 * adjacent, so a further series is added to the open event. */
static bool write_series(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e) {
    tm_pf_track *t = tm_pf_track_at(w->tracks, e->track);
    const bool more = w->counting && w->counted_ns == e->time_ns &&
                      w->counted.size == t->counter.size &&
                      memcmp(w->counted.bytes, t->counter.bytes, t->counter.size) == 0;
    tm_text category;
    bool ok = text_of(w, s, TABLE_CATEGORY, e->event.category_id, e->event.category, &category);
    category.size = is_none(category) ? 0 : category.size;
    ok = ok &&
         (more ? tm_pf_put(w->out, ",")
               : tm_pf_begin_element(w, 'C') && put_category(w, category, NULL) &&
                     tm_pf_put_member(w, "name", t->counter) && put_place(w, e->track) &&
                     tm_pf_put_times(w, e->time_ns, false, 0) && tm_pf_put(w->out, ",\"args\":{"));
    w->counting = true;
    w->counted_ns = e->time_ns;
    w->counted = t->counter;
    return ok && tm_pf_put_bytes(w->out, t->series) && tm_pf_put(w->out, ":") &&
           put_count(w, &e->event, t);
}

bool tm_pf_write_counter(tm_pf_writer *w, const tm_pf_sequence *s, const tm_pf_placed *e) {
    tm_pf_track *t = tm_pf_track_at(w->tracks, e->track);
    if (t->counter.size > 0 && t->series.size > 0)
        return write_series(w, s, e);
    return tm_pf_begin_element(w, 'C') &&
           tm_pf_put_member(w, "name", t->name.size > 0 ? t->name : t->tid_text) &&
           tm_pf_put_member(w, "pid", t->pid_text) && tm_pf_put_times(w, e->time_ns, false, 0) &&
           tm_pf_put(w->out, ",\"args\":{\"\":") && put_count(w, &e->event, t) &&
           tm_pf_put(w->out, "}}");
}
