/* A bounded window over a byte source: what a streaming reader looks at. */
#ifndef TMERGE_WINDOW_H
#define TMERGE_WINDOW_H

#include "json.h"
#include "scanner.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

enum {
    TM_WINDOW_BYTES = 1 << 20,   /* what is read at once */
    TM_WINDOW_ITEM_MAX = 1 << 26 /* the longest single event that is kept whole: 64 MiB */
};

typedef struct tm_window {
    tm_source *source; /* borrowed */
    const tm_scanner *scanner;
    char *buffer; /* owned: capacity + TM_JSON_PADDING bytes */
    size_t capacity;
    int64_t buffer_offset; /* of buffer[0] in the decoded content */
    const char *p;         /* the next byte to look at */
    tm_json_cursor cursor; /* cursor.end: behind the last byte held */
    bool cut;              /* the compressed stream was cut short: the content ends where it was */
    bool ended; /* a failure is the content's end in the middle of the text, nothing else */
} tm_window;

/** Starts a window and reads its first bytes. Needs a source that was not read yet. */
tm_status tm_window_open(tm_source *source, tm_window *out, tm_error *err) TM_MUST_CHECK;
void tm_window_close(tm_window *window);

/**
 * Reads on. Bytes from @p keep on stay in the window and move to its front; window->p moves along
 * with them and every other pointer into the window becomes invalid.
 *
 * @param keep  in [buffer, cursor.end]; the window grows where they fill it
 * @return      TM_OK, with cursor.final set where the content ends, be it cut short or not;
 * TM_ERR_INPUT, also where the bytes to keep exceed TM_WINDOW_ITEM_MAX or nothing follows any more;
 * TM_ERR_FAULT
 */
tm_status tm_window_refill(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/**
 * Deals with a token function that returned NULL: reads on and returns TM_OK where the text only
 * went beyond the window (take the token up again at window->p), else says what is wrong and where.
 *
 * @param keep  the start of what was being read; window->p is set there
 */
tm_status tm_window_resume(tm_window *window, const char *keep, tm_error *err) TM_MUST_CHECK;

/** Skips white space, reading on as needed; window->p then stands at a byte, or at the end of the
 * content where *p is 0 and cursor.final is set. */
tm_status tm_window_space(tm_window *window, tm_error *err) TM_MUST_CHECK;

/** Skips one value of any size at window->p, checking its grammar. */
tm_status tm_window_skip_value(tm_window *window, tm_error *err) TM_MUST_CHECK;

/** Reads a key and its colon; window->p then stands at the value, or at the content's end.
 * @param key  lies in the window, and so is gone as soon as that moves on */
tm_status tm_window_key(tm_window *window, tm_json_text *key, tm_error *err) TM_MUST_CHECK;

/** Fails with the position @p at, which lies in the window; sets window->ended where that is the
 * end of the content. */
tm_status tm_window_fail(tm_window *window, const char *at, const char *why, tm_error *err);

#endif
