#include "serve/answer.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/access.h"

void tm_answer_say(int status, const char *why, tm_http_answer *out) {
    enum { LINE_MAX_BYTES = 512 };
    *out = (tm_http_answer){.status = status, .type = "text/plain; charset=utf-8"};
    out->bytes = malloc(LINE_MAX_BYTES);
    if (out->bytes)
        out->size = (size_t)snprintf(out->bytes, LINE_MAX_BYTES, "%.400s\n", why);
}

void tm_answer_bytes(tm_vec *bytes, const char *type, tm_http_answer *out) {
    tm_vec_trim(bytes);
    *out = (tm_http_answer){TM_ANSWER_GOOD, type, bytes->data, bytes->n, false};
    *bytes = (tm_vec){.size = bytes->size};
}

void tm_answer_failure(tm_status status, const tm_error *err, tm_http_answer *out) {
    tm_answer_say(status == TM_ERR_USAGE ? TM_ANSWER_BAD : TM_ANSWER_FAULT, err->message, out);
}

void tm_answer_json(tm_status status, tm_out *json, tm_error *err, tm_http_answer *out) {
    if (status == TM_OK && json->failed)
        status = tm_fail_memory(err);
    if (status == TM_OK)
        tm_answer_bytes(&json->bytes, "application/json", out);
    else
        tm_answer_failure(status, err, out);
    tm_vec_free(&json->bytes);
}

void tm_answer_put(tm_out *out, const char *before, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    tm_out_string(out, before);
    tm_out_string(out, text);
}

bool tm_answer_number(tm_http_look *look, const void *query, const char *key, int64_t *number) {
    const char *text = look(query, key);
    return !text || tm_serve_number(text, number);
}
