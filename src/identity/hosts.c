#include "hosts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/keys.h"

/* State of the rule by which ranks without a recorded host get hosts. */
typedef struct rule {
    int64_t rank, device; /* of the last rank; rank is -2 before the first one */
    int32_t host;         /* last host, from 0; -1 before the first one */
} rule;

static const rule at_first = {.rank = -2, .host = -1};

/* Returns the host of the next rank without a recorded host. */
static int32_t next_host(rule *r, const tm_host_rank *next) {
    const int64_t ranks = next->rank - r->rank, devices = next->device - r->device;
    const bool follows =
        next->device < 0 ? ranks == 1 : devices > 0 && (ranks == 1 || ranks == devices);
    const bool other = r->host < 0 || !follows;
    r->host += other;
    r->device = other || next->device >= 0 ? next->device : r->device;
    r->rank = next->rank;
    return r->host;
}

/* Notes a rank whose host was recorded: the next rank without one is on a new host. */
static void part(rule *r) {
    r->device = INT64_MAX;
}

/* In `known`, a host without a name has a negative id. */
tm_status tm_hosts_number(tm_host_rank *ranks, size_t n, int32_t *n_hosts, tm_error *err) {
    rule r = at_first;
    tm_keys known = TM_KEYS(int64_t);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        int64_t name = ranks[i].name;
        if (ranks[i].name == TM_NO_NAME)
            name = -1 - (int64_t)next_host(&r, &ranks[i]);
        else
            part(&r);
        uint32_t number = tm_keys_add(&known, &name);
        ok = number != TM_NO_KEY;
        ranks[i].number = (int32_t)number;
    }
    *n_hosts = (int32_t)known.keys.n;
    tm_keys_free(&known);
    return ok ? TM_OK : tm_fail_memory(err);
}

int32_t tm_host_number_of(const char *name) {
    enum { DIGITS_MAX = 9 };
    const char *number = strncmp(name, "host", 4) == 0 ? name + 4 : "";
    const size_t n = strspn(number, "0123456789");
    const bool is_number = n > 0 && n <= DIGITS_MAX && !number[n] && (number[0] != '0' || n == 1);
    return is_number ? (int32_t)strtol(number, NULL, 10) : -1;
}

/* Returns whether the traces show hosts: some rank has a host or a device number, or there is only
 * one rank. */
static bool are_shown(const tm_host_rank *ranks, size_t n) {
    bool shown = n == 1;
    for (size_t i = 0; i < n && !shown; i++)
        shown = ranks[i].name != TM_NO_NAME || ranks[i].device >= 0;
    return shown;
}

tm_status tm_hosts_infer(tm_host_rank *ranks, size_t n, tm_error *err) {
    const bool shown = are_shown(ranks, n);
    rule r = at_first;
    tm_keys taken = TM_KEYS(int32_t); /* the N of recorded hosts named hostN */
    int32_t free = -1;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        if (ranks[i].name != TM_NO_NAME)
            ok = tm_keys_add(&taken, &ranks[i].number) != TM_NO_KEY;
    for (size_t i = 0; i < n; i++) {
        const int32_t before = r.host;
        if (ranks[i].name != TM_NO_NAME)
            part(&r);
        else if (next_host(&r, &ranks[i]) != before)
            do
                free++;
            while (tm_keys_find(&taken, &free) != TM_NO_KEY);
        ranks[i].number = shown && ranks[i].name == TM_NO_NAME ? free : -1;
    }
    tm_keys_free(&taken);
    return ok ? TM_OK : tm_fail_memory(err);
}
