/* HTTP/1.1 server, made with libmicrohttpd. It runs in the calling thread. serve/access.h checks
 * requests, and a function of the caller answers them. */
#ifndef TMERGE_SERVE_HTTP_H
#define TMERGE_SERVE_HTTP_H

#include <stddef.h>

#include "serve/access.h"
#include "tmerge/status.h"

typedef struct tm_http_answer {
    int status;       /* HTTP status */
    const char *type; /* media type */
    void *bytes;      /* [size] allocated with malloc; the server frees them unless `kept` is set */
    size_t size;
    bool kept; /* the caller owns the bytes, which outlive the server */
} tm_http_answer;

/** Returns the value of a key in the query, still percent-encoded; NULL if the query does not have
 * the key. */
typedef const char *tm_http_look(const void *query, const char *key);

/** Answers the other requests that have arrived, while the answer to a statement (TM_SERVE_SQL) is
 * made. These do not include other statements. Returns false if the client that sent the statement
 * has closed its connection. */
typedef struct tm_http_others {
    bool (*serve)(void *context);
    void *context;
} tm_http_others;

typedef struct tm_http_plan {
    const tm_serve_access *access;
    int fd; /* listening socket; closed by the server */
    /* @param others  to be called while a statement (TM_SERVE_SQL) runs; NULL for other routes */
    void (*answer)(void *context, tm_serve_route route, tm_http_look *look, const void *query,
                   const tm_http_others *others, tm_http_answer *out);
    void *context;
} tm_http_plan;

/** Answers requests until a signal ends the process. Answers in one thread, because only one thread
 * may use HDF5. Closes connections that are slow to send a request.
 * @return  TM_ERR_FAULT */
tm_status tm_http_run(const tm_http_plan *plan, tm_error *err) TM_MUST_CHECK;

#endif
