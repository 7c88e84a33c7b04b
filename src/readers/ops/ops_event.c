#include "ops_event.h"

#include "readers/number.h"
#include "timeline/trace.h"

/* How to read a value. */
enum { NOTHING, PHASE, NAME, PID, TID, BEGIN, DURATION, ARGS, LABEL, STEP, CHUNK, SEQ };

/* Returns how to read the value of a key. @p args is set if the key is in the args of an event. */
static int place_of(const tm_json_text *key, bool args) {
    static const struct {
        const char *key;
        bool args;
        int place;
    } places[] = {
        {"ph", false, PHASE},  {"name", false, NAME},        {"pid", false, PID},
        {"tid", false, TID},   {"ts", false, BEGIN},         {"dur", false, DURATION},
        {"args", false, ARGS}, {"name", true, LABEL},        {"step", true, STEP},
        {"seq_id", true, SEQ}, {"model_chunk", true, CHUNK},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i].args == args && strlen(places[i].key) == key->size &&
            memcmp(places[i].key, key->bytes, key->size) == 0)
            return places[i].place;
    return NOTHING;
}

/* Reads a number, multiplied by 10^scale. *out becomes INT64_MIN if there is no number, or if the
 * result does not fit. */
static const char *read_number(tm_json_cursor *cursor, const char *p, int scale, int64_t *out) {
    const char *start = p;
    bool number = *p == '-' || (*p >= '0' && *p <= '9');
    p = number ? tm_json_number(cursor, p) : tm_json_skip_value(cursor, p);
    if (p && number && scale > 0 ? tm_number_scaled(start, (size_t)(p - start), scale, out)
                                 : p && number && tm_number_int(start, (size_t)(p - start), out))
        return p;
    *out = INT64_MIN;
    return p;
}

static const char *read_text(tm_json_cursor *cursor, const char *p, tm_json_text *out) {
    return *p == '"' ? tm_json_string(cursor, p + 1, out) : tm_json_skip_value(cursor, p);
}

static const char *read_value(tm_json_cursor *cursor, const char *p, int place, tm_ops_event *e) {
    int64_t *const integers[] = {
        [PID] = &e->pid, [TID] = &e->tid, [STEP] = &e->step, [CHUNK] = &e->chunk, [SEQ] = &e->seq};
    tm_json_text text = {0};
    switch (place) {
    case PHASE:
        p = read_text(cursor, p, &text);
        e->phase = text.size == 1 ? *text.bytes : '\0';
        return p;
    case NAME:
        return read_text(cursor, p, &e->name);
    case LABEL:
        return read_text(cursor, p, &e->label);
    case BEGIN:
        return read_number(cursor, p, 3, &e->begin_ns); /* microseconds */
    case DURATION:
        return read_number(cursor, p, 3, &e->duration_ns);
    case PID:
    case TID:
    case STEP:
    case CHUNK:
    case SEQ:
        return read_number(cursor, p, 0, integers[place]);
    default:
        return tm_json_skip_value(cursor, p);
    }
}

static const char *read_args(tm_json_cursor *cursor, const char *p, tm_ops_event *out) {
    bool more = true;
    tm_json_text key;
    if (*p != '{')
        return tm_json_skip_value(cursor, p);
    p++;
    for (bool first = true;; first = false) {
        p = tm_json_member(cursor, p, first, &key, &more);
        if (!p || !more)
            return p;
        p = read_value(cursor, p, place_of(&key, true), out);
        if (!p)
            return NULL;
    }
}

const char *tm_ops_event_parse(tm_json_cursor *cursor, const char *p, tm_ops_event *out) {
    bool more = true;
    tm_json_text key;
    *out = (tm_ops_event){.pid = INT64_MIN,
                          .tid = INT64_MIN,
                          .begin_ns = INT64_MIN,
                          .duration_ns = INT64_MIN,
                          .step = INT64_MIN,
                          .chunk = INT64_MIN,
                          .seq = INT64_MIN};
    p++; /* skips the brace */
    for (bool first = true;; first = false) {
        p = tm_json_member(cursor, p, first, &key, &more);
        if (!p)
            return NULL;
        if (!more)
            break;
        int place = place_of(&key, false);
        p = place == ARGS ? read_args(cursor, p, out) : read_value(cursor, p, place, out);
        if (!p)
            return NULL;
    }
    /* Times within these bounds can be added without overflow. They are far wider than any
     * recording. */
    const int64_t least = -INT64_C(1000000000000000000), most = INT64_C(3000000000000000000);
    out->has_times = out->begin_ns >= least && out->begin_ns <= most &&
                     out->duration_ns >= -TM_DAY_NS && out->duration_ns <= TM_DAY_NS;
    return p;
}
