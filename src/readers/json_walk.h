/* Walks over a JSON document that streams through a window. Objects and arrays are visited member
 * by member. Values that are small enough are parsed as a whole. */
#ifndef TMERGE_JSON_WALK_H
#define TMERGE_JSON_WALK_H

#include "repair.h"
#include "window.h"

typedef struct tm_walk {
    tm_window window;
    tm_repair repair; /* repaired copy of the last malformed value */
    /* [TM_N_COUNTS] borrowed; repairs are counted here; NULL if they are not counted */
    int64_t *counts;
} tm_walk;

/**
 * Starts a walk at the first byte of the document that is not blank. The source must be unread.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_walk_open(tm_source *source, int64_t *counts, tm_walk *out,
                       tm_error *err) TM_MUST_CHECK;
void tm_walk_close(tm_walk *walk);

/** Returns the next byte; 0 at the end of the content. */
static inline char tm_walk_at(const tm_walk *walk) {
    return *walk->window.p;
}

/** Returns whether a walk failed with this status because the content ends too early. */
bool tm_walk_is_cut(const tm_walk *walk, tm_status status);

/**
 * Reads one member or element.
 * @param key  the member's key, NULL for an element; valid only until the walk moves on
 * @return     TM_OK, positioned after the value
 */
typedef tm_status tm_walk_each(void *context, const tm_json_text *key, tm_error *err);

/**
 * Reads the object or array that starts here. Calls @p each for each of its members or elements,
 * and moves past it.
 * @return TM_OK; TM_ERR_INPUT, also if neither an object nor an array starts here; a failure of @p
 *         each
 */
tm_status tm_walk_list(tm_walk *walk, tm_walk_each *each, void *context,
                       tm_error *err) TM_MUST_CHECK;

/** Parses one value that is completely in the window, as in readers/json.h. May be called several
 * times for the same value, from its start. */
typedef const char *tm_walk_parse(void *context, tm_json_cursor *cursor, const char *p);

/**
 * Reads the value here with @p parse. If it is malformed, repairs it first.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_walk_item(tm_walk *walk, tm_walk_parse *parse, void *context,
                       tm_error *err) TM_MUST_CHECK;

/** Checks that nothing follows the document. */
tm_status tm_walk_end(tm_walk *walk, tm_error *err) TM_MUST_CHECK;

static inline bool tm_walk_is(const tm_json_text *key, const char *word) {
    return key && tm_json_is(key, word);
}

#endif
