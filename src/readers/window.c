#include "window.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory_pages.h"

tm_status tm_window_fail(tm_window *window, const char *at, const char *why, tm_error *err) {
    window->ended = window->cursor.final && at >= window->cursor.end;
    return tm_fail(err, TM_ERR_INPUT, tm_source_path(window->source),
                   window->buffer_offset + (at - window->buffer), "%s", why);
}

/* Replaces the buffer by a larger one. The buffer is aligned to a cache line, like the pages of the
 * file. Processors copy three times slower if, within a page, the destination is a few bytes after
 * the source. */
static tm_status grow(tm_window *window, size_t capacity, tm_error *err) {
    char *buffer = tm_pages_apart(capacity + TM_JSON_PADDING);
    if (!buffer)
        return tm_fail_memory(err);
    if (window->buffer)
        memcpy(buffer, window->buffer, window->capacity);
    tm_window_close(window);
    window->buffer = buffer;
    window->capacity = capacity;
    return TM_OK;
}

/* Reads into the buffer, after the `held` bytes that it already has. */
static tm_status fill(tm_window *window, size_t held, tm_error *err) {
    size_t n = 0;
    do {
        tm_error failure;
        tm_status status = tm_source_read(window->source, window->buffer + held,
                                          window->capacity - held, &n, &failure);
        if (status != TM_OK) {
            window->cut = tm_source_cut_short(window->source);
            n = 0;
        }
        if (status != TM_OK && !window->cut) {
            if (err)
                *err = failure;
            return status;
        }
        held += n;
    } while (n > 0 && held < window->capacity);
    window->cursor.final = n == 0;
    window->cursor.end = window->buffer + held;
    memset(window->buffer + held, 0, TM_JSON_PADDING);
    return TM_OK;
}

tm_status tm_window_open(tm_source *source, tm_window *out, tm_error *err) {
    tm_window window = {
        .source = source, .scanner = tm_scanner_best(), .buffer_offset = tm_source_offset(source)};
    TM_TRY(grow(&window, TM_WINDOW_BYTES, err));
    window.p = window.buffer;
    tm_status status = fill(&window, 0, err);
    if (status != TM_OK)
        tm_window_close(&window);
    else
        *out = window;
    return status;
}

void tm_window_close(tm_window *window) {
    tm_pages_apart_free(window->buffer, window->capacity + TM_JSON_PADDING);
    window->buffer = NULL;
}

tm_status tm_window_refill(tm_window *window, const char *keep, tm_error *err) {
    size_t held = (size_t)(window->cursor.end - keep);
    ptrdiff_t ahead = window->p - keep;
    if (window->cursor.final)
        return tm_window_fail(window, window->cursor.end, "the file ends in the middle of a value",
                              err);
    if (held >= TM_WINDOW_ITEM_MAX)
        return tm_window_fail(window, keep, "this event or value is larger than 64 MiB", err);
    window->buffer_offset += keep - window->buffer;
    memmove(window->buffer, keep, held);
    window->p = window->buffer + ahead;
    if (held > window->capacity / 2 && window->capacity < TM_WINDOW_ITEM_MAX) {
        TM_TRY(grow(window, window->capacity * 2, err));
        window->p = window->buffer + ahead;
    }
    return fill(window, held, err);
}

tm_status tm_window_resume(tm_window *window, const char *keep, tm_error *err) {
    window->p = keep;
    if (window->cursor.fail < window->cursor.end)
        return tm_window_fail(window, window->cursor.fail, window->cursor.why, err);
    return tm_window_refill(window, keep, err);
}

tm_status tm_window_space(tm_window *window, tm_error *err) {
    for (;;) {
        window->p = tm_json_space(window->p);
        if (window->p < window->cursor.end || window->cursor.final)
            return TM_OK;
        TM_TRY(tm_window_refill(window, window->p, err));
    }
}

tm_status tm_window_skip_value(tm_window *window, tm_error *err) {
    tm_json_skip_state state = {0};
    for (;;) {
        const char *resume = window->p;
        const char *p = window->scanner->skip(&window->cursor, window->p, &state, &resume);
        if (p) {
            window->p = p;
            return TM_OK;
        }
        TM_TRY(tm_window_resume(window, resume, err));
    }
}

/* Reads a key that contains unescaped quotes. The first quote before a colon ends the key. Returns
 * the position after this quote. Returns NULL if a comma, bracket, backslash, line end or other
 * colon comes first, or if the key is too long. Also returns NULL if the window ends first;
 * cursor->fail is then the window's end. */
static const char *quoted_key(tm_json_cursor *cursor, const char *start, tm_json_text *key) {
    enum { KEY_MAX = 256 };
    const char *p = start;
    for (; p < cursor->end && p - start < KEY_MAX && !strchr(",:{}[]\\\n", *p); p++)
        if (*p == '"' && *tm_json_space(p + 1) == ':') {
            *key = (tm_json_text){.bytes = start, .size = (size_t)(p - start)};
            return p + 1;
        }
    if (p >= cursor->end && !cursor->final)
        cursor->fail = cursor->end;
    return NULL;
}

tm_status tm_window_key(tm_window *window, tm_json_text *key, tm_error *err) {
    for (;;) {
        const char *p = window->p;
        if (*p != '"' && p < window->cursor.end)
            return tm_window_fail(window, p, "a key is expected here", err);
        p = *p == '"' ? tm_json_string(&window->cursor, p + 1, key)
                      : tm_json_fail(&window->cursor, p, "a key is expected here");
        if (p) {
            p = tm_json_space(p);
            if (*p != ':') {
                (void)tm_json_fail(&window->cursor, p, "a colon should follow the key");
                p = p < window->cursor.end ? quoted_key(&window->cursor, window->p + 1, key) : NULL;
                p = p ? tm_json_space(p) : NULL;
            }
        }
        if (p) {
            p = tm_json_space(p + 1);
            if (*p) {
                window->p = p;
                return TM_OK;
            }
            (void)tm_json_fail(&window->cursor, p, "a value is expected here");
        }
        TM_TRY(tm_window_resume(window, window->p, err));
    }
}
