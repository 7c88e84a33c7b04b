/* How a report page of tmerge is told from any other file. */
#ifndef TMERGE_BASE_PAGE_MARK_H
#define TMERGE_BASE_PAGE_MARK_H

#include <stdbool.h>
#include <string.h>

/** Whether a file begins as a page does (tools/web/build.mjs). @param head  terminated */
static inline bool tm_page_mark(const char *head) {
    static const char start[] = "<!doctype html>";
    return strncmp(head, start, sizeof start - 1) == 0 && strstr(head, "name=\"tmerge\"") != NULL;
}

#endif
