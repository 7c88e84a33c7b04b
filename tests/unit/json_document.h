/* Helpers of the JSON scanner tests: read one document through a window of a chosen size. */
#ifndef TMERGE_JSON_DOCUMENT_H
#define TMERGE_JSON_DOCUMENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "readers/window.h"

static inline tm_source *open_bytes(const char *bytes, size_t n) {
    tm_source *source = NULL;
    assert_int_equal(tm_source_open_memory(bytes, n, "document.json", &source, NULL), TM_OK);
    return source;
}

/* Returns an empty window that reads this many bytes at once. A small capacity makes the window end
 * inside every token, as a real window does once per megabyte. 0: the default capacity. */
static inline tm_window open_window(tm_source *source, size_t capacity) {
    tm_window window = {.source = source, .scanner = tm_scanner_best(), .capacity = capacity};
    if (capacity == 0) {
        assert_int_equal(tm_window_open(source, &window, NULL), TM_OK);
        return window;
    }
    window.buffer = calloc(1, capacity + TM_JSON_PADDING);
    assert_non_null(window.buffer);
    window.p = window.cursor.end = window.buffer;
    return window;
}

/* Reads one value and nothing else. */
static inline tm_status read_document(tm_window *window, tm_error *err) {
    TM_TRY(tm_window_space(window, err));
    TM_TRY(tm_window_skip_value(window, err));
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end)
        return tm_window_fail(window, window->p, "something follows the value", err);
    return TM_OK;
}

static inline tm_status check_with(const tm_scanner *scanner, const char *bytes, size_t n,
                                   size_t capacity, tm_error *err) {
    tm_source *source = open_bytes(bytes, n);
    tm_window window = open_window(source, capacity);
    window.scanner = scanner;
    tm_status status = read_document(&window, err);
    if (status == TM_OK)
        assert_int_equal(tm_source_offset(source), n);
    tm_window_close(&window);
    tm_source_close(source);
    return status;
}

/* Checks that all scanners agree on a document; returns their result. */
static inline tm_status check_document(const char *bytes, size_t n, size_t capacity,
                                       tm_error *err) {
    size_t n_scanners;
    const tm_scanner *scanners = tm_scanners(&n_scanners);
    tm_status status = check_with(&scanners[0], bytes, n, capacity, err);
    for (size_t i = 1; i < n_scanners; i++) {
        tm_error other = {.offset = -1};
        assert_int_equal(check_with(&scanners[i], bytes, n, capacity, &other), status);
        assert_int_equal(other.offset, status == TM_OK ? -1 : err->offset);
        if (status != TM_OK)
            assert_string_equal(other.message, err->message);
    }
    return status;
}

#endif
