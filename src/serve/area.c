#include "serve/area.h"

#include "base/keys.h"
#include "base/now.h"
#include "report/timeline_events.h"

typedef struct key {
    uint32_t name, kind;
} key;

/* An open operator. Later operators may be nested in it. */
typedef struct opened {
    uint32_t sum; /* index of the operator's sum among the rank's sums */
    int64_t end_ns;
} opened;

typedef struct adder {
    const tm_area_wish *wish;
    tm_serve_walk walk;
    tm_keys keys;
    size_t first;          /* index of the rank's first sum */
    tm_vec *sums;          /* vector of tm_area_sum */
    tm_vec open;           /* vector of opened: the operators that are open, outermost first */
    const tm_track *track; /* the track that `open` belongs to */
} adder;

static int64_t part_of(const tm_area_wish *wish, const tm_serve_event *e) {
    const int64_t from = e->begin_ns > wish->from ? e->begin_ns : wish->from;
    const int64_t end = e->begin_ns + e->duration_ns, to = end < wish->to ? end : wish->to;
    return to - from;
}

/* Closes the operators that end before @p e starts, and opens @p e. Subtracts @p ns, the time of @p
 * e, from the self time of the operator around it. */
static bool nest(adder *a, const tm_serve_event *e, uint32_t own, int64_t ns) {
    opened *open = a->open.data;
    if (a->track != a->walk.track)
        a->open.n = 0;
    a->track = a->walk.track;
    while (a->open.n > 0 && open[a->open.n - 1].end_ns <= e->begin_ns)
        a->open.n--;
    if (a->open.n > 0)
        ((tm_area_sum *)a->sums->data)[a->first + open[a->open.n - 1].sum].self_ns -= ns;
    return tm_vec_append(&a->open, &(opened){own, e->begin_ns + e->duration_ns}, 1);
}

static bool add(adder *a, int64_t rank, const tm_serve_event *e) {
    const int64_t ns = part_of(a->wish, e);
    const key k = {e->name, e->kind};
    if (ns <= 0 || (a->wish->host && e->kind != TM_SHOWN_OPERATOR) ||
        (!a->wish->host && e->kind >= TM_N_LANE_KINDS))
        return true;
    const uint32_t own = tm_keys_add(&a->keys, &k);
    if (own == TM_NO_KEY)
        return false;
    if (a->first + own == a->sums->n &&
        !tm_vec_append(a->sums, &(tm_area_sum){.rank = rank, .name = e->name, .kind = e->kind}, 1))
        return false;
    tm_area_sum *sum = (tm_area_sum *)a->sums->data + a->first + own;
    sum->count++;
    sum->sum_ns += ns;
    sum->self_ns += ns;
    sum->longest_ns = ns > sum->longest_ns ? ns : sum->longest_ns;
    return !a->wish->host || nest(a, e, own, ns);
}

static tm_status add_rank(tm_serve_reader *reader, const tm_area_wish *wish, size_t at,
                          int64_t rank, tm_vec *sums, tm_error *err) {
    adder a = {.wish = wish,
               .walk = {.reader = reader,
                        .at = at,
                        .host = wish->host,
                        .from_ns = wish->from,
                        .to_ns = wish->to},
               .keys = TM_KEYS(key),
               .first = sums->n,
               .sums = sums,
               .open = TM_VEC(opened)};
    tm_serve_event event;
    bool found = true;
    tm_status status = TM_OK;
    while (status == TM_OK && found) {
        status = tm_serve_walk_next(&a.walk, &event, &found, err);
        if (status == TM_OK && found && !add(&a, rank, &event))
            status = tm_fail_memory(err);
    }
    tm_keys_free(&a.keys);
    tm_vec_free(&a.open);
    return status;
}

tm_status tm_serve_area(tm_serve_reader *reader, const tm_area_wish *wish, tm_vec *sums,
                        int64_t *next, int64_t *seen, tm_error *err) {
    size_t n, at = (size_t)wish->at;
    const tm_timeline *ranks = tm_serve_reader_ranks(reader, &n);
    const int64_t end_ns = tm_now_ns() + wish->budget_ns;
    for (*seen = 0; at < n && (*seen == 0 || tm_now_ns() < end_ns); at++) {
        if (wish->n_ranks > 0 && !tm_serve_in(wish->ranks, wish->n_ranks, ranks[at].rank))
            continue;
        TM_TRY(add_rank(reader, wish, at, ranks[at].rank, sums, err));
        ++*seen;
    }
    *next = (int64_t)at;
    return TM_OK;
}
