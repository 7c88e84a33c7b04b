#include "report/page_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/sums.h"
#include "report/page_json.h"

enum { COMPUTE, IDLE, WAITED, CAUSED, N_SUMS };

/* First, an entry for each rank. After fold(), an entry for each host, with sums over its ranks. */
typedef struct host {
    const char *name;
    int64_t n, first, worst, worst_ns;
    int64_t sums[N_SUMS];
} host;

static int64_t int_at(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = row < table->n_rows ? tm_table_cell(table, row, column) : NULL;
    return cell && !cell->null ? cell->value.i : 0;
}

static host rank_of(const tm_table *ranks, size_t row, const tm_table *overlap,
                    const tm_table *stragglers) {
    const tm_cell *name = tm_table_cell(ranks, row, "host");
    int64_t rank = int_at(ranks, row, "rank");
    size_t o = tm_table_find_row(overlap, &rank, 1), s = tm_table_find_row(stragglers, &rank, 1);
    int64_t caused =
        tm_sum(int_at(stragglers, s, "direct_ns"), int_at(stragglers, s, "indirect_ns"));
    return (host){.name = name->null ? "" : name->value.text,
                  .n = 1,
                  .first = rank,
                  .worst = rank,
                  .worst_ns = caused,
                  .sums = {int_at(overlap, o, "compute_ns"), int_at(overlap, o, "idle_ns"),
                           int_at(stragglers, s, "wait_ns"), caused}};
}

static int by_name(const void *a, const void *b) {
    const host *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : tm_order_i64(x->first, y->first);
}

TM_ORDER_FALLING(by_caused, host, sums[CAUSED], first);

TM_ORDER_BY(by_first, host, first);

/* Folds the ranks of each host into one entry. Returns the number of hosts. */
static size_t fold(host *v, size_t n) {
    size_t into = 0;
    qsort(v, n, sizeof *v, by_name);
    for (size_t i = 0; i < n; i++) {
        if (into == 0 || strcmp(v[into - 1].name, v[i].name) != 0) {
            v[into++] = v[i];
            continue;
        }
        host *to = &v[into - 1];
        to->n++;
        to->worst = v[i].worst_ns > to->worst_ns ? v[i].worst : to->worst;
        to->worst_ns = v[i].worst_ns > to->worst_ns ? v[i].worst_ns : to->worst_ns;
        for (int s = 0; s < N_SUMS; s++)
            to->sums[s] = tm_sum(to->sums[s], v[i].sums[s]);
    }
    return into;
}

static void put_host(const host *v, tm_out *out) {
    char numbers[8 * 24];
    tm_out_char(out, '[');
    tm_report_json_string(out, v->name, strlen(v->name));
    snprintf(numbers, sizeof numbers, ",%lld,%lld,%lld,%lld,%lld,%lld,%lld]", (long long)v->n,
             (long long)v->first, (long long)v->sums[COMPUTE], (long long)v->sums[IDLE],
             (long long)v->sums[WAITED], (long long)v->sums[CAUSED], (long long)v->worst);
    tm_out_string(out, numbers);
}

tm_status tm_page_hosts_put(const tm_table *ranks, const tm_table *overlap,
                            const tm_table *stragglers, tm_out *out, tm_error *err) {
    host *v = malloc((ranks->n_rows + 1) * sizeof *v);
    char count[48];
    if (!v)
        return tm_fail_memory(err);
    for (size_t row = 0; row < ranks->n_rows; row++)
        v[row] = rank_of(ranks, row, overlap, stragglers);
    size_t n = fold(v, ranks->n_rows), shown = n < TM_PAGE_HOSTS ? n : TM_PAGE_HOSTS;
    qsort(v, n, sizeof *v, by_caused);
    qsort(v, shown, sizeof *v, by_first);
    snprintf(count, sizeof count, "\"host_count\":%zu,\"hosts\":[", n);
    tm_out_string(out, count);
    for (size_t i = 0; i < shown; i++) {
        tm_out_string(out, i == 0 ? "" : ",");
        put_host(&v[i], out);
    }
    tm_out_string(out, "],");
    free(v);
    return TM_OK;
}
