/* What answers of tmerge serve are made with. */
#ifndef TMERGE_SERVE_ANSWER_H
#define TMERGE_SERVE_ANSWER_H

#include "serve/http.h"
#include "table/out.h"
#include "tmerge/status.h"

/** By HTTP. */
enum { TM_ANSWER_GOOD = 200, TM_ANSWER_BAD = 400, TM_ANSWER_FAULT = 500 };

/** Time of an answer that tells where to go on: others wait meanwhile [ns]. */
#define TM_ANSWER_PART_NS INT64_C(150000000)

/** Why there is no answer: a line, for the page to show. */
void tm_answer_say(int status, const char *why, tm_http_answer *out);

/** @param bytes  of char; the answer takes them */
void tm_answer_bytes(tm_vec *bytes, const char *type, tm_http_answer *out);

void tm_answer_failure(tm_status status, const tm_error *err, tm_http_answer *out);

/** What was written, or why nothing was. @param json  freed */
void tm_answer_json(tm_status status, tm_out *json, tm_error *err, tm_http_answer *out);

/** Appends a text and a number. */
void tm_answer_put(tm_out *out, const char *before, int64_t number);

/** A number of a query; what is absent is as it was. False: it is none. */
bool tm_answer_number(tm_http_look *look, const void *query, const char *key, int64_t *number);

#endif
