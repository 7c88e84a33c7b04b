#include "call_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/median.h"
#include "base/sorted.h"
#include "base/sums.h"
#include "replay/job/batch_loops.h"

TM_ORDER_BY(by_stage, tm_replay_fact, stage);

TM_ORDER_BY(by_host, tm_replay_fact, host);

/* Returns whether each stage is on a single, known host.
 * @param facts  this function sorts them by stage */
static bool are_apart(tm_replay_fact *facts, size_t n) {
    bool apart = true;
    qsort(facts, n, sizeof *facts, by_stage);
    for (size_t i = 0; i < n; i++)
        apart =
            apart && facts[i].stage >= 0 && facts[i].host != TM_NO_NAME &&
            (i == 0 || facts[i].stage != facts[i - 1].stage || facts[i].host == facts[i - 1].host);
    return apart;
}

/*
 * Sets the factors of hosts.
 *
 * @param sorted  [n] scratch memory
 */
static void set_factors(tm_host_time *hosts, size_t n, int64_t *sorted) {
    for (size_t i = 0; i < n; i++)
        sorted[i] = hosts[i].call_ns;
    tm_sort_values(sorted, n);
    for (size_t i = 0; i < n; i++) {
        const size_t middle = (n - 2) / 2; /* lower median of the other hosts */
        const size_t place = tm_lower_bound(sorted, n, hosts[i].call_ns);
        const int64_t usual = sorted[middle + (middle >= place)];
        hosts[i].factor = usual > 0 ? (double)hosts[i].call_ns / (double)usual : 1.0;
        if (hosts[i].factor < TM_HOST_FACTOR_LEAST)
            hosts[i].factor = 1.0;
    }
}

tm_status tm_host_times(const tm_replay_fact *facts, size_t n, tm_vec *out, tm_error *err) {
    tm_replay_fact *own = malloc((n + 1) * sizeof *own);
    int64_t *room = malloc((n + 1) * sizeof *room);
    bool ok = own && room;
    if (ok && n > 0)
        memcpy(own, facts, n * sizeof *own);
    if (ok && n > 0 && are_apart(own, n)) {
        qsort(own, n, sizeof *own, by_host);
        for (size_t i = 0, end; i < n && ok; i = end) {
            for (end = i; end < n && own[end].host == own[i].host; end++)
                room[end - i] = own[end].call_ns;
            const tm_host_time host = {own[i].host, tm_median_any(room, end - i), 1.0};
            ok = tm_vec_append(out, &host, 1) != NULL;
        }
        if (ok && out->n > 1)
            set_factors(out->data, out->n, room);
        out->n = out->n > 1 ? out->n : 0;
    }
    free(own);
    free(room);
    return ok ? TM_OK : tm_fail_memory(err);
}

double tm_host_factor(const tm_vec *times, uint32_t host) {
    const tm_host_time *v = times->data;
    const size_t at = TM_FIRST_FROM(tm_host_time, host, v, times->n, host);
    return at < times->n && v[at].host == host ? v[at].factor : 1.0;
}

bool tm_call_medians(const size_t *rows, const int64_t *ns, size_t n, size_t n_rows, int64_t *out) {
    /* for a counting sort: first[row + 1] is the index of the row's first value */
    size_t *first = calloc(n_rows + 2, sizeof *first);
    int64_t *sorted = malloc((n + 1) * sizeof *sorted);
    const bool ok = first && sorted;
    for (size_t i = 0; i < n && ok; i++)
        if (rows[i] < n_rows)
            first[rows[i] + 2]++;
    for (size_t row = 0; row < n_rows && ok; row++)
        first[row + 2] += first[row + 1];
    for (size_t i = 0; i < n && ok; i++)
        if (rows[i] < n_rows)
            sorted[first[rows[i] + 1]++] = ns[i];
    for (size_t row = 0; row < n_rows && ok; row++) {
        const size_t in_row = first[row + 1] - first[row];
        out[row] = in_row > 0 ? tm_median_any(sorted + first[row], in_row) : 0;
    }
    free(first);
    free(sorted);
    return ok;
}

bool tm_call_time(const tm_peer_items *items, int64_t *out) {
    const size_t n = items->n - items->n_events;
    size_t *rows = malloc((n + 1) * sizeof *rows);
    int64_t *ns = malloc((n + 1) * sizeof *ns);
    for (size_t i = 0; i < n && rows && ns; i++) {
        const size_t item = items->n_events + i;
        rows[i] = items->places[item] == TM_NO_PLACE ? SIZE_MAX : 0;
        const tm_peer_weights w = tm_peer_item(items, item);
        ns[i] = tm_sum(w.first_ns, w.second_ns);
    }
    const bool ok = rows && ns && tm_call_medians(rows, ns, n, 1, out);
    free(rows);
    free(ns);
    return ok;
}

int64_t *tm_batch_calls(const tm_batch *batch) {
    const tm_batch_loops *loops = tm_batch_loops_of(NULL);
    const size_t first = batch->items->n_events, n = batch->items->n - first;
    int64_t *ns = malloc((n * TM_LANES + 1) * sizeof *ns);
    for (size_t i = 0; i < n && ns; i++) {
        tm_batch_row one, two;
        loops->weigh_item(batch, first + i, &one, &two);
        for (size_t k = 0; k < batch->n; k++)
            ns[k * n + i] = tm_sum(one.ns[k], two.ns[k]);
    }
    return ns;
}

bool tm_batch_call_times(const tm_batch *batch, int64_t out[TM_LANES]) {
    const size_t first = batch->items->n_events, n = batch->items->n - first;
    size_t *rows = calloc(n + 1, sizeof *rows);
    int64_t *ns = tm_batch_calls(batch);
    bool ok = rows && ns;
    for (size_t i = 0; i < n && ok; i++)
        rows[i] = batch->items->places[first + i] == TM_NO_PLACE ? SIZE_MAX : 0;
    for (size_t k = 0; k < batch->n && ok; k++)
        ok = tm_call_medians(rows, ns + k * n, n, 1, &out[k]);
    free(rows);
    free(ns);
    return ok;
}

void tm_calls_divide(const uint32_t *item_places, size_t n_events, size_t n, double factor,
                     tm_peer_places *places, bool *done) {
    tm_peer_others *others = places->others.data;
    for (size_t i = n_events; i < n; i++) {
        const uint32_t known = item_places[i] == TM_NO_PLACE ? 0 : places->known[item_places[i]];
        if (known == 0 || done[known - 1])
            continue;
        done[known - 1] = true;
        for (int k = 0; k < 3; k++) {
            tm_peer_weights *w = &others[known - 1].middle[k];
            w->first_ns = (int64_t)((double)w->first_ns / factor);
            w->second_ns = (int64_t)((double)w->second_ns / factor);
        }
    }
}
