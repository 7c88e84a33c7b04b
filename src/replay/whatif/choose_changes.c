#include "choose_changes.h"

#include <math.h>
#include <stdlib.h>

#include "base/keys.h"
#include "base/sorted.h"

/* A change is not evaluated if it shortens the path by less than T / 2000, because it cannot save
 * more. */
enum { WORTH_TRYING = 2000 };

/* A sum over the pieces of a path: of one kind of work, or of the kernels of one name. */
typedef struct on_path {
    int64_t path_ns, gain_ns;
    uint32_t name;
} on_path;

TM_ORDER_FALLING(by_path, on_path, path_ns, name);

static bool is_worth(const tm_replay_result *result, int64_t gain_ns) {
    return result->whole.n == 0 || (gain_ns > 0 && gain_ns >= result->total_ns / WORTH_TRYING);
}

static void choose(tm_changes *out, const tm_whatif_item *item, const tm_change *change,
                   bool tried) {
    out->items[out->n] = *item;
    out->items[out->n].tried = tried;
    out->changes[out->n++] = *change;
}

/* Sums the pieces of a path that belong to one kind of work. */
static on_path sum_kind(const tm_vec *path, const tm_fix_kind *kind) {
    const tm_path_piece *pieces = path->data;
    on_path sum = {0};
    for (size_t i = 0; i < path->n; i++)
        if ((kind->kinds >> pieces[i].kind & 1) &&
            (kind->flags == 0 || (pieces[i].flags & kind->flags))) {
            sum.path_ns += pieces[i].ns;
            sum.gain_ns += pieces[i].gain_ns;
        }
    return sum;
}

static void choose_kinds(const tm_replay_result *result, tm_changes *out) {
    for (int k = 0; k < TM_N_FIX_KINDS; k++) {
        const tm_fix_kind *kind = &tm_fix_kinds[k];
        const on_path steps = sum_kind(&result->pieces, kind), all = sum_kind(&result->whole, kind);
        tm_whatif_item item = {.id = k,
                               .path_ns = steps.path_ns,
                               .what = TM_WHATIF_KIND,
                               .ideal_ns = -1,
                               .next_rank = -1};
        const tm_change change = {
            .kinds = kind->kinds, .flags = kind->flags, .factor = (double)INFINITY};
        if (steps.path_ns == 0 && all.path_ns == 0)
            continue;
        choose(out, &item, &change, is_worth(result, all.gain_ns));
        if (kind->flags & TM_EDGE_STALL)
            continue; /* no limit: a call that takes its usual time is no longer a stall */
        const tm_change none = {.kinds = kind->kinds, .flags = kind->flags, .factor = 0.0};
        item.what = TM_WHATIF_LIMIT;
        choose(out, &item, &none, is_worth(result, all.path_ns));
    }
}

/* Sums compute kernels by name. If @p whole, sums their possible gain on the whole path. Otherwise,
 * sums their time on the paths of the steps. */
static bool sum_kernels(const tm_vec *path, bool whole, tm_keys *keys, tm_vec *sums) {
    const tm_path_piece *pieces = path->data;
    for (size_t i = 0; i < path->n; i++) {
        if (pieces[i].kind != TM_EDGE_COMPUTE)
            continue;
        on_path *sum = tm_keys_value(keys, sums, &pieces[i].name);
        if (!sum)
            return false;
        sum->name = pieces[i].name;
        sum->path_ns += whole ? 0 : pieces[i].ns;
        sum->gain_ns += whole ? pieces[i].gain_ns : 0;
    }
    return true;
}

static bool choose_kernels(const tm_replay_result *result, tm_changes *out) {
    tm_keys keys = TM_KEYS(uint32_t);
    tm_vec sums = TM_VEC(on_path);
    bool ok = sum_kernels(&result->pieces, false, &keys, &sums) &&
              sum_kernels(&result->whole, true, &keys, &sums);
    if (ok && sums.n > 1)
        qsort(sums.data, sums.n, sums.size, by_path);
    for (size_t k = 0; k < sums.n && k < TM_KERNELS_MAX && ok; k++) {
        const on_path *sum = (const on_path *)sums.data + k;
        const tm_whatif_item item = {.id = sum->name,
                                     .path_ns = sum->path_ns,
                                     .what = TM_WHATIF_KERNEL,
                                     .ideal_ns = -1,
                                     .next_rank = -1};
        out->kernels[out->n_kernels++] = sum->name;
        const tm_change change = {.kinds = 1 << TM_EDGE_COMPUTE,
                                  .mark = (uint8_t)out->n_kernels,
                                  .factor = (double)INFINITY};
        choose(out, &item, &change, is_worth(result, sum->gain_ns));
    }
    tm_keys_free(&keys);
    tm_vec_free(&sums);
    return ok;
}

tm_status tm_changes_choose(const tm_replay_result *result, tm_changes *out, tm_error *err) {
    choose_kinds(result, out);
    return choose_kernels(result, out) ? TM_OK : tm_fail_memory(err);
}

uint8_t *tm_changes_mark(const tm_changes *changes, size_t n_names) {
    uint8_t *marks = calloc(n_names + 1, 1);
    for (uint32_t k = 0; k < changes->n_kernels && marks; k++)
        marks[changes->kernels[k]] = (uint8_t)(k + 1);
    return marks;
}
