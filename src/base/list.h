/* Lists of whole numbers in the user's notation: 0,3,8-15. */
#ifndef TMERGE_LIST_H
#define TMERGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_LIST_MAX = 256 };

typedef struct tm_list {
    struct {
        int64_t first, last;
    } ranges[TM_LIST_MAX];
    size_t n; /* number of parts; 0: no list was given, and every number counts as contained */
} tm_list;

/** Parses a list. Returns false if @p text is no list (n is then 0) or has more than TM_LIST_MAX
 * parts (n is then TM_LIST_MAX). */
bool tm_list_read(const char *text, tm_list *out);
bool tm_list_has(const tm_list *list, int64_t value);

/** Writes [n] ascending numbers as a list without duplicates, cut to the size of @p out. */
void tm_list_write(const int64_t *numbers, size_t n, char *out, size_t size);

#endif
