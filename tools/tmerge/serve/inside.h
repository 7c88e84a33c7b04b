/* Answers of tmerge serve about events: sums over a time range, counters, and comparisons with
 * other ranks. */
#ifndef TMERGE_SERVE_INSIDE_H
#define TMERGE_SERVE_INSIDE_H

#include "serve/counter.h"
#include "serve/http.h"
#include "serve/slow.h"

/** What the answers are made from; all borrowed. */
typedef struct tm_inside {
    tm_serve_reader *reader;
    const tm_names *names;
    tm_slow *slow;
    tm_counters *counters;
} tm_inside;

void tm_inside_area(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out);
void tm_inside_same(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out);
void tm_inside_slow(const tm_inside *inside, tm_http_look *look, const void *query,
                    tm_http_answer *out);
void tm_inside_counter(const tm_inside *inside, tm_http_look *look, const void *query,
                       tm_http_answer *out);

#endif
