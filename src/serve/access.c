#include "serve/access.h"

#include <string.h>

enum { OK = 200, BAD = 400, FORBIDDEN = 403, MISSING = 404, METHOD = 405, MISDIRECTED = 421 };

/* Last part of the path of each route. */
static const char *const routes[TM_N_SERVE_ROUTES] = {
    [TM_SERVE_PAGE] = "",
    [TM_SERVE_TILE] = "tile",
    [TM_SERVE_ROWS] = "rows",
    [TM_SERVE_TRACE] = "trace",
    [TM_SERVE_NAMES] = "names",
    [TM_SERVE_FIND] = "find",
    [TM_SERVE_OPERATION] = "operation",
    [TM_SERVE_AREA] = "area",
    [TM_SERVE_SAME] = "same",
    [TM_SERVE_SLOW] = "slow",
    [TM_SERVE_COUNTER] = "counter",
    [TM_SERVE_SQL] = "sql",
};

/* Compares in constant time, so that timing does not reveal how many characters were right. */
static bool is_token(const char *text, const char *token) {
    unsigned differs = 0;
    for (size_t i = 0; i < TM_SERVE_TOKEN; i++)
        differs |= (unsigned char)text[i] ^ (unsigned char)token[i];
    return differs == 0;
}

static bool is_port(const char *text) {
    enum { DIGITS_MAX = 5 };
    size_t n = strspn(text, "0123456789");
    return n >= 1 && n <= DIGITS_MAX && text[n] == '\0';
}

/* Returns whether a Host header is NAME or NAME:PORT. */
static bool is_host(const char *host, const char *name) {
    size_t size = strlen(name);
    if (strncmp(host, name, size) != 0)
        return false;
    return host[size] == '\0' || (host[size] == ':' && is_port(host + size + 1));
}

static bool is_own_host(const tm_serve_access *access, const char *host) {
    static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (is_host(host, loopback[i]))
            return true;
    return is_host(host, access->address);
}

/* Returns whether a request comes from the server's own page: its Origin header names the same host
 * as its Host header. */
static bool is_own_origin(const char *origin, const char *host) {
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           strcmp(origin + sizeof scheme - 1, host) == 0;
}

static bool find_route(const char *name, tm_serve_route *out) {
    for (int r = 0; r < TM_N_SERVE_ROUTES; r++)
        if (strcmp(name, routes[r]) == 0) {
            *out = (tm_serve_route)r;
            return true;
        }
    return false;
}

int tm_serve_check(const tm_serve_access *access, const tm_serve_request *request,
                   tm_serve_route *out) {
    if (request->n_hosts != 1 || !request->host)
        return BAD;
    if (!is_own_host(access, request->host))
        return MISDIRECTED;
    if (request->origin && !is_own_origin(request->origin, request->host))
        return FORBIDDEN;
    const char *path = request->path;
    if (strnlen(path, TM_SERVE_TOKEN + 2) < TM_SERVE_TOKEN + 2 || path[0] != '/' ||
        path[TM_SERVE_TOKEN + 1] != '/' || !is_token(path + 1, access->token))
        return MISSING;
    if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
        return METHOD;
    return find_route(path + TM_SERVE_TOKEN + 2, out) ? OK : MISSING;
}

static bool number_of(const char *text, size_t size, int64_t *out) {
    enum { DIGITS_MAX = 16 };
    const int64_t most = INT64_C(1) << 53;
    int64_t value = 0;
    if (size == 0 || size > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    if (value >= most)
        return false;
    *out = value;
    return true;
}

bool tm_serve_number(const char *text, int64_t *out) {
    return text && number_of(text, strnlen(text, 32), out);
}

/* Parses item i of a list. Returns false if the item is invalid, or not greater than the previous
 * one. */
typedef bool read_place(void *out, size_t i, const char *text, size_t size);

static bool read_list(const char *text, size_t most, read_place *read, void *out, size_t *n) {
    *n = 0;
    if (!text)
        return false;
    for (; *text; ++*n) {
        size_t size = strcspn(text, ",");
        if (*n == most || !read(out, *n, text, size))
            return false;
        text += size;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return true;
}

static bool read_number(void *out, size_t i, const char *text, size_t size) {
    int64_t *numbers = out;
    return number_of(text, size, &numbers[i]) && (i == 0 || numbers[i] > numbers[i - 1]);
}

bool tm_serve_numbers(const char *text, int64_t *out, size_t *n) {
    return read_list(text, TM_SERVE_RANKS_MAX, read_number, out, n);
}

static bool range_of(const char *text, size_t size, tm_serve_range *out) {
    size_t digits = strspn(text, "0123456789");
    if (digits >= size)
        return number_of(text, size, &out->first) && ((out->last = out->first), true);
    return text[digits] == '-' && number_of(text, digits, &out->first) &&
           number_of(text + digits + 1, size - digits - 1, &out->last) && out->last >= out->first;
}

static bool read_range(void *out, size_t i, const char *text, size_t size) {
    tm_serve_range *ranges = out;
    return range_of(text, size, &ranges[i]) && (i == 0 || ranges[i].first > ranges[i - 1].last);
}

bool tm_serve_ranges(const char *text, tm_serve_range *out, size_t *n) {
    return read_list(text, TM_SERVE_RANGES_MAX, read_range, out, n);
}

bool tm_serve_in(const tm_serve_range *ranges, size_t n, int64_t number) {
    size_t low = 0;
    while (n > low) {
        size_t middle = low + (n - low) / 2;
        if (number < ranges[middle].first)
            n = middle;
        else if (number > ranges[middle].last)
            low = middle + 1;
        else
            return true;
    }
    return false;
}
