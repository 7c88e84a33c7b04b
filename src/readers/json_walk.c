#include "json_walk.h"

tm_status tm_walk_open(tm_source *source, int64_t *counts, tm_walk *out, tm_error *err) {
    *out = (tm_walk){.counts = counts};
    TM_TRY(tm_window_open(source, &out->window, err));
    if (memcmp(out->window.p, "\xEF\xBB\xBF", 3) == 0)
        out->window.p += 3; /* byte order mark */
    return tm_window_space(&out->window, err);
}

void tm_walk_close(tm_walk *walk) {
    tm_window_close(&walk->window);
    tm_repair_free(&walk->repair);
}

bool tm_walk_is_cut(const tm_walk *walk, tm_status status) {
    return walk->window.cut || (status == TM_ERR_INPUT && walk->window.ended);
}

/* Moves from the end of a member to the next member, or past the closing bracket. Sets *more to
 * whether there is a next member. */
static tm_status end_member(tm_walk *walk, bool object, bool *more, tm_error *err) {
    tm_window *window = &walk->window;
    TM_TRY(tm_window_space(window, err));
    char c = *window->p, close = object ? '}' : ']';
    *more = c == ',';
    if (c != ',' && c != close)
        return tm_window_fail(window, window->p,
                              window->p == window->cursor.end ? "the file ends inside a list"
                              : object ? "a comma or } should follow the value"
                                       : "a comma or ] should follow the value",
                              err);
    window->p++;
    if (c == ',')
        TM_TRY(tm_window_space(window, err));
    if (c == ',' && *window->p == close) { /* a trailing comma */
        window->p++;
        *more = false;
        if (walk->counts)
            walk->counts[TM_COUNT_TRAILING_COMMA]++;
    }
    return TM_OK;
}

tm_status tm_walk_list(tm_walk *walk, tm_walk_each *each, void *context, tm_error *err) {
    tm_window *window = &walk->window;
    bool object = *window->p == '{', more;
    if (!object && *window->p != '[')
        return tm_window_fail(window, window->p, "an object or array is expected here", err);
    window->p++;
    TM_TRY(tm_window_space(window, err));
    more = *window->p != (object ? '}' : ']');
    window->p += !more;
    while (more) {
        tm_json_text key = {0};
        if (object)
            TM_TRY(tm_window_key(window, &key, err));
        TM_TRY(each(context, object ? &key : NULL, err));
        TM_TRY(end_member(walk, object, &more, err));
    }
    return TM_OK;
}

/* Repairs the malformed value at window->p and parses it again. Returns the position after the
 * value. On failure, returns NULL; window->cursor then contains the error, or asks for more
 * text. */
static const char *parse_repaired(tm_walk *walk, tm_walk_parse *parse, void *context) {
    tm_json_cursor *cursor = &walk->window.cursor, strict = *cursor;
    if (cursor->fail >= cursor->end)
        return NULL;
    const char *end = tm_json_repair(cursor, walk->window.p, &walk->repair);
    if (!end) {
        if (cursor->fail < cursor->end)
            *cursor = strict;
        return NULL;
    }
    const char *text = walk->repair.text.data;
    tm_json_cursor repaired = {.end = text + walk->repair.size, .final = true};
    if (!parse(context, &repaired, text)) {
        *cursor = strict;
        return NULL;
    }
    for (int c = 0; c < TM_N_COUNTS && walk->counts; c++)
        walk->counts[c] += walk->repair.counts[c];
    if (walk->counts)
        walk->counts[TM_COUNT_REPAIRED_EVENT]++;
    return end;
}

tm_status tm_walk_item(tm_walk *walk, tm_walk_parse *parse, void *context, tm_error *err) {
    tm_window *window = &walk->window;
    for (;;) {
        const char *end = parse(context, &window->cursor, window->p);
        if (!end)
            end = parse_repaired(walk, parse, context);
        if (end) {
            window->p = end;
            return TM_OK;
        }
        if (walk->repair.no_memory)
            return tm_fail_memory(err);
        tm_status status = tm_window_resume(window, window->p, err);
        if (walk->counts)
            walk->counts[TM_COUNT_CUT_EVENT] += window->ended;
        TM_TRY(status);
    }
}

tm_status tm_walk_end(tm_walk *walk, tm_error *err) {
    tm_window *window = &walk->window;
    TM_TRY(tm_window_space(window, err));
    if (window->p < window->cursor.end || !window->cursor.final)
        return tm_window_fail(window, window->p, "something follows the end of the document", err);
    return TM_OK;
}
