#include "table/alike.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"

typedef struct pair {
    uint64_t shown, whole;
} pair;

enum { DIGITS_FIRST = 4, DIGITS_MAX = 16, LIMIT = 1 << 12 };

TM_ORDER_BY(by_shown, pair, shown, whole);

/* Removes duplicate pairs. */
static void put_together(tm_vec *seen) {
    pair *v = seen->data;
    size_t n = 0;
    tm_sort(v, seen->n, sizeof *v, by_shown);
    for (size_t i = 0; i < seen->n; i++)
        if (n == 0 || by_shown(&v[n - 1], &v[i]) != 0)
            v[n++] = v[i];
    seen->n = n;
}

tm_alike tm_alike_begin(size_t points) {
    return (tm_alike){
        .seen = TM_VEC(pair), .limit = LIMIT, .points = points, .digits = DIGITS_FIRST};
}

void tm_alike_free(tm_alike *alike) {
    tm_vec_free(&alike->seen);
}

static uint64_t hash_of(const char *text) {
    return tm_hash_mixed(0, text, strlen(text));
}

static pair pair_of(const tm_alike *alike, const char *text) {
    char shown[TM_SHOWN_MAX];
    tm_shown_tagged(text, alike->points, "...", shown);
    return (pair){hash_of(shown), hash_of(text)};
}

bool tm_alike_add(tm_alike *alike, const char *text) {
    if (!tm_shown_is_cut(text, alike->points))
        return true;
    const pair found = pair_of(alike, text), *last = alike->seen.data;
    if (alike->seen.n > 0 && by_shown(&last[alike->seen.n - 1], &found) == 0)
        return true;
    if (alike->seen.n >= alike->limit) {
        put_together(&alike->seen);
        alike->limit = 2 * alike->seen.n + LIMIT;
    }
    return tm_vec_append(&alike->seen, &found, 1) != NULL;
}

static uint64_t tag_of(uint64_t whole, int digits) {
    return whole >> (64 - 4 * digits);
}

/* Returns whether any two different texts that look the same when shown have different tags. Such
 * texts are adjacent in @p seen, in the order of their hashes, and therefore also of their tags. */
static bool tags_differ(const tm_vec *seen, int digits) {
    const pair *v = seen->data;
    for (size_t i = 1; i < seen->n; i++)
        if (v[i].shown == v[i - 1].shown &&
            tag_of(v[i].whole, digits) == tag_of(v[i - 1].whole, digits))
            return false;
    return true;
}

void tm_alike_end(tm_alike *alike) {
    put_together(&alike->seen);
    pair *v = alike->seen.data;
    size_t n = 0;
    for (size_t i = 0, end; i < alike->seen.n; i = end) {
        for (end = i + 1; end < alike->seen.n && v[end].shown == v[i].shown;)
            end++;
        for (size_t k = i; k < end && end - i > 1; k++)
            v[n++] = v[k];
    }
    alike->seen.n = n;
    while (alike->digits < DIGITS_MAX && !tags_differ(&alike->seen, alike->digits))
        alike->digits *= 2;
}

static bool is_before(const void *a, const void *b) {
    return by_shown(a, b) < 0;
}

void tm_alike_show(const tm_alike *alike, const char *text, char out[TM_SHOWN_MAX]) {
    const pair *v = alike->seen.data, wanted = pair_of(alike, text);
    size_t i = tm_bisect(v, alike->seen.n, sizeof *v, &wanted, is_before);
    char tag[DIGITS_MAX + 8] = "...";
    if (i < alike->seen.n && by_shown(&v[i], &wanted) == 0)
        snprintf(tag, sizeof tag, "..#%0*" PRIx64 "..", alike->digits,
                 tag_of(wanted.whole, alike->digits));
    tm_shown_tagged(text, alike->points, tag, out);
}
