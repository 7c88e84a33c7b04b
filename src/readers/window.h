/* A bounded window over a byte source, for streaming readers. */
#ifndef TMERGE_WINDOW_H
#define TMERGE_WINDOW_H

#include "json.h"
#include "scanner.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

/* Number of bytes read at once. Fuzzing sets it to a few bytes, so that short inputs are read in
 * several pieces. */
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
    char *buffer; /* [capacity + TM_JSON_PADDING] owned */
    size_t capacity;
    int64_t buffer_offset; /* offset of buffer[0] in the decoded content */
    const char *p;         /* the next byte to read */
    tm_json_cursor cursor; /* cursor.end is the end of the last byte in the window */
    bool cut;              /* the compressed stream ended too early, and the content ends there */
    /* the last failure was only that the content ends too early */
    bool ended;
} tm_window;

/** Starts a window and reads its first bytes. The source must be unread. */
tm_status tm_window_open(tm_source *source, tm_window *out, tm_error *err) TM_MUST_CHECK;
void tm_window_close(tm_window *window);

/**
 * Reads more bytes. The bytes from @p keep on stay in the window and move to its front. window->p
 * is adjusted, and all other pointers into the window become invalid.
 *
 * @param keep  a position in [buffer, cursor.end]. If the kept bytes fill the window, the window
 *              grows.
 * @return      TM_OK, with cursor.final set if the content ends, also if it ends too early;
 *              TM_ERR_INPUT, also if the kept bytes exceed TM_WINDOW_ITEM_MAX or nothing follows;
 *              TM_ERR_FAULT
 */
tm_status tm_window_refill(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/**
 * Must be called after a token function returned NULL. If the text continues beyond the window,
 * reads more and returns TM_OK; the token must then be read again at window->p. Otherwise, reports
 * the error and its position.
 *
 * @param keep  start of the current item; window->p is set to it
 */
tm_status tm_window_resume(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/** Skips white space, and reads more bytes as needed. After this, window->p is at a byte, or at the
 * end of the content, where *p is 0 and cursor.final is set. */
tm_status tm_window_space(tm_window *window, tm_error *err) TM_MUST_CHECK;

/** Skips one value of any size at window->p, and checks its grammar. */
tm_status tm_window_skip_value(tm_window *window, tm_error *err) TM_MUST_CHECK;

/**
 * Reads a key and its colon. After this, window->p is at the value, or at the end of the content.
 *
 * @param key  points into the window, so it is valid only until more is read
 */
tm_status tm_window_key(tm_window *window, tm_json_text *key, tm_error *err) TM_MUST_CHECK;

/** Fails with an error at the position of @p at, which points into the window. Sets window->ended
 * if that position is the end of the content. */
tm_status tm_window_fail(tm_window *window, const char *at, const char *why, tm_error *err);

#endif
