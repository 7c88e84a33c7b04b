/* A walk over a JSON document that streams through a window: into its objects and arrays, member by
 * member, and over what is small enough to be read as a whole. */
#ifndef TMERGE_WALK_H
#define TMERGE_WALK_H

#include "repair.h"
#include "window.h"

typedef struct tm_walk {
    tm_window window;
    tm_repair repair; /* the item that was malformed last */
    int64_t *counts;  /* borrowed [TM_N_COUNTS]: what was repaired is added; NULL: to nothing */
} tm_walk;

/** Starts before the document, at its first byte that is no blank. Needs a source of which nothing
 * was read. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. */
tm_status tm_walk_open(tm_source *source, int64_t *counts, tm_walk *out,
                       tm_error *err) TM_MUST_CHECK;
void tm_walk_close(tm_walk *walk);

/** The next byte; 0 at the end of the content. */
static inline char tm_walk_at(const tm_walk *walk) {
    return *walk->window.p;
}

/** Whether what a walk found wrong is that the content ends too early, or was cut short. */
bool tm_walk_is_cut(const tm_walk *walk, tm_status status);

/**
 * Moves behind one member or element.
 * @param key  of a member, NULL of an element; it lies in the window, and so is gone as soon as
 *             the walk moves on
 * @return     TM_OK, standing behind the value
 */
typedef tm_status tm_walk_each(void *context, const tm_json_text *key, tm_error *err);

/** Goes through the object or array that begins here: the walk then stands behind it. TM_OK;
 * TM_ERR_INPUT, also where neither begins here; whatever @p each returns. */
tm_status tm_walk_list(tm_walk *walk, tm_walk_each *each, void *context,
                       tm_error *err) TM_MUST_CHECK;

/** Reads one value that lies wholly in the window, as in readers/json.h. It may be asked for the
 * same value several times, from its begin. */
typedef const char *tm_walk_parse(void *context, tm_json_cursor *cursor, const char *p);

/** Reads the value here by @p parse, repairing it where it is malformed. TM_OK; TM_ERR_INPUT;
 * TM_ERR_FAULT. */
tm_status tm_walk_item(tm_walk *walk, tm_walk_parse *parse, void *context,
                       tm_error *err) TM_MUST_CHECK;

/** Checks that nothing follows. */
tm_status tm_walk_end(tm_walk *walk, tm_error *err) TM_MUST_CHECK;

/** Whether a key is this word. */
static inline bool tm_walk_is(const tm_json_text *key, const char *word) {
    return key && key->size == strlen(word) && memcmp(key->bytes, word, key->size) == 0;
}

#endif
