/* The scanner of JSON is built for several instruction sets. Finds the builds that this processor
 * supports. */
#ifndef TMERGE_SCANNER_H
#define TMERGE_SCANNER_H

#include "chrome_event.h"

/** One build of tm_chrome_event_parse and tm_json_skip for one instruction set. All builds give the
 * same results. */
typedef struct tm_scanner {
    const char *name; /* "portable", "sse2", "avx2" */
    const char *(*event_parse)(tm_json_cursor *cursor, tm_chrome_keys *keys, const char *p,
                               tm_chrome_event *out);
    const char *(*skip)(tm_json_cursor *cursor, const char *p, tm_json_skip_state *state,
                        const char **resume);
} tm_scanner;

/** Returns the builds that this processor can run, the fastest last.
 * @param n  set to their number */
const tm_scanner *tm_scanners(size_t *n);

const tm_scanner *tm_scanner_best(void);

#endif
