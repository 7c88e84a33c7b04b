#include "rocprof_record.h"

#include "readers/digits.h"
#include "readers/number.h"

static const struct {
    const char *key, *inner;
    uint8_t size; /* length of the key [bytes] */
} fields[N_ROCPROF_FIELDS] = {
#define FIELD_ROW(id, key, inner) [id] = {key, inner, sizeof(key) - 1},
    TM_ROCPROF_FIELDS(FIELD_ROW)
#undef FIELD_ROW
};

_Static_assert(N_ROCPROF_FIELDS <= 32, "the presence bits of a record are one word");

/* Results of member_of for members that are not stored in a field. DISPATCH is dispatch_info. */
enum { OTHER = N_ROCPROF_FIELDS, DISPATCH };

static int member_of(const tm_json_text *key) {
    for (int f = 0; f < N_ROCPROF_FIELDS; f++)
        if (fields[f].size == key->size && memcmp(fields[f].key, key->bytes, key->size) == 0)
            return f; /* if the member is an object, this is the first of its fields */
    return tm_json_is(key, "dispatch_info") ? DISPATCH : OTHER;
}

static bool read_hex(const tm_json_text *text, uint64_t *out) {
    uint64_t value = 0;
    if (text->size < 3 || text->size > 18 || text->bytes[0] != '0' || (text->bytes[1] | 32) != 'x')
        return false;
    for (size_t i = 2; i < text->size; i++) {
        char c = text->bytes[i];
        char low = (char)(c | 32);
        bool digit = c >= '0' && c <= '9';
        if (!digit && (low < 'a' || low > 'f'))
            return false;
        value = value << 4 | (uint64_t)(digit ? c - '0' : low - 'a' + 10);
    }
    *out = value;
    return true;
}

static bool read_text(const tm_json_text *text, uint64_t *out) {
    if (read_hex(text, out))
        return true;
    for (size_t i = 0; i < text->size; i++)
        if (text->bytes[i] < '0' || text->bytes[i] > '9')
            return false;
    return text->size > 0 && tm_number_uint(text->bytes, text->size, out);
}

/* Whether the digits at p are a complete integer. */
static inline bool is_whole(const char *p, const tm_digits *digits) {
    char next = p[digits->n];
    return digits->n > 0 && digits->n < TM_DIGIT_RUN_MAX && (*p != '0' || digits->n == 1) &&
           (next == ',' || next == '}' || next == '\n');
}

/* Skips a value; nearly all are integers, which have a fast path. */
static inline const char *skip_value(tm_json_cursor *cursor, const char *p) {
    tm_digits digits = tm_digits_at(p);
    return is_whole(p, &digits) ? p + digits.n : tm_json_skip_value(cursor, p);
}

const char *tm_rocprof_number(tm_json_cursor *cursor, const char *p, uint64_t *out, bool *valid) {
    const char *start = p;
    tm_digits digits = tm_digits_at(p);
    if (is_whole(p, &digits)) {
        *out = digits.value;
        *valid = true;
        return p + digits.n;
    }
    if (*p == '"') {
        tm_json_text text;
        p = tm_json_string(cursor, p + 1, &text);
        *valid = p && read_text(&text, out);
        return p;
    }
    *valid = *p == '-' || (*p >= '0' && *p <= '9');
    p = *valid ? tm_json_number(cursor, p) : tm_json_skip_value(cursor, p);
    *valid = *valid && p && tm_number_uint(start, (size_t)(p - start), out);
    return p;
}

static const char *read_field(tm_json_cursor *cursor, const char *p, int field,
                              tm_rocprof_record *out) {
    bool valid, null = *p == 'n';
    p = tm_rocprof_number(cursor, p, &out->fields[field], &valid);
    if (valid)
        out->present |= UINT32_C(1) << field;
    else
        out->bad_values += !null;
    return p;
}

/* Finds the field of a member of an object within a record. @p parent is the first field of the
 * object. All fields of the object are adjacent and have the same key. */
static int inner_of(const tm_json_text *key, int parent) {
    for (int f = parent; f < N_ROCPROF_FIELDS && strcmp(fields[f].key, fields[parent].key) == 0;
         f++)
        if (strlen(fields[f].inner) == key->size &&
            memcmp(fields[f].inner, key->bytes, key->size) == 0)
            return f;
    return OTHER;
}

/* State while the members of a record, or of an object in a record, are read. */
typedef struct walk {
    /* first field of the object whose members are read; -1: the record's own members are read */
    int parent;
    bool first, more;
    int member; /* field that the current value belongs to */
} walk;

/* Advances to the next value, like tm_json_member; w->more is false after the last one. */
static inline const char *next_value(tm_json_cursor *cursor, const char *p, tm_gap *gap, walk *w) {
    tm_json_text key;
    const char *from = p;
    if (tm_gap_is(gap, p)) {
        w->member = gap->member;
        p += gap->size;
    } else {
        p = tm_json_member(cursor, p, w->first, &key, &w->more);
        if (!p || !w->more)
            return p;
        w->member = w->parent < 0 ? member_of(&key) : inner_of(&key, w->parent);
        tm_gap_learn(gap, from, p, w->member);
    }
    w->first = false;
    return p;
}

/* Reads {"handle":7}, {"internal":7,"external":0} or {"x":1,"y":1,"z":1}. Some lists write a handle
 * as a bare number. */
static const char *read_inner(tm_json_cursor *cursor, const char *p, int parent,
                              tm_rocprof_gaps *gaps, tm_rocprof_record *out) {
    walk w = {.parent = parent, .first = true, .more = true};
    if (*p != '{')
        return read_field(cursor, p, parent, out);
    p++;
    for (unsigned n = 0;; n++) {
        p = next_value(cursor, p, &gaps->inner[parent][n % TM_ROCPROF_INNER], &w);
        if (!p || !w.more)
            return p;
        p = w.member == OTHER ? skip_value(cursor, p) : read_field(cursor, p, w.member, out);
        if (!p)
            return NULL;
    }
}

static const char *read_members(tm_json_cursor *cursor, const char *p, bool dispatch,
                                tm_rocprof_gaps *gaps, tm_rocprof_record *out) {
    tm_gap *own = dispatch ? gaps->dispatch : gaps->record;
    walk w = {.parent = -1, .first = true, .more = true};
    p++;
    for (unsigned n = 0;; n++) {
        p = next_value(cursor, p, &own[n % TM_ROCPROF_GAPS], &w);
        if (!p || !w.more)
            return p;
        if (w.member == DISPATCH && !dispatch && *p == '{')
            p = read_members(cursor, p, true, gaps, out);
        else if (w.member >= N_ROCPROF_FIELDS)
            p = skip_value(cursor, p);
        else
            p = fields[w.member].inner ? read_inner(cursor, p, w.member, gaps, out)
                                       : read_field(cursor, p, w.member, out);
        if (!p)
            return NULL;
    }
}

const char *tm_rocprof_record_parse(tm_json_cursor *cursor, const char *p, tm_rocprof_gaps *gaps,
                                    tm_rocprof_record *out) {
    out->present = 0;
    out->bad_values = 0;
    return *p == '{' ? read_members(cursor, p, false, gaps, out) : tm_json_skip_value(cursor, p);
}
