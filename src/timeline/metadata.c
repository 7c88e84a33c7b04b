#include "metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/median.h"

enum { LONG_BYTES = 64 };

#define MARK "\"@list "

/* Characters at which copying stops. All others are copied unchanged. */
static const bool ends_run[256] = {['"'] = true,  ['['] = true,  [']'] = true,  [' '] = true,
                                   ['\t'] = true, ['\r'] = true, ['\n'] = true, ['\0'] = true};

/* An array that contains the current position. */
typedef struct open_array {
    size_t begin;   /* offset in own */
    size_t n_lists; /* number of lists that were cut out before this array */
} open_array;

typedef struct cutter {
    const char *p, *end;
    tm_names *names;
    tm_vec *own, *lists;
    tm_vec open;    /* vector of open_array */
    bool ambiguous; /* the text contains something that looks like a reference to a list */
    bool cuts;
} cutter;

/* Cuts a list out of the text: replaces `own` from @p begin on by a reference to the list. */
static bool cut(cutter *c, size_t begin, const char *list, size_t size) {
    char mark[48];
    int n = snprintf(mark, sizeof mark, MARK "%zu\"", c->lists->n);
    uint32_t id = tm_names_intern(c->names, list, size);
    c->own->n = begin;
    return id != TM_NAME_FAILED && tm_vec_append(c->lists, &id, 1) &&
           tm_vec_append(c->own, mark, (size_t)n);
}

/* Returns the position after the string that starts at p; the end of the text if the string does
 * not end. */
static const char *string_end(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++)
        p += *p == '\\';
    return p < end ? p + 1 : end;
}

static bool put_string(cutter *c) {
    const char *begin = c->p;
    size_t size = (size_t)((c->p = string_end(c->p, c->end)) - begin), mark = strlen(MARK);
    c->ambiguous |= size > mark && memcmp(begin, MARK, mark) == 0;
    if (c->cuts && size > 2 && begin[1] == '[')
        return cut(c, c->own->n, begin, size);
    return tm_vec_append(c->own, begin, size);
}

/* Returns the position after the array of numbers that starts at p; NULL if something else starts
 * there. Lists are most of the text of a large job, so this uses memchr, which is faster than a
 * loop over characters. */
static const char *numbers_end(const char *p, const char *end) {
    const char *close = memchr(p, ']', (size_t)(end - p));
    size_t size = close ? (size_t)(close - p) - 1 : 0;
    bool plain = size > 0 && !memchr(p + 1, '"', size) && !memchr(p + 1, '[', size) &&
                 !memchr(p + 1, '{', size);
    return plain ? close + 1 : NULL;
}

/* Starts an array. Cuts out an array of numbers as it is. Remembers another array as open. */
static bool open_list(cutter *c) {
    const open_array opened = {c->own->n, c->lists->n};
    const char *begin = c->p, *close = c->cuts ? numbers_end(c->p, c->end) : NULL;
    c->p = close ? close : c->p + 1;
    if (close)
        return cut(c, c->own->n, begin, (size_t)(close - begin));
    return tm_vec_append(&c->open, &opened, 1) && tm_vec_append(c->own, begin, 1);
}

/* Closes an array. Cuts it out if it is long and no list was cut out of it. */
static bool close_list(cutter *c) {
    const char *text;
    if (!tm_vec_append(c->own, c->p++, 1))
        return false;
    if (c->open.n == 0)
        return true;
    const open_array *opened = (const open_array *)c->open.data + --c->open.n;
    size_t size = c->own->n - opened->begin;
    if (!c->cuts || size <= LONG_BYTES || opened->n_lists != c->lists->n)
        return true;
    text = (const char *)c->own->data + opened->begin;
    return cut(c, opened->begin, text, size);
}

static bool take_run(cutter *c) {
    const char *begin = c->p;
    while (c->p < c->end && !ends_run[(unsigned char)*c->p])
        c->p++;
    size_t n = (size_t)(c->p - begin);
    c->p += n == 0; /* white space */
    return n == 0 || tm_vec_append(c->own, begin, n);
}

static bool take_all(cutter *c) {
    bool ok = true;
    while (c->p < c->end && ok)
        ok = *c->p == '"'   ? put_string(c)
             : *c->p == '[' ? open_list(c)
             : *c->p == ']' ? close_list(c)
                            : take_run(c);
    return ok;
}

bool tm_metadata_cut(const char *text, size_t size, tm_names *names, tm_vec *own, tm_vec *lists) {
    cutter c = {text, text + size, names, own, lists, TM_VEC(open_array), false, true};
    size_t own_n = own->n, lists_n = lists->n;
    bool ok = tm_vec_reserve(own, own_n + size) && take_all(&c);
    if (c.ambiguous) {
        own->n = own_n;
        lists->n = lists_n;
        c.open.n = 0;
        c.p = text;
        c.cuts = false;
        ok = ok && take_all(&c);
    }
    tm_vec_free(&c.open);
    return ok;
}

const char *tm_metadata_member(const char *object, const char *key) {
    const size_t size = strlen(key);
    const char *p = object, *const end = object + strlen(object);
    for (int depth = 0; p < end; p++) {
        depth += (*p == '{') + (*p == '[') - (*p == '}') - (*p == ']');
        if (depth == 0)
            return NULL; /* The object ended, or the text is not an object. */
        if (*p != '"')
            continue;
        const char *text = p + 1, *past = string_end(p, end);
        if (depth == 1 && *past == ':' && (size_t)(past - text) == size + 1 &&
            memcmp(text, key, size) == 0)
            return past + 1;
        p = past - 1;
    }
    return NULL;
}

tm_text tm_timeline_metadata(const tm_timeline *timeline) {
    return (tm_text){timeline->metadata ? timeline->metadata : "", timeline->n_metadata};
}

static bool read_mark(const char *text, const char *after, size_t n_lists, size_t *out) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long number = strtoull(text, &end, 10);
    *out = (size_t)number;
    return number < n_lists && strncmp(end, after, strlen(after) + (*after == '\0')) == 0;
}

size_t tm_metadata_next_list(const char **p, const char *key) {
    const size_t size = strlen(key);
    size_t number;
    for (const char *mark = *p; (mark = strstr(mark, MARK)); mark += strlen(MARK)) {
        bool is = mark - *p > (ptrdiff_t)size + 2 && mark[-1] == ':' && mark[-2] == '"' &&
                  memcmp(mark - 2 - size, key, size) == 0;
        if (!is || !read_mark(mark + strlen(MARK), "\"", SIZE_MAX, &number))
            continue;
        *p = mark + strlen(MARK);
        return number;
    }
    return SIZE_MAX;
}

uint32_t tm_timeline_list(const tm_timeline *timeline, const char *text) {
    size_t number, begin = strlen(MARK) - 1;
    bool is = text && strncmp(text, &MARK[1], begin) == 0 &&
              read_mark(text + begin, "", timeline->n_metadata_lists, &number);
    return is ? timeline->metadata_lists[number] : TM_NO_NAME;
}

bool tm_timeline_metadata_whole(const tm_timeline *timeline, const tm_names *names, tm_vec *out) {
    const char *p = tm_timeline_metadata(timeline).bytes, *mark = p;
    bool ok = true;
    while (ok && (mark = strstr(mark, MARK))) {
        const char *digits = mark + strlen(MARK);
        size_t number;
        if (!read_mark(digits, "\"", timeline->n_metadata_lists, &number)) {
            mark = digits;
            continue;
        }
        tm_text list = tm_names_text(names, timeline->metadata_lists[number]);
        ok = tm_vec_append(out, p, (size_t)(mark - p)) && tm_vec_append(out, list.bytes, list.size);
        p = mark = strchr(digits, '"') + 1;
    }
    return ok && tm_vec_append(out, p, strlen(p) + 1);
}

static const char *past_space(const char *p, const char *end) {
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

/* Appends the number at *p to the list, and moves *p past the comma after it. Returns false at the
 * end of the list. If the list is valid, *p is then at the closing bracket. */
static bool next_rank(const char **p, const char *end, tm_rank_list *out, bool *memory) {
    int64_t value = 0;
    const char *digits = *p = past_space(*p, end);
    while (*p < end && **p >= '0' && **p <= '9' && value < 1000000000)
        value = value * 10 + (*(*p)++ - '0');
    out->more = *p + 2 == end && **p == '?' && (*p)[1] == ']' && out->ranks.n > 0;
    *p += out->more;
    if (*p == digits && !out->more)
        *p = end; /* not a number */
    if (*p == end || out->more)
        return false;
    *memory = tm_vec_append(&out->ranks, &value, 1) != NULL;
    *p = past_space(*p, end);
    if (!*memory || *p == end || **p != ',')
        return false;
    ++*p;
    return true;
}

bool tm_rank_list_read(tm_text text, tm_rank_list *out) {
    const char *p = text.bytes, *end = p + text.size;
    bool memory = true;
    *out = (tm_rank_list){.ranks = TM_VEC(int64_t), .read = true};
    if (text.size > 1 && *p == '"' && end[-1] == '"') {
        p++;
        end--;
    }
    if (p == end || *p++ != '[')
        return true;
    while (next_rank(&p, end, out, &memory)) {
    }
    if (p == end || *p != ']')
        out->ranks.n = 0;
    if (out->ranks.n > 1)
        tm_sort_values(out->ranks.data, out->ranks.n);
    return memory;
}

int64_t tm_dtype_bytes(tm_text dtype) {
    static const struct {
        const char *name;
        int64_t bytes;
    } types[] = {
        {"Float", 4},        {"BFloat16", 2},       {"Half", 2},   {"Double", 8}, {"Int", 4},
        {"Long", 8},         {"Byte", 1},           {"Char", 1},   {"Bool", 1},   {"Short", 2},
        {"ComplexFloat", 8}, {"ComplexDouble", 16}, {"UInt16", 2}, {"UInt32", 4}, {"UInt64", 8},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == dtype.size &&
            memcmp(types[i].name, dtype.bytes, dtype.size) == 0)
            return types[i].bytes;
    return dtype.size > 6 && tm_text_begins(dtype, "Float8") ? 1 : 0;
}
