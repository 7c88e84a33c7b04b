#include "kineto_event.h"

#include "number.h"

typedef enum field_type { INT, REAL, TEXT, TRIPLE } field_type;

static const struct {
    field_type type;
    uint8_t size; /* of the key */
    const char *key;
} fields[N_FIELDS] = {
#define FIELD_ROW(id, type, key) [id] = {type, sizeof(key) - 1, key},
    TM_KINETO_FIELDS(FIELD_ROW)
#undef FIELD_ROW
};

_Static_assert(N_FIELDS <= 64, "the presence bits of an event are one word");

/* Length and three bytes tell nearly all keys apart; the rest is probed. */
static unsigned key_hash(const char *key, size_t size) {
    unsigned h = (unsigned)size * 31u + (unsigned char)key[0];
    h = h * 31u + (unsigned char)key[size / 2];
    h = h * 31u + (unsigned char)key[size - 1];
    return (h ^ h >> 7) & 255u;
}

void tm_kineto_keys_init(tm_kineto_keys *keys) {
    memset(keys, 0, sizeof *keys);
    for (int f = 0; f < N_FIELDS; f++) {
        unsigned at = key_hash(fields[f].key, fields[f].size);
        while (keys->slots[at])
            at = (at + 1) & 255u;
        keys->slots[at] = (uint8_t)(f + 1);
    }
}

static int field_of(const tm_kineto_keys *keys, const tm_json_text *key) {
    if (key->size == 0)
        return -1;
    for (unsigned at = key_hash(key->bytes, key->size); keys->slots[at]; at = (at + 1) & 255u) {
        int f = keys->slots[at] - 1;
        if (fields[f].size == key->size && memcmp(fields[f].key, key->bytes, key->size) == 0)
            return f;
    }
    return -1;
}

static bool is_number(char c) {
    return c == '-' || (c >= '0' && c <= '9');
}

/* A key and its colon; p stands at the opening quote. Keys are plain in every real trace; one that
 * uses escapes is not recognised by any field and is skipped. */
static const char *key_colon(tm_json_cursor *cursor, const char *p, tm_json_text *key) {
    if (*p != '"')
        return tm_json_fail(cursor, p, "a key should stand here");
    p = tm_json_string(cursor, p + 1, key);
    if (!p)
        return NULL;
    if (*p != ':') {
        p = tm_json_space(p);
        if (*p != ':')
            return tm_json_fail(cursor, p, "a colon should follow the key");
    }
    return tm_json_space(p + 1);
}

/* Behind a member: the next key (*more), or behind the closing brace. */
static const char *next_member(tm_json_cursor *cursor, const char *p, bool *more) {
    p = tm_json_space(p);
    *more = *p == ',';
    if (*more)
        return tm_json_space(p + 1);
    if (*p != '}')
        return tm_json_fail(cursor, p, "a comma or } should follow the value");
    return p + 1;
}

/* The first key of the object at p, or behind its closing brace. */
static const char *first_member(tm_json_cursor *cursor, const char *p, bool *more) {
    if (*p != '{')
        return tm_json_fail(cursor, p, "an object should stand here");
    p = tm_json_space(p + 1);
    *more = *p != '}';
    return *more ? p : p + 1;
}

/* Microseconds to nanoseconds. The first path takes what every profiler writes: at most 15 digits,
 * then at most three behind the point. */
static const char *time_value(tm_json_cursor *cursor, const char *p, int64_t *ns, bool *valid) {
    const char *start = p;
    int64_t whole = 0, fraction = 0;
    if (*p >= '1' && *p <= '9') {
        while (*p >= '0' && *p <= '9' && p - start < 15)
            whole = whole * 10 + (*p++ - '0');
        if (*p == '.' && p[1] >= '0' && p[1] <= '9') {
            static const int scale[] = {0, 100, 10, 1};
            const char *point = ++p;
            while (*p >= '0' && *p <= '9' && p - point < 3)
                fraction = fraction * 10 + (*p++ - '0');
            fraction *= scale[p - point];
        }
        if (!(*p >= '0' && *p <= '9') && *p != '.' && *p != 'e' && *p != 'E') {
            *ns = whole * 1000 + fraction;
            *valid = true;
            return p;
        }
    }
    if (!is_number(*start)) {
        *valid = false;
        return tm_json_skip_value(cursor, start);
    }
    p = tm_json_number(cursor, start);
    *valid = p && tm_number_scaled(start, (size_t)(p - start), 3, ns);
    return p;
}

/* A string, or the text of a number. */
static const char *text_value(tm_json_cursor *cursor, const char *p, tm_json_text *out,
                              bool *valid) {
    *valid = true;
    if (*p == '"')
        return tm_json_string(cursor, p + 1, out);
    *valid = is_number(*p);
    const char *start = p;
    p = *valid ? tm_json_number(cursor, p) : tm_json_skip_value(cursor, p);
    *out = (tm_json_text){.bytes = start, .size = *valid && p ? (size_t)(p - start) : 0};
    return p;
}

/* An integer, also one in a string: ROCm writes "stream": "7". */
static const char *int_value(tm_json_cursor *cursor, const char *p, int64_t *out, bool *valid) {
    const char *start = p;
    int64_t value = 0;
    while (*p >= '0' && *p <= '9' && p - start < 18)
        value = value * 10 + (*p++ - '0');
    if (p > start && (*p == ',' || *p == '}' || *p == '\n' || *p == ' ') &&
        (*start != '0' || p == start + 1)) {
        *out = value;
        *valid = true;
        return p;
    }
    tm_json_text text;
    p = text_value(cursor, start, &text, valid);
    if (!p || !*valid)
        return p;
    if (*start == '"') {
        tm_json_cursor inside = {.end = text.bytes + text.size};
        *valid = text.size > 0 && is_number(*text.bytes) &&
                 tm_json_number(&inside, text.bytes) == inside.end;
    }
    *valid = *valid && tm_number_int(text.bytes, text.size, out);
    return p;
}

static const char *triple_value(tm_json_cursor *cursor, const char *p, int32_t out[3],
                                bool *valid) {
    const char *start = p;
    *valid = *p == '[';
    for (int i = 0; *valid && i < 3; i++) {
        int64_t value = -1;
        p = tm_json_space(p + 1);
        if (!is_number(*p)) {
            *valid = false;
            break;
        }
        p = int_value(cursor, p, &value, valid);
        if (!p)
            return NULL;
        *valid = *valid && value >= 0 && value <= INT32_MAX;
        out[i] = (int32_t)value;
        p = tm_json_space(p);
        *valid = *valid && *p == (i < 2 ? ',' : ']');
    }
    return *valid ? p + 1 : tm_json_skip_value(cursor, start);
}

static const char *real_value(tm_json_cursor *cursor, const char *p, double *out, bool *valid) {
    *valid = is_number(*p);
    if (!*valid)
        return tm_json_skip_value(cursor, p);
    const char *start = p;
    p = tm_json_number(cursor, p);
    if (p)
        *out = tm_number_real(start);
    return p;
}

static const char *field_value(tm_json_cursor *cursor, const char *p, int field,
                               tm_kineto_event *event) {
    tm_kineto_value *value = &event->fields[field];
    bool valid = false;
    char first = *p;
    event->present &= ~((uint64_t)1 << field); /* of a key that repeats, the last value counts */
    switch (fields[field].type) {
    case INT:
        p = int_value(cursor, p, &value->i, &valid);
        break;
    case REAL: /* older profilers write "N/A" or "inf" where there is no rate */
        p = real_value(cursor, p, &value->r, &valid);
        break;
    case TEXT:
        p = text_value(cursor, p, &value->text, &valid);
        break;
    case TRIPLE:
        p = triple_value(cursor, p, value->triple, &valid);
        break;
    }
    if (valid)
        event->present |= (uint64_t)1 << field;
    else if (first != 'n' && !(fields[field].type == REAL && first == '"'))
        event->bad_values++;
    return p;
}

static const char *parse_args(tm_json_cursor *cursor, const tm_kineto_keys *keys, const char *p,
                              tm_kineto_event *event) {
    bool more;
    event->args = p;
    event->present = 0;
    if (*p != '{') {
        event->args = NULL;
        return tm_json_skip_value(cursor, p);
    }
    p = first_member(cursor, p, &more);
    while (p && more) {
        tm_json_text key;
        p = key_colon(cursor, p, &key);
        if (!p)
            return NULL;
        int field = field_of(keys, &key);
        p = field < 0 ? tm_json_skip_value(cursor, p) : field_value(cursor, p, field, event);
        if (p)
            p = next_member(cursor, p, &more);
    }
    return p;
}

static bool key_is(const tm_json_text *key, const char *word, size_t size) {
    return key->size == size && memcmp(key->bytes, word, size) == 0;
}

static const char *phase_value(tm_json_cursor *cursor, const char *p, tm_kineto_event *event) {
    tm_json_text text;
    bool valid;
    p = text_value(cursor, p, &text, &valid);
    event->phase = p && valid && text.size == 1 ? *text.bytes : '\0';
    return p;
}

static const char *member_value(tm_json_cursor *cursor, const tm_kineto_keys *keys, const char *p,
                                const tm_json_text *key, tm_kineto_event *event) {
    bool valid;
    if (key_is(key, "ph", 2))
        return phase_value(cursor, p, event);
    if (key_is(key, "cat", 3))
        return text_value(cursor, p, &event->category, &event->has_category);
    if (key_is(key, "name", 4))
        return text_value(cursor, p, &event->name, &event->has_name);
    if (key_is(key, "pid", 3))
        return text_value(cursor, p, &event->pid, &valid);
    if (key_is(key, "tid", 3))
        return text_value(cursor, p, &event->tid, &valid);
    if (key_is(key, "ts", 2))
        return time_value(cursor, p, &event->ts_ns, &event->has_ts);
    if (key_is(key, "dur", 3))
        return time_value(cursor, p, &event->duration_ns, &event->has_duration);
    if (key_is(key, "args", 4))
        return parse_args(cursor, keys, p, event);
    return tm_json_skip_value(cursor, p);
}

const char *tm_kineto_event_parse(tm_json_cursor *cursor, const tm_kineto_keys *keys, const char *p,
                                  tm_kineto_event *out) {
    bool more;
    out->phase = '\0';
    out->has_name = out->has_category = out->has_ts = out->has_duration = false;
    out->bad_values = 0;
    out->pid = out->tid = (tm_json_text){.bytes = ""};
    out->args = NULL;
    out->present = 0;
    p = first_member(cursor, p, &more);
    while (p && more) {
        tm_json_text key;
        p = key_colon(cursor, p, &key);
        if (p)
            p = member_value(cursor, keys, p, &key, out);
        if (p)
            p = next_member(cursor, p, &more);
    }
    return p;
}

const char *tm_kineto_counters(tm_json_cursor *cursor, const char *p,
                               bool (*each)(void *context, const tm_json_text *key, double value),
                               void *context) {
    bool more;
    p = first_member(cursor, p, &more);
    while (p && more) {
        tm_json_text key;
        p = key_colon(cursor, p, &key);
        if (!p)
            return NULL;
        if (is_number(*p) && !each(context, &key, tm_number_real(p)))
            return tm_json_fail(cursor, p, "out of memory");
        p = tm_json_skip_value(cursor, p);
        if (p)
            p = next_member(cursor, p, &more);
    }
    return p;
}
