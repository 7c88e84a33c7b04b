#include "batch_events.h"

#include <stdlib.h>
#include <string.h>

bool tm_graph_inputs_open(tm_graph_inputs *inputs, const tm_timeline *timelines, size_t n,
                          const tm_timebase *base, const tm_names *names) {
    *inputs = (tm_graph_inputs){
        .timelines = timelines, .n = n, .base = base, .most_bytes = TM_GRAPH_INPUTS_BYTES};
    inputs->own = calloc(n + 1, sizeof *inputs->own);
    inputs->ranks = calloc(n + 1, sizeof *inputs->ranks);
    return tm_call_classes_init(&inputs->classes, names) && inputs->own && inputs->ranks;
}

void tm_graph_inputs_free(tm_graph_inputs *inputs) {
    for (size_t i = 0; i < inputs->n && inputs->own; i++)
        tm_graph_input_free(&inputs->own[i]);
    free(inputs->own);
    free(inputs->ranks);
    tm_call_classes_free(&inputs->classes);
    *inputs = (tm_graph_inputs){0};
}

static bool same_tracks(const tm_timeline *a, const tm_timeline *b) {
    for (size_t k = 0; k < a->n_tracks; k++)
        if (a->tracks[k].kind != b->tracks[k].kind || a->tracks[k].first != b->tracks[k].first ||
            a->tracks[k].count != b->tracks[k].count)
            return false;
    for (size_t k = 0; k < a->n_steps; k++)
        if (a->steps[k].number != b->steps[k].number ||
            a->steps[k].annotated != b->steps[k].annotated)
            return false;
    return true;
}

/* Returns whether two ranks have equal columns. Compares all columns on which a tm_graph_input
 * depends, except times. */
static bool same_columns(const tm_timeline *a, const tm_timeline *b) {
    const size_t n = a->n_events;
    return n == b->n_events && a->n_tracks == b->n_tracks && a->n_steps == b->n_steps &&
           same_tracks(a, b) && memcmp(a->name, b->name, n * sizeof *a->name) == 0 &&
           memcmp(a->launch, b->launch, n * sizeof *a->launch) == 0 &&
           memcmp(a->step, b->step, n * sizeof *a->step) == 0 &&
           memcmp(a->category, b->category, n) == 0 && memcmp(a->kind, b->kind, n) == 0 &&
           memcmp(a->role, b->role, n) == 0;
}

/* Sets the times in a leader's input to those of rank i. Returns whether the input is then valid
 * for rank i. */
static bool take(tm_graph_inputs *d, uint32_t leader, size_t i) {
    tm_graph_input *input = &d->own[leader];
    if (input->timeline != &d->timelines[i] &&
        !tm_graph_input_take(input, &d->timelines[i], d->base))
        input->timeline = NULL;
    return input->timeline != NULL;
}

/* Returns the leader of rank i: a rank whose input is valid for rank i, or i itself. */
static uint32_t find_leader(tm_graph_inputs *d, size_t i, int64_t stage) {
    for (size_t k = 0; k < d->n_latest; k++) {
        const uint32_t leader = d->latest[k];
        if (d->own[leader].stage == stage &&
            same_columns(&d->timelines[leader], &d->timelines[i]) && take(d, leader, i))
            return leader;
    }
    return (uint32_t)i;
}

static size_t bytes_of(const tm_graph_input *input) {
    return input->events.n * input->events.size + input->calls.n * input->calls.size +
           input->stream_waits.n * input->stream_waits.size + input->spans.n * input->spans.size;
}

static tm_status make(tm_graph_inputs *d, size_t i, int64_t stage, tm_error *err) {
    tm_graph_input *input = &d->own[i];
    TM_TRY(tm_graph_input_make(&d->timelines[i], &d->classes, d->base, input, err));
    if (d->stepless && !tm_graph_input_ignore_steps(input))
        return tm_fail_memory(err);
    input->stage = stage;
    d->ranks[i].kept = true;
    d->bytes += bytes_of(input);
    return TM_OK;
}

static void drop(tm_graph_inputs *d, size_t i) {
    d->bytes -= d->ranks[i].kept ? bytes_of(&d->own[i]) : 0;
    d->ranks[i].kept = false;
    tm_graph_input_free(&d->own[i]);
}

static void add_leader(tm_graph_inputs *d, uint32_t i) {
    /* `past` leaves `latest`, so later ranks are not compared with it */
    const uint32_t past = d->latest[TM_GRAPH_INPUTS_LATEST - 1];
    if (d->n_latest == TM_GRAPH_INPUTS_LATEST && d->bytes > d->most_bytes && !d->ranks[past].leads)
        drop(d, past);
    d->n_latest += d->n_latest < TM_GRAPH_INPUTS_LATEST;
    memmove(d->latest + 1, d->latest, (d->n_latest - 1) * sizeof *d->latest);
    d->latest[0] = i;
}

tm_status tm_graph_inputs_make(tm_graph_inputs *inputs, size_t i, int64_t stage,
                               const tm_graph_input **out, tm_error *err) {
    const uint32_t leader = find_leader(inputs, i, stage);
    tm_graph_input *input = &inputs->own[leader];
    if (leader == i) {
        TM_TRY(make(inputs, i, stage, err));
        add_leader(inputs, leader);
    }
    inputs->ranks[leader].leads = leader != i;
    inputs->ranks[i].leader = leader;
    inputs->ranks[i].before = input->before;
    *out = input;
    return TM_OK;
}

tm_status tm_graph_inputs_at(tm_graph_inputs *inputs, size_t i, const tm_graph_input **out,
                             tm_error *err) {
    const tm_graph_inputs_rank *rank = &inputs->ranks[i];
    tm_graph_input *input = &inputs->own[rank->leader];
    if (!inputs->ranks[rank->leader].kept)
        TM_TRY(make(inputs, rank->leader, input->stage, err));
    if (input->timeline != &inputs->timelines[i])
        tm_graph_input_take_again(input, &inputs->timelines[i], inputs->base, rank->before);
    input->warm_up = rank->warm_up;
    *out = input;
    return TM_OK;
}

void tm_graph_inputs_done(tm_graph_inputs *inputs, size_t i) {
    if (!inputs->ranks[i].leads)
        drop(inputs, i);
}
