#include "json_values.h"

#include <errno.h>
#include <stdlib.h>

#include "json.h"

enum { DEPTH_MAX = 32, PIECE = 1 << 16, BYTES_MAX = 1 << 28 };

typedef struct parser {
    tm_json_cursor cursor;
    tm_pickle *out;
    tm_vec text;    /* vector of char: a text after decoding its escapes */
    int64_t commas; /* number of missing commas */
    int depth;
    bool cut, memory, lax;
} parser;

static const char *out_of_memory(parser *p) {
    p->memory = true;
    return NULL;
}

static const char *push(parser *p, tm_pickle_value value, const char *at) {
    return tm_vec_append(&p->out->stack, &value, 1) ? at : out_of_memory(p);
}

static const char *push_text(parser *p, const tm_json_text *text, const char *at) {
    const char *bytes = text->bytes;
    size_t size = text->size;
    if (text->escaped) {
        p->text.n = 0;
        if (!tm_vec_append(&p->text, NULL, size))
            return out_of_memory(p);
        size = tm_json_decode(text, p->text.data);
        bytes = p->text.data;
    }
    uint32_t id = tm_names_intern(p->out->texts, bytes, size);
    if (id == TM_NAME_FAILED)
        return out_of_memory(p);
    return push(p, (tm_pickle_value){.as.id = id, .type = TM_PICKLE_TEXT}, at);
}

/* Pushes a number, as a real if it has a fraction or does not fit into 64 bits. */
static const char *push_number(parser *p, const char *at) {
    const char *end = tm_json_number(&p->cursor, at);
    char *after;
    if (!end)
        return NULL;
    if (end == p->cursor.end && p->depth > 0) /* the text may end within the number */
        return tm_json_fail(&p->cursor, end, "the text ends inside a list");
    errno = 0;
    long long whole = strtoll(at, &after, 10);
    if (after == end && errno == 0)
        return push(p, (tm_pickle_value){.as.i = whole, .type = TM_PICKLE_INT}, end);
    return push(p, (tm_pickle_value){.as.r = strtod(at, NULL), .type = TM_PICKLE_REAL}, end);
}

static const char *push_literal(parser *p, const char *at) {
    const char *end = tm_json_literal(&p->cursor, at);
    if (!end)
        return NULL;
    return push(
        p,
        (tm_pickle_value){.as.i = *at == 't', .type = *at == 'n' ? TM_PICKLE_NONE : TM_PICKLE_BOOL},
        end);
}

static const char *parse_value(parser *p, const char *at);

static const char *parse_string(parser *p, const char *at) {
    tm_json_text text;
    const char *end = tm_json_string(&p->cursor, at + 1, &text);
    return end ? push_text(p, &text, end) : NULL;
}

/* Advances to the next item or to the closing bracket. Skips the comma before an item. */
static const char *next_item(parser *p, const char *at, bool first, char close) {
    at = tm_json_space(at);
    if (*at == close || first)
        return at;
    if (p->lax && *at == '"' && close == '}') {
        p->commas++;
        return at;
    }
    return *at == ',' ? tm_json_space(at + 1)
                      : tm_json_fail(&p->cursor, at, "a comma or an end should follow the value");
}

static const char *parse_member(parser *p, const char *at, bool object) {
    if (object) {
        if (*at != '"')
            return tm_json_fail(&p->cursor, at, "a key is expected here");
        at = parse_string(p, at);
        at = at ? tm_json_space(at) : NULL;
        if (at && *at != ':')
            return tm_json_fail(&p->cursor, at, "a colon should follow the key");
        at = at ? tm_json_space(at + 1) : NULL;
    }
    return at ? parse_value(p, at) : NULL;
}

/* Returns whether parsing stopped because the text ends. Containers that are open then keep what
 * was read. */
static bool is_cut(parser *p) {
    p->cut = p->cut || (!p->memory && p->cursor.fail && p->cursor.fail >= p->cursor.end);
    return p->cut;
}

static const char *parse_container(parser *p, const char *at) {
    const bool object = *at == '{';
    const char close = object ? '}' : ']';
    const size_t height = p->out->stack.n;
    bool first = true;
    if (++p->depth > DEPTH_MAX)
        return tm_json_fail(&p->cursor, at, "lists are nested too deeply");
    at = next_item(p, at + 1, true, close);
    for (; at && *at != close && !p->cut; first = false) {
        at = next_item(p, at, first, close);
        if (at && *at != close)
            at = parse_member(p, at, object);
        at = at ? tm_json_space(at) : NULL;
    }
    if (!at && !is_cut(p))
        return NULL;
    p->depth--;
    size_t n = p->out->stack.n - height;
    n -= object ? n % 2 : 0;
    tm_pickle_value made;
    p->out->stack.n = height;
    if (!tm_pickle_make(p->out, object ? TM_PICKLE_DICT : TM_PICKLE_LIST,
                        n > 0 ? (tm_pickle_value *)p->out->stack.data + height : NULL, n, &made))
        return out_of_memory(p);
    return push(p, made, p->cut ? p->cursor.end : at + 1);
}

static const char *parse_value(parser *p, const char *at) {
    if (*at == '{' || *at == '[')
        return parse_container(p, at);
    if (*at == '"')
        return parse_string(p, at);
    return *at == '-' || (*at >= '0' && *at <= '9') ? push_number(p, at) : push_literal(p, at);
}

static tm_status parse(parser *p, tm_source *source, const tm_vec *bytes, tm_error *err) {
    const char *begin = bytes->data;
    p->cursor.end = begin + bytes->n;
    const char *at = parse_value(p, tm_json_space(begin));
    if (p->memory)
        return tm_fail_memory(err);
    at = at ? tm_json_space(at) : NULL;
    if (at && at < p->cursor.end)
        at = tm_json_fail(&p->cursor, at, "something follows the document");
    if (!at)
        return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), p->cursor.fail - begin,
                       "as JSON: %s", p->cursor.why);
    p->out->root = *(const tm_pickle_value *)p->out->stack.data;
    return TM_OK;
}

/* Reads the whole source and appends zero bytes, which end every token. */
static tm_status read_all(tm_source *source, tm_vec *bytes, tm_error *err) {
    static const char padding[TM_JSON_PADDING];
    size_t n = 1;
    while (n > 0) {
        if (bytes->n >= BYTES_MAX)
            return tm_fail(err, TM_ERR_INPUT, tm_source_path(source), (int64_t)bytes->n,
                           "larger than 256 MiB, the limit for such a file");
        if (bytes->n == bytes->cap && !tm_vec_reserve(bytes, bytes->n + PIECE))
            return tm_fail_memory(err);
        tm_status status =
            tm_source_read(source, (char *)bytes->data + bytes->n, bytes->cap - bytes->n, &n, err);
        if (status != TM_OK && !tm_source_cut_short(source))
            return status;
        n = status == TM_OK ? n : 0;
        bytes->n += n;
    }
    const size_t end = bytes->n;
    if (!tm_vec_append(bytes, padding, sizeof padding))
        return tm_fail_memory(err);
    bytes->n = end;
    return TM_OK;
}

tm_status tm_json_values_read(tm_source *source, bool lax, tm_pickle *out, tm_json_lapses *lapses,
                              tm_error *err) {
    parser p = {.out = out, .lax = lax, .text = TM_VEC(char)};
    tm_vec bytes = TM_VEC(char);
    tm_status status = tm_pickle_clear(out) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = read_all(source, &bytes, err);
    if (status == TM_OK)
        status = parse(&p, source, &bytes, err);
    *lapses = (tm_json_lapses){p.cut, (int64_t)bytes.n, p.commas};
    tm_vec_free(&bytes);
    tm_vec_free(&p.text);
    return status;
}
