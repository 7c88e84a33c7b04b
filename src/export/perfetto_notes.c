#include "export_perfetto.h"

#include "args.h"

static const char *const words[TM_N_NOTES] = {
#define WORD(id, word, key, of) [id] = (word),
    TM_EXPORT_NOTES(WORD)
#undef WORD
};

enum { NAME_ID = 1, VALUE_INT = 4, VALUE_REAL = 5, VALUE_TEXT = 6, VALUE_ARRAY = 12 };

void tm_perfetto_intern_notes(tm_perfetto *p) {
    for (uint32_t id = 1; id < TM_N_NOTES; id++) {
        size_t entry = tm_proto_begin(&p->block, INTERNED_ANNOTATION);
        tm_proto_uint(&p->block, ENTRY_ID, id);
        tm_proto_string(&p->block, ENTRY_TEXT, words[id]);
        tm_proto_end(&p->block, entry);
    }
}

static size_t begin_note(tm_perfetto *p, tm_export_note id) {
    size_t note = tm_proto_begin(&p->block, EVENT_ANNOTATION);
    tm_proto_uint(&p->block, NAME_ID, id);
    return note;
}

static void note_int(void *to, tm_export_note id, int64_t value) {
    tm_perfetto *p = to;
    size_t note = begin_note(p, id);
    tm_proto_int(&p->block, VALUE_INT, value);
    tm_proto_end(&p->block, note);
}

static void note_float(void *to, tm_export_note id, float value) {
    tm_perfetto *p = to;
    size_t note = begin_note(p, id);
    tm_proto_double(&p->block, VALUE_REAL, (double)value);
    tm_proto_end(&p->block, note);
}

/* Perfetto shows an array as grid[0], grid[1], grid[2]. */
static void note_triple(void *to, tm_export_note id, const int32_t triple[3]) {
    tm_perfetto *p = to;
    size_t note = begin_note(p, id);
    for (int i = 0; i < 3; i++) {
        size_t value = tm_proto_begin(&p->block, VALUE_ARRAY);
        tm_proto_int(&p->block, VALUE_INT, triple[i]);
        tm_proto_end(&p->block, value);
    }
    tm_proto_end(&p->block, note);
}

static void note_text(void *to, tm_export_note id, tm_text text) {
    tm_perfetto *p = to;
    size_t note = begin_note(p, id);
    tm_perfetto_text(p, VALUE_TEXT, text);
    tm_proto_end(&p->block, note);
}

/* Writes what tmerge itself found. tmerge's reader skips these annotations. */
static void note_found(tm_perfetto *p, const tm_timeline *timeline, const tm_export_event *event) {
    const int32_t step = event->step;
    const tm_collective_attr *c = event->collective;
    if (step != TM_NO_STEP && timeline->steps[step].annotated)
        note_int(p, TM_NOTE_STEP, timeline->steps[step].number);
    if (!c)
        return;
    const char *kind = tm_collective_word((tm_collective_kind)c->kind);
    note_text(p, TM_NOTE_KIND, (tm_text){kind, strlen(kind)});
    if (c->wait_ns >= 0)
        note_int(p, TM_NOTE_WAIT, c->wait_ns);
}

void tm_perfetto_notes(tm_export *x, const tm_timeline *timeline, const tm_export_event *event) {
    const tm_export_sink sink = {x->state, note_int, note_float, note_triple, note_text, note_text};
    note_found(x->state, timeline, event);
    tm_export_args(&sink, x->job->names, event);
}
