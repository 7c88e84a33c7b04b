#include "tmerge/timeline.h"

#include <string.h>

#include "base/keys.h"
#include "base/letters.h"

static size_t digits_before(const char *start, const char *end) {
    const char *p = end;
    while (p > start && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return (size_t)(end - p);
}

static bool is_word(const char *text, const char *word) {
    while (*word && tm_lower(*text) == *word) {
        text++;
        word++;
    }
    return *word == '\0';
}

/* "rank3", "Worker0", "tp-1" in a name say which rank it is, so it is no host's name; "http1" is
 * one. */
static bool names_a_rank(const char *start, size_t size) {
    static const char *const words[] = {"rank", "worker", "tp"};
    for (size_t i = 0; i < size; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            size_t n = strlen(words[w]);
            if (size - i <= n || (i > 0 && tm_is_letter(start[i - 1])) ||
                !is_word(start + i, words[w]))
                continue;
            size_t at = i + n + (start[i + n] == '-' || start[i + n] == '_');
            if (at < size && start[at] >= '0' && start[at] <= '9')
                return true;
        }
    return false;
}

bool tm_host_of_path(const char *path, char *out, size_t size) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const char *end = strstr(base, ".pt.trace.json");
    if (!end)
        return false;
    size_t time_digits = digits_before(base, end);
    if (time_digits == 0 || end - time_digits == base || end[-1 - (ptrdiff_t)time_digits] != '.')
        return false;
    end -= time_digits + 1;
    size_t pid_digits = digits_before(base, end);
    if (pid_digits == 0 || end - pid_digits == base || end[-1 - (ptrdiff_t)pid_digits] != '_')
        return false;
    end -= pid_digits + 1;
    if (strncmp(base, "rank", 4) == 0) {
        const char *prefix = base + 4 + strspn(base + 4, "0123456789");
        if (prefix > base + 4 && strncmp(prefix, "__", 2) == 0)
            base = prefix + 2;
    }
    if (end <= base || (size_t)(end - base) >= size || names_a_rank(base, (size_t)(end - base)))
        return false;
    memcpy(out, base, (size_t)(end - base));
    out[end - base] = '\0';
    return true;
}

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
