/* Finds which domains take part in the same events, and plans the matrix from this. */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "elimination_order.h"

enum {
    /* Minimum number of bins of a set, unless it has fewer events. With one bin, solving could not
     * determine drifts. With few bins, bounding would make variances much too large. */
    LEAST_SOLVE_BINS = 2,
    LEAST_BOUND_BINS = 4,
    MOST_BINS = 1000
};
/* Limits of the sum of domains x bins^2, to which the cost of a factorisation is proportional.
 * Solving factorises many times, bounding only once. */
#define SOLVE_WORK 1.2e7
#define BOUND_WORK 3e8

static void free_plan(tm_network *w) {
    free(w->order);
    free(w->set_of_bin);
    free(w->bin_at);
    free(w->bin_entry);
    free(w->gauge_entry);
    free(w->pinned);
    free(w->fixed);
    free(w->right);
    free(w->known);
    free(w->solution);
    tm_vec_free(&w->places);
    tm_ldl_free(&w->ldl);
    w->order = w->set_of_bin = NULL;
    w->bin_at = w->bin_entry = w->gauge_entry = NULL;
    w->pinned = NULL;
    w->fixed = NULL;
    w->right = w->known = w->solution = NULL;
}

void tm_network_init(tm_network *w) {
    *w = (tm_network){.keys = TM_VEC(tm_network_key),
                      .members = TM_VEC(tm_network_member),
                      .sets = TM_VEC(tm_network_set),
                      .links = TM_VEC(uint64_t),
                      .roots = TM_VEC(int32_t),
                      .known_sets = TM_KEYS(uint64_t),
                      .known_links = TM_KEYS(uint64_t),
                      .places = TM_VEC(tm_ldl_place)};
}

void tm_network_free(tm_network *w) {
    free_plan(w);
    free(w->component);
    TM_VECS_FREE(&w->keys, &w->members, &w->sets, &w->links, &w->roots);
    tm_keys_free(&w->known_sets);
    tm_keys_free(&w->known_links);
    tm_network_init(w);
}

static uint64_t hash_domains(const int32_t *domains, size_t n) {
    uint64_t hash = 0;
    for (size_t i = 0; i < n; i++)
        hash = tm_hash_words(hash, &(uint64_t){(uint64_t)domains[i]}, 1);
    return hash;
}

static tm_network_key key_of(const int32_t *domains, const int64_t *ends_ns, size_t n) {
    tm_network_key key = {.set = hash_domains(domains, n), .time_ns = ends_ns[0]};
    for (size_t i = 0; i < n; i++)
        key.content = tm_hash_words(key.content, &(uint64_t){(uint64_t)ends_ns[i]}, 1);
    return key;
}

TM_ORDER_BY(by_key, tm_network_key, set, time_ns, content);

TM_ORDER_BY(by_member, tm_network_member, set, domain);

static int by_link(const void *a, const void *b) {
    return tm_order_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void sort(tm_vec *vec, int (*compare)(const void *, const void *)) {
    tm_vec_sort(vec, compare);
}

/* Sorts the elements and removes duplicates. */
static void sort_once(tm_vec *vec, int (*compare)(const void *, const void *)) {
    char *data = vec->data;
    size_t kept = 0, size = vec->size;
    sort(vec, compare);
    for (size_t i = 0; i < vec->n; i++)
        if (kept == 0 || compare(data + (kept - 1) * size, data + i * size) != 0)
            memmove(data + kept++ * size, data + i * size, size);
    vec->n = kept;
}

/* Returns whether a key is new, and remembers the key. Sets `failed` if out of memory. */
static bool is_new(tm_keys *known, uint64_t key, bool *failed) {
    size_t before = known->keys.n;
    *failed = *failed || tm_keys_add(known, &key) == TM_NO_KEY;
    return known->keys.n > before;
}

bool tm_network_meet(tm_network *w, const int32_t *domains, const int64_t *ends_ns, size_t n) {
    bool failed = false;
    if (n > TM_NETWORK_FEW) {
        tm_network_key key = key_of(domains, ends_ns, n);
        failed = !tm_vec_append(&w->keys, &key, 1);
        bool fresh = is_new(&w->known_sets, key.set, &failed);
        for (size_t i = 0; i < n && fresh && !failed; i++)
            failed = !tm_vec_append(&w->members, &(tm_network_member){key.set, domains[i]}, 1);
        return !failed;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i && !failed; j++) {
            uint64_t link = (uint64_t)domains[j] << 32 | (uint32_t)domains[i];
            if (is_new(&w->known_links, link, &failed))
                failed = !tm_vec_append(&w->links, &link, 1);
        }
    return !failed;
}

static bool make_sets(tm_network *w) {
    const tm_network_member *members = w->members.data;
    const tm_network_key *keys = w->keys.data;
    bool ok = true;
    for (size_t m = 0, k = 0; m < w->members.n && ok;) {
        tm_network_set set = {.hash = members[m].set, .members = m, .keys = k};
        while (m < w->members.n && members[m].set == set.hash)
            m++;
        while (k < w->keys.n && keys[k].set == set.hash)
            k++;
        set.n_members = m - set.members;
        set.n_keys = k - set.keys;
        ok = tm_vec_append(&w->sets, &set, 1);
    }
    return ok;
}

bool tm_network_join(tm_network *w, int32_t n, const int32_t *strong) {
    w->n = n;
    tm_keys_free(&w->known_sets);
    tm_keys_free(&w->known_links);
    sort(&w->keys, by_key);
    sort_once(&w->members, by_member);
    sort_once(&w->links, by_link);
    w->component = malloc(((size_t)n + 1) * sizeof *w->component);
    if (!w->component)
        return false;
    for (int32_t h = 0; h < n; h++)
        w->component[h] = -1;
    /* Domains ascend, so the lowest domain of a component comes first. */
    for (int32_t h = 0; h < n; h++) {
        int32_t *root = &w->component[strong[h]];
        if (strong[h] != h && *root < 0) {
            *root = (int32_t)w->roots.n;
            if (!tm_vec_append(&w->roots, &strong[h], 1))
                return false;
        }
        w->component[h] = *root;
    }
    return make_sets(w);
}

static bool is_key_before(const void *a, const void *b) {
    return by_key(a, b) < 0;
}

tm_network_spot tm_network_spot_of(const tm_network *w, const int32_t *domains,
                                   const int64_t *ends_ns, size_t n) {
    if (n <= TM_NETWORK_FEW)
        return (tm_network_spot){TM_NETWORK_NO_SET, 0};
    tm_network_key key = key_of(domains, ends_ns, n);
    size_t s = TM_FIRST_FROM(tm_network_set, hash, w->sets.data, w->sets.n, key.set);
    const tm_network_set *set = (const tm_network_set *)w->sets.data + s;
    const tm_network_key *keys = (const tm_network_key *)w->keys.data + set->keys;
    return (tm_network_spot){
        (uint32_t)s, (uint32_t)tm_bisect(keys, set->n_keys, sizeof *keys, &key, is_key_before)};
}

/* An object to sort by size, then by number. */
typedef struct sized {
    size_t size, which;
} sized;

TM_ORDER_BY(by_size, sized, size, which);

/* Distributes the bins over the sets. Bins of small sets are eliminated first: this keeps the
 * matrix sparse. */
static bool share_bins(tm_network *w) {
    tm_network_set *sets = w->sets.data;
    double work = w->aim == TM_NETWORK_SOLVE ? SOLVE_WORK : BOUND_WORK, all = (double)w->keys.n;
    double least = w->aim == TM_NETWORK_SOLVE ? LEAST_SOLVE_BINS : LEAST_BOUND_BINS;
    double most = fmin(floor(sqrt(work / (double)w->n)), MOST_BINS);
    w->n_bins = 0;
    for (size_t s = 0; s < w->sets.n; s++) {
        double n = (double)sets[s].n_keys;
        sets[s].n_bins =
            all <= most ? sets[s].n_keys : (size_t)fmin(n, fmax(least, floor(n * most / all)));
        w->n_bins += sets[s].n_bins;
    }
    sized *order = malloc((w->sets.n + 1) * sizeof *order);
    for (size_t s = 0; s < w->sets.n && order; s++)
        order[s] = (sized){sets[s].n_members, s};
    if (order && w->sets.n > 1)
        qsort(order, w->sets.n, sizeof *order, by_size);
    for (size_t i = 0, first = 0; i < w->sets.n && order; i++) {
        sets[order[i].which].first_bin = first;
        first += sets[order[i].which].n_bins;
    }
    free(order);
    return order != NULL;
}

static bool put_place(tm_network *w, size_t a, size_t b) {
    tm_ldl_place place = {(uint32_t)(a > b ? a : b), (uint32_t)(a > b ? b : a)};
    return tm_vec_append(&w->places, &place, 1) != NULL;
}

/* Lists the entries of the matrix below the diagonal. Each domain has one entry, and each link has
 * four. Each bin has two entries for each of its domains. */
static bool put_places(tm_network *w) {
    const uint64_t *links = w->links.data;
    const tm_network_member *members = w->members.data;
    size_t bins = 2 * (size_t)w->n, gauges = bins + w->n_bins;
    bool ok = true;
    for (size_t h = 0; h < (size_t)w->n && ok; h++)
        ok = put_place(w, tm_network_unknown(w, 2 * h), tm_network_unknown(w, 2 * h + 1));
    for (size_t l = 0; l < w->links.n && ok; l++)
        for (size_t i = 0; i < 4 && ok; i++)
            ok = put_place(w, tm_network_unknown(w, 2 * (links[l] & UINT32_MAX) + i / 2),
                           tm_network_unknown(w, 2 * (links[l] >> 32) + i % 2));
    for (size_t b = 0; b < w->n_bins && ok; b++) {
        const tm_network_set *set = (const tm_network_set *)w->sets.data + w->set_of_bin[b];
        w->bin_entry[b] = w->places.n;
        for (size_t i = 0; i < 2 * set->n_members && ok; i++) {
            size_t h = (size_t)members[set->members + i / 2].domain;
            ok = put_place(w, bins + b, tm_network_unknown(w, 2 * h + i % 2));
        }
    }
    for (size_t h = 0; h < (size_t)w->n && ok; h++) {
        w->gauge_entry[h] = w->places.n;
        for (size_t i = 0; i < 2 && ok && w->component[h] >= 0; i++)
            ok = put_place(w, gauges + 2 * (size_t)w->component[h] + i,
                           tm_network_unknown(w, 2 * h + i));
    }
    return ok;
}

/* Lays out `fixed`. Each domain has five numbers: three of the matrix, and two of the right side.
 * Each link has four numbers. Each bin has one number, and three more for each of its domains. */
static void number_fixed(tm_network *w) {
    const tm_network_set *sets = w->sets.data;
    for (size_t s = 0; s < w->sets.n; s++)
        for (size_t b = 0; b < sets[s].n_bins; b++)
            w->set_of_bin[sets[s].first_bin + b] = (uint32_t)s;
    w->n_fixed = 5 * (size_t)w->n + 4 * w->links.n;
    for (size_t b = 0; b < w->n_bins; b++) {
        w->bin_at[b] = w->n_fixed;
        w->n_fixed += 1 + 3 * sets[w->set_of_bin[b]].n_members;
    }
}

bool tm_network_plan(tm_network *w, tm_network_aim aim) {
    free_plan(w);
    w->aim = aim;
    if (!share_bins(w))
        return false;
    size_t n = (size_t)w->n;
    w->n_unknowns = 2 * n + w->n_bins + 2 * w->roots.n;
    w->order = calloc(n + 1, sizeof *w->order);
    w->gauge_entry = calloc(n + 1, sizeof *w->gauge_entry);
    w->set_of_bin = calloc(w->n_bins + 1, sizeof *w->set_of_bin);
    w->bin_at = calloc(w->n_bins + 1, sizeof *w->bin_at);
    w->bin_entry = calloc(w->n_bins + 1, sizeof *w->bin_entry);
    w->pinned = calloc(w->n_unknowns + 1, sizeof *w->pinned);
    w->right = calloc(2 * n + 1, sizeof *w->right);
    w->known = calloc(2 * n + 1, sizeof *w->known);
    w->solution = calloc(w->n_unknowns + 1, sizeof *w->solution);
    if (!w->order || !w->gauge_entry || !w->set_of_bin || !w->bin_at || !w->bin_entry ||
        !w->pinned || !w->right || !w->known || !w->solution || !tm_network_order(w))
        return false;
    number_fixed(w);
    w->fixed = calloc(w->n_fixed + 1, sizeof *w->fixed);
    return w->fixed && put_places(w) &&
           tm_ldl_create(&w->ldl, w->n_unknowns, w->places.data, w->places.n);
}
