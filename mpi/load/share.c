#include "share.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/sorted.h"
#include "tmerge/timeline.h"

static bool starts_with(const char *text, const char *word) {
    while (*word)
        if (tm_lower(*text++) != *word++)
            return false;
    return true;
}

/* The number behind a word at `p` ("rank", then [-_]?, then digits), or -1. */
static int64_t number_behind(const char *p) {
    static const char *const words[] = {"profile_rank", "rank", "worker", "tp"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        if (!starts_with(p, words[w]))
            continue;
        const char *digits = p + strlen(words[w]);
        digits += *digits == '-' || *digits == '_';
        int64_t value = 0;
        const char *end = digits;
        while (*end >= '0' && *end <= '9' && value <= TM_RANK_MAX)
            value = value * 10 + (*end++ - '0');
        if (end > digits && value <= TM_RANK_MAX)
            return value;
    }
    return -1;
}

int64_t tm_rank_of_path(const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    int64_t rank = -1;
    for (const char *p = base; *p; p++) {
        int64_t value = p == base || !tm_is_letter(p[-1]) ? number_behind(p) : -1;
        rank = value >= 0 ? value : rank;
    }
    return rank;
}

int tm_share_parts(int64_t weight, int64_t total, int n_processes) {
    int64_t fair = total / n_processes;
    if (weight <= fair || fair == 0)
        return 1;
    int64_t n = weight / fair + (weight % fair >= fair - fair / 4 * 3);
    return n < n_processes ? (int)n : n_processes;
}

/* All traces of one rank, or one trace of an unknown rank. */
typedef struct group {
    int64_t rank;
    int64_t weight;
    size_t first; /* the first item in argument order: breaks ties */
} group;

static int by_rank(const void *a, const void *b) {
    const group *x = a, *y = b;
    int order = tm_order_i64(x->rank, y->rank);
    return order ? order : tm_order_u64(x->first, y->first);
}

static int by_weight(const void *a, const void *b) {
    const group *x = a, *y = b;
    int order = tm_order_i64(y->weight, x->weight);
    return order ? order : tm_order_u64(x->first, y->first);
}

/* One group for each item first; those of the same rank are then folded into one. */
static size_t fold_groups(group *groups, size_t n) {
    size_t kept = 0;
    qsort(groups, n, sizeof *groups, by_rank);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && groups[i].rank >= 0 && groups[kept - 1].rank == groups[i].rank)
            groups[kept - 1].weight += groups[i].weight;
        else
            groups[kept++] = groups[i];
    }
    return kept;
}

static int least_loaded(const int64_t *load, int n_processes) {
    int least = 0;
    for (int p = 1; p < n_processes; p++)
        if (load[p] < load[least])
            least = p;
    return least;
}

tm_status tm_share_plan(tm_share_item *items, size_t n, int n_processes, tm_error *err) {
    group *groups = malloc((n + 1) * sizeof *groups);
    int64_t *load = calloc((size_t)n_processes, sizeof *load);
    if (!groups || !load) {
        free(groups);
        free(load);
        return tm_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        groups[i] = (group){items[i].rank, items[i].weight, i};
    size_t n_groups = fold_groups(groups, n);
    qsort(groups, n_groups, sizeof *groups, by_weight);
    for (size_t g = 0; g < n_groups; g++) {
        int owner = least_loaded(load, n_processes);
        load[owner] += groups[g].weight + 1; /* so that empty ones are spread too */
        items[groups[g].first].owner = owner;
        for (size_t i = 0; i < n && groups[g].rank >= 0; i++)
            if (items[i].rank == groups[g].rank)
                items[i].owner = owner;
    }
    free(groups);
    free(load);
    return TM_OK;
}
