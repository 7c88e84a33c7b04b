#include "input_dims.h"

#include <string.h>

#include "base/letters.h"

/* A position in a text, which may have any content. */
typedef struct place {
    const char *p, *end;
} place;

static bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static void skip_space(place *at) {
    while (at->p < at->end && is_space(*at->p))
        at->p++;
}

/* Skips the next character if it is @p c. Returns whether it was. */
static bool take(place *at, char c) {
    skip_space(at);
    if (at->p == at->end || *at->p != c)
        return false;
    at->p++;
    return true;
}

static bool take_int(place *at, int64_t *out) {
    skip_space(at);
    bool negative = at->p < at->end && *at->p == '-';
    const char *first = at->p += negative;
    int64_t value = 0;
    for (; at->p < at->end && *at->p >= '0' && *at->p <= '9' && at->p - first < 18; at->p++)
        value = value * 10 + (*at->p - '0');
    *out = negative ? -value : value;
    return at->p > first;
}

/* Moves past the closing bracket of a list. The opening bracket has been read. */
static bool skip_list(place *at) {
    for (int depth = 1; at->p < at->end; at->p++) {
        depth += (*at->p == '[') - (*at->p == ']');
        if (depth == 0) {
            at->p++;
            return true;
        }
    }
    return false;
}

/* Reads the numbers and the closing bracket of a list. The opening bracket has been read. */
static bool take_numbers(place *at, tm_dims *out) {
    out->n = 0;
    if (take(at, ']'))
        return true;
    do {
        int64_t value;
        if (!take_int(at, &value) || out->n == TM_DIMS_MAX) {
            out->n = -1;
            return skip_list(at);
        }
        out->at[out->n++] = value;
    } while (take(at, ','));
    return take(at, ']');
}

bool tm_inputs_dims(tm_text text, tm_dims out[TM_INPUTS_MAX]) {
    place at = {text.bytes, text.bytes + text.size};
    memset(out, 0, TM_INPUTS_MAX * sizeof *out);
    if (!take(&at, '['))
        return false;
    for (int i = 0; i < TM_INPUTS_MAX; i++)
        if (!take(&at, '[') || !take_numbers(&at, &out[i]))
            return false;
        else if (!take(&at, ','))
            return take(&at, ']');
    return true;
}

tm_text tm_inputs_item(tm_text list, int n) {
    place at = {list.bytes, list.bytes + list.size};
    for (bool more = take(&at, '['); more; more = take(&at, ',')) {
        if (!take(&at, '"'))
            break;
        const char *first = at.p;
        while (at.p < at.end && *at.p != '"')
            at.p += *at.p == '\\' && at.p + 1 < at.end ? 2 : 1;
        if (at.p >= at.end)
            break;
        if (n-- == 0)
            return (tm_text){first, (size_t)(at.p - first)};
        at.p++;
    }
    return (tm_text){"", 0};
}

bool tm_inputs_ints(tm_text text, tm_dims *out) {
    place at = {text.bytes, text.bytes + text.size};
    bool ok;
    if (take(&at, '['))
        ok = take_numbers(&at, out) && out->n >= 0;
    else {
        ok = take_int(&at, &out->at[0]);
        out->n = 1;
    }
    skip_space(&at);
    return ok && at.p == at.end;
}

bool tm_inputs_true(tm_text text) {
    return tm_text_is(text, "True") || (text.size == 1 && *text.bytes == '1');
}
