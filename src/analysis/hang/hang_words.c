#include "hang_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/list.h"

void tm_hang_add(tm_hang_words *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->text + w->n, TM_HANG_TEXT - w->n, format, args);
    va_end(args);
    w->n = n < 0 ? w->n : w->n + (size_t)n < TM_HANG_TEXT ? w->n + (size_t)n : TM_HANG_TEXT - 1;
}

void tm_hang_add_ranks(tm_hang_words *w, const tm_vec *ranks) {
    enum { LIST = 200, MORE = 24 };
    char list[LIST + MORE];
    tm_list_write(ranks->data, ranks->n, list, sizeof list);
    if (strlen(list) >= LIST) {
        list[LIST] = '\0';
        snprintf(strrchr(list, ',') + 1, MORE, "...");
    }
    tm_hang_add(w, "rank%s %s", ranks->n == 1 ? "" : "s", list);
}

void tm_hang_add_time(tm_hang_words *w, int64_t ns) {
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (ns > 0 && gmtime_r(&seconds, &parts))
        tm_hang_add(w, "%02d:%02d:%02d.%03d UTC", parts.tm_hour, parts.tm_min, parts.tm_sec,
                    (int)(ns % 1000000000 / 1000000));
}
