#include "serve/serve_levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "timeline/levels.h"

enum { PIECE_ROWS = TM_STORE_CHUNK_ROWS, MARK_ROWS = 1024, EXPONENT_MAX = 62 };

/* The rows of one lane in one level of a rank, ascending by start. */
typedef struct run {
    size_t first, n; /* range of rows in /levels */
    uint8_t exponent, lane;
} run;

struct tm_serve_levels {
    tm_store_column *begin, *busy;
    tm_vec runs;           /* vector of run: the runs of all ranks, ascending by rank */
    size_t *first_run;     /* owned; [n_ranks + 1] index of each rank's first run */
    tm_vec marks;          /* vector of int64_t: start of every MARK_ROWS-th row */
    tm_vec begins, busies; /* vector of int64_t: scratch */
};

typedef struct looker {
    const tm_store *store;
    tm_serve_levels *out;
    const tm_timeline *ranks; /* [n] */
    size_t n;
    tm_store_column *exponent, *lane;
    uint8_t exponents[PIECE_ROWS], lanes[PIECE_ROWS];
} looker;

static bool add_rows(tm_vec *runs, size_t first_run, const looker *k, size_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        run *last = runs->n > first_run ? (run *)runs->data + runs->n - 1 : NULL;
        if (last && last->exponent == k->exponents[i] && last->lane == k->lanes[i]) {
            last->n++;
            continue;
        }
        const run begun = {first + i, 1, k->exponents[i], k->lanes[i]};
        if (!tm_vec_append(runs, &begun, 1))
            return false;
    }
    return true;
}

static tm_status find_runs(looker *k, tm_error *err) {
    tm_serve_levels *l = k->out;
    size_t row = 0;
    for (size_t at = 0; at < k->n; at++) {
        size_t end = row + k->ranks[at].n_levels, begun = l->runs.n;
        l->first_run[at] = begun;
        for (size_t n; row < end; row += n) {
            n = end - row < PIECE_ROWS ? end - row : PIECE_ROWS;
            TM_TRY(tm_store_read_rows(k->exponent, row, n, k->exponents, err));
            TM_TRY(tm_store_read_rows(k->lane, row, n, k->lanes, err));
            if (!add_rows(&l->runs, begun, k, row, n))
                return tm_fail_memory(err);
        }
    }
    l->first_run[k->n] = l->runs.n;
    return TM_OK;
}

static tm_status find_marks(tm_serve_levels *l, tm_error *err) {
    size_t n = tm_store_column_rows(l->begin);
    for (size_t row = 0; row < n; row += MARK_ROWS) {
        int64_t begin;
        TM_TRY(tm_store_read_rows(l->begin, row, 1, &begin, err));
        if (!tm_vec_append(&l->marks, &begin, 1))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

static tm_status open_columns(looker *k, tm_error *err) {
    tm_serve_levels *l = k->out;
    l->first_run = calloc(k->n + 1, sizeof *l->first_run);
    if (!l->first_run)
        return tm_fail_memory(err);
    TM_TRY(tm_store_open_column(k->store, "/levels/begin_ns", TM_I64, &l->begin, err));
    TM_TRY(tm_store_open_column(k->store, "/levels/busy_ns", TM_I64, &l->busy, err));
    TM_TRY(tm_store_open_column(k->store, "/levels/level", TM_U8, &k->exponent, err));
    TM_TRY(tm_store_open_column(k->store, "/levels/lane", TM_U8, &k->lane, err));
    TM_TRY(find_runs(k, err));
    return find_marks(l, err);
}

static tm_status look(const tm_store *store, const tm_timeline *ranks, size_t n,
                      tm_serve_levels *out, tm_error *err) {
    looker *k = malloc(sizeof *k);
    if (!k)
        return tm_fail_memory(err);
    *k = (looker){.store = store, .out = out, .ranks = ranks, .n = n};
    tm_status status = open_columns(k, err);
    tm_store_close_column(k->exponent);
    tm_store_close_column(k->lane);
    free(k);
    return status;
}

static tm_status open_all(const tm_store *store, const tm_timeline *ranks, size_t n,
                          tm_serve_levels **out, tm_error *err) {
    size_t rows = 0;
    for (size_t i = 0; i < n; i++)
        rows += ranks[i].n_levels;
    *out = NULL;
    if (rows == 0)
        return TM_OK;
    tm_serve_levels *l = calloc(1, sizeof *l);
    if (!l)
        return tm_fail_memory(err);
    l->runs = TM_VEC(run);
    l->marks = l->begins = l->busies = TM_VEC(int64_t);
    tm_status status = look(store, ranks, n, l, err);
    if (status == TM_OK)
        *out = l;
    else
        tm_serve_levels_close(l);
    return status;
}

tm_status tm_serve_levels_open(const tm_store *store, tm_serve_levels **out, tm_error *err) {
    tm_timeline *ranks;
    size_t n;
    TM_TRY(tm_store_read_ranks(store, &ranks, &n, err));
    tm_status status = open_all(store, ranks, n, out, err);
    free(ranks);
    return status;
}

void tm_serve_levels_close(tm_serve_levels *l) {
    if (!l)
        return;
    tm_store_close_column(l->begin);
    tm_store_close_column(l->busy);
    free(l->first_run);
    TM_VECS_FREE(&l->runs, &l->marks, &l->begins, &l->busies);
    free(l);
}

/* Returns the number of buckets of a level that overlap the window. */
static size_t count_buckets(const tm_serve_shares *s, int exponent) {
    uint64_t first = (uint64_t)(s->from_ns >> exponent),
             last = (uint64_t)((s->to_ns - 1) >> exponent);
    return (size_t)(last - first) + 1;
}

/* Chooses the finest level of a rank that has at most s->most buckets in the window. Sets s->n to 0
 * if every level has more. */
static void choose(const tm_serve_levels *l, tm_serve_shares *s) {
    const run *runs = l->runs.data;
    size_t i = l->first_run[s->at], end = l->first_run[s->at + 1];
    while (i < end &&
           (runs[i].exponent > EXPONENT_MAX || count_buckets(s, runs[i].exponent) > s->most))
        i++;
    s->n = 0;
    if (i == end)
        return;
    s->exponent = runs[i].exponent;
    s->begin_ns = s->from_ns >> s->exponent << s->exponent;
    s->n = count_buckets(s, s->exponent);
}

/* Narrows a run to the rows that may start in the buckets. Looks only at the marks, so up to
 * MARK_ROWS extra rows remain on each side. */
static void narrow(const tm_serve_levels *l, const run *r, const tm_serve_shares *s, size_t *first,
                   size_t *end) {
    const int64_t *marks = l->marks.data;
    int64_t to_ns = s->begin_ns + (int64_t)(s->n << s->exponent);
    size_t low = (r->first + MARK_ROWS - 1) / MARK_ROWS;
    size_t high = (r->first + r->n + MARK_ROWS - 1) / MARK_ROWS, n = high - low;
    size_t from = tm_lower_bound(marks + low, n, s->begin_ns);
    size_t to = tm_lower_bound(marks + low, n, to_ns);
    *first = from > 0 ? (low + from - 1) * MARK_ROWS : r->first;
    *end = to < n ? (low + to) * MARK_ROWS : r->first + r->n;
}

static uint8_t share_of(int64_t busy_ns, int exponent) {
    int64_t width = (int64_t)1 << exponent;
    if (busy_ns <= 0)
        return 0;
    if (busy_ns >= width)
        return UINT8_MAX;
    double share = (double)busy_ns / (double)width * UINT8_MAX;
    return share < 1 ? 1 : (uint8_t)lround(share);
}

static tm_status put_run(tm_serve_levels *l, const run *r, const tm_serve_shares *s, uint8_t *out,
                         tm_error *err) {
    size_t first, end;
    narrow(l, r, s, &first, &end);
    l->begins.n = l->busies.n = 0;
    size_t n = end - first;
    if (!tm_vec_append(&l->begins, NULL, n) || !tm_vec_append(&l->busies, NULL, n))
        return n == 0 ? TM_OK : tm_fail_memory(err);
    TM_TRY(tm_store_read_rows(l->begin, first, n, l->begins.data, err));
    TM_TRY(tm_store_read_rows(l->busy, first, n, l->busies.data, err));
    const int64_t *begins = l->begins.data, *busies = l->busies.data;
    for (size_t i = 0; i < n; i++) {
        int64_t bucket = (begins[i] >> s->exponent) - (s->begin_ns >> s->exponent);
        if (bucket >= 0 && bucket < (int64_t)s->n)
            out[bucket] = share_of(busies[i], s->exponent);
    }
    return TM_OK;
}

tm_status tm_serve_levels_read(tm_serve_levels *l, tm_serve_shares *s, tm_vec *bytes,
                               tm_error *err) {
    const run *runs = l->runs.data;
    choose(l, s);
    if (s->n == 0)
        return TM_OK;
    uint8_t *out = tm_vec_append(bytes, NULL, TM_SERVE_LANES * s->n);
    if (!out)
        return tm_fail_memory(err);
    memset(out, 0, TM_SERVE_LANES * s->n);
    for (size_t i = l->first_run[s->at]; i < l->first_run[s->at + 1]; i++)
        if (runs[i].exponent == s->exponent && runs[i].lane < TM_SERVE_LANES)
            TM_TRY(put_run(l, &runs[i], s, out + runs[i].lane * s->n, err));
    return TM_OK;
}

/* Adds to each bucket the time covered by the intervals. @param busy_ns  [s->n] */
static void add_busy(const tm_serve_shares *s, const tm_intervals *set, int64_t *busy_ns) {
    const tm_interval *v = set->data;
    const int64_t width = (int64_t)1 << s->exponent, last = s->begin_ns + (int64_t)s->n * width;
    for (size_t i = 0; i < set->n; i++) {
        int64_t at = v[i].begin_ns > s->begin_ns ? v[i].begin_ns : s->begin_ns;
        const int64_t end = v[i].end_ns < last ? v[i].end_ns : last;
        while (at < end) {
            const int64_t bucket = (at - s->begin_ns) >> s->exponent;
            const int64_t after = s->begin_ns + (bucket + 1) * width;
            const int64_t to = after < end ? after : end;
            busy_ns[bucket] += to - at;
            at = to;
        }
    }
}

static tm_status put_lanes(const tm_serve_shares *s, const tm_lanes *lanes, tm_vec *bytes,
                           tm_error *err) {
    int64_t *busy_ns = malloc((s->n + 1) * sizeof *busy_ns);
    uint8_t *out = busy_ns ? tm_vec_append(bytes, NULL, TM_SERVE_LANES * s->n) : NULL;
    for (int k = 0; k < TM_N_LANE_KINDS && out; k++) {
        memset(busy_ns, 0, s->n * sizeof *busy_ns);
        add_busy(s, &lanes->kinds[k], busy_ns);
        for (size_t i = 0; i < s->n; i++)
            out[tm_level_lane_of((tm_lane_kind)k) * s->n + i] = share_of(busy_ns[i], s->exponent);
    }
    free(busy_ns);
    return out ? TM_OK : tm_fail_memory(err);
}

tm_status tm_serve_shares_of(const tm_timeline *window, tm_serve_shares *s, tm_vec *bytes,
                             tm_error *err) {
    tm_lanes lanes;
    s->exponent = 0;
    while (s->exponent < EXPONENT_MAX && count_buckets(s, s->exponent) > s->most)
        s->exponent++;
    s->begin_ns = s->from_ns >> s->exponent << s->exponent;
    s->n = count_buckets(s, s->exponent);
    tm_status status = tm_lanes_make(window, NULL, &lanes, err);
    if (status == TM_OK)
        status = put_lanes(s, &lanes, bytes, err);
    tm_lanes_free(&lanes);
    return status;
}
