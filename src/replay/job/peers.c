#include "peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/median.h"
#include "base/sums.h"
#include "timeline/step_names.h"

/* A call is a stall only if it takes more than STALL_TIMES the median of the other ranks, and if
 * the place has at least STALL_RANKS ranks. */
enum { STALL_TIMES = 5, STALL_RANKS = 3 };

static bool is_stall(int64_t ns, int64_t others) {
    return ns > others + TM_STALL_NS && ns > STALL_TIMES * others;
}

static bool is_lag(const tm_edge *edge) {
    return edge->kind == TM_EDGE_LAUNCH || edge->kind == TM_EDGE_GAP || edge->kind == TM_EDGE_WAIT;
}

void tm_peer_places_init(tm_peer_places *places) {
    memset(places, 0, sizeof *places);
    places->keys = TM_KEYS(uint64_t);
    places->names = TM_VEC(uint32_t);
    places->uneven = TM_KEYS(uint64_t);
    places->others = TM_VEC(tm_peer_others);
    places->extras = TM_EXTRAS();
}

void tm_peer_places_free(tm_peer_places *places) {
    tm_keys_free(&places->keys);
    tm_vec_free(&places->names);
    tm_keys_free(&places->uneven);
    tm_vec_free(&places->others);
    tm_extras_free(&places->extras);
    free(places->known);
    places->known = NULL;
}

void tm_peer_items_free(tm_peer_items *items) {
    free(items->borrows_places ? NULL : items->places);
    free(items->borrows_rows ? NULL : items->rows);
    free(items->weights);
    free(items->longs);
    items->places = items->rows = NULL;
    items->weights = NULL;
    items->longs = NULL;
}

static const uint32_t NO_ITEM = UINT32_MAX;

/* Returns the item to which an edge's time belongs. For compute kernels and copies, it is the event
 * that works. For host time and calls, it is the call. For other edges that have an unexplained
 * part and lead to an event, it is this event. Otherwise, it is NO_ITEM. */
static uint32_t item_of(const tm_graph *graph, uint32_t node, const tm_edge *edge,
                        size_t n_events) {
    switch ((tm_edge_kind)edge->kind) {
    case TM_EDGE_COMPUTE:
    case TM_EDGE_COPY:
        return graph->parts[edge->from] / 2;
    case TM_EDGE_HOST:
    case TM_EDGE_CALL:
        return graph->parts[node] / 2;
    default:
        return tm_graph_weight(graph, edge).over_ns > 0 && graph->parts[node] < 2 * n_events
                   ? graph->parts[node] / 2
                   : NO_ITEM;
    }
}

static void weigh_item(const tm_edge *edge, const tm_weight *is, tm_peer_weights *w) {
    const int64_t own_ns = is->ns - (edge->flags & TM_EDGE_UNSEEN ? is->peer_ns : 0);
    /* If a call has several HOST edges, the longest edge counts. An edge that starts at an inferred
     * wait is shorter. */
    if (edge->kind == TM_EDGE_HOST)
        w->first_ns = own_ns > w->first_ns ? own_ns : w->first_ns;
    else if (edge->kind == TM_EDGE_CALL)
        w->second_ns = is->ns;
    else if (is_lag(edge))
        w->second_ns = is->over_ns;
}

/* Computes the weights of all items. If an item has no edge, its place is set to TM_NO_PLACE.
 * Otherwise, its place is set to 0, which number_items replaces.
 * @param weights  [items] all values must be 0 */
static void weigh_items(const tm_graph_input *input, const tm_graph *graph, tm_peer_items *out,
                        tm_peer_weights *weights) {
    const tm_part_event *events = input->events.data;
    memset(out->places, 0xff, out->n * sizeof *out->places);
    for (uint32_t v = 0; v < graph->n_nodes; v++)
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const tm_edge *edge = &graph->edges[e];
            const uint32_t item = item_of(graph, v, edge, out->n_events);
            if (item == NO_ITEM)
                continue;
            const tm_weight is = tm_graph_weight(graph, edge);
            out->places[item] = 0;
            weigh_item(edge, &is, &weights[item]);
        }
    for (size_t i = 0; i < input->events.n; i++)
        weights[i].first_ns = events[i].end_ns - events[i].begin_ns;
}

/* Stores the weights of all items in @p out, in half the memory. */
static bool keep_weights(const tm_peer_weights *weights, tm_peer_items *out) {
    tm_vec longs = TM_VEC(tm_peer_weights);
    bool ok = true;
    for (size_t i = 0; i < out->n && ok; i++) {
        const int32_t first = (int32_t)weights[i].first_ns, second = (int32_t)weights[i].second_ns;
        const bool fits = first == weights[i].first_ns && second == weights[i].second_ns;
        out->weights[i][0] = fits ? first : TM_LONG;
        out->weights[i][1] = fits && first != TM_LONG ? second : (int32_t)longs.n;
        ok = out->weights[i][0] != TM_LONG || tm_vec_append(&longs, &weights[i], 1);
    }
    out->longs = longs.data;
    return ok;
}

/* An event or call, and its position among the events or calls of the same name in its step. */
typedef struct spot {
    uint32_t row;
    int32_t step;
    tm_count_spot at;
} spot;

/* Returns the spot of an item. A call has the spot of the event that it launched.
 * @param spots  result of tm_counts_spots; NULL if all ranks run all names equally often */
static spot spot_of(const tm_graph_input *input, const tm_count_spot *spots, size_t item) {
    const tm_part_event *events = input->events.data;
    const tm_part_call *call = input->calls.data;
    size_t event = item;
    spot out;
    if (item >= input->events.n) {
        call += item - input->events.n;
        event = call->launched;
    }
    out = event == TM_NO_PART
              ? (spot){call->row, call->step, {.nth = call->nth}}
              : (spot){events[event].row, events[event].step, {.nth = events[event].nth}};
    if (input->stepless)
        out.step = TM_NO_STEP;
    if (spots)
        out.at = spots[event == TM_NO_PART ? item : event];
    return out;
}

/* Values that the hashes of all places in a step have in common. */
typedef struct step_hash {
    uint64_t hash, tag; /* start value of the hashes, and highest bits of the hashes. The highest
                           bits contain the step, and whether the places belong to calls */
} step_hash;

/* Returns a hash of the words in a step's annotation. Steps with different words do different
 * work. */
static uint64_t kind_of(const tm_names *names, const tm_step *step) {
    const tm_step_mark mark = tm_step_mark_of(tm_names_text(names, step->name));
    return tm_hash_mixed(0, mark.kind, strlen(mark.kind));
}

/* Returns the step_hash of each step. The step_hash for the events of step i is at index 2 (i + 1),
 * and the step_hash for the calls of step i is at the next index. The first two elements are for
 * items that belong to no step. NULL when out of memory.
 * @param names  see tm_peer_places.of_steps */
static step_hash *hash_steps(const tm_graph_input *input, const tm_names *names) {
    const tm_timeline *t = input->timeline;
    step_hash *hashes = calloc(2 * (t->n_steps + 1), sizeof *hashes);
    for (size_t i = 0; i < 2 * (t->n_steps + 1) && hashes; i++) {
        int64_t number = i < 2 ? -1 : t->steps[i / 2 - 1].number;
        bool known = !names && number >= 0 && t->steps[i / 2 - 1].annotated;
        const uint64_t of = !names  ? (uint64_t)number
                            : i < 2 ? 0
                                    : kind_of(names, &t->steps[i / 2 - 1]);
        const uint64_t key[3] = {(uint64_t)input->stage, of, i % 2};
        hashes[i].hash = tm_hash_words(0, key, 3);
        hashes[i].tag = (known ? 1 + (uint64_t)number % TM_PLACE_STEPS : 0) << 56 | i % 2 << 55;
    }
    return hashes;
}

/* Returns the number of a place. Tries the number after the latest number first, because most ranks
 * have their places in the same order. */
static uint32_t number_place(tm_peer_places *places, uint64_t place, uint32_t name) {
    const uint64_t *known = places->keys.keys.data;
    uint32_t number = places->guess;
    if (number >= places->keys.keys.n || known[number] != place)
        number = tm_keys_add(&places->keys, &place);
    if (number == places->names.n && !tm_vec_append(&places->names, &name, 1))
        return TM_NO_KEY;
    places->guess = number + 1;
    return number;
}

/* Returns the part of the step to which a place belongs. Work that repeats in a step (layers,
 * micro-batches) is spread over all parts. The name is not used, because names depend on the
 * profiler. */
static uint64_t part_of(const tm_count_spot *at) {
    const uint64_t key = (uint64_t)at->stretch << 32 | at->nth;
    return tm_hash_words(0, &key, 1) >> 20 & (TM_PLACE_PARTS - 1);
}

/* Returns the hash of a place. */
static uint64_t place_of(const step_hash *step, uint32_t name, const tm_count_spot *at,
                         bool joins) {
    const uint64_t key[2] = {(uint64_t)name << 32 | at->nth, at->stretch};
    const uint64_t tag = step->tag | (uint64_t)joins << 54 | part_of(at) << 48;
    return tag | tm_hash_words(step->hash, key, at->stretch ? 2 : 1) >> 16;
}

/* Replaces each element of @p out by the number of the item's place. Elements that are TM_NO_PLACE
 * are not changed.
 * @param out  [events, then calls] */
static bool number_items(const tm_graph_input *input, const step_hash *steps,
                         tm_peer_places *places, uint32_t *out) {
    _Static_assert(TM_NO_STEP == -1, "steps[0] has the hash of TM_NO_STEP");
    const tm_timeline *t = input->timeline;
    const bool uneven = places->uneven.keys.n > 0;
    tm_count_spot *spots = uneven ? tm_counts_spots(input, &places->uneven) : NULL;
    bool ok = spots || !uneven;
    for (size_t i = 0; i < input->events.n + input->calls.n && ok; i++) {
        if (out[i] == TM_NO_PLACE)
            continue;
        const spot at = spot_of(input, spots, i);
        const bool call = i >= input->events.n;
        const bool joins = !call && t->role[at.row] == TM_ROLE_COMMUNICATION;
        const uint32_t name = t->name[at.row];
        out[i] = number_place(
            places, place_of(&steps[2 * (at.step + 1) + call], name, &at.at, joins), name);
        ok = out[i] != TM_NO_KEY;
    }
    free(spots);
    return ok;
}

bool tm_peers_number(const tm_graph_input *input, tm_peer_places *places, uint32_t *out) {
    /* The names are NULL, because the job has other ranks. */
    step_hash *steps = hash_steps(input, NULL);
    memset(out, 0, (input->events.n + input->calls.n) * sizeof *out);
    bool ok = steps && number_items(input, steps, places, out);
    free(steps);
    return ok;
}

/* Sets the rows of all items. If @p like has rows, these rows are borrowed, because both ranks
 * share the input. False when out of memory. */
static bool set_rows(const tm_graph_input *input, const tm_peer_items *like, tm_peer_items *out) {
    const tm_part_event *events = input->events.data;
    const tm_part_call *calls = input->calls.data;
    out->borrows_rows = like && like->rows;
    out->rows = out->borrows_rows ? like->rows : malloc((out->n + 1) * sizeof *out->rows);
    for (size_t i = 0; out->rows && !out->borrows_rows && i < out->n; i++)
        out->rows[i] = i < out->n_events ? events[i].row : calls[i - out->n_events].row;
    return out->rows != NULL;
}

/* Borrows the places of another rank if the same items have places on both ranks. Returns whether
 * the places were borrowed. */
static bool borrow_places(const tm_peer_items *like, tm_peer_items *out) {
    bool same = like && like->places;
    for (size_t i = 0; same && i < out->n; i++)
        same = (like->places[i] == TM_NO_PLACE) == (out->places[i] == TM_NO_PLACE);
    if (same) {
        free(out->places);
        out->places = like->places;
        out->borrows_places = true;
    }
    return same;
}

tm_status tm_peers_collect(const tm_graph_input *input, const tm_graph *graph,
                           tm_peer_places *places, const tm_peer_items *like, tm_peer_items *out,
                           tm_error *err) {
    const size_t n = input->events.n + input->calls.n;
    step_hash *steps = hash_steps(input, places->of_steps);
    tm_peer_weights *weights = calloc(n + 1, sizeof *weights);
    *out = (tm_peer_items){.places = malloc((n + 1) * sizeof *out->places),
                           .weights = malloc((n + 1) * sizeof *out->weights),
                           .n = n,
                           .n_events = input->events.n};
    bool ok = steps && weights && out->places && out->weights && set_rows(input, like, out);
    if (ok) {
        weigh_items(input, graph, out, weights);
        ok = keep_weights(weights, out) &&
             (borrow_places(like, out) || number_items(input, steps, places, out->places));
    }
    free(steps);
    free(weights);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Counts the weights at each place of a slice, for a counting sort. Element p + 1 of the result is
 * the index of the first weights at place p. tm_peers_list advances this element while it stores
 * the weights. Returns NULL when out of memory. */
static size_t *count_peers(const tm_peer_items *ranks, size_t n, const tm_peer_places *places,
                           const tm_peer_slice *slice) {
    const size_t n_places = places->keys.keys.n;
    const uint64_t *hashes = places->keys.keys.data;
    size_t *first = calloc(n_places + 2, sizeof *first);
    for (size_t r = 0; r < n && first; r++)
        for (size_t i = 0; i < ranks[r].n; i++)
            if (ranks[r].places[i] != TM_NO_PLACE)
                first[ranks[r].places[i] + 2]++;
    for (size_t p = 0; p < n_places && first; p++) {
        first[p + 2] = first[p + 1] + (tm_peer_slice_has(slice, hashes[p]) ? first[p + 2] : 0);
    }
    return first;
}

tm_status tm_peers_list(const tm_peer_items *ranks, size_t n, const tm_peer_places *places,
                        const tm_peer_slice *slice, tm_vec *peers, tm_error *err) {
    const uint64_t *hashes = places->keys.keys.data;
    size_t *first = count_peers(ranks, n, places, slice);
    tm_peer *out = first ? tm_vec_append(peers, NULL, first[places->keys.keys.n + 1]) : NULL;
    for (size_t r = 0; r < n && out; r++)
        for (size_t i = 0; i < ranks[r].n; i++) {
            uint32_t p = ranks[r].places[i];
            if (p != TM_NO_PLACE && tm_peer_slice_has(slice, hashes[p]))
                out[first[p + 1]++] =
                    (tm_peer){hashes[p], tm_peer_item(&ranks[r], i), slice->origin};
        }
    free(first);
    return out ? TM_OK : tm_fail_memory(err);
}

/* Indices for the median of n >= 2 sorted values from which one is left out. The median is the mean
 * of the remaining values `low` and `high`. If only two values remain, it is the smaller one.
 * Remaining value k is value k of all values if the value that is left out comes after it.
 * Otherwise, it is value k + 1. */
typedef struct middle {
    size_t low, high;
} middle;

static middle middle_of(size_t n) {
    return (middle){(n - 2) / 2, n == 3 ? 0 : (n - 1) / 2};
}

/* Sets out[0] to the k-th smallest value, and out[1] and out[2] to the next two values. */
static void select_middle(int64_t *v, size_t n, size_t k, int64_t *out) {
    int64_t least = INT64_MAX, next = INT64_MAX;
    out[0] = tm_select(v, n, k);
    for (size_t i = k + 1; i < n; i++) { /* finds the two smallest of the values above out[0] */
        int64_t more = v[i] > least ? v[i] : least;
        least = v[i] < least ? v[i] : least;
        next = more < next ? more : next;
    }
    out[1] = least;
    out[2] = next;
}

/* If there are at least MANY values, samples are taken first. The samples give bounds around the
 * middle, and values outside these bounds are skipped. */
enum { MANY = 64, SAMPLES = 16, AROUND = 2 };

/* Finds the lower middle value and the next two values. tm_peers_around needs all three, because
 * any value may be left out.
 * @param room  [n] scratch memory */
static void find_middle(int64_t *v, size_t n, int64_t *room, int64_t *out) {
    const middle m = middle_of(n);
    size_t below = 0, between = 0;
    int64_t sorted[SAMPLES], low = 0, high = 0;
    if (n >= MANY) {
        tm_sort_samples(v, n, sorted, SAMPLES);
        low = sorted[SAMPLES / 2 - 1 - AROUND];
        high = sorted[SAMPLES / 2 + AROUND];
        for (size_t i = 0; i < n; i++) { /* this loop has no branches, like tm_select */
            room[between] = v[i];
            below += v[i] < low;
            between += (v[i] >= low) & (v[i] <= high);
        }
    }
    if (below > m.low || m.low + 2 >= below + between)
        select_middle(v, n, m.low, out);
    else if (low == high) /* all values within the bounds are equal */
        out[0] = out[1] = out[2] = low;
    else
        select_middle(room, between, m.low - below, out);
    out[2] = m.high > m.low ? out[2] : out[1];
}

/* The values of one process at a place. */
typedef struct run {
    int64_t origin;
    size_t first, n; /* range of the values in `rows` if `rows` is set; otherwise in `peers` */
    uint32_t place;
    uint32_t next; /* index of the place's next run, or NO_RUN */
    bool rows;
} run;

#define NO_RUN UINT32_MAX

/* The values of all processes, grouped by place. */
typedef struct columns {
    tm_keys keys;    /* keys of type uint64_t: places */
    tm_vec runs;     /* vector of run */
    uint32_t *first; /* owned; [places] index of each place's first run in `runs` */
    size_t most;     /* maximum number of values at a place */
    int64_t *room;   /* owned; [3][most] */
} columns;

static void columns_free(columns *c) {
    tm_keys_free(&c->keys);
    tm_vec_free(&c->runs);
    free(c->first);
    free(c->room);
}

static bool add_run(columns *c, const uint64_t *place, int64_t origin, const run *of) {
    run one = *of;
    one.origin = origin;
    one.place = tm_keys_add(&c->keys, place);
    return one.place != TM_NO_KEY && tm_vec_append(&c->runs, &one, 1);
}

static bool find_runs(const tm_vec *peers, columns *c) {
    const tm_peer *v = peers->data;
    for (size_t i = 0, end; i < peers->n; i = end) {
        for (end = i + 1;
             end < peers->n && v[end].place == v[i].place && v[end].origin == v[i].origin;)
            end++;
        const run one = {.first = i, .n = end - i};
        if (!add_run(c, &v[i].place, v[i].origin, &one))
            return false;
    }
    return true;
}

static bool find_row_runs(const tm_vec *rows, columns *c) {
    const tm_peer_row *v = rows->data;
    for (size_t i = 0, end; i < rows->n; i = end) {
        for (end = i + 1;
             end < rows->n && v[end].place == v[i].place && v[end].origin == v[i].origin;)
            end++;
        const run one = {.first = i, .n = end - i, .rows = true};
        if (!add_run(c, &v[i].place, v[i].origin, &one))
            return false;
    }
    return true;
}

static size_t count_run(const run *one, const tm_vec *rows) {
    const tm_peer_row *row = (const tm_peer_row *)rows->data + (one->rows ? one->first : 0);
    size_t n = one->rows ? 0 : one->n;
    for (size_t i = 0; i < one->n && one->rows; i++)
        n += (size_t)row[i].n;
    return n;
}

/* Copies the values of a run. Returns their number. */
static size_t copy_run(const run *one, const tm_vec *peers, const tm_vec *rows, int64_t *firsts,
                       int64_t *seconds) {
    const tm_peer *v = (const tm_peer *)peers->data + (one->rows ? 0 : one->first);
    const tm_peer_row *row = (const tm_peer_row *)rows->data + (one->rows ? one->first : 0);
    size_t n = 0;
    for (size_t i = 0; i < one->n && !one->rows; i++, n++) {
        firsts[i] = v[i].weights.first_ns;
        seconds[i] = v[i].weights.second_ns;
    }
    for (size_t i = 0; i < one->n && one->rows; i++) {
        memcpy(firsts + n, row[i].first_ns, (size_t)row[i].n * sizeof *firsts);
        memcpy(seconds + n, row[i].second_ns, (size_t)row[i].n * sizeof *seconds);
        n += (size_t)row[i].n;
    }
    return n;
}

/* Groups the values by place.
 * @param c  must be empty before the call. The caller must free it, even after an error. */
static bool make_columns(const tm_vec *peers, const tm_vec *rows, columns *c) {
    if (!find_runs(peers, c) || !find_row_runs(rows, c))
        return false;
    run *runs = c->runs.data;
    const size_t n_places = c->keys.keys.n;
    size_t *n = calloc(n_places + 1, sizeof *n);
    c->first = malloc((n_places + 1) * sizeof *c->first);
    for (size_t p = 0; p < n_places && c->first; p++)
        c->first[p] = NO_RUN;
    for (size_t k = c->runs.n; k-- > 0 && n && c->first;) {
        const uint32_t place = runs[k].place;
        runs[k].next = c->first[place];
        c->first[place] = (uint32_t)k;
        n[place] += count_run(&runs[k], rows);
        c->most = n[place] > c->most ? n[place] : c->most;
    }
    free(n);
    c->room = malloc((3 * c->most + 1) * sizeof *c->room);
    return n && c->first && c->room;
}

/* Returns the middle weights of each place. If only one rank has a place, the place's `n` is 0.
 * Returns NULL when out of memory. */
static tm_peer_others *find_others(const columns *c, const tm_vec *peers, const tm_vec *rows) {
    const size_t n_places = c->keys.keys.n;
    const run *runs = c->runs.data;
    int64_t *firsts = c->room, *seconds = firsts + c->most, *room = seconds + c->most;
    tm_peer_others *out = calloc(n_places + 1, sizeof *out);
    for (size_t p = 0; p < n_places && out; p++) {
        size_t n = 0;
        for (uint32_t k = c->first[p]; k != NO_RUN; k = runs[k].next)
            n += copy_run(&runs[k], peers, rows, firsts + n, seconds + n);
        if (n < 2)
            continue;
        int64_t middle_of_firsts[3], middle_of_seconds[3];
        find_middle(firsts, n, room, middle_of_firsts);
        find_middle(seconds, n, room, middle_of_seconds);
        out[p].place = ((const uint64_t *)c->keys.keys.data)[p];
        out[p].n = (int64_t)n;
        for (size_t i = 0; i < n; i++)
            out[p].mean_ns = tm_sum(out[p].mean_ns, firsts[i]);
        out[p].mean_ns = tm_round_ratio(out[p].mean_ns, (int64_t)n);
        for (int i = 0; i < 3; i++)
            out[p].middle[i] = (tm_peer_weights){middle_of_firsts[i], middle_of_seconds[i]};
    }
    return out;
}

tm_status tm_peers_compare(const tm_vec *peers, const tm_vec *rows, tm_vec *others, tm_error *err) {
    columns c = {.keys = TM_KEYS(uint64_t), .runs = TM_VEC(run)};
    tm_peer_others *of = make_columns(peers, rows, &c) ? find_others(&c, peers, rows) : NULL;
    const run *runs = c.runs.data;
    bool ok = of != NULL;
    for (size_t k = 0; k < c.runs.n && ok; k++) {
        if (of[runs[k].place].n == 0)
            continue;
        of[runs[k].place].origin = runs[k].origin;
        ok = tm_vec_append(others, &of[runs[k].place], 1) != NULL;
    }
    free(of);
    columns_free(&c);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_peers_divide_evenly(tm_peer_places *places) {
    tm_peer_others *others = places->others.data;
    for (size_t i = 0; i < places->others.n; i++)
        for (size_t k = 0; k < 3 && !tm_place_is_call(others[i].place); k++)
            others[i].middle[k].first_ns = others[i].mean_ns;
}

tm_status tm_peers_note(tm_peer_places *places, tm_error *err) {
    const tm_peer_others *others = places->others.data;
    places->known = calloc(places->keys.keys.n + 1, sizeof *places->known);
    for (size_t i = 0; i < places->others.n && places->known; i++)
        places->known[tm_keys_find(&places->keys, &others[i].place)] = (uint32_t)i + 1;
    return places->known ? TM_OK : tm_fail_memory(err);
}

tm_peer_around tm_peers_around(const tm_peer_others *others, bool first) {
    const middle m = middle_of((size_t)others->n);
    const tm_peer_weights *low = others->middle, *high = low + (m.high - m.low);
    return first ? (tm_peer_around){low[0].first_ns, low[1].first_ns, high[0].first_ns,
                                    high[1].first_ns}
                 : (tm_peer_around){low[0].second_ns, low[1].second_ns, high[0].second_ns,
                                    high[1].second_ns};
}

bool tm_peers_stall(const tm_peer_others *others, int64_t ns, int64_t others_ns) {
    return others->n >= STALL_RANKS && is_stall(ns, others_ns);
}

tm_peer_weights tm_peers_of(const tm_peer_others *others, const tm_peer_weights *own, bool call,
                            uint8_t *flags) {
    if (!others) {
        *flags |= TM_EDGE_MISSING;
        return *own;
    }
    const tm_peer_around first = tm_peers_around(others, true);
    const tm_peer_around second = tm_peers_around(others, false);
    const tm_peer_weights is = {tm_peer_median(&first, own->first_ns),
                                tm_peer_median(&second, own->second_ns)};
    *flags |= others->n == 2 ? TM_EDGE_PAIR : 0;
    if (call && (tm_peers_stall(others, own->first_ns, is.first_ns) ||
                 tm_peers_stall(others, own->second_ns, is.second_ns)))
        *flags |= TM_EDGE_STALL;
    return is;
}

/* Returns the weight that an edge has on the other ranks.
 * @param is   weights of the edge's item on the other ranks
 * @param own  weights of the edge's item on this rank */
static int64_t peer_ns_of(const tm_edge *edge, const tm_weight *weight, const tm_peer_weights *is,
                          const tm_peer_weights *own) {
    const int64_t excess = weight->over_ns - is->second_ns;
    int64_t ns;
    switch ((tm_edge_kind)edge->kind) {
    case TM_EDGE_COMPUTE:
    case TM_EDGE_COPY:
    case TM_EDGE_HOST:
        ns = weight->ns + is->first_ns - own->first_ns;
        break;
    case TM_EDGE_CALL:
        ns = is->second_ns;
        break;
    default:
        ns = weight->ns - (is_lag(edge) && excess > 0 ? excess : 0);
        break;
    }
    return ns > 0 ? ns : 0;
}

/* Returns the weights of an item on the other ranks. Sets the flags that the item's edges get.
 * @param factors  factors of the rank, or NULL */
static tm_peer_weights peer_of(const tm_peer_items *items, uint32_t item,
                               const tm_peer_places *places, const tm_extra_factors *factors,
                               uint8_t *flags) {
    const uint32_t place = items->places[item], known = places->known[place];
    const tm_peer_others *others = places->others.data;
    const tm_peer_weights of_item = tm_peer_item(items, item), *own = &of_item;
    const bool call = item >= items->n_events;
    const uint64_t hash = ((const uint64_t *)places->keys.keys.data)[place];
    const double factor =
        tm_extras_factor(&places->extras, factors, place, tm_place_step(hash), call);
    if (factor != factor)
        return tm_peers_of(known ? &others[known - 1] : NULL, own, call, flags);
    const bool pair = known && others[known - 1].n == 2;
    *flags |= pair || tm_extras_is_pair(&places->extras, place) ? TM_EDGE_PAIR : 0;
    return (tm_peer_weights){tm_extras_ns(own->first_ns, factor),
                             call ? tm_extras_ns(own->second_ns, factor) : own->second_ns};
}

tm_status tm_peers_set(tm_graph *graph, const tm_peer_items *items, const tm_peer_places *places,
                       size_t index, tm_error *err) {
    const tm_extra_factors *factors = tm_extras_of(&places->extras, index);
    tm_edge *edge = graph->edges;
    for (uint32_t v = 0; v < graph->n_nodes; v += edge++->last) {
        const uint32_t item = item_of(graph, v, edge, items->n_events);
        if (item == NO_ITEM && !(edge->flags & TM_EDGE_UNSEEN))
            continue;
        tm_weight weight = tm_graph_weight(graph, edge);
        if (edge->flags & TM_EDGE_UNSEEN)
            weight.peer_ns = weight.ns;
        if (item != NO_ITEM) {
            uint8_t flags = 0;
            const tm_peer_weights own = tm_peer_item(items, item),
                                  is = peer_of(items, item, places, factors, &flags);
            tm_edge_flag(edge, flags);
            if (!(edge->flags & TM_EDGE_MISSING))
                weight.peer_ns = peer_ns_of(edge, &weight, &is, &own);
        }
        if (!tm_graph_weigh(graph, edge, &weight))
            return tm_fail_memory(err);
    }
    return TM_OK;
}
