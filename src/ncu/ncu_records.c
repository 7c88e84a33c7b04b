#include "ncu/ncu_records.h"

#include <string.h>

void tm_records_free(tm_records *records) {
    tm_vec_free(&records->text);
    tm_vec_free(&records->fields);
}

const char *tm_records_field(const tm_records *records, size_t field) {
    return (const char *)records->text.data + ((const tm_field *)records->fields.data)[field].text;
}

size_t tm_records_offset(const tm_records *records, size_t field) {
    return ((const tm_field *)records->fields.data)[field].at;
}

/* Returns the number of bytes of the line end at @p at; 0 if there is no line end, or at the end of
 * the file. */
static size_t line_end(const tm_records *r, size_t at) {
    if (at < r->size && r->bytes[at] == '\n')
        return 1;
    return at + 1 < r->size && r->bytes[at] == '\r' && r->bytes[at + 1] == '\n' ? 2 : 0;
}

static bool ends_field(const tm_records *r, size_t at) {
    return at == r->size || r->bytes[at] == ',' || line_end(r, at) > 0;
}

static void pass_lines(tm_records *r) {
    while (r->at < r->size) {
        size_t end = line_end(r, r->at);
        if (end == 0 && (r->size - r->at < 2 || memcmp(r->bytes + r->at, "==", 2) != 0))
            return;
        const char *next = memchr(r->bytes + r->at, '\n', r->size - r->at);
        r->at = next ? (size_t)(next - r->bytes) + 1 : r->size;
    }
}

/* Takes a quoted field. Two quotes in the field stand for one quote. */
static tm_status take_quoted(tm_records *r, tm_error *err) {
    const size_t begin = r->at++;
    for (;;) {
        const char *quote = memchr(r->bytes + r->at, '"', r->size - r->at);
        if (!quote)
            return tm_fail(err, TM_ERR_INPUT, r->path, (int64_t)begin, "a quote is not closed");
        const size_t end = (size_t)(quote - r->bytes);
        const bool two = end + 1 < r->size && r->bytes[end + 1] == '"';
        if (!tm_vec_append(&r->text, r->bytes + r->at, end - r->at + two))
            return tm_fail_memory(err);
        r->at = end + 1 + two;
        if (two)
            continue;
        if (!ends_field(r, r->at))
            return tm_fail(err, TM_ERR_INPUT, r->path, (int64_t)r->at,
                           "a comma should follow the closing quote");
        return TM_OK;
    }
}

static tm_status take_field(tm_records *r, tm_error *err) {
    tm_field *field = tm_vec_push(&r->fields);
    if (!field)
        return tm_fail_memory(err);
    *field = (tm_field){.at = r->at, .text = r->text.n};
    const size_t first = r->text.n;
    if (r->at < r->size && r->bytes[r->at] == '"') {
        TM_TRY(take_quoted(r, err));
    } else {
        const size_t begin = r->at;
        while (!ends_field(r, r->at))
            r->at++;
        if (!tm_vec_append(&r->text, r->bytes + begin, r->at - begin))
            return tm_fail_memory(err);
    }
    if (r->text.n > first && memchr((char *)r->text.data + first, '\0', r->text.n - first))
        return tm_fail(err, TM_ERR_INPUT, r->path, (int64_t)field->at, "a zero byte in the text");
    return tm_vec_append(&r->text, "", 1) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_records_next(tm_records *records, bool *found, tm_error *err) {
    records->text.n = records->fields.n = 0;
    pass_lines(records);
    *found = records->at < records->size;
    while (*found) {
        TM_TRY(take_field(records, err));
        if (records->at == records->size)
            break;
        const size_t end = line_end(records, records->at);
        records->at += end > 0 ? end : 1; /* skip the line end, or else the comma */
        if (end > 0)
            break;
    }
    return TM_OK;
}
