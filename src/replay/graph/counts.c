#include "counts.h"

#include <stdlib.h>

#include "base/hash.h"

void tm_counts_free(tm_counts *counts) {
    tm_keys_free(&counts->keys);
    tm_vec_free(&counts->ranges);
}

bool tm_counts_add(tm_counts *counts, const tm_count_range *range) {
    tm_count_range *known = tm_keys_value(&counts->keys, &counts->ranges, &range->key);
    if (!known)
        return false;
    const bool fresh = known->most == 0;
    known->key = range->key;
    known->least = fresh || range->least < known->least ? range->least : known->least;
    known->most = range->most > known->most ? range->most : known->most;
    return true;
}

/* Returns the key of a name in a step; 0 if the step is not marked. */
static uint64_t key_of(const tm_graph_input *input, uint32_t name, int32_t step) {
    const tm_step *of = step == TM_NO_STEP ? NULL : &input->timeline->steps[step];
    if (!of || !of->annotated)
        return 0;
    const uint64_t words[3] = {(uint64_t)input->stage, (uint64_t)of->number, name};
    return tm_hash_words(0, words, 3);
}

tm_status tm_counts_scan(const tm_graph_input *input, tm_counts *counts, tm_error *err) {
    const tm_part_count *v = input->counts.data;
    for (size_t i = 0; i < input->counts.n; i++) {
        const tm_count_range one = {key_of(input, v[i].name, v[i].step), v[i].n, v[i].n};
        if (one.key != 0 && !tm_counts_add(counts, &one))
            return tm_fail_memory(err);
    }
    return TM_OK;
}

/* A name in one stretch of a step. */
typedef struct place {
    uint32_t name, stretch;
    int32_t step;
} place;

typedef struct walk {
    const tm_graph_input *input;
    const tm_keys *uneven;
    /* owned; [steps + 1] element i + 1: number of communication events launched in step i so far */
    uint32_t *stretch;
    tm_keys keys;  /* keys of type place */
    tm_vec counts; /* vector of uint32_t */
} walk;

static bool find_spot(walk *w, uint32_t row, int32_t step, uint32_t nth, tm_count_spot *out) {
    const uint32_t name = w->input->timeline->name[row];
    const uint64_t key = key_of(w->input, name, step);
    *out = (tm_count_spot){.nth = nth};
    if (key == 0 || tm_keys_find(w->uneven, &key) == TM_NO_KEY)
        return true;
    const place at = {name, 1 + w->stretch[step + 1], step};
    uint32_t *n = tm_keys_value(&w->keys, &w->counts, &at);
    if (n)
        *out = (tm_count_spot){at.stretch, (*n)++};
    return n != NULL;
}

static bool communicates(const walk *w, const tm_part_event *event) {
    return w->input->timeline->role[event->row] == TM_ROLE_COMMUNICATION;
}

static bool walk_events(walk *w, tm_count_spot *out) {
    const tm_part_event *e = w->input->events.data;
    for (size_t i = 0; i < w->input->events.n; i++) {
        out[i] = (tm_count_spot){.nth = e[i].nth};
        if (communicates(w, &e[i]))
            w->stretch[e[i].step + 1]++;
        else if (!find_spot(w, e[i].row, e[i].step, e[i].nth, &out[i]))
            return false;
    }
    return true;
}

/* Sets the positions of calls that launched nothing. A call that launched an event needs no
 * position: the event's position is used. */
static bool walk_calls(walk *w, tm_count_spot *out) {
    const tm_part_event *e = w->input->events.data, *const end = e + w->input->events.n;
    const tm_part_call *calls = w->input->calls.data;
    memset(w->stretch, 0, (w->input->timeline->n_steps + 1) * sizeof *w->stretch);
    for (size_t i = 0; i < w->input->calls.n; i++) {
        const tm_part_call *c = &calls[i];
        for (; e < end &&
               (e->call == TM_NO_PART ? e->begin_ns : calls[e->call].begin_ns) < c->begin_ns;
             e++)
            w->stretch[e->step + 1] += communicates(w, e);
        if (c->launched == TM_NO_PART && !find_spot(w, c->row, c->step, c->nth, &out[i]))
            return false;
    }
    return true;
}

tm_count_spot *tm_counts_spots(const tm_graph_input *input, const tm_keys *uneven) {
    const size_t n = input->events.n;
    _Static_assert(TM_NO_STEP == -1, "it has the first place");
    walk w = {input, uneven, calloc(input->timeline->n_steps + 1, sizeof *w.stretch),
              TM_KEYS(place), TM_VEC(uint32_t)};
    tm_count_spot *out = calloc(n + input->calls.n + 1, sizeof *out);
    if (out && (!w.stretch || !walk_events(&w, out) || !walk_calls(&w, out + n))) {
        free(out);
        out = NULL;
    }
    free(w.stretch);
    tm_keys_free(&w.keys);
    tm_vec_free(&w.counts);
    return out;
}
