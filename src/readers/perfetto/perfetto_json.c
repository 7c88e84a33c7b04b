#include "perfetto_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_quote.h"

enum { DEPTH_MAX = 32 };

bool tm_pf_put_text(tm_vec *out, tm_text text) {
    return tm_json_quote(out, text.bytes, text.size, false);
}

bool tm_pf_put_uint(tm_vec *out, uint64_t value) {
    char digits[20];
    size_t n = sizeof digits;
    do
        digits[--n] = (char)('0' + value % 10);
    while ((value /= 10) > 0);
    return tm_vec_append(out, digits + n, sizeof digits - n);
}

bool tm_pf_put_int(tm_vec *out, int64_t value) {
    return value < 0 ? tm_pf_put(out, "-") && tm_pf_put_uint(out, 0 - (uint64_t)value)
                     : tm_pf_put_uint(out, (uint64_t)value);
}

bool tm_pf_put_real(tm_vec *out, uint64_t bits) {
    char text[32];
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
        return tm_pf_put(out, "null");
    snprintf(text, sizeof text, "%.17g", value);
    return tm_pf_put(out, text);
}

bool tm_pf_put_us(tm_vec *out, int64_t ns) {
    uint64_t all = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, rest = all % 1000;
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                             (char)('0' + rest % 10)};
    return (ns >= 0 || tm_pf_put(out, "-")) && tm_pf_put_uint(out, all / 1000) &&
           tm_vec_append(out, decimals, sizeof decimals);
}

/* Returns the number of digits at p. Returns 0 if there are several digits and the first one is
 * 0. */
static size_t whole_digits(const char *p, size_t n) {
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i > 1 && *p == '0' ? 0 : i;
}

static size_t digits_of(const char *p, size_t n) {
    size_t i = 0;
    while (i < n && p[i] >= '0' && p[i] <= '9')
        i++;
    return i;
}

/* Returns whether a text is a JSON number: -12, 0.5, 1e-06. */
static bool is_number(tm_text text) {
    const char *p = text.bytes, *end = p + text.size;
    p += p < end && *p == '-';
    size_t digits = whole_digits(p, (size_t)(end - p));
    p += digits;
    if (digits > 0 && p < end && *p == '.') {
        digits = digits_of(p + 1, (size_t)(end - p - 1));
        p += 1 + digits;
    }
    if (digits > 0 && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        digits = digits_of(p, (size_t)(end - p));
        p += digits;
    }
    return digits > 0 && p == end;
}

bool tm_pf_put_value(tm_vec *out, tm_text text) {
    return is_number(text) ? tm_pf_put_bytes(out, text) : tm_pf_put_text(out, text);
}

static bool put_key(tm_vec *out, bool first, tm_text quoted) {
    return (first || tm_pf_put(out, ",")) &&
           (quoted.size > 0 ? tm_pf_put_bytes(out, quoted) : tm_pf_put(out, "\"\"")) &&
           tm_pf_put(out, ":");
}

/* Writes nested messages, which are the entries of an object or the elements of an array. */
static bool put_inner(tm_vec *out, const tm_pf_state *state, const tm_pf_sequence *s,
                      tm_wire_message note, uint32_t field, int depth) {
    bool dict = field == NOTE_DICT, first = true, ok = tm_pf_put(out, dict ? "{" : "[");
    tm_vec scratch = TM_VEC(char);
    tm_wire_field f;
    while (ok && tm_wire_next(&note, &f)) {
        if (f.number != field || f.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message inner = tm_wire_inner(&f);
        scratch.n = 0;
        ok = (dict ? put_key(out, first, tm_pf_note_name(state, s, inner, &scratch))
                   : first || tm_pf_put(out, ",")) &&
             tm_pf_put_note(out, state, s, inner, depth + 1);
        first = false;
    }
    tm_vec_free(&scratch);
    return ok && tm_pf_put(out, dict ? "}" : "]");
}

static bool put_scalar(tm_vec *out, const tm_wire_field *f) {
    switch (f->number) {
    case NESTED_INT:
        return tm_pf_put_int(out, (int64_t)f->value);
    case NESTED_REAL:
        return tm_pf_put_real(out, f->value);
    case NESTED_BOOL:
        return tm_pf_put(out, f->value ? "true" : "false");
    case NESTED_TEXT:
        return tm_pf_put_text(out, f->type == TM_WIRE_BYTES ? tm_wire_text(f) : (tm_text){"", 0});
    default:
        return true;
    }
}

/* Returns the n-th key of an object as old writers write it, with separate lists of keys and
 * values. */
static tm_text nth_key(tm_wire_message message, size_t n) {
    tm_wire_field f;
    while (tm_wire_next(&message, &f))
        if (f.number == NESTED_KEY && f.type == TM_WIRE_BYTES && n-- == 0)
            return tm_wire_text(&f);
    return (tm_text){.bytes = ""};
}

/* Keys beyond this number are dropped: finding the n-th key takes n steps. */
enum { OLD_KEYS_MAX = 64 };

static bool put_nested(tm_vec *out, tm_wire_message message, int depth) {
    tm_wire_message rest = message;
    tm_wire_field f;
    uint64_t type = 0;
    size_t n = 0;
    bool ok = true;
    while (tm_wire_next(&rest, &f))
        if (f.number == NESTED_TYPE && f.type == TM_WIRE_VARINT)
            type = f.value;
    bool dict = type == NESTED_IS_DICT, array = type == NESTED_IS_ARRAY;
    size_t before = out->n;
    rest = message;
    ok = (!dict && !array) || tm_pf_put(out, dict ? "{" : "[");
    while (ok && tm_wire_next(&rest, &f)) {
        if (!dict && !array && f.number >= NESTED_INT && f.number <= NESTED_TEXT &&
            out->n == before) {
            ok = put_scalar(out, &f);
        } else if (f.type == TM_WIRE_BYTES && depth < DEPTH_MAX &&
                   ((dict && f.number == NESTED_VALUE && n < OLD_KEYS_MAX) ||
                    (array && f.number == NESTED_ELEMENT))) {
            ok = (n == 0 || tm_pf_put(out, ",")) &&
                 (!dict || (tm_pf_put_text(out, nth_key(message, n)) && tm_pf_put(out, ":"))) &&
                 put_nested(out, tm_wire_inner(&f), depth + 1);
            n++;
        }
    }
    if (dict || array)
        return ok && tm_pf_put(out, dict ? "}" : "]");
    return ok && (out->n > before || tm_pf_put(out, "null"));
}

static bool put_interned(tm_vec *out, tm_text quoted) {
    return quoted.size > 0 ? tm_pf_put_bytes(out, quoted) : tm_pf_put(out, "null");
}

static bool put_number(tm_vec *out, const tm_pf_state *state, const tm_pf_sequence *s,
                       const tm_wire_field *f) {
    switch (f->number) {
    case NOTE_BOOL:
        return tm_pf_put(out, f->value ? "true" : "false");
    case NOTE_INT:
        return tm_pf_put_int(out, (int64_t)f->value);
    case NOTE_REAL:
        return tm_pf_put_real(out, f->value);
    case NOTE_TEXT_ID:
        return put_interned(out, tm_pf_interned(state, s, TABLE_NOTE_TEXT, f->value));
    default:
        return tm_pf_put_uint(out, f->value);
    }
}

/* A text that contains JSON is written as a string, because that JSON may be invalid. */
bool tm_pf_put_note(tm_vec *out, const tm_pf_state *state, const tm_pf_sequence *s,
                    tm_wire_message note, int depth) {
    tm_wire_message rest = note;
    tm_wire_field f;
    while (depth < DEPTH_MAX && tm_wire_next(&rest, &f)) {
        const bool bytes = f.type == TM_WIRE_BYTES;
        if (bytes && (f.number == NOTE_DICT || f.number == NOTE_ARRAY))
            return put_inner(out, state, s, note, f.number, depth);
        if (bytes && f.number == NOTE_NESTED)
            return put_nested(out, tm_wire_inner(&f), depth);
        if (bytes && (f.number == NOTE_TEXT || f.number == NOTE_JSON))
            return tm_pf_put_text(out, tm_wire_text(&f));
        if (!bytes && ((f.number >= NOTE_BOOL && f.number <= NOTE_REAL) ||
                       f.number == NOTE_POINTER || f.number == NOTE_TEXT_ID))
            return put_number(out, state, s, &f);
    }
    return tm_pf_put(out, "null");
}

tm_text tm_pf_note_name(const tm_pf_state *state, const tm_pf_sequence *s, tm_wire_message note,
                        tm_vec *scratch) {
    tm_wire_field f;
    while (tm_wire_next(&note, &f)) {
        if (f.number == NOTE_NAME_ID && f.type == TM_WIRE_VARINT)
            return tm_pf_interned(state, s, TABLE_NOTE_NAME, f.value);
        if (f.number == NOTE_NAME && f.type == TM_WIRE_BYTES) {
            size_t before = scratch->n;
            if (!tm_pf_put_text(scratch, tm_wire_text(&f)))
                break;
            return (tm_text){(const char *)scratch->data + before, scratch->n - before};
        }
    }
    return (tm_text){.bytes = ""};
}
