#include "export_chrome.h"

#include <math.h>

#include "args.h"

static const char *const keys[TM_N_NOTES] = {
#define KEY(id, word, key, of) [id] = (key),
    TM_EXPORT_NOTES(KEY)
#undef KEY
};

/* The object being written. If `any` is set, it already has a member, so a comma must precede the
 * next one. */
typedef struct members {
    tm_out *out;
    bool any;
} members;

static tm_out *put_key(members *m, const char *key) {
    tm_out_string(m->out, m->any ? ", \"" : "\"");
    tm_out_string(m->out, key);
    tm_out_string(m->out, "\": ");
    m->any = true;
    return m->out;
}

static void put_int(void *to, tm_export_note note, int64_t value) {
    tm_json_put_int(put_key(to, keys[note]), value);
}

static void put_float(void *to, tm_export_note note, float value) {
    tm_json_put_float(put_key(to, keys[note]), value);
}

static void put_triple(void *to, tm_export_note note, const int32_t triple[3]) {
    tm_out *out = put_key(to, keys[note]);
    for (int i = 0; i < 3; i++) {
        tm_out_string(out, i == 0 ? "[" : ", ");
        tm_json_put_int(out, triple[i]);
    }
    tm_out_char(out, ']');
}

static void put_text(void *to, tm_export_note note, tm_text text) {
    tm_json_put_text(put_key(to, keys[note]), text);
}

static void put_array(void *to, tm_export_note note, tm_text text) {
    if (tm_export_is_array(text))
        tm_out_bytes(put_key(to, keys[note]), text.bytes, text.size);
}

/* Writes the number of a track's device or stream. Writes nothing if it is -1, which means that the
 * trace does not have it. */
static void put_place(members *m, const char *key, int64_t value) {
    if (value != -1)
        tm_json_put_int(put_key(m, key), value);
}

static void put_counters(members *m, const tm_names *names, const tm_export_event *event) {
    for (size_t i = 0; i < event->n_counters; i++) {
        if (!isfinite(event->counters[i].value))
            continue;
        tm_out_string(m->out, m->any ? ", " : "");
        tm_json_put_text(m->out, tm_names_text(names, event->counters[i].series));
        tm_out_string(m->out, ": ");
        tm_json_put_real(m->out, event->counters[i].value);
        m->any = true;
    }
}

void tm_chrome_args(tm_export *x, const tm_track *track, const tm_export_event *event) {
    members m = {.out = &x->out};
    const tm_export_sink sink = {&m, put_int, put_float, put_triple, put_text, put_array};
    if (event->kind == TM_COUNTER) { /* viewers draw each member of args as a series */
        put_counters(&m, x->job->names, event);
        return;
    }
    if (track->kind == TM_TRACK_GPU) {
        put_place(&m, "device", track->device);
        put_place(&m, "stream", track->stream);
    }
    tm_export_args(&sink, x->job->names, event);
}
