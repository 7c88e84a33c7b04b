#include "list.h"

#include <inttypes.h>
#include <stdio.h>

static bool read_number(const char **text, int64_t *out) {
    const char *p = *text;
    int64_t value = 0;
    while (*p >= '0' && *p <= '9' && p - *text < 18)
        value = value * 10 + (*p++ - '0');
    *out = value;
    bool any = p > *text;
    *text = p;
    return any;
}

bool tm_list_read(const char *text, tm_list *out) {
    out->n = 0;
    for (const char *p = text; out->n < TM_LIST_MAX; p++) {
        int64_t first, last;
        bool ok = read_number(&p, &first);
        last = first;
        if (ok && *p == '-') {
            p++;
            ok = read_number(&p, &last);
        }
        if (!ok || last < first || (*p != ',' && *p != '\0')) {
            out->n = 0;
            return false;
        }
        out->ranges[out->n].first = first;
        out->ranges[out->n++].last = last;
        if (*p == '\0')
            return true;
    }
    return false;
}

bool tm_list_has(const tm_list *list, int64_t value) {
    for (size_t i = 0; i < list->n; i++)
        if (value >= list->ranges[i].first && value <= list->ranges[i].last)
            return true;
    return list->n == 0;
}

void tm_list_write(const int64_t *numbers, size_t n, char *out, size_t size) {
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0, end = 0; i < n && used < size; i = end) {
        for (end = i + 1; end < n && numbers[end] <= numbers[end - 1] + 1; end++)
            ;
        used +=
            (size_t)snprintf(out + used, size - used, "%s%" PRId64, i > 0 ? "," : "", numbers[i]);
        if (numbers[end - 1] > numbers[i] && used < size)
            used += (size_t)snprintf(out + used, size - used, "-%" PRId64, numbers[end - 1]);
    }
}
