/* Ranks with the same events: replayed in a SIMD batch or one by one, the results are the same. */
#include "replay/job/batch_models.h"

#include <limits.h>
#include <math.h>

#include "replay/job/batch_events.h"
#include "replay/job/batch_loops.h"
#include "replay/job/replay_job.h"
#include "replay/job/sets.h"
#include "replay/job/works_sum.h"
#include "run_fixture.h"
#include "timeline_fixture.h"

enum { RANKS = 11, LAUNCHES = 60, EVENTS = 2 * LAUNCHES + 2, PARTICIPANTS = LAUNCHES / 6 };

/* The graphs of each rank by itself, and the graphs of all ranks with a shared model. */
typedef struct both {
    ground g;
    tm_timeline timelines[RANKS];
    tm_replay_participant participants[RANKS][PARTICIPANTS];
    tm_graph_input inputs[RANKS];
    tm_graph alone[RANKS], graphs[RANKS];
    tm_peer_items items[RANKS], first_items;
    tm_peer_places places[2]; /* [0]: places of single ranks, [1]: of batches */
    tm_models models;
    tm_batch_workspace workspace;
} both;

/* @param stream  0: the event is on a CPU thread */
static event_spec event(const char *name, int64_t begin, int64_t took, int64_t number, int stream) {
    const tm_category category = stream ? TM_CAT_KERNEL : TM_CAT_RUNTIME;
    return (event_spec){.category = category,
                        .name = name,
                        .begin_ns = begin,
                        .duration_ns = took,
                        .correlation = number,
                        .where = stream ? stream : 1,
                        .device = stream == 0};
}

/* Makes the same calls and kernels on two streams, each a little longer or later on every rank. If
 * @p is_long is set, the time of the first kernel exceeds 32 bits. */
static size_t events_of(uint64_t *seed, bool is_long, event_spec *out) {
    int64_t host = 0, gpu[2] = {0};
    size_t n = 0;
    for (int64_t i = 0; i < LAUNCHES; i++) {
        const bool comm = i % 6 == 5;
        const int64_t took = 20000 + draw(seed, 400) + (is_long && i == 0 ? 3000000000 : 0);
        const int64_t call = 3000 + draw(seed, 200);
        int64_t begin = host + 6000 + draw(seed, 900);
        begin = begin > gpu[comm] ? begin : gpu[comm] + draw(seed, 700);
        out[n++] = event("launch", host, call, i + 1, 0);
        out[n++] = comm ? event("ncclKernel_AllReduce", begin, took, i + 1, 8)
                        : event("a", begin, took, i + 1, 7);
        gpu[comm] = begin + took;
        host += call + 4000 + draw(seed, 8) * (i % 7 == 0 ? 200000 : 50);
    }
    const int64_t last = gpu[0] > gpu[1] ? gpu[0] : gpu[1];
    const int64_t waits = last > host ? last - host : 0;
    out[n++] = event("cudaDeviceSynchronize", host, waits + 5000, 0, 0);
    return n;
}

static void participants_of(both *b, uint64_t *seed, size_t rank) {
    const tm_timeline *t = &b->timelines[rank];
    size_t n = 0;
    for (uint32_t row = 0; row < t->n_events; row++)
        if (t->role[row] == TM_ROLE_COMMUNICATION) {
            b->participants[rank][n] =
                (tm_replay_participant){.rank = t->rank,
                                        .last_ns = t->begin_ns[row] + draw(seed, 5000),
                                        .usual_ns = 19000,
                                        .operation = 100 * (rank % 2) + n,
                                        .event = row};
            n++;
        }
    assert_int_equal(n, PARTICIPANTS);
}

/* Times of the replay equal recorded times. */
static const tm_timebase base = {0};

static void build(both *b, size_t i, const tm_vec *waits) {
    tm_call_classes classes;
    tm_recorded recorded;
    assert_true(tm_call_classes_init(&classes, b->g.names));
    assert_ok(tm_graph_input_make(&b->timelines[i], &classes, &base, &b->inputs[i], &b->g.err));
    tm_call_classes_free(&classes);
    assert_ok(tm_recorded_make(&b->inputs[i], &base, &recorded, &b->g.err));
    const tm_model_rank rank = {&recorded, waits, b->participants[i], PARTICIPANTS, (uint32_t)i};
    assert_ok(tm_graph_build(&recorded, waits, b->participants[i], PARTICIPANTS, &b->alone[i],
                             &b->g.err));
    assert_ok(tm_models_build(&b->models, &rank, &b->places[1], &b->graphs[i], &b->g.err));
    assert_ok(tm_peers_collect(&b->inputs[i], &b->alone[i], &b->places[0],
                               i > 0 ? &b->items[0] : NULL, &b->items[i], &b->g.err));
    if (i == 0)
        assert_ok(tm_peers_collect(&b->inputs[i], &b->graphs[i], &b->places[1], NULL,
                                   &b->first_items, &b->g.err));
    tm_recorded_free(&recorded);
}

/* Makes a fifth of the places rare. On every third rank, the factor is unknown; on the others, half
 * of the work counts, or none. */
static void add_extras(tm_peer_places *places) {
    const uint64_t *hashes = places->keys.keys.data;
    places->extras.flags = calloc(places->keys.keys.n, 1);
    for (size_t p = 0; p < places->keys.keys.n; p++)
        places->extras.flags[p] = hashes[p] % 5 ? 0 : TM_EXTRA_RARE | TM_EXTRA_COUNTED;
    for (size_t i = 0; i < RANKS; i++) {
        tm_extra_factors one = {.index = i};
        one.of[0][0] = one.of[1][0] = i % 3 == 0 ? (double)NAN : i % 3 == 1 ? 0.0 : 0.5;
        assert_non_null(tm_vec_append(&places->extras.factors, &one, 1));
    }
}

static void compare_graph(both *b, tm_graph *graph, const tm_peer_items *items,
                          const tm_peer_places *places, size_t i) {
    assert_ok(tm_peers_set(graph, items, places, i, &b->g.err));
    assert_true(tm_graph_set_events(graph, items->rows, items->n, true));
}

/* Compares the peers computed from single ranks with those computed from batches. */
static void compare(both *b) {
    const tm_peer_slice slice = {.n_slices = 1};
    const tm_batch_places of = {&b->places[1], &slice, b->workspace.loops};
    tm_vec peers[2] = {TM_VEC(tm_peer), TM_VEC(tm_peer)};
    tm_vec rows[2] = {TM_VEC(tm_peer_row), TM_VEC(tm_peer_row)};
    tm_error *err = &b->g.err;
    assert_ok(tm_peers_list(b->items, RANKS, &b->places[0], &slice, &peers[0], err));
    assert_ok(tm_peers_list(&b->first_items, 1, &b->places[1], &slice, &peers[1], err));
    assert_ok(tm_batch_rows(b->models.batches.data, b->models.batches.n, &of, &rows[1], err));
    for (int k = 0; k < 2; k++) {
        assert_ok(tm_peers_compare(&peers[k], &rows[k], &b->places[k].others, err));
        assert_ok(tm_peers_note(&b->places[k], err));
        add_extras(&b->places[k]);
        tm_vec_free(&peers[k]);
        tm_vec_free(&rows[k]);
    }
    for (size_t i = 0; i < RANKS; i++)
        compare_graph(b, &b->alone[i], &b->items[i], &b->places[0], i);
    compare_graph(b, &b->graphs[0], &b->first_items, &b->places[1], 0);
}

/* @param long_ranks  a bit for each rank with a long kernel */
static void open_both(both *b, uint64_t seed, unsigned long_ranks, const tm_batch_loops *loops) {
    *b = (both){.g = open_ground(), .workspace = {.loops = loops}, .models = TM_MODELS()};
    tm_peer_places_init(&b->places[0]);
    tm_peer_places_init(&b->places[1]);
    const tm_vec waits = TM_VEC(tm_part_wait);
    for (size_t i = 0; i < RANKS; i++) {
        event_spec events[EVENTS] = {{0}};
        const size_t n = events_of(&seed, long_ranks >> i & 1, events);
        b->timelines[i] = build_one(&b->g, 10 + (int64_t)i, events, n);
        participants_of(b, &seed, i);
        build(b, i, &waits);
    }
    tm_models_close(&b->models);
    compare(b);
}

static void close_both(both *b) {
    for (size_t i = 0; i < RANKS; i++) {
        tm_graph_free(&b->alone[i]);
        tm_graph_free(&b->graphs[i]);
        tm_graph_input_free(&b->inputs[i]);
        tm_peer_items_free(&b->items[i]);
        tm_timeline_destroy(&b->timelines[i]);
    }
    tm_peer_items_free(&b->first_items);
    tm_peer_places_free(&b->places[0]);
    tm_peer_places_free(&b->places[1]);
    tm_batch_workspace_free(&b->workspace);
    tm_models_free(&b->models);
    close_ground(&b->g);
}

static void check_graph(const tm_graph *a, const tm_graph *b) {
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_memory_equal(a->ns, b->ns, a->n_nodes * sizeof *a->ns);
    assert_memory_equal(a->event, b->event, a->n_nodes * sizeof *a->event);
    assert_memory_equal(a->first, b->first, (a->n_nodes + 1) * sizeof *a->first);
    assert_memory_equal(a->participants.data, b->participants.data,
                        a->participants.n * sizeof(tm_graph_participant));
    const uint8_t compared = TM_EDGE_INPUT | TM_EDGE_GC | TM_EDGE_STALL | TM_EDGE_OVER;
    for (size_t e = 0; e < a->first[a->n_nodes]; e++) {
        const tm_edge *x = &a->edges[e], *y = &b->edges[e];
        assert_true(x->from == y->from && x->kind == y->kind);
        assert_int_equal((x->flags ^ y->flags) & compared, 0);
        const tm_weight v = tm_graph_weight(a, x), w = tm_graph_weight(b, y);
        assert_int_equal(tm_edge_usual_ns(x, &v), tm_edge_usual_ns(y, &w));
        assert_true(v.ns == w.ns && v.peer_ns == w.peer_ns && v.over_ns == w.over_ns);
    }
}

/* Checks that each joined run has the events and the extremes of consecutive exact runs. */
static void check_joined(const tm_vec *exact, const tm_vec *joined, size_t most) {
    const tm_slack_run *run = exact->data, *end = run + exact->n;
    assert_in_range(joined->n, 1, most);
    for (size_t i = 0; i < joined->n; i++) {
        const tm_slack_run *own = (const tm_slack_run *)joined->data + i;
        int64_t least = INT64_MAX, all = INT64_MIN;
        uint32_t n = 0;
        assert_true(own->begin_ns == run->begin_ns && own->stream == run->stream);
        for (; run < end && n < own->n; n += run++->n) {
            least = run->least_ns < least ? run->least_ns : least;
            all = run->most_ns > all ? run->most_ns : all;
        }
        assert_true(n == own->n && least == own->least_ns && all == own->most_ns);
    }
    assert_ptr_equal(run, end);
}

static void check_runs(both *b, const tm_batch *batch, size_t k, const int64_t *late) {
    enum { MOST = 6 };
    const size_t i = batch->index[k];
    const tm_slack_times alone = {b->alone[i].ns, late, 1};
    const tm_slack_times lane = {&b->workspace.ns->ns[k], &b->workspace.peer->ns[k], TM_LANES};
    tm_vec runs[3] = {TM_VEC(tm_slack_run), TM_VEC(tm_slack_run), TM_VEC(tm_slack_run)};
    assert_true(tm_slack_runs(&b->timelines[i], &b->alone[i], &alone, EVENTS, &runs[0]));
    assert_true(tm_slack_runs(&b->timelines[i], batch->like, &lane, EVENTS, &runs[1]));
    assert_true(tm_slack_runs(&b->timelines[i], batch->like, &lane, MOST, &runs[2]));
    assert_int_equal(runs[0].n, runs[1].n);
    assert_in_range(runs[0].n, MOST + 1, EVENTS);
    assert_memory_equal(runs[0].data, runs[1].data, runs[0].n * runs[0].size);
    check_joined(&runs[0], &runs[2], MOST);
    for (size_t r = 0; r < COUNT(runs); r++)
        tm_vec_free(&runs[r]);
}

static void check_slack(both *b, const tm_batch *batch) {
    tm_batch_row participants[PARTICIPANTS];
    tm_slack slack[TM_LANES];
    const int64_t end = 900000;
    for (size_t v = 0; v < PARTICIPANTS; v++)
        for (size_t k = 0; k < TM_LANES; k++)
            participants[v].ns[k] =
                v % 3 ? batch->participants[v].last_ns[k] + 500 * (int64_t)v : INT64_MAX;
    tm_batch_slack(batch, participants, &end, 3000, &b->workspace, slack);
    for (size_t k = 0; k < batch->n; k++) {
        int64_t own[PARTICIPANTS], late[4 * EVENTS];
        const tm_graph *g = &b->alone[batch->index[k]];
        for (size_t v = 0; v < PARTICIPANTS; v++)
            own[v] = participants[v].ns[k];
        const tm_slack alone = tm_slack_find(g, own, &end, 3000, late);
        assert_true(alone.least_ns == slack[k].least_ns && alone.near_ns == slack[k].near_ns);
        check_runs(b, batch, k, late);
    }
}

static void check_path(both *b, const tm_batch *batch) {
    tm_vec arrivals[2] = {TM_VEC(tm_path_arrival), TM_VEC(tm_path_arrival)};
    tm_vec ends[2] = {TM_VEC(tm_path_end), TM_VEC(tm_path_end)};
    uint32_t edges[4 * EVENTS], boundaries[4 * EVENTS];
    assert_ok(tm_batch_boundaries(batch, &b->workspace, &arrivals[0], &ends[0], &b->g.err));
    for (size_t k = 0; k < batch->n; k++) {
        const tm_graph *graph = &b->alone[batch->index[k]];
        tm_path_decide(graph, edges, boundaries);
        assert_ok(tm_path_boundaries(graph, boundaries, &arrivals[1], &ends[1], &b->g.err));
    }
    assert_int_equal(arrivals[0].n, arrivals[1].n);
    assert_int_equal(ends[0].n, ends[1].n);
    for (size_t i = 0; i < arrivals[0].n; i++) { /* all except nodes, which differ */
        const tm_path_arrival *x = (tm_path_arrival *)arrivals[0].data + i;
        const tm_path_arrival *y = (tm_path_arrival *)arrivals[1].data + i;
        assert_true(x->operation == y->operation && x->from == y->from &&
                    x->from_ns == y->from_ns && x->rank == y->rank);
    }
    for (size_t i = 0; i < ends[0].n; i++) {
        const tm_path_end *x = (tm_path_end *)ends[0].data + i;
        const tm_path_end *y = (tm_path_end *)ends[1].data + i;
        assert_true(x->end_ns == y->end_ns && x->from == y->from && x->rank == y->rank);
    }
    for (int i = 0; i < 2; i++) {
        tm_vec_free(&arrivals[i]);
        tm_vec_free(&ends[i]);
    }
}

/* Checks reduced graphs: with the usual sets, or with so many that there are more joints. */
static void check_reduced(both *b, const tm_sets *sets) {
    const size_t n_sets = sets ? 2 * sets->n : TM_N_RANK_SETS;
    const tm_batch_loops *loops = b->workspace.loops;
    const tm_batch_sets of = {n_sets, sets ? loops->weigh_changes : loops->weigh, sets};
    tm_weigh *weigh = sets ? tm_sets_weigh_changes : tm_sets_weigh;
    tm_vec words[2] = {TM_VEC(int64_t), TM_VEC(int64_t)};
    const tm_batch *batches = b->models.batches.data;
    tm_error *err = &b->g.err;
    for (size_t i = 0; i < RANKS; i++)
        assert_ok(tm_reduce(&b->alone[i], n_sets, weigh, sets, &words[0], err));
    assert_ok(tm_reduce(&b->graphs[0], n_sets, weigh, sets, &words[1], err));
    for (size_t c = 0; c < b->models.batches.n; c++) {
        bool done = false;
        assert_true(tm_batch_peers(&batches[c], &b->places[1], &b->workspace));
        assert_ok(tm_reduce_batch(&batches[c], &b->workspace, &of, &done, &words[1], err));
        assert_true(done);
    }
    assert_int_equal(words[0].n, words[1].n);
    assert_memory_equal(words[0].data, words[1].data, words[0].n * sizeof(int64_t));
    tm_vec_free(&words[0]);
    tm_vec_free(&words[1]);
}

/* Checks that a rank's own work, in four parts, and the medians of its calls are the same in a
 * batch as by itself. On the device, the work is all except communication. */
static void check_works(const both *b, const tm_batch *batch) {
    enum { PARTS = 4 };
    const tm_works_shape shape = {.n_steps = 1, .n_parts = PARTS}; /* no marked step: one step */
    int64_t sums[2][TM_LANES][TM_N_WORKS][PARTS] = {{{{0}}}};
    int64_t *lanes[TM_LANES];
    for (size_t k = 0; k < TM_LANES; k++)
        lanes[k] = sums[1][k][0];
    int64_t apart_ns[2] = {0};
    const tm_works_of of[2] = {{&shape, &b->places[0], RANKS, true, &apart_ns[0]},
                               {&shape, &b->places[1], RANKS, true, &apart_ns[1]}};
    tm_works_add_batch(&of[1], batch, lanes);
    assert_true(tm_works_batch_calls(&of[1], batch, lanes));
    for (size_t k = 0; k < batch->n; k++) {
        const tm_timeline *t = &b->timelines[batch->index[k]];
        int64_t device = 0;
        tm_works_add(&of[0], &b->items[batch->index[k]], sums[0][k][0]);
        assert_true(tm_works_calls(&of[0], &b->items[batch->index[k]], sums[0][k][0]));
        assert_memory_equal(sums[0][k], sums[1][k], sizeof sums[0][k]);
        for (uint32_t row = 0; row < t->n_events; row++)
            if (t->role[row] == TM_ROLE_COMPUTE || t->role[row] == TM_ROLE_MEMORY)
                device += t->duration_ns[row];
        for (size_t part = 0; part < PARTS; part++) {
            assert_true(sums[0][k][TM_WORKS_DEVICE][part] > 0);
            assert_true(sums[0][k][TM_WORKS_CALL][part] > 0);
            device -= sums[0][k][TM_WORKS_DEVICE][part];
        }
        assert_int_equal(device, 0);
    }
}

static void check_batches(const tm_batch_loops *loops) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        both b;
        tm_sets sets;
        tm_change changes[8];
        open_both(&b, seed, seed % 2 ? 0 : UINT_MAX, loops);
        const tm_batch *batches = b.models.batches.data;
        size_t n = 0;
        for (size_t c = 0; c < b.models.batches.n; c++) {
            n += batches[c].n;
            check_path(&b, &batches[c]);
            check_slack(&b, &batches[c]);
            check_works(&b, &batches[c]);
            assert_true(tm_batch_peers(&batches[c], &b.places[1], &b.workspace));
            for (size_t k = 0; k < batches[c].n; k++) {
                tm_graph picked;
                assert_ok(tm_batch_pick(&batches[c], k, &b.workspace, true, &picked, &b.g.err));
                check_graph(&b.alone[batches[c].index[k]], &picked);
                tm_graph_free(&picked);
            }
        }
        assert_int_equal(n, RANKS - 1); /* the first rank has its own graph */
        for (size_t i = 0; i < COUNT(changes); i++)
            changes[i] = (tm_change){.kinds = (uint16_t)(1U << i),
                                     .flags = i == TM_EDGE_HOST ? TM_EDGE_STALL : 0,
                                     .factor = i % 2 ? (double)INFINITY : 0.0};
        tm_sets_init(&sets, changes, COUNT(changes));
        check_reduced(&b, NULL);
        check_reduced(&b, &sets);
        close_both(&b);
    }
}

/* Runs the loops for every instruction set of this processor. */
TEST(a_batch_tells_what_each_of_its_ranks_does) {
    size_t n;
    const tm_batch_loops *const *all = tm_batch_loops_all(&n);
    for (size_t i = 0; i < n; i++)
        check_batches(all[i]);
}

/* The times of this rank exceed 32 bits, the others' do not. */
TEST(a_rank_of_a_much_longer_kernel_has_a_graph_of_its_own) {
    both b;
    open_both(&b, 1, 1U << 7, NULL);
    for (size_t i = 0; i < RANKS; i++)
        assert_int_equal(b.graphs[i].in_batch, i != 0 && i != 7);
    close_both(&b);
}

static void check_input(const tm_graph_input *a, const tm_graph_input *b) {
    const tm_part_event *x = a->events.data, *y = b->events.data;
    const tm_part_call *p = a->calls.data, *q = b->calls.data;
    assert_int_equal(a->events.n, b->events.n);
    assert_int_equal(a->calls.n, b->calls.n);
    for (size_t i = 0; i < a->events.n; i++)
        assert_true(x[i].begin_ns == y[i].begin_ns && x[i].end_ns == y[i].end_ns &&
                    x[i].row == y[i].row && x[i].call == y[i].call && x[i].before == y[i].before &&
                    x[i].nth == y[i].nth && x[i].last == y[i].last);
    for (size_t i = 0; i < a->calls.n; i++)
        assert_true(p[i].begin_ns == q[i].begin_ns && p[i].end_ns == q[i].end_ns &&
                    p[i].row == q[i].row && p[i].launched == q[i].launched && p[i].nth == q[i].nth);
}

/* Two calls of rank 5 are swapped: it has the same events as the others, in another order. Rank 8
 * is in another stage, and one call of ranks 6, 9 and 10 has another name. */
TEST(ranks_with_the_same_parts_share_a_input) {
    both b;
    tm_graph_inputs inputs;
    const tm_graph_input *input;
    tm_call_classes classes;
    open_both(&b, 1, 0, NULL);
    tm_timeline *t = b.timelines;
    const uint32_t call = row_named(&b.g, &t[5], "launch");
    t[5].begin_ns[call] = t[5].begin_ns[call + 1] + 1;
    static const size_t others[] = {6, 9, 10};
    for (size_t i = 0; i < COUNT(others); i++) {
        tm_timeline *other = &t[others[i]];
        other->name[call + 3 + i] = other->name[row_named(&b.g, other, "cudaDeviceSynchronize")];
    }
    assert_true(tm_call_classes_init(&classes, b.g.names));
    assert_true(tm_graph_inputs_open(&inputs, t, RANKS, &base, b.g.names));
    inputs.most_bytes = 0; /* inputs that no rank shares are rebuilt */
    for (int time = 0; time < 2; time++)
        for (size_t i = 0; i < RANKS; i++) {
            tm_graph_input alone;
            const bool own = i == 0 || i == 5 || i == 6 || i >= 8;
            assert_ok(tm_graph_input_make(&t[i], &classes, &base, &alone, &b.g.err));
            if (time == 0)
                assert_ok(tm_graph_inputs_make(&inputs, i, i == 8, &input, &b.g.err));
            else
                assert_ok(tm_graph_inputs_at(&inputs, i, &input, &b.g.err));
            check_input(&alone, input);
            assert_int_equal(inputs.ranks[i].leader, own ? i : 0);
            assert_int_equal(input->stage, i == 8);
            tm_graph_input_free(&alone);
            assert_int_equal(inputs.ranks[5].kept, i >= 5 && (time == 1 ? i == 5 : i < 10));
            if (time == 1)
                tm_graph_inputs_done(&inputs, i);
        }
    tm_call_classes_free(&classes);
    tm_graph_inputs_free(&inputs);
    close_both(&b);
}

RUN_TESTS()
