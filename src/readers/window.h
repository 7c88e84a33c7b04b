/* A bounded window over a byte source, for streaming readers. */
#ifndef TMERGE_WINDOW_H
#define TMERGE_WINDOW_H

#include "json.h"
#include "scanner.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

/* Size of one read. Fuzzing sets a small one, so that short inputs are read in several parts. */
#ifndef TMERGE_WINDOW_BYTES
#define TMERGE_WINDOW_BYTES (1 << 20)
#endif

enum {
    TM_WINDOW_BYTES = TMERGE_WINDOW_BYTES,
    TM_WINDOW_ITEM_MAX = 1 << 26 /* maximum size of a single event: 64 MiB */
};

typedef struct tm_window {
    tm_source *source; /* borrowed */
    const tm_scanner *scanner;
    char *buffer; /* owned: capacity + TM_JSON_PADDING bytes */
    size_t capacity;
    int64_t buffer_offset; /* of buffer[0] in the decoded content */
    const char *p;         /* the next byte to read */
    tm_json_cursor cursor; /* cursor.end: after the last byte held */
    bool cut;              /* the compressed stream was cut short: the content ends there */
    bool ended; /* a failure is only due to the content ending in the middle of the text */
} tm_window;

/** Starts a window and reads its first bytes. Needs an unread source. */
tm_status tm_window_open(tm_source *source, tm_window *out, tm_error *err) TM_MUST_CHECK;
void tm_window_close(tm_window *window);

/**
 * Reads more. Bytes from @p keep on stay in the window and move to its front; window->p moves along
 * and every other pointer into the window becomes invalid.
 *
 * @param keep  in [buffer, cursor.end]; the window grows if the kept bytes fill it
 * @return      TM_OK, with cursor.final set if the content ends, cut short or not; TM_ERR_INPUT,
 *              also if the kept bytes exceed TM_WINDOW_ITEM_MAX or nothing follows; TM_ERR_FAULT
 */
tm_status tm_window_refill(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/**
 * Handles a token function that returned NULL: if the text only continued beyond the window, reads
 * more and returns TM_OK (repeat the token at window->p), else reports the error and its position.
 *
 * @param keep  start of the current item; window->p is set there
 */
tm_status tm_window_resume(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/** Skips white space, reading more as needed; window->p is then at a byte, or at the end of the
 * content, where *p is 0 and cursor.final is set. */
tm_status tm_window_space(tm_window *window, tm_error *err) TM_MUST_CHECK;

/** Skips one value of any size at window->p, checking its grammar. */
tm_status tm_window_skip_value(tm_window *window, tm_error *err) TM_MUST_CHECK;

/** Reads a key and its colon; window->p is then at the value, or at the content's end.
 * @param key  in the window, so valid only until the window moves on */
tm_status tm_window_key(tm_window *window, tm_json_text *key, tm_error *err) TM_MUST_CHECK;

/** Fails with an error at the position of @p at, which points into the window. Sets window->ended
 * if that position is the end of the content. */
tm_status tm_window_fail(tm_window *window, const char *at, const char *why, tm_error *err);

#endif
