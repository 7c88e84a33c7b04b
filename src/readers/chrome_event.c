#include "chrome_event.h"

#include "digits.h"
#include "number.h"

/* Functions that are seldom called are not inlined, so that the loops need fewer registers. */
#define TM_RARE __attribute__((noinline, cold))

/* Returns a hash of the length and three bytes of a key. These nearly always differ between keys.
 * Keys with equal hashes go to consecutive slots. */
static unsigned key_hash(const char *key, size_t size) {
    unsigned h = (unsigned)size * 31u + (unsigned char)key[0];
    h = h * 31u + (unsigned char)key[size / 2];
    h = h * 31u + (unsigned char)key[size - 1];
    return (h ^ h >> 7) & 255u;
}

void tm_chrome_keys_init(tm_chrome_keys *keys, const tm_chrome_field *fields, int n) {
    memset(keys, 0, offsetof(tm_chrome_keys, known));
    keys->fields = fields;
    keys->decimals = 3;
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

/* Reads a key and its colon; p is at the opening quote. Keys have no escapes in real traces; a key
 * with escapes matches no field and is skipped. */
static const char *key_colon(tm_json_cursor *cursor, const char *p, tm_json_text *key) {
    if (*p != '"')
        return tm_json_fail(cursor, p, "a key is expected here");
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

/* Moves from the end of a member to the next key, or past the closing brace. Sets *more to whether
 * there is a next key. */
static const char *next_member(tm_json_cursor *cursor, const char *p, bool *more) {
    p = tm_json_space(p);
    *more = *p == ',';
    if (*more)
        return tm_json_space(p + 1);
    if (*p != '}')
        return tm_json_fail(cursor, p, "a comma or } should follow the value");
    return p + 1;
}

/* Moves to the first key of the object at p, or past its closing brace. */
static const char *first_member(tm_json_cursor *cursor, const char *p, bool *more) {
    if (*p != '{')
        return tm_json_fail(cursor, p, "an object is expected here");
    p = tm_json_space(p + 1);
    *more = *p != '}';
    return *more ? p : p + 1;
}

/* Returns whether @p digits has all digits of the number at p. */
static inline bool is_all(const char *p, const tm_digits *digits) {
    return digits->n < TM_DIGIT_RUN_MAX || p[digits->n] < '0' || p[digits->n] > '9';
}

/* Reads the digits at p. This is faster than tm_digits_at if there are fewer than eight. */
static inline tm_digits few_digits_at(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    unsigned n = tm_digits_in_word(word);
    return n == 8   ? tm_digits_at(p)
           : n == 0 ? (tm_digits){0, 0}
                    : (tm_digits){n, tm_digits_of_word(word, n)};
}

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

/* Rounds the digits after a point to @p decimals digits, half away from zero. */
static inline int64_t rounded(const tm_digits *fraction, unsigned decimals) {
    if (fraction->n <= decimals)
        return (int64_t)(fraction->value * power[decimals - fraction->n]);
    uint64_t unit = power[fraction->n - decimals];
    return (int64_t)(fraction->value / unit + (fraction->value % unit * 2 >= unit));
}

/* Reads a number of microseconds as an integer: the value times 10^@p decimals. The fast path reads
 * at most 16 digits before and after the point, which is enough for what profilers write. */
static inline const char *time_value(tm_json_cursor *cursor, const char *p, unsigned decimals,
                                     int64_t *time, bool *valid) {
    const char *start = p;
    static const struct {
        /* The part before the point must be below `most`, or it would overflow when it is
         * scaled. */
        int64_t scale, most;
    } units[] = {[3] = {1000, INT64_MAX / 1000}, [6] = {1000000, INT64_MAX / 1000000}};
    tm_digits whole = tm_digits_at(p), fraction = {0, 0};
    if (whole.n > 0 && is_all(p, &whole) && (*p != '0' || whole.n == 1) &&
        (int64_t)whole.value < units[decimals].most) {
        p += whole.n;
        if (*p == '.') {
            fraction = few_digits_at(p + 1);
            p += fraction.n > 0 ? 1 + fraction.n : 0;
        }
        if (*p != '.' && *p != 'e' && *p != 'E' && (*p < '0' || *p > '9')) {
            *time = (int64_t)whole.value * units[decimals].scale + rounded(&fraction, decimals);
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

/* Reads a time from a string that contains only a number. */
static const char *quoted_time(tm_json_cursor *cursor, const char *p, unsigned decimals,
                               int64_t *time, bool *valid) {
    const char *end = time_value(cursor, p + 1, decimals, time, valid);
    if (end && *valid && *end == '"')
        return end + 1;
    *valid = false;
    return tm_json_skip_value(cursor, p);
}

/* Returns whether @p c usually follows a number. */
static inline bool ends_value(char c) {
    static const bool ends[256] = {
        [','] = true, ['}'] = true, [']'] = true, ['\n'] = true, [' '] = true};
    return ends[(unsigned char)c];
}

/* Returns whether the n digits at p are an integer: the digits have no leading zero, and the number
 * ends after them. */
static inline bool is_whole(const char *p, unsigned n) {
    return n > 0 && ends_value(p[n]) && (*p != '0' || n == 1);
}

static TM_RARE const char *other_text(tm_json_cursor *cursor, const char *p, tm_json_text *out,
                                      bool *valid) {
    *valid = is_number(*p);
    const char *start = p;
    p = *valid ? tm_json_number(cursor, p) : tm_json_skip_value(cursor, p);
    *out = (tm_json_text){.bytes = start, .size = *valid && p ? (size_t)(p - start) : 0};
    return p;
}

/* Reads a string, or the text of a number. */
static inline const char *text_value(tm_json_cursor *cursor, const char *p, tm_json_text *out,
                                     bool *valid) {
    uint64_t word;
    *valid = true;
    if (*p == '"')
        return tm_json_string(cursor, p + 1, out);
    memcpy(&word, p, sizeof word);
    unsigned n = tm_digits_in_word(word);
    if (n == 8 || !is_whole(p, n))
        return other_text(cursor, p, out, valid);
    *out = (tm_json_text){.bytes = p, .size = n};
    return p + n;
}

/* Returns whether the text [size] is at p. A text contains no zero byte, so the comparison stops in
 * the padding after the window at the latest. */
static inline bool is_known(const char *text, const char *p, size_t size) {
#if TM_SIMD == TM_SIMD_AVX2
    for (size_t at = 0; at < size; at += 32) {
        __m256i known = _mm256_loadu_si256((const __m256i *)(const void *)(text + at));
        __m256i here = _mm256_loadu_si256((const __m256i *)(const void *)(p + at));
        uint32_t same = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(known, here));
        if (size - at < 32)
            same |= UINT32_MAX << (size - at);
        if (same != UINT32_MAX)
            return false;
    }
    return true;
#else
    return strncmp(text, p, size) == 0;
#endif
}

/* Returns the cache slot for a string or array. It depends on the operator and position (@p hash),
 * and on the value, because an operator may have several values in turn. For a short value it also
 * depends on the bytes after it. */
static inline unsigned known_slot(const char *p, unsigned hash) {
    uint64_t word;
    memcpy(&word, p + 8, sizeof word);
    return (hash ^ (unsigned)(word * UINT64_C(0x9E3779B97F4A7C15) >> 48)) % TM_CHROME_KNOWN;
}

/* Removes the references to a cache slot from the other arrays of the same event. Call it after an
 * array was put into the slot. Otherwise, the other arrays would get the id of the new array. */
static __attribute__((noinline)) void forget(const tm_chrome_keys *keys, unsigned slot,
                                             tm_chrome_event *event) {
    for (unsigned f = 0; event->present >> f; f++)
        if ((event->present >> f & 1) && keys->fields[f].type == TM_CHROME_ARRAY &&
            event->fields[f].text.known == slot + 1)
            event->fields[f].text.known = 0;
}

/*
 * Skips a string or an array. This is fast if the text equals the cached text, which is usual,
 * because operators of the same name often have the same values.
 * @param slot  the cache slot of the text
 */
static inline const char *skip_known(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                     unsigned slot, tm_chrome_event *event) {
    char *known = keys->known[slot];
    size_t size = keys->known_sizes[slot];
    if (size > 0 && is_known(known, p, size))
        return p + size;
    const char *end = tm_json_skip_value(cursor, p);
    if (end && end - p <= TM_CHROME_KNOWN_MAX) {
        memcpy(known, p, (size_t)(end - p));
        keys->known_sizes[slot] = (uint8_t)(end - p);
        keys->known_ids[slot + 1] = 0;
        forget(keys, slot, event);
    }
    return end;
}

/* Skips a value that is not needed. Most are integers. */
static inline const char *skip_value(tm_json_cursor *cursor, const char *p) {
    unsigned n = 0;
    while (n < TM_DIGIT_RUN_MAX && p[n] >= '0' && p[n] <= '9')
        n++;
    return is_whole(p, n) ? p + n : tm_json_skip_value(cursor, p);
}

static TM_RARE const char *other_int(tm_json_cursor *cursor, const char *start, int64_t *out,
                                     bool *valid) {
    tm_json_text text;
    const char *p = text_value(cursor, start, &text, valid);
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

/* Reads an integer. The integer may be in a string: ROCm writes "stream": "7". */
static inline const char *int_value(tm_json_cursor *cursor, const char *p, int64_t *out,
                                    bool *valid) {
    tm_digits digits = few_digits_at(p);
    if (!is_whole(p, digits.n))
        return other_int(cursor, p, out, valid);
    *out = (int64_t)digits.value;
    *valid = true;
    return p + digits.n;
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

/* Reads an array of any depth as raw text. */
static const char *array_value(tm_json_cursor *cursor, const char *p, tm_json_text *out,
                               bool *valid) {
    const char *start = p;
    p = tm_json_skip_value(cursor, p);
    *valid = *start == '[';
    *out = (tm_json_text){.bytes = start, .size = p ? (size_t)(p - start) : 0};
    return p;
}

/* The fast path reads numbers with a decimal point and at most 15 digits. Their numerator and
 * denominator are exact, so the quotient is the nearest double. */
static const char *real_value(tm_json_cursor *cursor, const char *p, double *out, bool *valid) {
    tm_digits whole = few_digits_at(p), fraction = {0, 0};
    if (whole.n > 0 && p[whole.n] == '.' && (*p != '0' || whole.n == 1))
        fraction = few_digits_at(p + whole.n + 1);
    const char *end = p + whole.n + 1 + fraction.n;
    if (fraction.n > 0 && whole.n + fraction.n <= 15 && ends_value(*end)) {
        *out =
            (double)(whole.value * power[fraction.n] + fraction.value) / (double)power[fraction.n];
        *valid = true;
        return end;
    }
    *valid = is_number(*p);
    if (!*valid)
        return tm_json_skip_value(cursor, p);
    const char *start = p;
    p = tm_json_number(cursor, p);
    if (p)
        *out = tm_number_real(start);
    return p;
}

/* Returns whether a value is a pointer. HIP's host calls have "stream": "0x0", while CUDA's calls
 * have a number. */
static bool is_pointer(const char *p) {
    if (strncmp(p, "\"0x", 3) != 0)
        return false;
    size_t digits = strspn(p + 3, "0123456789abcdefABCDEF");
    return digits > 0 && p[3 + digits] == '"';
}

static TM_RARE const char *other_field(tm_json_cursor *cursor, const char *p, int field,
                                       unsigned type, tm_chrome_event *event) {
    tm_chrome_value *value = &event->fields[field];
    bool valid = false;
    const char *start = p;
    event->present &= ~((uint64_t)1 << field); /* if a key is repeated, its last value is used */
    switch (type) {
    case TM_CHROME_INT:
        p = other_int(cursor, p, &value->i, &valid);
        break;
    /* If there is no rate, older profilers write "N/A" or "inf". */
    case TM_CHROME_REAL:
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
    else if (*start != 'n' && type != TM_CHROME_MAYBE &&
             !(type == TM_CHROME_REAL && *start == '"') &&
             !(type == TM_CHROME_INT && is_pointer(start)))
        event->bad_values++;
    return p;
}

static inline const char *field_value(tm_json_cursor *cursor, const char *p, int field,
                                      unsigned type, tm_chrome_event *event) {
    tm_digits digits;
    if (type != TM_CHROME_INT || (digits = few_digits_at(p), !is_whole(p, digits.n)))
        return other_field(cursor, p, field, type, event);
    event->fields[field].i = (int64_t)digits.value;
    event->present |= (uint64_t)1 << field;
    return p + digits.n;
}

/* The members of an event; M_OTHER for any other key. */
enum { M_OTHER, M_PHASE, M_CATEGORY, M_NAME, M_PID, M_TID, M_TS, M_DURATION, M_ARGS, M_ID };
enum { UNKNOWN_FIELD = TM_CHROME_FIELDS_MAX, M_END };

/* Iterates over the members of an event or of its args. */
typedef struct walk {
    tm_chrome_keys *keys;
    bool args, first;
    /* Offset [bytes] of the gap (gap.h) to try next, in event_gaps or args_gaps of the keys. It
     * depends on the members that were read so far. */
    unsigned at;
    int member; /* member whose value comes next; M_END: none, p is at the closing brace */
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

/* Returns the offset of the gap to expect next. `at` is the offset of the current gap, and `by`
 * identifies what was read: a key, a phase or a category. */
static inline unsigned turn(unsigned at, unsigned by) {
    return (at * 5 + by) % (TM_CHROME_GAPS * sizeof(tm_gap));
}

/* Returns the offset [bytes] of the gap with this number, modulo the number of gaps. */
static inline unsigned met(unsigned number) {
    return number % TM_CHROME_GAPS * (unsigned)sizeof(tm_gap);
}

/* Stores a gap that differs from the expected one, and moves @p w past it. */
static TM_RARE const char *new_gap(tm_json_cursor *cursor, walk *w, const char *from, tm_gap *gap) {
    tm_json_text key = {.size = 0};
    bool more;
    const char *p = w->first ? first_member(cursor, from, &more) : next_member(cursor, from, &more);
    if (p && more)
        p = key_colon(cursor, p, &key);
    if (!p)
        return NULL;
    int field = w->args ? field_of(w->keys, &key) : member_of(&key);
    p -= !more;
    w->member = !more ? M_END : field < 0 ? UNKNOWN_FIELD : field;
    tm_gap_learn(gap, from, p, w->member);
    gap->key = (uint16_t)(key.size > 0 ? met(key_hash(key.bytes, key.size) * 3) : 0);
    w->at = turn(w->at, gap->key);
    return p;
}

/* Moves to the next value, or to the closing brace. Starts at the opening brace or at the end of a
 * value. This is fast if the text in between is the expected gap. */
static inline const char *next_value(tm_json_cursor *cursor, walk *w, const char *p) {
    tm_gap *gaps = w->args ? w->keys->args_gaps : w->keys->event_gaps;
    tm_gap *gap = (tm_gap *)(void *)((char *)gaps + w->at);
    if (tm_gap_is(gap, p)) {
        w->member = gap->member;
        w->at = turn(w->at, gap->key);
        w->first = false;
        return p + gap->size;
    }
    walk known = *w; /* a copy, so that w can stay in registers */
    p = new_gap(cursor, &known, p, gap);
    w->member = known.member;
    w->at = known.at;
    w->first = false;
    return p;
}

/* Reads the value of an arg.
 * @param name  hash of the event's name */
static inline const char *arg_value(tm_json_cursor *cursor, const walk *w, const char *p,
                                    unsigned name, tm_chrome_event *event) {
    if (w->member == UNKNOWN_FIELD)
        return *p == '[' || *p == '"'
                   ? skip_known(cursor, w->keys, p, known_slot(p, w->at ^ name), event)
                   : skip_value(cursor, p);
    unsigned type = w->keys->fields[w->member].type;
    if (type != TM_CHROME_ARRAY || *p != '[')
        return field_value(cursor, p, w->member, type, event);
    unsigned slot = known_slot(p, w->at ^ name);
    const char *end = skip_known(cursor, w->keys, p, slot, event);
    size_t size = end ? (size_t)(end - p) : 0;
    event->fields[w->member].text =
        (tm_json_text){.bytes = p,
                       .size = size,
                       .known = (uint16_t)(w->keys->known_sizes[slot] == size ? slot + 1 : 0)};
    event->present |= (uint64_t)1 << w->member;
    return end;
}

/* Returns a hash of an event's name; 0 if the name comes after the args. */
static inline unsigned name_hash(const tm_chrome_event *event) {
    const tm_json_text *name = &event->name;
    if (!event->has_name || name->size == 0)
        return 0;
    const char *last = name->bytes + name->size;
    uint64_t head, tail = 0;
    memcpy(&head, name->bytes, sizeof head);
    if (name->size < sizeof head)
        head <<= 64 - 8 * name->size;
    else
        memcpy(&tail, last - sizeof tail, sizeof tail);
    return (unsigned)((head * 3 + tail + name->size) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

static inline const char *parse_args(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                                     tm_chrome_event *event) {
    walk w = {.keys = keys, .args = true, .first = true};
    if (event->has_category && event->category.size > 0)
        w.at = met((unsigned)event->category.size * 8 + (*event->category.bytes & 7));
    unsigned name = name_hash(event);
    event->args = p;
    event->present = 0;
    if (*p != '{') {
        event->args = NULL;
        return tm_json_skip_value(cursor, p);
    }
    for (;;) {
        p = next_value(cursor, &w, p);
        if (!p)
            return NULL;
        if (w.member == M_END)
            return p + 1;
        p = arg_value(cursor, &w, p, name, event);
        if (!p)
            return NULL;
    }
}

static inline const char *phase_value(tm_json_cursor *cursor, const char *p,
                                      tm_chrome_event *event) {
    tm_json_text text;
    bool valid;
    if (*p == '"' && p[1] > '"' && p[1] != '\\' && p[2] == '"') {
        event->phase = p[1];
        return p + 3;
    }
    p = text_value(cursor, p, &text, &valid);
    event->phase = p && valid && text.size == 1 ? *text.bytes : '\0';
    return p;
}

static inline const char *member_value(tm_json_cursor *cursor, walk *w, const char *p,
                                       tm_chrome_event *event) {
    bool valid;
    switch (w->member) {
    case M_PHASE:
        p = phase_value(cursor, p, event);
        w->at = turn(w->at, met((unsigned char)event->phase));
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
            return quoted_time(cursor, p, w->keys->decimals, &event->ts_ns, &event->has_ts);
        return time_value(cursor, p, w->keys->decimals, &event->ts_ns, &event->has_ts);
    case M_DURATION:
        if (*p == '"' && w->keys->quoted_times)
            return quoted_time(cursor, p, w->keys->decimals, &event->duration_ns,
                               &event->has_duration);
        return time_value(cursor, p, w->keys->decimals, &event->duration_ns, &event->has_duration);
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
    walk w = {.keys = keys, .first = true};
    out->phase = '\0';
    out->has_name = out->has_category = out->has_ts = out->has_duration = out->quoted_ts = false;
    out->bad_values = 0;
    out->pid = out->tid = out->id = (tm_json_text){.bytes = ""};
    out->args = NULL;
    out->known_ids = keys->known_ids;
    out->present = 0;
    for (;;) {
        p = next_value(cursor, &w, p);
        if (!p)
            return NULL;
        if (w.member == M_END)
            return p + 1;
        p = member_value(cursor, &w, p, out);
        if (!p)
            return NULL;
    }
}

/* Returns the start of the number of a series: p, or p + 1 if a string contains only a number; NULL
 * if there is no number. */
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
