/* Checks and parses requests. Contains no network code, so that tests need no network. */
#ifndef TMERGE_SERVE_ACCESS_H
#define TMERGE_SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TM_SERVE_TOKEN = 32,
    TM_SERVE_ADDRESS_MAX = 48,
    TM_SERVE_RANKS_MAX = 1024,
    TM_SERVE_RANGES_MAX = 2048
};

/** The token and address that requests must have. */
typedef struct tm_serve_access {
    char token[TM_SERVE_TOKEN + 1];     /* first part of every path */
    char address[TM_SERVE_ADDRESS_MAX]; /* numeric address of the server. A request's Host header
                                           must name it or this computer ("localhost") */
} tm_serve_access;

typedef enum tm_serve_route {
    TM_SERVE_PAGE,
    TM_SERVE_TILE,
    TM_SERVE_ROWS,
    TM_SERVE_TRACE,
    TM_SERVE_NAMES,
    TM_SERVE_FIND,
    TM_SERVE_OPERATION,
    TM_SERVE_AREA,
    TM_SERVE_SAME,
    TM_SERVE_SLOW,
    TM_SERVE_COUNTER,
    TM_SERVE_SQL,
    TM_N_SERVE_ROUTES,
} tm_serve_route;

/** Head of a request. Absent headers are NULL. */
typedef struct tm_serve_request {
    const char *method;
    const char *path;   /* path of the request, as sent (not decoded) and without the query */
    const char *host;   /* header Host */
    size_t n_hosts;     /* number of Host headers */
    const char *origin; /* header Origin */
} tm_serve_request;

/** Checks whether a request may be answered. Refuses a Host header that names another host, because
 * another site's page may have sent the request by DNS rebinding. The token shows that the user was
 * given the server's address. Accepts any port, because tunnels use ports of their own.
 *
 * @param out  the route; set only if 200 is returned
 * @return     200, or the status of the refusal: 400, 403 (another origin), 404 (unknown path or no
 * token), 405, 421 (another host) */
int tm_serve_check(const tm_serve_access *access, const tm_serve_request *request,
                   tm_serve_route *out);

/** Parses a whole number in a query: decimal digits only, below 2^53. Returns false if the text is
 * not such a number. */
bool tm_serve_number(const char *text, int64_t *out);

/** Parses the ranks of a query: comma-separated numbers, strictly ascending.
 * @param out  [TM_SERVE_RANKS_MAX]
 * @param n how many were parsed; 0 if the text is empty */
bool tm_serve_numbers(const char *text, int64_t *out, size_t *n);

/** Numbers from first to last, inclusive. */
typedef struct tm_serve_range {
    int64_t first, last;
} tm_serve_range;

/** Parses numbers and ranges "A-B" of a query: comma-separated, ascending, not overlapping.
 * @param out [TM_SERVE_RANGES_MAX]
 * @param n how many were parsed; 0 if the text is empty */
bool tm_serve_ranges(const char *text, tm_serve_range *out, size_t *n);

/** Returns whether a number is in one of the ranges. @p ranges ascend. */
bool tm_serve_in(const tm_serve_range *ranges, size_t n, int64_t number);

#endif
