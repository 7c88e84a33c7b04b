/* Recognises tmerge's report pages. */
#ifndef TMERGE_BASE_PAGE_MARK_H
#define TMERGE_BASE_PAGE_MARK_H

#include <stdbool.h>
#include <string.h>

/** Returns whether a file starts like a page (tools/web/build.mjs). @param head zero-terminated */
static inline bool tm_page_mark(const char *head) {
    static const char start[] = "<!doctype html>";
    return strncmp(head, start, sizeof start - 1) == 0 && strstr(head, "name=\"tmerge\"") != NULL;
}

#endif
