#include "report/page_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deflate.h"
#include "base/temp_file.h"
#include "base/vec.h"
#include "report/built.h"
#include "tmerge/report.h"

enum {
    BUFFER_BYTES = 1 << 16,
    BLOCK_TAGS = 128 /* size of the tags around a block, with the block's id [B] */
};

struct tm_page {
    tm_temp_file temp;
    tm_vec *memory; /* vector of char: receives the page for a server; NULL: the page is written to
                       `temp` */
    size_t n;       /* number of bytes in the buffer */
    size_t n_bytes; /* number of bytes written so far */
    unsigned char buffer[BUFFER_BYTES];
};

static tm_status fail_output(const tm_page *page, int code, tm_error *err) {
    return tm_fail(err, TM_ERR_OUTPUT, page->temp.path, -1, "cannot be written: %s",
                   strerror(code));
}

static tm_status flush(tm_page *page, tm_error *err) {
    size_t done = page->memory ? page->n : 0;
    if (page->memory && page->n > 0 && !tm_vec_append(page->memory, page->buffer, page->n))
        return tm_fail_memory(err);
    while (done < page->n) {
        ssize_t n = write(page->temp.fd, page->buffer + done, page->n - done);
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

/* Writes the title, escaped as the text of an element. */
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

static tm_status open_file(tm_page *page, const char *path, tm_error *err) {
    if (!tm_temp_file_create(&page->temp, path))
        return tm_fail_memory(err);
    int failed = tm_temp_file_open(&page->temp);
    return failed ? fail_output(page, failed, err) : TM_OK;
}

static tm_status open_page(tm_page *page, const char *path, const char *title, tm_error *err) {
    if (!page->memory)
        TM_TRY(open_file(page, path, err));
    TM_TRY(put_built(page, TM_BUILT_HEAD, err));
    if (page->memory)
        TM_TRY(put_string(page, "; connect-src 'self'", err));
    TM_TRY(put_built(page, TM_BUILT_TITLE, err));
    TM_TRY(put_title(page, title, err));
    return put_built(page, TM_BUILT_BODY, err);
}

static tm_status create(const char *path, tm_vec *memory, const char *title, tm_page **out,
                        tm_error *err) {
    if (!tm_report_is_built())
        return tm_fail(err, TM_ERR_FAULT, path, -1,
                       "this tmerge was built without the report page (TMERGE_REPORT=OFF)");
    tm_page *page = malloc(sizeof *page);
    if (!page)
        return tm_fail_memory(err);
    page->n = page->n_bytes = 0;
    page->memory = memory;
    page->temp = (tm_temp_file){.fd = -1};
    tm_status status = open_page(page, path, title, err);
    if (status == TM_OK)
        *out = page;
    else
        tm_page_abandon(page);
    return status;
}

tm_status tm_page_create(const char *path, const char *title, tm_page **out, tm_error *err) {
    return create(path, NULL, title, out, err);
}

tm_status tm_page_serve(tm_vec *out, const char *title, tm_page **page, tm_error *err) {
    return create(NULL, out, title, page, err);
}

static tm_status put_base64(tm_page *page, const unsigned char *from, size_t n, tm_error *err) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        size_t have = n - i < 3 ? n - i : 3;
        uint32_t word = (uint32_t)from[i] << 16;
        word |= have > 1 ? (uint32_t)from[i + 1] << 8 : 0;
        word |= have > 2 ? from[i + 2] : 0;
        if (BUFFER_BYTES - page->n < 4)
            TM_TRY(flush(page, err));
        unsigned char *to = page->buffer + page->n;
        to[0] = (unsigned char)digits[word >> 18];
        to[1] = (unsigned char)digits[word >> 12 & 63];
        to[2] = (unsigned char)(have > 1 ? digits[word >> 6 & 63] : '=');
        to[3] = (unsigned char)(have > 2 ? digits[word & 63] : '=');
        page->n += 4;
        page->n_bytes += 4;
    }
    return TM_OK;
}

static tm_status keep_packed(void *packed, const void *bytes, size_t size, tm_error *err) {
    return tm_vec_append(packed, bytes, size) ? TM_OK : tm_fail_memory(err);
}

tm_status tm_page_pack(const void *bytes, size_t size, tm_vec *packed, tm_error *err) {
    tm_deflate *deflate = tm_deflate_create();
    tm_status status = deflate ? tm_deflate_to(deflate, bytes, size, keep_packed, packed, err)
                               : tm_fail_memory(err);
    tm_deflate_destroy(deflate);
    return status;
}

size_t tm_page_size_of(const tm_vec *packed) {
    return (packed->n + 2) / 3 * 4 + BLOCK_TAGS;
}

tm_status tm_page_put_packed(tm_page *page, const char *id, const tm_vec *packed, tm_error *err) {
    TM_TRY(put_string(page, "<script type=\"application/octet-stream\" id=\"", err));
    TM_TRY(put_string(page, id, err));
    TM_TRY(put_string(page, "\">", err));
    TM_TRY(put_base64(page, packed->data, packed->n, err));
    return put_string(page, "</script>\n", err);
}

tm_status tm_page_put_tables(tm_page *page, const char *json, size_t size, tm_error *err) {
    tm_vec packed = TM_VEC(unsigned char);
    tm_status status = tm_page_pack(json, size, &packed, err);
    if (status == TM_OK)
        status = put_base64(page, packed.data, packed.n, err);
    tm_vec_free(&packed);
    return status == TM_OK ? put_built(page, TM_BUILT_PROGRAM, err) : status;
}

size_t tm_page_bytes(const tm_page *page) {
    return page->n_bytes;
}

tm_status tm_page_commit(tm_page *page, tm_error *err) {
    tm_status status = put_built(page, TM_BUILT_END, err);
    if (status == TM_OK)
        status = flush(page, err);
    if (status == TM_OK && !page->memory) {
        int failed = tm_temp_file_publish(&page->temp);
        status = failed ? fail_output(page, failed, err) : TM_OK;
    }
    tm_page_abandon(page);
    return status;
}

void tm_page_abandon(tm_page *page) {
    if (page)
        tm_temp_file_discard(&page->temp);
    free(page);
}
