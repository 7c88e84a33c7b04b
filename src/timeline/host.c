#include "tmerge/timeline.h"

#include "base/keys.h"

int32_t tm_host_rule_next(tm_host_rule *rule, int64_t rank, int64_t device) {
    bool consecutive = rank == rule->rank + 1;
    bool next = !consecutive || (device <= rule->device && device >= 0);
    rule->host += next;
    rule->device = next || device >= 0 ? device : rule->device;
    rule->rank = rank;
    return rule->host;
}

/* Hosts without a name get negative ones to be told by. */
tm_status tm_hosts_number(tm_host_rank *ranks, size_t n, int32_t *n_hosts, tm_error *err) {
    tm_host_rule rule = {.rank = -2, .host = -1};
    tm_keys known = TM_KEYS(int64_t);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        int64_t name = ranks[i].name;
        if (ranks[i].name == TM_NO_NAME)
            name = -1 - (int64_t)tm_host_rule_next(&rule, ranks[i].rank, ranks[i].device);
        uint32_t number = tm_keys_add(&known, &name);
        ok = number != TM_NO_KEY;
        ranks[i].number = (int32_t)number;
    }
    *n_hosts = (int32_t)known.keys.n;
    tm_keys_free(&known);
    return ok ? TM_OK : tm_fail_memory(err);
}
