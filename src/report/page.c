#include "report/page.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/draft.h"
#include "base/vec.h"
#include "report/built.h"
#include "tmerge/report.h"

enum {
    BUFFER_BYTES = 1 << 16,
    PIECE_MAX = 1 << 30, /* ISA-L counts in 32 bits */
    ZLIB_LEVEL = 3
};

struct tm_page {
    tm_draft draft;
    size_t n;       /* bytes in the buffer */
    size_t n_bytes; /* in the page */
    unsigned char buffer[BUFFER_BYTES];
};

static tm_status fail_output(const tm_page *page, int code, tm_error *err) {
    return tm_fail(err, TM_ERR_OUTPUT, page->draft.path, -1, "cannot be written: %s",
                   strerror(code));
}

static tm_status flush(tm_page *page, tm_error *err) {
    size_t done = 0;
    while (done < page->n) {
        ssize_t n = write(page->draft.fd, page->buffer + done, page->n - done);
        if (n < 0 && errno != EINTR)
            return fail_output(page, errno, err);
        done += n > 0 ? (size_t)n : 0;
    }
    page->n = 0;
    return TM_OK;
}

static tm_status put(tm_page *page, const void *bytes, size_t size, tm_error *err) {
    const unsigned char *from = bytes;
    while (size > 0) {
        if (page->n == BUFFER_BYTES)
            TM_TRY(flush(page, err));
        size_t room = BUFFER_BYTES - page->n, n = size < room ? size : room;
        memcpy(page->buffer + page->n, from, n);
        page->n += n;
        page->n_bytes += n;
        from += n;
        size -= n;
    }
    return TM_OK;
}

static tm_status put_string(tm_page *page, const char *text, tm_error *err) {
    return put(page, text, strlen(text), err);
}

static tm_status put_built(tm_page *page, int part, tm_error *err) {
    return put(page, tm_built_page[part].bytes, tm_built_page[part].size, err);
}

/* The title as text of an element. */
static tm_status put_title(tm_page *page, const char *title, tm_error *err) {
    for (const char *c = title; *c; c++) {
        const char *escaped = *c == '<' ? "&lt;" : *c == '&' ? "&amp;" : NULL;
        bool control = (unsigned char)*c < 0x20 || *c == 0x7f;
        TM_TRY(escaped ? put_string(page, escaped, err) : put(page, control ? " " : c, 1, err));
    }
    return TM_OK;
}

bool tm_report_is_built(void) {
    return tm_built_page[TM_BUILT_HEAD].size > 0;
}

static tm_status open_page(tm_page *page, const char *path, const char *title, tm_error *err) {
    if (!tm_draft_create(&page->draft, path))
        return tm_fail_memory(err);
    int failed = tm_draft_open(&page->draft);
    if (failed)
        return fail_output(page, failed, err);
    TM_TRY(put_built(page, TM_BUILT_HEAD, err));
    TM_TRY(put_title(page, title, err));
    return put_built(page, TM_BUILT_BODY, err);
}

tm_status tm_page_create(const char *path, const char *title, tm_page **out, tm_error *err) {
    if (!tm_report_is_built())
        return tm_fail(err, TM_ERR_FAULT, path, -1,
                       "this tmerge was built without the report page (TMERGE_REPORT=OFF)");
    tm_page *page = malloc(sizeof *page);
    if (!page)
        return tm_fail_memory(err);
    page->n = page->n_bytes = 0;
    page->draft = (tm_draft){.fd = -1};
    tm_status status = open_page(page, path, title, err);
    if (status == TM_OK)
        *out = page;
    else
        tm_page_abandon(page);
    return status;
}

tm_status tm_page_put_tables(tm_page *page, const char *json, size_t size, tm_error *err) {
    TM_TRY(put(page, json, size, err));
    return put_built(page, TM_BUILT_PROGRAM, err);
}

/* Base64 of what came so far, but for what does not make three bytes unless @p last. */
static tm_status put_base64(tm_page *page, tm_vec *bytes, bool last, tm_error *err) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *from = bytes->data;
    size_t n = last ? bytes->n : bytes->n - bytes->n % 3;
    for (size_t i = 0; i < n; i += 3) {
        size_t have = n - i < 3 ? n - i : 3;
        uint32_t word = (uint32_t)from[i] << 16;
        word |= have > 1 ? (uint32_t)from[i + 1] << 8 : 0;
        word |= have > 2 ? from[i + 2] : 0;
        const char text[4] = {digits[word >> 18], digits[word >> 12 & 63],
                              have > 1 ? digits[word >> 6 & 63] : '=',
                              have > 2 ? digits[word & 63] : '='};
        TM_TRY(put(page, text, sizeof text, err));
    }
    memmove(from, from + n, bytes->n - n);
    bytes->n -= n;
    return TM_OK;
}

/* Compresses a piece and writes what comes of it; what is left over stays in @p packed. */
static tm_status put_piece(tm_page *page, struct isal_zstream *stream, tm_vec *packed,
                           tm_error *err) {
    do {
        size_t before = packed->n;
        if (!tm_vec_append(packed, NULL, BUFFER_BYTES))
            return tm_fail_memory(err);
        stream->next_out = (uint8_t *)packed->data + before;
        stream->avail_out = BUFFER_BYTES;
        if (isal_deflate(stream) != COMP_OK)
            return tm_fail(err, TM_ERR_FAULT, page->draft.path, -1, "cannot be compressed");
        packed->n = before + BUFFER_BYTES - stream->avail_out;
        TM_TRY(put_base64(page, packed, false, err));
    } while (stream->avail_out == 0 || stream->avail_in > 0);
    return TM_OK;
}

static tm_status put_packed(tm_page *page, const void *bytes, size_t size,
                            struct isal_zstream *stream, tm_error *err) {
    tm_vec packed = TM_VEC(unsigned char);
    tm_status status = TM_OK;
    const unsigned char *from = bytes;
    do {
        size_t n = size < PIECE_MAX ? size : PIECE_MAX;
        union {
            const unsigned char *in;
            uint8_t *out; /* ISA-L does not write to it */
        } input = {.in = from};
        stream->next_in = input.out;
        stream->avail_in = (uint32_t)n;
        from += n;
        size -= n;
        stream->end_of_stream = size == 0;
        status = put_piece(page, stream, &packed, err);
    } while (size > 0 && status == TM_OK);
    if (status == TM_OK)
        status = put_base64(page, &packed, true, err);
    tm_vec_free(&packed);
    return status;
}

tm_status tm_page_put_block(tm_page *page, const char *id, const void *bytes, size_t size,
                            tm_error *err) {
    struct isal_zstream *stream = calloc(1, sizeof *stream);
    uint8_t *level = calloc(1, ISAL_DEF_LVL3_DEFAULT); /* of which ISA-L looks at all */
    tm_status status = stream && level ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK) {
        isal_deflate_init(stream);
        stream->gzip_flag = IGZIP_ZLIB;
        stream->level = ZLIB_LEVEL;
        stream->level_buf = level;
        stream->level_buf_size = ISAL_DEF_LVL3_DEFAULT;
        stream->flush = NO_FLUSH;
        status = put_string(page, "<script type=\"application/octet-stream\" id=\"", err);
    }
    if (status == TM_OK)
        status = put_string(page, id, err);
    if (status == TM_OK)
        status = put_string(page, "\">", err);
    if (status == TM_OK)
        status = put_packed(page, bytes, size, stream, err);
    if (status == TM_OK)
        status = put_string(page, "</script>\n", err);
    free(level);
    free(stream);
    return status;
}

size_t tm_page_bytes(const tm_page *page) {
    return page->n_bytes;
}

tm_status tm_page_commit(tm_page *page, tm_error *err) {
    tm_status status = put_built(page, TM_BUILT_END, err);
    if (status == TM_OK)
        status = flush(page, err);
    if (status == TM_OK) {
        int failed = tm_draft_publish(&page->draft);
        status = failed ? fail_output(page, failed, err) : TM_OK;
    }
    tm_page_abandon(page);
    return status;
}

void tm_page_abandon(tm_page *page) {
    if (page)
        tm_draft_discard(&page->draft);
    free(page);
}
