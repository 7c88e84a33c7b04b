#include "extras_sum.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "replay/job/batch_loops.h"

/* If more than this share of a role's work is at rare places, the ranks of the role do different
 * work, for example because they belong to stages that are not known. */
static const double RARE_MOST = 0.5;

void tm_extras_free(tm_extras *extras) {
    free(extras->flags);
    extras->flags = NULL;
    tm_vec_free(&extras->factors);
}

const tm_extra_factors *tm_extras_of(const tm_extras *extras, size_t index) {
    const tm_extra_factors *v = extras->factors.data;
    const size_t at = TM_FIRST_FROM(tm_extra_factors, index, v, extras->factors.n, index);
    return at < extras->factors.n && v[at].index == index ? &v[at] : NULL;
}

/* An item that is a rank's own work in a marked step. */
typedef struct work {
    uint32_t place;
    unsigned step;
    bool call;
    int64_t ns[TM_LANES];
} work;

/* Returns how many of the role's ranks have a place. */
static int64_t ranks_at(const tm_peer_places *places, uint32_t place) {
    const uint32_t known = places->known[place];
    return known ? ((const tm_peer_others *)places->others.data)[known - 1].n : 1;
}

/* Returns the flags of a place. They depend on the number of ranks that have the place. Returns 0
 * if all ranks have it. */
static uint8_t flags_at(const tm_extra_ranks *ranks, const tm_peer_places *places, uint32_t place) {
    const int64_t n = ranks_at(places, place);
    if (n == ranks->n_peers)
        return 0;
    return TM_EXTRA_COUNTED | (2 * n <= ranks->n_peers ? TM_EXTRA_RARE : 0) |
           (ranks->n_peers == 2 ? TM_EXTRA_PAIR : 0);
}

static size_t count_items(const tm_extra_ranks *ranks) {
    return ranks->items ? ranks->items->n : ranks->batch->items->n;
}

/* Finds the place of an item. False if the item is not a rank's own work in a marked step. */
static bool find_place(const tm_extra_ranks *ranks, const tm_peer_places *places, size_t item,
                       work *out) {
    const bool batch = !ranks->items;
    out->place = batch ? ranks->batch->items->places[item] : ranks->items->places[item];
    if (out->place == TM_NO_PLACE || (batch && !ranks->batch->items->always[item]))
        return false;
    const uint64_t hash = ((const uint64_t *)places->keys.keys.data)[out->place];
    out->step = tm_place_step(hash);
    out->call = tm_place_is_call(hash);
    return out->step != 0 && !tm_place_is_communication(hash);
}

/* Sets the time of an item on each rank. An event's second weight is not included: it is the
 * unexplained part of the event's start, not work. */
static void weigh(const tm_extra_ranks *ranks, size_t item, size_t n_lanes, work *out) {
    tm_batch_row first, second;
    if (ranks->items) {
        const tm_peer_weights w = tm_peer_item(ranks->items, item);
        out->ns[0] = out->call ? tm_sum(w.first_ns, w.second_ns) : w.first_ns;
        return;
    }
    tm_batch_loops_of(NULL)->weigh_item(ranks->batch, item, &first, &second);
    for (size_t k = 0; k < n_lanes; k++)
        out->ns[k] = out->call ? tm_sum(first.ns[k], second.ns[k]) : first.ns[k];
}

bool tm_extras_any(const tm_extra_ranks *ranks, const tm_peer_places *places) {
    work w;
    bool any = false;
    for (size_t i = 0; i < count_items(ranks) && !any; i++)
        any = find_place(ranks, places, i, &w) && flags_at(ranks, places, w.place) != 0;
    return any;
}

bool tm_extras_sum(const tm_extra_ranks *ranks, const tm_peer_places *places, tm_vec *sums) {
    const size_t n = tm_extra_lanes(ranks);
    tm_extra_sums *out = tm_vec_append(sums, NULL, n);
    if (!out)
        return false;
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        out[k].index = tm_extra_index(ranks, k);
        out[k].stage = ranks->stage;
        out[k].n_peers = ranks->n_peers;
    }
    for (size_t i = 0; i < count_items(ranks); i++) {
        work w;
        if (!find_place(ranks, places, i, &w))
            continue;
        const uint8_t flags = flags_at(ranks, places, w.place);
        weigh(ranks, i, n, &w);
        for (size_t k = 0; k < n; k++) {
            out[k].whole[w.call][w.step] += w.ns[k];
            out[k].apart[w.call][w.step] += flags ? w.ns[k] : 0;
            out[k].rare[w.call][w.step] += flags & TM_EXTRA_RARE ? w.ns[k] : 0;
        }
    }
    return true;
}

bool tm_extra_role_is_one(const tm_extra_role *role) {
    return !role->unlike && (double)role->rare_ns <= RARE_MOST * (double)role->whole_ns;
}

/* What is compared in a step: work at places that some rank lacks, or all work. */
typedef enum compared { APART, WHOLE } compared;

/* Returns the place that stands for a step of a role. Its highest bits are the step, as in the
 * hash of any place. */
static uint64_t place_of(int64_t stage, unsigned step, compared what) {
    const uint64_t words[3] = {(uint64_t)stage, step, what};
    return (uint64_t)step << 56 | tm_hash_words(0, words, 3) >> 8;
}

static bool has_step(const tm_extra_sums *sums, unsigned step) {
    return sums->whole[0][step] > 0 || sums->whole[1][step] > 0;
}

bool tm_extras_list(const tm_extra_sums *sums, int64_t origin, tm_vec *peers) {
    for (unsigned step = 1; step < TM_EXTRA_STEPS; step++) {
        const tm_peer both[] = {
            {place_of(sums->stage, step, APART),
             {sums->apart[0][step], sums->apart[1][step]},
             origin},
            {place_of(sums->stage, step, WHOLE),
             {sums->whole[0][step], sums->whole[1][step]},
             origin},
        };
        if (has_step(sums, step) && !tm_vec_append(peers, both, 2))
            return false;
    }
    return true;
}

/* Returns the factor by which the rank's time at rare places must be multiplied to get the time of
 * what its peers run instead. Returns NaN if the rank has no time at rare places. The rank's work
 * at places that some rank lacks, but that are not rare, is subtracted, because these places are
 * compared one by one. */
static double factor_of(const tm_extra_sums *sums, const tm_peer_others *others, bool call,
                        unsigned step) {
    const int64_t apart = sums->apart[call][step], rare = sums->rare[call][step];
    const tm_peer_around around = tm_peers_around(others, !call);
    const int64_t instead = tm_peer_median(&around, apart) - (apart - rare);
    if (rare <= 0)
        return (double)NAN;
    return instead > 0 ? (double)instead / (double)rare : 0.0;
}

/* Returns by how much [ns] a rank's time in a step exceeds the median of its peers; at least 0. */
static int64_t over_ns(int64_t own_ns, const tm_peer_others *others, bool call) {
    const tm_peer_around around = tm_peers_around(others, !call);
    const int64_t over = own_ns - tm_peer_median(&around, own_ns);
    return over > 0 ? over : 0;
}

/* Returns the values of a rank's peers in a step; NULL unless all of its peers have the step. */
static const tm_peer_others *others_of(const tm_extra_sums *sums, const tm_keys *known,
                                       const tm_peer_others *others, unsigned step, compared what) {
    const uint64_t place = place_of(sums->stage, step, what);
    const uint32_t at = step > 0 && has_step(sums, step) ? tm_keys_find(known, &place) : TM_NO_KEY;
    return at != TM_NO_KEY && others[at].n == sums->n_peers ? &others[at] : NULL;
}

tm_extra_factors tm_extras_compare(const tm_extra_sums *sums, const tm_keys *known,
                                   const tm_peer_others *others, bool *whole) {
    tm_extra_factors out = {.index = sums->index};
    for (unsigned step = 0; step < TM_EXTRA_STEPS; step++) {
        const tm_peer_others *apart = others_of(sums, known, others, step, APART);
        const tm_peer_others *all = others_of(sums, known, others, step, WHOLE);
        whole[step] = apart && all;
        for (int call = 0; call < 2; call++) {
            out.of[call][step] = apart ? factor_of(sums, apart, call, step) : (double)NAN;
            out.most_ns[call][step] = all ? over_ns(sums->whole[call][step], all, call) : 0;
        }
    }
    return out;
}

/* Returns by how much [ns] a rank's work in a step would be shorter if the rank were like its
 * peers. */
static double less_ns(const tm_extra_sums *sums, const tm_extra_factors *factors, unsigned step) {
    double ns = 0.0;
    for (int call = 0; call < 2; call++)
        if (!isnan(factors->of[call][step]))
            ns += (1.0 - factors->of[call][step]) * (double)sums->rare[call][step];
    return ns;
}

bool tm_extras_trust(const tm_extra_sums *sums, unsigned first, unsigned last,
                     tm_extra_factors *factors) {
    int n = 0, n_inner = 0;
    for (unsigned step = 1; step < TM_EXTRA_STEPS; step++) {
        n += less_ns(sums, factors, step) > 0.0;
        n_inner += less_ns(sums, factors, step) > 0.0 && step != first && step != last;
    }
    for (int call = 0; call < 2 && n < 2; call++)
        factors->of[call][first] = factors->of[call][last] = (double)NAN;
    return n >= 2 || n_inner > 0;
}

void tm_extras_mark(const tm_extra_ranks *ranks, const bool *whole, tm_peer_places *places) {
    for (size_t i = 0; i < count_items(ranks); i++) {
        work w;
        if (find_place(ranks, places, i, &w) && whole[w.step])
            places->extras.flags[w.place] = flags_at(ranks, places, w.place);
    }
}

/* A name in a step of a rank. */
typedef struct share {
    uint32_t index, step, name;
} share;

typedef struct share_sum {
    int64_t n, ns;
} share_sum;

/* State while rows are made: one row for each rank and step, and the share of each name in each
 * row. */
typedef struct rows {
    tm_vec *out;
    tm_keys keys, names; /* keys of type share; in `keys`, the member `name` is 0 */
    /* row_of: vector of size_t, parallel to `keys`: 1 + index of the row. sums: vector of
     * share_sum, parallel to `names`. */
    tm_vec row_of, sums;
} rows;

static tm_extra_row *row_at(rows *r, size_t index, unsigned step) {
    const share key = {(uint32_t)index, step, 0};
    size_t *at = tm_keys_value(&r->keys, &r->row_of, &key);
    if (!at)
        return NULL;
    if (*at == 0) {
        const tm_extra_row fresh = {.rank = (int64_t)index, .step = step, .name = -1};
        if (!tm_vec_append(r->out, &fresh, 1))
            return NULL;
        *at = r->out->n;
    }
    return (tm_extra_row *)r->out->data + *at - 1;
}

static bool add_work(rows *r, const work *w, size_t index, uint32_t name, int64_t less) {
    tm_extra_row *row = row_at(r, index, w->step);
    if (!row)
        return false;
    if (w->call) {
        row->calls_ns += less;
        return true;
    }
    row->n++;
    row->ns += less;
    const share key = {(uint32_t)index, w->step, name};
    share_sum *sum = tm_keys_value(&r->names, &r->sums, &key);
    if (!sum)
        return false;
    sum->n++;
    sum->ns += less;
    if (row->name < 0 || sum->ns >= row->name_ns || row->name == name) {
        row->name = name;
        row->name_n = sum->n;
        row->name_ns = sum->ns;
    }
    return true;
}

/* Returns whether the rank works longer than its peers at rare places, on the device or on the
 * host. */
static bool has_row(const tm_extra_factors *f, unsigned step) {
    return f->of[0][step] < 1.0 || f->of[1][step] < 1.0;
}

static int64_t less_of(const tm_extra_factors *f, const work *w, size_t lane) {
    const double factor = f->of[w->call][w->step];
    return factor < 1.0 ? w->ns[lane] - tm_extras_ns(w->ns[lane], factor) : 0;
}

/* Limits a row to the time by which the rank's total work exceeds its peers' total work. What seems
 * to be extra may not be additional work: for example, one more event of a name shifts the indices
 * of all later events of the name, and host work may move from one launch to another. */
static void cap_row(const tm_extra_factors *f, tm_extra_row *row) {
    const int64_t most_ns = f->most_ns[0][row->step], most_calls_ns = f->most_ns[1][row->step];
    if (row->ns > most_ns) {
        row->name_ns = (int64_t)((double)row->name_ns * (double)most_ns / (double)row->ns);
        row->ns = most_ns;
    }
    row->calls_ns = row->calls_ns < most_calls_ns ? row->calls_ns : most_calls_ns;
}

static bool add_item(const tm_extra_ranks *ranks, const tm_peer_places *places, size_t item,
                     rows *r) {
    work w = {0};
    const size_t n = tm_extra_lanes(ranks);
    bool ok = true, weighed = false;
    if (!find_place(ranks, places, item, &w) || !places->extras.flags ||
        !(places->extras.flags[w.place] & TM_EXTRA_RARE))
        return true;
    for (size_t k = 0; k < n && ok; k++) {
        const tm_extra_factors *f = tm_extras_of(&places->extras, tm_extra_index(ranks, k));
        if (!f || !has_row(f, w.step))
            continue;
        if (!weighed)
            weigh(ranks, item, n, &w);
        weighed = true;
        ok = add_work(r, &w, f->index, ((const uint32_t *)places->names.data)[w.place],
                      less_of(f, &w, k));
    }
    return ok;
}

bool tm_extras_rows(const tm_extra_ranks *ranks, const tm_peer_places *places, tm_vec *out) {
    const size_t before = out->n;
    rows r = {out, TM_KEYS(share), TM_KEYS(share), TM_VEC(size_t), TM_VEC(share_sum)};
    bool ok = true;
    for (size_t i = 0; i < count_items(ranks) && ok; i++)
        ok = add_item(ranks, places, i, &r);
    for (size_t i = before; i < out->n; i++) {
        tm_extra_row *row = (tm_extra_row *)out->data + i;
        cap_row(tm_extras_of(&places->extras, (size_t)row->rank), row);
    }
    tm_keys_free(&r.keys);
    tm_keys_free(&r.names);
    tm_vec_free(&r.row_of);
    tm_vec_free(&r.sums);
    return ok;
}
