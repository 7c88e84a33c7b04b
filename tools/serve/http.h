/* The server: HTTP/1.1 by libmicrohttpd, in the thread that calls. What is asked for is decided in
 * serve/request.h, and what is answered by who starts it. */
#ifndef TMERGE_SERVE_HTTP_H
#define TMERGE_SERVE_HTTP_H

#include <stddef.h>

#include "serve/request.h"
#include "tmerge/status.h"

/** What goes back. */
typedef struct tm_http_answer {
    int status;       /* of HTTP */
    const char *type; /* of the media */
    void *bytes;      /* [size] malloc'ed, which the server frees, unless kept */
    size_t size;
    bool kept; /* the bytes are the caller's, and outlive the server */
} tm_http_answer;

/** The value of a key of the query, not decoded; NULL where it is absent. */
typedef const char *tm_http_look(const void *query, const char *key);

typedef struct tm_http_plan {
    const tm_serve_door *door;
    int fd; /* listens; the server closes it */
    void (*answer)(void *context, tm_serve_route route, tm_http_look *look, const void *query,
                   tm_http_answer *out);
    void *context;
} tm_http_plan;

/**
 * Answers until a signal ends the process: one request after another, for HDF5 is for one thread
 * alone. Who is slow to ask is sent away.
 * @return  TM_ERR_FAULT
 */
tm_status tm_http_run(const tm_http_plan *plan, tm_error *err) TM_MUST_CHECK;

#endif
