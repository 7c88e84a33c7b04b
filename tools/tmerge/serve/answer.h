/* Functions that all answers of tmerge serve use. */
#ifndef TMERGE_SERVE_ANSWER_H
#define TMERGE_SERVE_ANSWER_H

#include "serve/http.h"
#include "table/out.h"
#include "tmerge/status.h"

enum { TM_ANSWER_GOOD = 200, TM_ANSWER_BAD = 400, TM_ANSWER_FAULT = 500 };

/** Time limit of a partial answer [ns], because other requests wait meanwhile. */
#define TM_ANSWER_PART_NS INT64_C(150000000)

/** Answers with a line that states why the request failed. The page shows the line. */
void tm_answer_say(int status, const char *why, tm_http_answer *out);

/** Answers with bytes. @param bytes vector of char; the answer then owns them */
void tm_answer_bytes(tm_vec *bytes, const char *type, tm_http_answer *out);

void tm_answer_failure(tm_status status, const tm_error *err, tm_http_answer *out);

/** Answers with JSON, or with the error if @p status is not TM_OK. @param json  freed by the
 * call */
void tm_answer_json(tm_status status, tm_out *json, tm_error *err, tm_http_answer *out);

/** Appends a text, followed by a number. */
void tm_answer_put(tm_out *out, const char *before, int64_t number);

/** Parses a number in a query. If the query does not have the key, @p number keeps its value.
 * Returns false if the number is invalid. */
bool tm_answer_number(tm_http_look *look, const void *query, const char *key, int64_t *number);

#endif
