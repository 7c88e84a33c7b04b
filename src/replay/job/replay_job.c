#include "replay_job.h"

#include <assert.h>
#include <stdlib.h>

#include "base/keys.h"
#include "base/simd_lanes.h"
#include "base/sorted.h"

void tm_replay_free(tm_replay *replay) {
    free(replay->ranks);
    free(replay->operations);
    free(replay->steps);
    free(replay->counts);
    free(replay->first);
    free(replay->from);
    free(replay->rank);
    free(replay->ns);
    free(replay->times);
    *replay = (tm_replay){0};
}

/* State while a job is built. Targets are operations and ends of steps, numbered as they first
 * occur. */
typedef struct assembly {
    tm_replay *job;
    tm_vec ranks;       /* vector of tm_reduced, ascending */
    tm_keys operations; /* keys of type tm_boundary */
    tm_keys steps;      /* keys of type int64_t */
    /* vector of uint32_t: for each rank, its operations, then its steps. The elements are numbers
     * of keys at first, and are later replaced by indices in the job. */
    tm_vec targets;
} assembly;

TM_ORDER_BY(by_rank, tm_reduced, rank);

TM_ORDER_BY(by_order, tm_boundary, last_ns, operation);

static bool read_ranks(assembly *a, const int64_t *words, size_t n_words) {
    for (size_t at = 0; at < n_words;) {
        tm_reduced *rank = tm_vec_push(&a->ranks);
        if (!rank)
            return false;
        at += tm_reduced_read(words + at, rank);
        a->job->n_links += rank->n_links;
        a->job->n_left_out += rank->n_left_out;
        assert(a->job->n_sets == 0 || a->job->n_sets == rank->n_sets);
        a->job->n_sets = rank->n_sets;
    }
    tm_vec_sort(&a->ranks, by_rank);
    return true;
}

static bool number_target(assembly *a, tm_keys *keys, const void *key) {
    uint32_t *number = tm_vec_push(&a->targets);
    if (!number)
        return false;
    *number = tm_keys_add(keys, key);
    return *number != TM_NO_KEY;
}

static bool number_targets(assembly *a) {
    const tm_reduced *ranks = a->ranks.data;
    for (size_t r = 0; r < a->ranks.n; r++) {
        for (size_t i = 0; i < ranks[r].n_participants; i++)
            if (!number_target(a, &a->operations, &ranks[r].participants[i]))
                return false;
        for (size_t i = 0; i < ranks[r].n_steps; i++)
            if (!number_target(a, &a->steps, &ranks[r].steps[i]))
                return false;
    }
    return true;
}

/* Returns a sorted copy of the keys. Sets places[i] to the index of key number i in this copy. NULL
 * when out of memory. */
static void *sort_keys(tm_keys *keys, int (*order)(const void *, const void *), uint32_t *places) {
    size_t n = keys->keys.n, size = keys->keys.size;
    char *sorted = malloc((n + 1) * size);
    if (!sorted)
        return NULL;
    for (size_t i = 0; i < n * size; i++)
        sorted[i] = ((const char *)keys->keys.data)[i];
    if (n > 0)
        qsort(sorted, n, size, order);
    for (size_t i = 0; i < n; i++)
        places[tm_keys_find(keys, sorted + i * size)] = (uint32_t)i;
    return sorted;
}

/* Converts the numbers of targets to indices in the job: operations first, then steps. */
static bool order_targets(assembly *a) {
    tm_replay *job = a->job;
    const tm_reduced *ranks = a->ranks.data;
    job->n_operations = a->operations.keys.n;
    job->n_steps = a->steps.keys.n;
    uint32_t *places = malloc((job->n_operations + job->n_steps + 1) * sizeof *places);
    if (!places)
        return false;
    uint32_t *step_places = places + job->n_operations, *target = a->targets.data;
    job->operations = sort_keys(&a->operations, by_order, places);
    job->steps = sort_keys(&a->steps, tm_compare_i64, step_places);
    bool ok = job->operations && job->steps;
    for (size_t r = 0; ok && r < a->ranks.n; r++) {
        for (size_t i = 0; i < ranks[r].n_participants; i++, target++)
            *target = places[*target];
        for (size_t i = 0; i < ranks[r].n_steps; i++, target++)
            *target = (uint32_t)job->n_operations + step_places[*target];
    }
    free(places);
    return ok;
}

/* First part of a counting sort of links by target. Sets first[target + 1] to the index of the
 * target's first link. place_links advances these elements while it places the links. */
static void count_links(const assembly *a) {
    const tm_reduced *ranks = a->ranks.data;
    const uint32_t *targets = a->targets.data;
    size_t *first = a->job->first, n_targets = a->job->n_operations + a->job->n_steps;
    for (size_t r = 0; r < a->ranks.n; r++) {
        for (size_t i = 0; i < ranks[r].n_links; i++)
            first[targets[ranks[r].links[i].to] + 2]++;
        targets += ranks[r].n_participants + ranks[r].n_steps;
    }
    for (size_t i = 2; i < n_targets + 2; i++)
        first[i] += first[i - 1];
}

/*
 * Places the links rank by rank, so that the links to a target are in the order of ranks.
 *
 * @param times  [links] set to the address of each link's weights
 */
static void place_links(const assembly *a, const int64_t **times) {
    const uint32_t *targets = a->targets.data;
    tm_replay *job = a->job;
    for (uint32_t r = 0; r < a->ranks.n; r++) {
        const tm_reduced *rank = (const tm_reduced *)a->ranks.data + r;
        job->ranks[r] = rank->rank;
        for (size_t i = 0; i < rank->n_links; i++) {
            uint32_t from = rank->links[i].from;
            size_t at = job->first[targets[rank->links[i].to] + 1]++;
            assert(from == TM_FROM_ROOT || targets[from] < targets[rank->links[i].to]);
            job->from[at] = from == TM_FROM_ROOT ? from : targets[from];
            job->rank[at] = r;
            times[at] = rank->ns + i * job->n_sets;
        }
        targets += rank->n_participants + rank->n_steps;
    }
}

/* Copies the weights into a row for each set, a few links at a time, so that writes stay in the
 * cache. */
static bool lay_out(tm_replay *replay) {
    enum { AT_ONCE = 16 };
    replay->ns = malloc((replay->n_links * replay->n_sets + 1) * sizeof *replay->ns);
    for (size_t link = 0; link < replay->n_links && replay->ns; link += AT_ONCE) {
        const size_t left = replay->n_links - link, n_here = left < AT_ONCE ? left : AT_ONCE;
        for (size_t set = 0; set < replay->n_sets; set++)
            for (size_t i = 0; i < n_here; i++) {
                assert(replay->times[link + i]); /* all links were placed */
                replay->ns[set * replay->n_links + link + i] = replay->times[link + i][set];
            }
    }
    free(replay->times);
    replay->times = NULL;
    return replay->ns != NULL;
}

static bool assemble(assembly *a, const int64_t *words, size_t n_words) {
    tm_replay *job = a->job;
    if (!read_ranks(a, words, n_words) || !number_targets(a) || !order_targets(a))
        return false;
    size_t n = job->n_links + 1; /* + 1, because malloc(0) may return NULL */
    job->n_ranks = a->ranks.n;
    job->ranks = malloc((job->n_ranks + 1) * sizeof *job->ranks);
    job->first = calloc(job->n_operations + job->n_steps + 2, sizeof *job->first);
    job->from = malloc(n * sizeof *job->from);
    job->rank = malloc(n * sizeof *job->rank);
    job->times = calloc(n, sizeof *job->times);
    if (!job->ranks || !job->first || !job->from || !job->rank || !job->times)
        return false;
    count_links(a);
    place_links(a, job->times);
    return true;
}

tm_status tm_replay_open(const int64_t *words, size_t n_words, tm_replay *out, tm_error *err) {
    tm_replay job = {0};
    assembly a = {&job, TM_VEC(tm_reduced), TM_KEYS(tm_boundary), TM_KEYS(int64_t),
                  TM_VEC(uint32_t)};
    bool ok = assemble(&a, words, n_words);
    tm_vec_free(&a.ranks);
    tm_keys_free(&a.operations);
    tm_keys_free(&a.steps);
    tm_vec_free(&a.targets);
    if (!ok) {
        tm_replay_free(&job);
        return tm_fail_memory(err);
    }
    *out = job;
    return TM_OK;
}

tm_status tm_replay_build(const int64_t *words, size_t n_words, tm_replay *out, tm_error *err) {
    tm_replay job;
    TM_TRY(tm_replay_open(words, n_words, &job, err));
    if (!lay_out(&job)) {
        tm_replay_free(&job);
        return tm_fail_memory(err);
    }
    *out = job;
    return TM_OK;
}

tm_status tm_replay_count(tm_replay *replay, const tm_list *steps, tm_error *err) {
    if (!steps && (replay->n_steps == 0 || replay->steps[0] != TM_STEP_WARM_UP))
        return TM_OK;
    replay->counts = malloc((replay->n_steps + 1) * sizeof *replay->counts);
    for (size_t k = 0; k < replay->n_steps && replay->counts; k++)
        replay->counts[k] =
            replay->steps[k] != TM_STEP_WARM_UP && (!steps || tm_list_has(steps, replay->steps[k]));
    return replay->counts ? TM_OK : tm_fail_memory(err);
}

static inline int64_t weight_of(const tm_replay *job, const uint8_t *set_of_rank, size_t link) {
    const uint8_t set = set_of_rank[job->rank[link]];
    return job->ns ? job->ns[set * job->n_links + link] : job->times[link][set];
}

/* Returns the time of a link's source; 0 for the root. */
static inline int64_t source_ns(const tm_replay *job, const int64_t *ns, size_t link) {
    return job->from[link] == TM_FROM_ROOT ? 0 : ns[job->from[link]];
}

static inline int64_t latest_link(const tm_replay *job, const uint8_t *set_of_rank,
                                  const int64_t *ns, size_t target, int64_t latest) {
    for (size_t i = job->first[target]; i < job->first[target + 1]; i++) {
        int64_t at = source_ns(job, ns, i) + weight_of(job, set_of_rank, i);
        latest = at > latest ? at : latest;
    }
    return latest;
}

void tm_replay_forward(const tm_replay *replay, const uint8_t *set_of_rank, int64_t *ns) {
    size_t n = replay->n_operations + replay->n_steps;
    for (size_t i = 0; i < replay->n_operations; i++)
        ns[i] = latest_link(replay, set_of_rank, ns, i, TM_REPLAY_UNREACHED);
    int64_t latest = 0;
    for (size_t i = replay->n_operations; i < n; i++)
        ns[i] = latest = latest_link(replay, set_of_rank, ns, i, latest);
}

void tm_replay_forward_all(const tm_replay *replay, int64_t *ns) {
    const tm_lanes *lanes = tm_lanes_best();
    const size_t n_sets = replay->n_sets, n = replay->n_operations + replay->n_steps;
    for (size_t target = 0; target < n; target++) {
        int64_t *latest = ns + target * n_sets;
        for (size_t set = 0; set < n_sets; set++)
            latest[set] = target < replay->n_operations    ? TM_REPLAY_UNREACHED
                          : target == replay->n_operations ? 0
                                                           : latest[set - n_sets];
        for (size_t i = replay->first[target]; i < replay->first[target + 1]; i++) {
            const uint32_t from = replay->from[i];
            lanes->reach(latest, from == TM_FROM_ROOT ? NULL : ns + from * n_sets, replay->times[i],
                         n_sets);
        }
    }
}

int64_t tm_replay_total_of(const tm_replay *replay, const int64_t *ends) {
    int64_t total = 0;
    if (!replay->counts)
        return replay->n_steps > 0 ? ends[replay->n_steps - 1] : 0;
    for (size_t k = 0; k < replay->n_steps; k++)
        total += replay->counts[k] ? ends[k] - (k > 0 ? ends[k - 1] : 0) : 0;
    return total;
}

int64_t tm_replay_total(const tm_replay *replay, const int64_t *ns) {
    return tm_replay_total_of(replay, ns + replay->n_operations);
}

void tm_replay_backward(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                        int64_t *late_ns) {
    size_t n = replay->n_operations + replay->n_steps;
    for (size_t i = 0; i < n; i++)
        late_ns[i] = i < replay->n_operations ? TM_REPLAY_NEVER : ns[n - 1];
    for (size_t target = n; target-- > 0;) {
        int64_t late = late_ns[target];
        if (late == TM_REPLAY_NEVER)
            continue;
        for (size_t i = replay->first[target]; i < replay->first[target + 1]; i++) {
            int64_t at = late - weight_of(replay, set_of_rank, i);
            uint32_t from = replay->from[i];
            if (from != TM_FROM_ROOT && at < late_ns[from])
                late_ns[from] = at;
        }
    }
}

typedef struct walk {
    const tm_replay *job;
    const uint8_t *set_of_rank;
    const int64_t *ns;
} walk;

/* Returns whether the source of link a is later than the source of link b. Both links are of the
 * same rank. The root is before all operations. */
static bool is_later(const walk *w, size_t a, size_t b) {
    uint32_t from = w->job->from[a], other = w->job->from[b];
    if (from == TM_FROM_ROOT || other == TM_FROM_ROOT)
        return from != TM_FROM_ROOT;
    return w->ns[from] != w->ns[other] ? w->ns[from] > w->ns[other] : from > other;
}

/* Returns the link that decides the time of a target, or first[target + 1] if no link does. */
static size_t deciding_link(const walk *w, size_t target) {
    const tm_replay *job = w->job;
    size_t after = job->first[target + 1], found = after;
    for (size_t i = job->first[target]; i < after; i++) {
        if (found < after && job->rank[i] != job->rank[found])
            break;
        if (source_ns(job, w->ns, i) + weight_of(job, w->set_of_rank, i) == w->ns[target] &&
            (found == after || is_later(w, i, found)))
            found = i;
    }
    return found;
}

static void reverse(tm_hop *hops, size_t n) {
    for (size_t i = 0; i < n / 2; i++) {
        tm_hop hop = hops[i];
        hops[i] = hops[n - 1 - i];
        hops[n - 1 - i] = hop;
    }
}

bool tm_replay_path(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                    size_t step, int64_t since_ns, tm_vec *hops) {
    walk w = {replay, set_of_rank, ns};
    size_t target = replay->n_operations + step;
    hops->n = 0;
    while (ns[target] > since_ns) {
        size_t link = deciding_link(&w, target);
        /* If no link decides E_k, E_k is the end of an earlier step, or its lower limit 0. */
        if (link == replay->first[target + 1]) {
            if (target <= replay->n_operations)
                break;
            target--;
            continue;
        }
        int64_t begin_ns = source_ns(replay, ns, link);
        uint32_t from = replay->from[link];
        tm_hop *hop = tm_vec_push(hops);
        if (!hop)
            return false;
        *hop = (tm_hop){begin_ns > since_ns ? begin_ns : since_ns,
                        ns[target],
                        link,
                        from,
                        (uint32_t)target,
                        replay->rank[link]};
        if (from == TM_FROM_ROOT)
            break;
        target = from;
    }
    reverse(hops->data, hops->n);
    return true;
}

/* Returns whether a step is the last of several consecutive steps that count. Of such steps, only
 * the end of the last one matters to T. */
static bool ends_stretch(const tm_replay *replay, size_t k) {
    const bool *counts = replay->counts;
    return k + 1 == replay->n_steps ? !counts || counts[k] : counts && counts[k] && !counts[k + 1];
}

bool tm_replay_paths(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                     tm_vec *hops) {
    tm_vec one = TM_VEC(tm_hop);
    bool ok = true;
    hops->n = 0;
    for (size_t k = 0; k < replay->n_steps && ok; k++) {
        if (!ends_stretch(replay, k))
            continue;
        ok = tm_replay_path(replay, set_of_rank, ns, k, INT64_MIN, &one) &&
             (one.n == 0 || tm_vec_append(hops, one.data, one.n));
    }
    tm_vec_free(&one);
    return ok;
}

tm_status tm_replay_busiest(const tm_replay *replay, const uint8_t *set_of_rank, const int64_t *ns,
                            int64_t *rank, tm_error *err) {
    tm_vec hops = TM_VEC(tm_hop);
    int64_t *path = calloc(replay->n_ranks + 1, sizeof *path);
    bool ok = path && tm_replay_paths(replay, set_of_rank, ns, &hops);
    for (size_t i = 0; i < hops.n && ok; i++) {
        const tm_hop *hop = (const tm_hop *)hops.data + i;
        path[hop->rank] += hop->end_ns - hop->begin_ns;
    }
    size_t best = 0;
    for (size_t i = 1; i < replay->n_ranks && ok; i++)
        best = path[i] > path[best] ? i : best;
    *rank = hops.n > 0 ? replay->ranks[best] : -1;
    tm_vec_free(&hops);
    free(path);
    return ok ? TM_OK : tm_fail_memory(err);
}
