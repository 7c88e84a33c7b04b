/* What may be asked of a server, and by whom: no network, so that it is tested without one. */
#ifndef TMERGE_SERVE_REQUEST_H
#define TMERGE_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TM_SERVE_TOKEN = 32,
    TM_SERVE_ADDRESS_MAX = 48,
    TM_SERVE_RANKS_MAX = 1024,
    TM_SERVE_RANGES_MAX = 2048
};

/** Who is let in. */
typedef struct tm_serve_door {
    char token[TM_SERVE_TOKEN + 1];     /* of every path, as its first part */
    char address[TM_SERVE_ADDRESS_MAX]; /* as numbers; by its other names this machine is another */
} tm_serve_door;

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
    TM_N_SERVE_ROUTES,
} tm_serve_route;

/** A request, as its head tells. Absent headers are NULL. */
typedef struct tm_serve_request {
    const char *method;
    const char *path;   /* not decoded, without the query */
    const char *host;   /* header Host, and */
    size_t n_hosts;     /* how often it was given */
    const char *origin; /* header Origin */
} tm_serve_request;

/**
 * Whether a request is answered. Who comes by another name than the server's own may be a page of
 * elsewhere whose name was turned to this machine; who comes without the token is not who was told
 * the address. Any port of an own name will do, for tunnels have their own.
 *
 * @param out  what is asked for; set only where 200 is returned
 * @return     200, or the status of the refusal: 400, 403 (another origin), 404 (no such thing, or
 *             no token), 405, 421 (another host)
 */
int tm_serve_check(const tm_serve_door *door, const tm_serve_request *request, tm_serve_route *out);

/** A whole number of a query: decimal digits alone, below 2^53. False: it is none. */
bool tm_serve_number(const char *text, int64_t *out);

/**
 * Ranks of a query: numbers with "," between, each larger than the one before.
 * @param out  [TM_SERVE_RANKS_MAX]
 * @param n    how many; 0 for a text without any
 */
bool tm_serve_numbers(const char *text, int64_t *out, size_t *n);

/** Numbers from first to last. */
typedef struct tm_serve_range {
    int64_t first, last;
} tm_serve_range;

/**
 * Numbers and ranges "A-B" of a query with "," between, each behind the one before.
 * @param out  [TM_SERVE_RANGES_MAX]
 * @param n    how many; 0 for a text without any
 */
bool tm_serve_ranges(const char *text, tm_serve_range *out, size_t *n);

/** Whether a number is in one of ranges that ascend. */
bool tm_serve_in(const tm_serve_range *ranges, size_t n, int64_t number);

#endif
