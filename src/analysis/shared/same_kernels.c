#include "same_kernels.h"

#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"

/* A kernel is slower if it takes more than this many times its usual duration. A smaller difference
 * may be chance. */
static const double SLOWER = 1.02;

enum { A_RANK, A_OWN, A_ALIKE, A_USUAL, A_SLOWER, A_KERNELS, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    {"rank", TM_INT, "", "Global rank."},
    {"own_ns", TM_INT, "ns", "Time of the rank's compute kernels."},
    {"alike_ns", TM_INT, "ns",
     "Part of own_ns in kernels that other ranks also run, with the same name and shape."},
    {"usual_ns", TM_INT, "ns",
     "Time that the kernels in alike_ns would take if each took its usual duration: the median of "
     "the other ranks' mean durations."},
    {"slower_ns", TM_INT, "ns",
     "Part of alike_ns in kernels that take over 2 % longer on this rank than usual (see "
     "usual_ns)."},
    {"kernels", TM_INT, "", "Number of distinct kernels (name and shape) in alike_ns."},
};

const tm_table_def tm_same_kernels_table = TM_INTERNAL_TABLE(
    "kernels.same",
    "A row for each rank: the time of its kernels, and of the same kernels on other ranks.",
    columns, 1);

typedef struct sums {
    int64_t own_ns, alike_ns, usual_ns, slower_ns, kernels;
} sums;

void tm_same_kernels_init(tm_same_kernels *same) {
    *same = (tm_same_kernels){
        .ranks = TM_KEYS(int64_t), .sums = TM_VEC(sums), .means = TM_VEC(int64_t)};
}

void tm_same_kernels_free(tm_same_kernels *same) {
    tm_keys_free(&same->ranks);
    tm_vec_free(&same->sums);
    tm_vec_free(&same->means);
}

/* Returns the median of the other ranks' means. @p means has the means of all ranks, ascending. @p
 * own is the rank's own mean. */
static int64_t median_of_others(const tm_vec *means, int64_t own) {
    const int64_t *v = means->data;
    const size_t n = means->n - 1, place = tm_lower_bound(v, means->n, own);
    const size_t low = (n - 1) / 2, high = n / 2;
    const int64_t middle[2] = {v[low + (low >= place)], v[high + (high >= place)]};
    return tm_median(middle, 2);
}

bool tm_same_kernels_add(tm_same_kernels *same, const tm_rank_rows *rows,
                         const tm_same_kernels_columns *at) {
    const tm_cell *key = tm_rank_rows_key(rows);
    if (key[at->communication].value.i > 0)
        return true;
    same->means.n = 0;
    for (size_t r = rows->first; r < rows->end; r++) {
        const tm_cell *row = tm_table_row(rows->part, r);
        const int64_t mean = tm_round_ratio(row[at->total].value.i, row[at->calls].value.i);
        if (!tm_vec_append(&same->means, &mean, 1))
            return false;
    }
    const bool compared = rows->end - rows->first > 1 && key[at->grid].value.i >= 0;
    tm_sort_values(same->means.data, same->means.n);
    for (size_t r = rows->first; r < rows->end; r++) {
        const tm_cell *row = tm_table_row(rows->part, r);
        const int64_t calls = row[at->calls].value.i, total = row[at->total].value.i;
        sums *s = tm_keys_value(&same->ranks, &same->sums, &row[at->rank].value.i);
        if (!s)
            return false;
        s->own_ns = tm_sum(s->own_ns, total);
        if (!compared)
            continue;
        const int64_t usual = median_of_others(&same->means, tm_round_ratio(total, calls));
        s->alike_ns = tm_sum(s->alike_ns, total);
        s->usual_ns = tm_sum(s->usual_ns, usual * calls);
        if ((double)total > SLOWER * (double)usual * (double)calls)
            s->slower_ns = tm_sum(s->slower_ns, total);
        s->kernels++;
    }
    return true;
}

tm_status tm_same_kernels_put(const tm_same_kernels *same, tm_table *table, tm_error *err) {
    for (size_t i = 0; i < same->sums.n; i++) {
        const sums *s = (const sums *)same->sums.data + i;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[A_RANK], ((const int64_t *)same->ranks.keys.data)[i]);
        tm_cell_set_int(&row[A_OWN], s->own_ns);
        tm_cell_set_int(&row[A_ALIKE], s->alike_ns);
        tm_cell_set_int(&row[A_USUAL], s->usual_ns);
        tm_cell_set_int(&row[A_SLOWER], s->slower_ns);
        tm_cell_set_int(&row[A_KERNELS], s->kernels);
    }
    return TM_OK;
}

tm_same_kernels_speed tm_same_kernels_of(const tm_tables *tables, int64_t rank) {
    /* `most`: minimum share of the rank's time in kernels that other ranks also run. `all`: minimum
     * share of this time in slower kernels. If a rank has more data, most of its kernels are
     * slower, but not those of the optimizer, which take a few percent of the time. So `all` is
     * close to 1. Several kernels are needed, because a single kernel may be slow for its own
     * reasons. */
    const double most = 0.9, all = 0.98;
    enum { KERNELS_LEAST = 3 };
    const tm_table *table = tm_tables_find(tables, tm_same_kernels_table.name);
    sums s = {0};
    for (size_t i = 0; i < table->n_rows; i++) {
        const tm_cell *row = tm_table_row(table, i);
        if (row[A_RANK].value.i != rank)
            continue;
        s.own_ns = tm_sum(s.own_ns, row[A_OWN].value.i);
        s.alike_ns = tm_sum(s.alike_ns, row[A_ALIKE].value.i);
        s.usual_ns = tm_sum(s.usual_ns, row[A_USUAL].value.i);
        s.slower_ns = tm_sum(s.slower_ns, row[A_SLOWER].value.i);
        s.kernels += row[A_KERNELS].value.i;
    }
    if (s.alike_ns == 0 || (double)s.alike_ns < most * (double)s.own_ns)
        return (tm_same_kernels_speed){.speed = -1.0};
    return (tm_same_kernels_speed){
        .speed = (double)s.usual_ns / (double)s.alike_ns,
        .all_slower = s.kernels >= KERNELS_LEAST && (double)s.slower_ns >= all * (double)s.alike_ns,
    };
}
