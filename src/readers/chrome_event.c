#include "chrome_event.h"

#include "digits.h"
#include "number.h"

/* Length and three bytes tell nearly all keys apart; the rest is probed. */
static unsigned key_hash(const char *key, size_t size) {
    unsigned h = (unsigned)size * 31u + (unsigned char)key[0];
    h = h * 31u + (unsigned char)key[size / 2];
    h = h * 31u + (unsigned char)key[size - 1];
    return (h ^ h >> 7) & 255u;
}

void tm_chrome_keys_init(tm_chrome_keys *keys, const tm_chrome_field *fields, int n) {
    memset(keys, 0, sizeof *keys);
    keys->fields = fields;
    for (int f = 0; f < n; f++) {
        unsigned at = key_hash(fields[f].key, fields[f].size);
        while (keys->slots[at])
            at = (at + 1) & 255u;
        keys->slots[at] = (uint8_t)(f + 1);
    }
}

static int field_of(const tm_chrome_keys *keys, const tm_json_text *key) {
    if (key->size == 0)
        return -1;
    for (unsigned at = key_hash(key->bytes, key->size); keys->slots[at]; at = (at + 1) & 255u) {
        int f = keys->slots[at] - 1;
        const tm_chrome_field *field = &keys->fields[f];
        if (field->size == key->size && memcmp(field->key, key->bytes, key->size) == 0)
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

/* Whether a run holds all of its digits. */
static inline bool is_all(const char *p, const tm_digits *digits) {
    return digits->n < TM_DIGIT_RUN_MAX || p[digits->n] < '0' || p[digits->n] > '9';
}

/* The digits behind a point to their @p decimals-th, half away from zero. */
static inline int64_t rounded(const tm_digits *fraction, unsigned decimals) {
    static const uint64_t power[] = {1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000};
    if (fraction->n <= decimals)
        return (int64_t)(fraction->value * power[decimals - fraction->n]);
    uint64_t unit = power[fraction->n - decimals];
    return (int64_t)(fraction->value / unit + (fraction->value % unit * 2 >= unit));
}

/* Microseconds to their @p decimals-th decimal. The first path takes what profilers write: at most
 * 16 digits before the point and behind it. */
static const char *time_value(tm_json_cursor *cursor, const char *p, unsigned decimals,
                              int64_t *time, bool *valid) {
    const char *start = p;
    static const int64_t scale[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    tm_digits whole = tm_digits_at(p), fraction = {0, 0};
    if (whole.n > 0 && is_all(p, &whole) && (*p != '0' || whole.n == 1) &&
        (int64_t)whole.value < INT64_MAX / scale[decimals]) {
        p += whole.n;
        if (*p == '.')
            fraction = tm_digits_at(p + 1);
        p += fraction.n > 0 ? 1 + fraction.n : 0;
        if (*p != '.' && *p != 'e' && *p != 'E' && (*p < '0' || *p > '9')) {
            *time = (int64_t)whole.value * scale[decimals] + rounded(&fraction, decimals);
            *valid = true;
            return p;
        }
    }
    if (!is_number(*start)) {
        *valid = false;
        return tm_json_skip_value(cursor, start);
    }
    p = tm_json_number(cursor, start);
    *valid = p && tm_number_scaled(start, (size_t)(p - start), (int)decimals, time);
    return p;
}

/* A time in a string: a number and nothing else. */
static const char *quoted_time(tm_json_cursor *cursor, const char *p, unsigned decimals,
                               int64_t *time, bool *valid) {
    const char *end = time_value(cursor, p + 1, decimals, time, valid);
    if (end && *valid && *end == '"')
        return end + 1;
    *valid = false;
    return tm_json_skip_value(cursor, p);
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

/* Whether the digits at p are a whole number by themselves. */
static inline bool is_whole(const char *p, const tm_digits *digits) {
    char next = p[digits->n];
    return digits->n > 0 && (next == ',' || next == '}' || next == '\n' || next == ' ') &&
           (*p != '0' || digits->n == 1);
}

/* A value that nobody wants: most are whole numbers. */
static inline const char *skip_value(tm_json_cursor *cursor, const char *p) {
    tm_digits digits = {0, 0};
    while (digits.n < TM_DIGIT_RUN_MAX && p[digits.n] >= '0' && p[digits.n] <= '9')
        digits.n++;
    return is_whole(p, &digits) ? p + digits.n : tm_json_skip_value(cursor, p);
}

/* An integer, also one in a string: ROCm writes "stream": "7". */
static const char *int_value(tm_json_cursor *cursor, const char *p, int64_t *out, bool *valid) {
    const char *start = p;
    tm_digits digits = tm_digits_at(p);
    if (is_whole(p, &digits)) {
        *out = (int64_t)digits.value;
        *valid = true;
        return p + digits.n;
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

/* An array of any depth, as it stands. */
static const char *array_value(tm_json_cursor *cursor, const char *p, tm_json_text *out,
                               bool *valid) {
    const char *start = p;
    p = tm_json_skip_value(cursor, p);
    *valid = *start == '[';
    *out = (tm_json_text){.bytes = start, .size = p ? (size_t)(p - start) : 0};
    return p;
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

static const char *field_value(tm_json_cursor *cursor, const char *p, int field, unsigned type,
                               tm_chrome_event *event) {
    tm_chrome_value *value = &event->fields[field];
    bool valid = false;
    char first = *p;
    event->present &= ~((uint64_t)1 << field); /* of a key that repeats, the last value counts */
    switch (type) {
    case TM_CHROME_INT:
        p = int_value(cursor, p, &value->i, &valid);
        break;
    case TM_CHROME_REAL: /* older profilers write "N/A" or "inf" where there is no rate */
        p = real_value(cursor, p, &value->r, &valid);
        break;
    case TM_CHROME_TEXT:
    case TM_CHROME_MAYBE:
        p = text_value(cursor, p, &value->text, &valid);
        break;
    case TM_CHROME_TRIPLE:
        p = triple_value(cursor, p, value->triple, &valid);
        break;
    default: /* TM_CHROME_ARRAY */
        p = array_value(cursor, p, &value->text, &valid);
        break;
    }
    if (valid)
        event->present |= (uint64_t)1 << field;
    else if (first != 'n' && type != TM_CHROME_MAYBE && !(type == TM_CHROME_REAL && first == '"'))
        event->bad_values++;
    return p;
}

/* The members of an event, and what stands for every other key. */
enum { M_OTHER, M_PHASE, M_CATEGORY, M_NAME, M_PID, M_TID, M_TS, M_DURATION, M_ARGS, M_ID };
enum { UNKNOWN_FIELD = TM_CHROME_FIELDS_MAX };

/* A walk over the members of an event or of its args. */
typedef struct walk {
    tm_chrome_keys *keys;
    tm_gap *gaps;
    bool args, first, more; /* more: a value follows, else the object is at its end */
    unsigned at;            /* the gap expected next: decided by the members so far */
    int member;             /* whose value follows */
} walk;

static bool key_is(const tm_json_text *key, const char *word, size_t size) {
    return key->size == size && memcmp(key->bytes, word, size) == 0;
}

static int member_of(const tm_json_text *key) {
    static const struct {
        const char *word;
        uint8_t size, member;
    } members[] = {
        {"ts", 2, M_TS},        {"dur", 3, M_DURATION}, {"ph", 2, M_PHASE},
        {"cat", 3, M_CATEGORY}, {"name", 4, M_NAME},    {"pid", 3, M_PID},
        {"tid", 3, M_TID},      {"args", 4, M_ARGS},    {"id", 2, M_ID},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (key_is(key, members[i].word, members[i].size))
            return members[i].member;
    return M_OTHER;
}

/* What was met on the way decides which gap is expected: members, the phase, the category. */
static inline void turn(walk *w, unsigned met) {
    w->at = (w->at * 37 + met + 1) & (TM_CHROME_GAPS - 1);
}

/* From the opening brace, or from behind a value, to the next value or behind the closing brace. */
static inline const char *next_value(tm_json_cursor *cursor, walk *w, const char *p) {
    tm_gap *gap = &w->gaps[w->at];
    if (tm_gap_is(gap, p)) {
        p += gap->size;
        w->member = gap->member;
    } else {
        tm_json_text key;
        const char *from = p;
        p = w->first ? first_member(cursor, p, &w->more) : next_member(cursor, p, &w->more);
        if (!p || !w->more)
            return p;
        p = key_colon(cursor, p, &key);
        if (!p)
            return NULL;
        int field = w->args ? field_of(w->keys, &key) : member_of(&key);
        w->member = field < 0 ? UNKNOWN_FIELD : field;
        tm_gap_learn(gap, from, p, w->member);
    }
    w->first = false;
    turn(w, (unsigned)w->member);
    return p;
}

static const char *parse_args(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                              tm_chrome_event *event) {
    walk w = {.keys = keys, .gaps = keys->args_gaps, .args = true, .first = true, .more = true};
    if (event->has_category && event->category.size > 0)
        turn(&w, (unsigned)event->category.size * 8 + (*event->category.bytes & 7));
    event->args = p;
    event->present = 0;
    if (*p != '{') {
        event->args = NULL;
        return tm_json_skip_value(cursor, p);
    }
    for (;;) {
        p = next_value(cursor, &w, p);
        if (!p || !w.more)
            return p;
        p = w.member == UNKNOWN_FIELD
                ? skip_value(cursor, p)
                : field_value(cursor, p, w.member, keys->fields[w.member].type, event);
        if (!p)
            return NULL;
    }
}

static const char *phase_value(tm_json_cursor *cursor, const char *p, tm_chrome_event *event) {
    tm_json_text text;
    bool valid;
    p = text_value(cursor, p, &text, &valid);
    event->phase = p && valid && text.size == 1 ? *text.bytes : '\0';
    return p;
}

static const char *member_value(tm_json_cursor *cursor, walk *w, const char *p,
                                tm_chrome_event *event) {
    bool valid;
    switch (w->member) {
    case M_PHASE:
        p = phase_value(cursor, p, event);
        turn(w, (unsigned char)event->phase);
        return p;
    case M_CATEGORY:
        return text_value(cursor, p, &event->category, &event->has_category);
    case M_NAME:
        return text_value(cursor, p, &event->name, &event->has_name);
    case M_PID:
        return text_value(cursor, p, &event->pid, &valid);
    case M_TID:
        return text_value(cursor, p, &event->tid, &valid);
    case M_TS:
        event->quoted_ts = *p == '"';
        if (event->quoted_ts && w->keys->quoted_times)
            return quoted_time(cursor, p, w->keys->picoseconds ? 6 : 3, &event->ts_ns,
                               &event->has_ts);
        return time_value(cursor, p, w->keys->picoseconds ? 6 : 3, &event->ts_ns, &event->has_ts);
    case M_DURATION:
        return time_value(cursor, p, w->keys->picoseconds ? 6 : 3, &event->duration_ns,
                          &event->has_duration);
    case M_ARGS:
        return parse_args(cursor, w->keys, p, event);
    case M_ID:
        return text_value(cursor, p, &event->id, &valid);
    default:
        return skip_value(cursor, p);
    }
}

const char *tm_chrome_event_parse(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                  tm_chrome_event *out) {
    walk w = {.keys = keys, .gaps = keys->event_gaps, .first = true, .more = true};
    out->phase = '\0';
    out->has_name = out->has_category = out->has_ts = out->has_duration = out->quoted_ts = false;
    out->bad_values = 0;
    out->pid = out->tid = out->id = (tm_json_text){.bytes = ""};
    out->args = NULL;
    out->present = 0;
    for (;;) {
        p = next_value(cursor, &w, p);
        if (!p || !w.more)
            return p;
        p = member_value(cursor, &w, p, out);
        if (!p)
            return NULL;
    }
}

/* Where the number of a series stands: at p, or behind a quote and nothing else in its string. */
static const char *series_number(const char *p, bool quoted) {
    if (is_number(*p))
        return p;
    if (!quoted || *p != '"' || !is_number(p[1]))
        return NULL;
    tm_json_cursor inside = {.final = true};
    const char *end = tm_json_number(&inside, p + 1);
    return end && *end == '"' ? p + 1 : NULL;
}

const char *tm_chrome_counters(tm_json_cursor *cursor, const char *p, bool quoted,
                               tm_chrome_series *each, void *context) {
    bool more;
    p = first_member(cursor, p, &more);
    while (p && more) {
        tm_json_text key;
        p = key_colon(cursor, p, &key);
        if (!p)
            return NULL;
        const char *number = series_number(p, quoted);
        if (number && !each(context, &key, tm_number_real(number)))
            return tm_json_fail(cursor, p, "out of memory");
        p = tm_json_skip_value(cursor, p);
        if (p)
            p = next_member(cursor, p, &more);
    }
    return p;
}
