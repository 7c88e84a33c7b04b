#include "split.h"

#include <stdlib.h>
#include <string.h>

#include "base/keys.h"
#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"

/* Stands for a transfer between stages in a sequence of kernels. */
#define BORDER TM_NO_NAME

/* A kernel or transfer, to be sorted by launch. */
typedef struct asked {
    int64_t ns;
    uint32_t row, name;
} asked;

TM_ORDER_BY(by_time, asked, ns, row);

/* Returns the length of the longest section of a pass in which names repeat every @p apart kernels.
 * Returns 0 if this section is shorter than two repetitions. */
static size_t longest_run(const asked *pass, size_t n, size_t apart) {
    size_t longest = 0, run = 0;
    for (size_t i = 0; i + apart < n; i++) {
        run = pass[i].name == pass[i + apart].name ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest >= apart ? longest + apart : 0;
}

/* Returns how often a sequence of kernels repeats in a pass; 0 if no sequence repeats. The
 * repetitions must cover at least a third of the pass. (They need not cover all of it, because a
 * pass of the last stage may contain forward and backward.) */
static int64_t count_repeats(const asked *pass, size_t n) {
    enum { TRIED = 16 };
    size_t covered = 0, best = 1;
    for (size_t anchor = n / 4; anchor <= n / 2 && n > 3; anchor += n / 4)
        for (size_t i = anchor + 1, tried = 0; i < n && tried < TRIED; i++) {
            if (pass[i].name != pass[anchor].name)
                continue;
            const size_t run = longest_run(pass, n, i - anchor);
            tried++;
            if (run > covered || (run == covered && i - anchor < best)) {
                covered = run;
                best = i - anchor;
            }
        }
    return 3 * covered >= n ? (int64_t)(covered / best) : 0;
}

static bool list_asked(const tm_timeline *t, const bool *counts, tm_vec *out) {
    const tm_collective_attr *attrs = t->attrs[TM_ATTR_COLLECTIVE];
    size_t next = 0;
    for (uint32_t row = 0; row < t->n_events; row++) {
        while (next < t->n_attrs[TM_ATTR_COLLECTIVE] && attrs[next].event < row)
            next++;
        if (t->step[row] == TM_NO_STEP || !counts[t->step[row]])
            continue;
        const uint32_t call = tm_timeline_asked(t, row);
        const asked it = {t->begin_ns[call == TM_NO_EVENT ? row : call], row,
                          t->role[row] == TM_ROLE_COMPUTE ? t->name[row] : BORDER};
        const bool border = t->role[row] == TM_ROLE_COMMUNICATION &&
                            next < t->n_attrs[TM_ATTR_COLLECTIVE] && attrs[next].event == row &&
                            tm_collective_is_transfer(attrs[next].kind);
        if ((it.name != BORDER || border) && !tm_vec_append(out, &it, 1))
            return false;
    }
    tm_vec_sort(out, by_time);
    return true;
}

/* Counts the layers, i.e. how often a pass repeats the same kernels. The number is 0 unless at
 * least four of five passes have the same number. */
static bool count_layers(const tm_timeline *t, const bool *counts, int64_t *layers) {
    tm_vec all = TM_VEC(asked), found = TM_VEC(int64_t);
    bool ok = list_asked(t, counts, &all);
    const asked *v = all.data;
    for (size_t i = 0, end; i < all.n && ok; i = end + 1) {
        for (end = i; end < all.n && v[end].name != BORDER; end++)
            ;
        const int64_t n = end > i ? count_repeats(v + i, end - i) : 0;
        ok = end == i || tm_vec_append(&found, &n, 1);
    }
    *layers = ok && found.n > 0 ? tm_median_any(found.data, found.n) : 0;
    size_t same = 0;
    for (size_t i = 0; i < found.n; i++)
        same += ((const int64_t *)found.data)[i] == *layers;
    if (5 * same < 4 * found.n || *layers < 2)
        *layers = 0;
    tm_vec_free(&all);
    tm_vec_free(&found);
    return ok;
}

typedef struct kernel_key {
    uint32_t name;
    int32_t grid[3];
} kernel_key;

typedef struct kernel_sum {
    int64_t calls, total_ns;
} kernel_sum;

/* Sums a rank's kernels by name and shape. */
static bool sum_kernels(const tm_timeline *t, const bool *counts, tm_keys *keys, tm_vec *sums) {
    const tm_kernel_attr *attrs = t->attrs[TM_ATTR_KERNEL];
    size_t next = 0;
    for (uint32_t row = 0; row < t->n_events; row++) {
        while (next < t->n_attrs[TM_ATTR_KERNEL] && attrs[next].event < row)
            next++;
        if (t->role[row] != TM_ROLE_COMPUTE || t->step[row] == TM_NO_STEP || !counts[t->step[row]])
            continue;
        kernel_key key = {t->name[row], {-1, -1, -1}};
        if (next < t->n_attrs[TM_ATTR_KERNEL] && attrs[next].event == row)
            memcpy(key.grid, tm_kernel_shape(t, &attrs[next])->grid, sizeof key.grid);
        kernel_sum *sum = tm_keys_value(keys, sums, &key);
        if (!sum)
            return false;
        sum->calls++;
        sum->total_ns = tm_sum(sum->total_ns, t->duration_ns[row]);
    }
    return true;
}

tm_status tm_split_collect(const tm_timeline *timeline, int64_t stage, const bool *counts,
                           tm_vec *kernels, tm_error *err) {
    tm_keys keys = TM_KEYS(kernel_key);
    tm_vec sums = TM_VEC(kernel_sum);
    int64_t layers = 0;
    bool ok =
        sum_kernels(timeline, counts, &keys, &sums) && count_layers(timeline, counts, &layers);
    for (size_t i = 0; i < sums.n && ok; i++) {
        const kernel_key *key = (const kernel_key *)keys.keys.data + i;
        const kernel_sum *sum = (const kernel_sum *)sums.data + i;
        tm_split_kernel k = {.name = key->name,
                             .stage = stage,
                             .rank = timeline->rank,
                             .calls = sum->calls,
                             .total_ns = sum->total_ns,
                             .layers = layers};
        memcpy(k.grid, key->grid, sizeof k.grid);
        ok = tm_vec_append(kernels, &k, 1) != NULL;
    }
    tm_keys_free(&keys);
    tm_vec_free(&sums);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* A rank's work: as recorded, and with each kernel at its usual time. */
typedef struct rank_work {
    int64_t stage, rank, work_ns, usual_ns, own_ns, calls, layers;
} rank_work;

static bool same_kernel(const tm_split_kernel *a, const tm_split_kernel *b) {
    return a->name == b->name && memcmp(a->grid, b->grid, sizeof a->grid) == 0;
}

static int by_kernel(const void *a, const void *b) {
    const tm_split_kernel *x = a, *y = b;
    int order = (x->name > y->name) - (x->name < y->name);
    order = order ? order : memcmp(x->grid, y->grid, sizeof x->grid);
    order = order ? order : tm_order_i64(x->stage, y->stage);
    return order ? order : tm_order_i64(x->rank, y->rank);
}

TM_ORDER_BY(by_work, rank_work, stage, work_ns, rank);

/* Adds the kernel of one name and shape to the work of the n ranks that run it. @p v [n] is ordered
 * by stage. */
static bool add_kernel(const tm_split_kernel *v, size_t n, int64_t *means, tm_keys *ranks,
                       tm_vec *works) {
    for (size_t i = 0; i < n; i++)
        means[i] = tm_round_ratio(v[i].total_ns, v[i].calls);
    const int64_t usual_ns = tm_median_any(means, n);
    for (size_t i = 0; i < n; i++) {
        rank_work *work = tm_keys_value(ranks, works, &v[i].rank);
        if (!work)
            return false;
        work->stage = v[i].stage;
        work->rank = v[i].rank;
        work->calls += v[i].calls;
        work->layers = v[i].layers;
        work->work_ns = tm_sum(work->work_ns, v[i].total_ns);
        work->usual_ns = tm_sum(work->usual_ns, usual_ns * v[i].calls);
        work->own_ns += v[0].stage == v[n - 1].stage ? usual_ns * v[i].calls : 0;
    }
    return true;
}

/* Makes a tm_split_stage of the n ranks of a stage. The ranks must be sorted by work. */
static tm_split_stage stage_of(const rank_work *v, size_t n, int64_t n_steps) {
    const rank_work *middle = &v[(n - 1) / 2];
    tm_split_stage out = {.stage = v->stage,
                          .ranks = (int64_t)n,
                          .work_ns = tm_round_ratio(middle->work_ns, n_steps),
                          .usual_ns = tm_round_ratio(middle->usual_ns, n_steps),
                          .own_ns = tm_round_ratio(middle->own_ns, n_steps),
                          .spread_ns = tm_round_ratio(v[n - 1].work_ns - v[0].work_ns, n_steps),
                          .layers = middle->layers,
                          .calls = tm_round_ratio(middle->calls, n_steps)};
    for (size_t i = 0; i < n; i++)
        out.layers = v[i].layers == middle->layers ? out.layers : 0;
    return out;
}

/* If some stage has only one rank, replaces the work of all stages by the usual times. */
static void take_usual(tm_split_stage *v, size_t n) {
    bool one = false;
    for (size_t i = 0; i < n; i++)
        one = one || v[i].ranks == 1;
    for (size_t i = 0; i < n && one; i++) {
        v[i].work_ns = v[i].usual_ns;
        v[i].spread_ns = 0;
    }
}

/* Marks the stages whose excess of work over the mean is at least half of the largest excess. Also
 * sets the factors of all stages. */
static void mark(tm_split_stage *v, size_t n) {
    double mean = 0.0, calls = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean += (double)v[i].work_ns / (double)n;
        calls += (double)v[i].calls / (double)n;
        most = (double)v[i].work_ns > most ? (double)v[i].work_ns : most;
    }
    for (size_t i = 0; i < n; i++) {
        v[i].differs = 2.0 * ((double)v[i].work_ns - mean) >= most - mean;
        v[i].factors[0] = v[i].work_ns > 0 ? mean / (double)v[i].work_ns : 1.0;
        v[i].factors[1] = v[i].calls > 0 ? calls / (double)v[i].calls : 1.0;
    }
}

/*
 * Returns whether the marked stages have sufficiently more work than the others.
 *
 * @param spreads  [n] scratch memory
 */
static bool are_apart(const tm_split_stage *v, size_t n, int64_t *spreads) {
    const double least_share = 0.03, times = 3.0;
    int64_t least = INT64_MAX, most = -1;
    for (size_t i = 0; i < n; i++) {
        spreads[i] = v[i].spread_ns;
        if (v[i].differs)
            least = v[i].work_ns < least ? v[i].work_ns : least;
        else
            most = v[i].work_ns > most ? v[i].work_ns : most;
    }
    if (most < 0 || n < 2)
        return false;
    const double gap = (double)least - (double)most;
    return gap >= least_share * (double)most && gap >= times * (double)tm_median_any(spreads, n);
}

/* If most stages are marked, marks the others instead. */
static void name_fewer(tm_split_stage *v, size_t n) {
    size_t more = 0;
    for (size_t i = 0; i < n; i++)
        more += v[i].differs != 0;
    for (size_t i = 0; i < n && 2 * more > n; i++)
        v[i].differs = !v[i].differs;
}

tm_status tm_split_compare(tm_vec *kernels, int64_t n_steps, tm_vec *stages, tm_error *err) {
    tm_split_kernel *v = kernels->data;
    tm_keys ranks = TM_KEYS(int64_t);
    tm_vec works = TM_VEC(rank_work);
    int64_t *means = malloc((kernels->n + 1) * sizeof *means);
    const size_t first = stages->n;
    bool ok = means != NULL;
    tm_vec_sort(kernels, by_kernel);
    for (size_t i = 0, end; i < kernels->n && ok; i = end) {
        for (end = i + 1; end < kernels->n && same_kernel(&v[i], &v[end]); end++)
            ;
        ok = add_kernel(v + i, end - i, means, &ranks, &works);
    }
    tm_vec_sort(&works, by_work);
    const rank_work *w = works.data;
    for (size_t i = 0, end; i < works.n && ok; i = end) {
        for (end = i + 1; end < works.n && w[end].stage == w[i].stage; end++)
            ;
        const tm_split_stage stage = stage_of(w + i, end - i, n_steps);
        ok = tm_vec_append(stages, &stage, 1) != NULL;
    }
    if (ok) {
        tm_split_stage *found = (tm_split_stage *)stages->data + first;
        take_usual(found, stages->n - first);
        mark(found, stages->n - first);
        stages->n = are_apart(found, stages->n - first, means) ? stages->n : first;
        name_fewer(found, stages->n - first);
    }
    free(means);
    tm_keys_free(&ranks);
    tm_vec_free(&works);
    return ok ? TM_OK : tm_fail_memory(err);
}
