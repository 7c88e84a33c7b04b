#include "party.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/median.h"

int64_t tm_bridge_offset(const tm_bridge *bridge, int64_t ns) {
    return bridge->offset_ns + llround(bridge->drift * (double)(ns - bridge->at_ns));
}

int64_t tm_party_median(int64_t *values, size_t n) {
    return n > 0 ? tm_select(values, n, (n - 1) / 2) : 0;
}

static tm_status allocate(size_t n, size_t n_voices, tm_party *out, tm_error *err) {
    tm_party made = {
        .run = {calloc(n + 1, sizeof(tm_mark)), n}, .n_voices = n_voices, .bits = HUGE_VAL};
    made.ops = calloc(n + 1, sizeof *made.ops);
    made.voices = calloc(n_voices + 1, sizeof *made.voices);
    made.ends = calloc(n * n_voices + 1, sizeof *made.ends);
    made.places = calloc(n * n_voices + 1, sizeof *made.places);
    if (!made.run.marks || !made.ops || !made.voices || !made.ends || !made.places) {
        tm_party_free(&made);
        return tm_fail_memory(err);
    }
    *out = made;
    return TM_OK;
}

void tm_party_free(tm_party *party) {
    free(party->run.marks);
    free(party->ops);
    free(party->voices);
    free(party->ends);
    free(party->places);
    *party = (tm_party){0};
}

tm_status tm_party_create(size_t n, tm_voice voice, tm_party *out, tm_error *err) {
    TM_TRY(allocate(n, 1, out, err));
    out->voices[0] = voice;
    return TM_OK;
}

tm_status tm_party_ready(tm_party *party, tm_error *err) {
    for (size_t i = 0; i < party->run.n; i++) {
        party->ends[i] = party->run.marks[i].end_ns;
        party->places[i] = (int64_t)i;
    }
    return tm_run_prepare(&party->run, err);
}

/* Copies the ends and places of both; converts the second one's ends to the first clock. */
static void take_voices(const tm_party *a, const tm_party *b, const tm_bridge *bridge, size_t i,
                        tm_party *out) {
    int64_t *ends = out->ends + i * out->n_voices, *places = out->places + i * out->n_voices;
    memcpy(ends, a->ends + i * a->n_voices, a->n_voices * sizeof *ends);
    memcpy(places, a->places + i * a->n_voices, a->n_voices * sizeof *places);
    int64_t j = bridge->partners[i];
    int64_t offset = tm_bridge_offset(bridge, a->run.marks[i].end_ns);
    for (size_t v = 0; v < b->n_voices; v++) {
        int64_t end = j < 0 ? TM_NO_END : b->ends[(size_t)j * b->n_voices + v];
        ends[a->n_voices + v] = end == TM_NO_END ? TM_NO_END : end - offset;
        places[a->n_voices + v] = j < 0 ? -1 : b->places[(size_t)j * b->n_voices + v];
    }
}

static void join_operation(const tm_party *a, const tm_party *b, const tm_bridge *bridge, size_t i,
                           tm_party *out) {
    take_voices(a, b, bridge, i, out);
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

/* Sets the median end of each operation, and the cluster's spread of ends. */
static tm_status summarise(tm_party *party, tm_error *err) {
    size_t n_voices = party->n_voices, n = 0;
    int64_t *scratch = calloc(n_voices + 1, sizeof *scratch);
    int64_t *apart = calloc(party->run.n * n_voices + 1, sizeof *apart);
    for (size_t i = 0; i < party->run.n && scratch && apart; i++) {
        const int64_t *ends = party->ends + i * n_voices;
        size_t there = 0;
        for (size_t v = 0; v < n_voices; v++)
            if (ends[v] != TM_NO_END)
                scratch[there++] = ends[v];
        int64_t middle = tm_party_median(scratch, there);
        party->run.marks[i].end_ns = middle;
        for (size_t v = 0; v < n_voices; v++)
            if (ends[v] != TM_NO_END)
                apart[n++] = llabs(ends[v] - middle);
    }
    bool ok = scratch && apart;
    if (ok)
        party->spread_ns = tm_party_median(apart, n);
    free(scratch);
    free(apart);
    return ok ? TM_OK : tm_fail_memory(err);
}

tm_status tm_party_join(const tm_party *a, const tm_party *b, const tm_bridge *bridge,
                        tm_party *out, tm_error *err) {
    tm_party made;
    TM_TRY(allocate(a->run.n, a->n_voices + b->n_voices, &made, err));
    memcpy(made.voices, a->voices, a->n_voices * sizeof *made.voices);
    memcpy(made.voices + a->n_voices, b->voices, b->n_voices * sizeof *made.voices);
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
        tm_party_free(&made);
    return status;
}
