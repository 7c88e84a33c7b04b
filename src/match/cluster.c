#include "cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"

int64_t tm_bridge_offset(const tm_bridge *bridge, int64_t ns) {
    return bridge->offset_ns + llround(bridge->drift * (double)(ns - bridge->at_ns));
}

int64_t tm_cluster_median(int64_t *values, size_t n) {
    return n > 0 ? tm_select(values, n, (n - 1) / 2) : 0;
}

static tm_status allocate(size_t n, size_t n_members, tm_cluster *out, tm_error *err) {
    tm_cluster made = {
        .run = {calloc(n + 1, sizeof(tm_mark)), n}, .n_members = n_members, .bits = HUGE_VAL};
    made.ops = calloc(n + 1, sizeof *made.ops);
    made.members = calloc(n_members + 1, sizeof *made.members);
    made.ends = calloc(n * n_members + 1, sizeof *made.ends);
    made.places = calloc(n * n_members + 1, sizeof *made.places);
    if (!made.run.marks || !made.ops || !made.members || !made.ends || !made.places) {
        tm_cluster_free(&made);
        return tm_fail_memory(err);
    }
    *out = made;
    return TM_OK;
}

void tm_cluster_free(tm_cluster *cluster) {
    free(cluster->run.marks);
    free(cluster->ops);
    free(cluster->members);
    free(cluster->ends);
    free(cluster->places);
    *cluster = (tm_cluster){0};
}

tm_status tm_cluster_create(size_t n, tm_member member, tm_cluster *out, tm_error *err) {
    TM_TRY(allocate(n, 1, out, err));
    out->members[0] = member;
    return TM_OK;
}

tm_status tm_cluster_ready(tm_cluster *cluster, tm_error *err) {
    for (size_t i = 0; i < cluster->run.n; i++) {
        cluster->ends[i] = cluster->run.marks[i].end_ns;
        cluster->places[i] = (int64_t)i;
    }
    return tm_run_prepare(&cluster->run, err);
}

/* Copies the ends and places of an operation from both clusters. Converts the ends of the second
 * cluster to the clock of the first. */
static void take_members(const tm_cluster *a, const tm_cluster *b, const tm_bridge *bridge,
                         size_t i, tm_cluster *out) {
    int64_t *ends = out->ends + i * out->n_members, *places = out->places + i * out->n_members;
    memcpy(ends, a->ends + i * a->n_members, a->n_members * sizeof *ends);
    memcpy(places, a->places + i * a->n_members, a->n_members * sizeof *places);
    int64_t j = bridge->partners[i];
    int64_t offset = tm_bridge_offset(bridge, a->run.marks[i].end_ns);
    for (size_t v = 0; v < b->n_members; v++) {
        int64_t end = j < 0 ? TM_NO_END : b->ends[(size_t)j * b->n_members + v];
        ends[a->n_members + v] = end == TM_NO_END ? TM_NO_END : end - offset;
        places[a->n_members + v] = j < 0 ? -1 : b->places[(size_t)j * b->n_members + v];
    }
}

static void join_operation(const tm_cluster *a, const tm_cluster *b, const tm_bridge *bridge,
                           size_t i, tm_cluster *out) {
    take_members(a, b, bridge, i, out);
    out->run.marks[i] = a->run.marks[i];
    out->ops[i] = a->ops[i];
    int64_t j = bridge->partners[i];
    if (j < 0)
        return;
    const tm_mark *mark = &b->run.marks[j];
    int64_t offset = tm_bridge_offset(bridge, a->run.marks[i].end_ns);
    if (mark->begin_ns - offset > out->run.marks[i].begin_ns)
        out->run.marks[i].begin_ns = mark->begin_ns - offset;
    if (b->ops[j].first_end_ns - offset < out->ops[i].first_end_ns)
        out->ops[i].first_end_ns = b->ops[j].first_end_ns - offset;
    out->ops[i].n += b->ops[j].n;
}

/* Sets the end of each mark to the median end of its operation. Sets spread_ns to the median
 * distance of ends from the median end of their operation. */
static tm_status summarise(tm_cluster *cluster, tm_error *err) {
    size_t n_members = cluster->n_members, n = 0;
    int64_t *scratch = calloc(n_members + 1, sizeof *scratch);
    int64_t *apart = calloc(cluster->run.n * n_members + 1, sizeof *apart);
    for (size_t i = 0; i < cluster->run.n && scratch && apart; i++) {
        const int64_t *ends = cluster->ends + i * n_members;
        size_t there = 0;
        for (size_t v = 0; v < n_members; v++)
            if (ends[v] != TM_NO_END)
                scratch[there++] = ends[v];
        int64_t middle = tm_cluster_median(scratch, there);
        cluster->run.marks[i].end_ns = middle;
        for (size_t v = 0; v < n_members; v++)
            if (ends[v] != TM_NO_END)
                apart[n++] = llabs(ends[v] - middle);
    }
    bool ok = scratch && apart;
    if (ok)
        cluster->spread_ns = tm_cluster_median(apart, n);
    free(scratch);
    free(apart);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_cluster_join(const tm_cluster *a, const tm_cluster *b, const tm_bridge *bridge,
                          tm_cluster *out, tm_error *err) {
    tm_cluster made;
    TM_TRY(allocate(a->run.n, a->n_members + b->n_members, &made, err));
    memcpy(made.members, a->members, a->n_members * sizeof *made.members);
    memcpy(made.members + a->n_members, b->members, b->n_members * sizeof *made.members);
    for (size_t i = 0; i < a->run.n; i++)
        join_operation(a, b, bridge, i, &made);
    made.bits = fmin(a->bits, b->bits);
    made.at_least = a->at_least || b->at_least;
    tm_status status = summarise(&made, err);
    if (status == TM_OK)
        status = tm_run_prepare(&made.run, err);
    if (status == TM_OK)
        *out = made;
    else
        tm_cluster_free(&made);
    return status;
}
