#include "rank_graphs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory_pages.h"
#include "base/sorted.h"
#include "changes.h"
#include "extra_names.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/shuffle.h"
#include "replay/graph/first_step.h"
#include "replay/graph/joins.h"
#include "replay/graph/wait_pairs.h"
#include "replay/job/works_sum.h"
#include "replay_ops.h"
#include "timeline/host_comm.h"
#include "timeline/packed_events.h"
#include "uneven.h"
#include "waits/stages.h"
#include "works.h"

/* Places are compared in slices, to limit memory. Each slice requires a pass over all weights of
 * single ranks, so the number of slices is kept small. The number depends on the size of these
 * weights. Below SLICE_BYTES, it is 1, plus 1 for each SLICE_BYTES / SLICES. Above SLICE_BYTES, it
 * is 1 + SLICES, or more if a slice would otherwise be larger than SLICE_BYTES. Weights of batches
 * add one slice for each SLICE_ROWS_BYTES, so that the rows of a slice fit into the caches. */
static const int64_t SLICE_BYTES = INT64_C(16) << 20, SLICE_ROWS_BYTES = INT64_C(4) << 20;
enum { SLICES = 4 };

static int participant_origin(const void *record, int n_processes) {
    (void)n_processes;
    return ((const tm_replay_participant *)record)->origin;
}

int64_t tm_replay_count_stage(const tm_replay_ranks *ranks, int64_t stage) {
    int64_t n = 0;
    for (size_t i = 0; i < ranks->facts.n; i++)
        n += ((const tm_replay_fact *)ranks->facts.data)[i].stage == stage;
    return n;
}

int tm_replay_peer_owner(const void *record, int n_processes) {
    return (int)((uint32_t)((const tm_peer *)record)->place % (uint32_t)n_processes);
}

static int row_owner(const void *record, int n_processes) {
    return (int)((uint32_t)((const tm_peer_row *)record)->place % (uint32_t)n_processes);
}

int tm_replay_others_origin(const void *record, int n_processes) {
    (void)n_processes;
    return (int)((const tm_peer_others *)record)->origin;
}

static void find_root(tm_replay_ranks *r) {
    int64_t first = INT64_MAX, n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const tm_timeline *t = &r->timelines[i];
        const uint32_t end = tm_timeline_work_end(t);
        bool any = false;
        for (size_t k = 0; k < t->n_tracks && t->tracks[k].first < end; k++)
            for (uint32_t row = t->tracks[k].first; row < t->tracks[k].first + t->tracks[k].count;
                 row++)
                /* This is the stream's first GPU event, because rows are sorted by start. */
                if (t->role[row] != TM_ROLE_NONE) {
                    int64_t begin = tm_rank_clock_true(&t->clock, t->begin_ns[row]);
                    first = begin < first ? begin : first;
                    any = true;
                    break;
                }
        n += any;
    }
    MPI_Allreduce(&first, &r->base.root_ns, 1, MPI_INT64_T, MPI_MIN, r->comm);
    MPI_Allreduce(&n, &r->n_ranks, 1, MPI_INT64_T, MPI_SUM, r->comm);
}

static bool computes(const tm_timeline *t) {
    size_t row = 0;
    while (row < t->n_events && t->role[row] != TM_ROLE_COMPUTE)
        row++;
    return row < t->n_events;
}

/* Returns whether some ranks with computation mark steps, and others do not. */
static bool lacks_steps(const tm_replay_ranks *r) {
    int some[2] = {0}; /* whether any rank marks steps; whether any rank does not */
    for (size_t i = 0; i < r->n; i++) {
        const tm_timeline *t = &r->timelines[i];
        const bool marked = t->n_steps > 0 && t->steps[0].annotated;
        some[!marked] |= marked || computes(t);
    }
    MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, r->comm);
    return some[0] && some[1];
}

/* If host time at the start of the job's first step counts, moves the root there: to the time at
 * which the last rank started this step. What a rank did before is unknown to the other ranks. */
static tm_status find_first_step(tm_replay_ranks *r, tm_error *err) {
    tm_first_step *own = malloc((r->n + 1) * sizeof *own);
    tm_status status = own ? TM_OK : tm_fail_memory(err);
    int64_t first = INT64_MAX, begin[2] = {INT64_MIN, 0}; /* latest start; whether any is unusual */
    for (size_t i = 0; i < r->n && status == TM_OK; i++) {
        status = tm_first_step_find(&r->timelines[i], &r->inputs.classes, &own[i], err);
        first = own[i].number < first ? own[i].number : first;
    }
    status = tm_mpi_agree(r->comm, status, err);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, r->comm);
    for (size_t i = 0; i < r->n && status == TM_OK; i++) {
        if (own[i].number != first || first == INT64_MAX)
            continue;
        begin[0] = own[i].begin_ns > begin[0] ? own[i].begin_ns : begin[0];
        begin[1] |= !own[i].usual;
    }
    MPI_Allreduce(MPI_IN_PLACE, begin, 2, MPI_INT64_T, MPI_MAX, r->comm);
    free(own);
    if (begin[0] != INT64_MIN && !begin[1] && begin[0] < r->base.root_ns) {
        r->base.root_ns = begin[0];
        r->base.step = first;
    }
    return status;
}

/* Cuts out the times in which no rank recorded, and the time until all profilers had started. */
static tm_status find_cuts(tm_replay_ranks *r, tm_error *err) {
    tm_vec own = TM_VEC(tm_recorded_time), all = TM_VEC(tm_recorded_time);
    tm_status status = TM_OK;
    int several = 0;
    for (size_t i = 0; i < r->n && status == TM_OK; i++) {
        several = several || r->timelines[i].n_spans > 1 ||
                  (r->timelines[i].n_spans > 0 &&
                   r->timelines[i].spans->open_ns > r->timelines[i].spans->begin_ns);
        status = tm_timebase_collect(&r->timelines[i], &own, err);
    }
    status = tm_mpi_agree(r->comm, status, err);
    MPI_Allreduce(MPI_IN_PLACE, &several, 1, MPI_INT, MPI_MAX, r->comm);
    if (status == TM_OK && several)
        status = tm_mpi_everywhere(r->comm, &own, &all, err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_timebase_cut(&r->base, &all, err), err);
    tm_vec_free(&own);
    tm_vec_free(&all);
    return status;
}

static int member_owner(const void *record, int n_processes) {
    uint64_t group = ((const tm_join_member *)record)->group;
    return (int)(tm_hash_mixed(0, &group, sizeof group) % (uint64_t)n_processes);
}

/* Sends the members of operations to the process that owns their group. That process sends the
 * participations to the processes of the ranks. */
static tm_status send_participants(tm_replay_ranks *r, tm_error *err) {
    tm_vec members = TM_VEC(tm_join_member), all = TM_VEC(tm_join_member);
    tm_vec own = TM_VEC(tm_replay_participant);
    tm_status status = tm_joins_members(r->collectives, &r->base, &members, err);
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &members, member_owner, &all, err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_joins_participants(&all, &own, err), err);
    tm_vec_free(&all);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &own, participant_origin, &r->participants, err);
    tm_joins_sort(&r->participants);
    tm_vec_free(&members);
    tm_vec_free(&own);
    return status;
}

tm_status tm_replay_share_keys(MPI_Comm comm, tm_keys *keys, tm_error *err) {
    tm_vec all = TM_VEC(uint64_t);
    tm_status status = tm_mpi_everywhere(comm, &keys->keys, &all, err);
    for (size_t i = 0; i < all.n && status == TM_OK; i++)
        if (tm_keys_add(keys, (const uint64_t *)all.data + i) == TM_NO_KEY)
            status = tm_fail_memory(err);
    tm_vec_free(&all);
    return tm_mpi_agree(comm, status, err);
}

/* Adds a rank's pairs of events and its counts of names. If several ranks share recorded events,
 * their counts are equal, so only the leader of these ranks adds counts. */
static tm_status scan(const tm_replay_ranks *r, size_t i, const tm_graph_input *input,
                      tm_pairs *pairs, tm_counts *counts, tm_error *err) {
    TM_TRY(tm_pairs_scan(input, pairs, err));
    return r->n_ranks == 1 || r->inputs.ranks[i].leader != i ? TM_OK
                                                             : tm_counts_scan(input, counts, err);
}

static tm_status make_inputs(tm_replay_ranks *r, tm_pairs *pairs, tm_error *err) {
    tm_status status = TM_OK;
    tm_counts counts = TM_COUNTS();
    for (size_t i = 0; i < r->n && status == TM_OK; i++) {
        const int64_t stage = tm_stage_of(&r->collectives->stages, r->timelines[i].rank);
        const tm_graph_input *input;
        status = tm_graph_inputs_make(&r->inputs, i, stage, &input, err);
        if (status == TM_OK)
            status = scan(r, i, input, pairs, &counts, err);
    }
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_counts(r->comm, &counts, &r->places.uneven, err);
    tm_counts_free(&counts);
    TM_TRY(status);
    TM_TRY(tm_replay_share_keys(r->comm, &pairs->broken, err));
    return tm_replay_share_keys(r->comm, &pairs->tight, err);
}

/* Decides for the whole job whether the first step counts from the end of the warm-up. Only ranks
 * that recorded the job's first step matter. */
static void find_warm_up(tm_replay_ranks *r) {
    int64_t first = INT64_MAX;
    int flags[2] = {0}; /* `any` and `joined` of tm_warm_up, each combined by OR over the ranks that
                           recorded the first step */
    tm_graph_inputs_rank *ranks = r->inputs.ranks;
    for (size_t i = 0; i < r->n; i++) {
        const tm_warm_up own = ranks[i].before;
        first = own.step < first ? own.step : first;
    }
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, r->comm);
    for (size_t i = 0; i < r->n && first < INT64_MAX; i++) {
        const tm_warm_up own = ranks[i].before;
        ranks[i].warm_up = own.step == first;
        flags[0] |= own.step == first && own.any;
        flags[1] |= own.step == first && own.joined;
    }
    MPI_Allreduce(MPI_IN_PLACE, flags, 2, MPI_INT, MPI_MAX, r->comm);
    r->warm_up = flags[0] && !flags[1];
    for (size_t i = 0; i < r->n; i++)
        ranks[i].warm_up = ranks[i].warm_up && r->warm_up;
}

/* Returns how many participations rank i has. They start at index *next, because participations are
 * sorted by rank. */
static size_t participants_of(const tm_replay_ranks *r, size_t i, size_t *next) {
    const tm_replay_participant *v = r->participants.data;
    size_t n = 0;
    while (*next + n < r->participants.n && v[*next + n].rank == r->timelines[i].rank)
        n++;
    return n;
}

static tm_status build_graph(tm_replay_ranks *r, const tm_model_rank *rank, tm_error *err) {
    tm_graph *graph = &r->graphs[rank->index];
    if (r->alone)
        return tm_graph_build(rank->recorded, rank->waits, rank->participants, rank->n, graph, err);
    const tm_status status = tm_models_build(&r->models, rank, &r->places, graph, err);
    if (rank->index + 1 == r->n)
        tm_models_close(&r->models);
    return status;
}

static tm_status make_graph(tm_replay_ranks *r, size_t i, const tm_pairs *pairs,
                            const tm_replay_participant *participants, size_t n, tm_error *err) {
    tm_vec waits = TM_VEC(tm_part_wait);
    tm_recorded recorded;
    const tm_graph_input *input;
    TM_TRY(tm_graph_inputs_at(&r->inputs, i, &input, err));
    tm_status status = tm_recorded_make(input, &r->base, &recorded, err);
    if (status == TM_OK && (!recorded.streams || recorded.blind.n > 0 || recorded.graphs))
        status = tm_pairs_pick(input, pairs, &waits, err);
    if (status == TM_OK && recorded.streams)
        status = tm_recorded_waits(&recorded, &waits, err);
    const tm_model_rank rank = {&recorded, &waits, participants, n, (uint32_t)i};
    if (status == TM_OK)
        status = build_graph(r, &rank, err);
    assert(status != TM_OK || tm_graph_wrong(&r->graphs[i]) == 0);
    const uint32_t leader = r->inputs.ranks[i].leader;
    if (status == TM_OK && !r->graphs[i].in_batch)
        status = tm_peers_collect(input, &r->graphs[i], &r->places,
                                  leader == i ? NULL : &r->items[leader], &r->items[i], err);
    tm_recorded_free(&recorded);
    tm_vec_free(&waits);
    return status;
}

static void sum_rank(tm_replay_ranks *r, size_t i) {
    const tm_timeline *t = &r->timelines[i];
    const tm_graph *g = &r->graphs[i];
    const uint32_t end = tm_timeline_work_end(t),
                   n_edges = g->n_nodes > 0 ? g->first[g->n_nodes] : 0;
    for (size_t e = 0; e < n_edges; e++)
        if (g->edges[e].kind == TM_EDGE_COMM)
            r->unmatched_ns += tm_graph_weight(g, &g->edges[e]).ns;
    for (size_t row = 0; row < t->n_events; row++) {
        if (t->role[row] == TM_ROLE_COMMUNICATION)
            r->comm_ns += row < end ? t->duration_ns[row] : 0;
        else if (t->role[row] != TM_ROLE_NONE && t->step[row] != TM_NO_STEP && tm_replay_has(r, i))
            r->work_ns += t->duration_ns[row];
    }
}

void tm_replay_close_graph(const tm_replay_ranks *ranks, size_t i) {
    if (ranks->packs && !tm_models_may_use(&ranks->graphs[i]))
        tm_graph_close(&ranks->graphs[i]);
}

/* Adds a rank to the sums. Then closes its graph, and packs its events if `packs` is set. From here
 * on, only scenarios and the comparison of stages read the events. */
static tm_status finish_rank(tm_replay_ranks *r, size_t i, tm_error *err) {
    sum_rank(r, i);
    tm_replay_close_graph(r, i);
    if (r->n_ranks > 1 && (!tm_works_find_at_once(&r->timelines[i], i, &r->at_once) ||
                           !tm_step_works_add(&r->timelines[i], &r->step_works)))
        return tm_fail_memory(err);
    return r->packs ? tm_timeline_pack(&r->timelines[i], err) : TM_OK;
}

static tm_status make_graphs(tm_replay_ranks *r, const tm_pairs *pairs, tm_error *err) {
    size_t next = 0;
    for (size_t i = 0; i < r->n; i++) {
        const tm_replay_participant *participants =
            (const tm_replay_participant *)r->participants.data + next;
        size_t n = participants_of(r, i, &next);
        TM_TRY(make_graph(r, i, pairs, participants, n, err));
        tm_graph_inputs_done(&r->inputs, i);
        TM_TRY(finish_rank(r, i, err));
        next += n;
    }
    tm_graph_inputs_free(&r->inputs);
    return TM_OK;
}

static tm_status list_slice(const tm_replay_ranks *r, const tm_peer_slice *slice, tm_vec *peers,
                            tm_vec *rows, tm_error *err) {
    size_t n;
    const tm_batch *batches = tm_replay_batches(r, &n);
    const tm_batch_places from = {&r->places, slice, NULL};
    TM_TRY(tm_peers_list(r->items, r->n, &r->places, slice, peers, err));
    return tm_batch_rows(batches, n, &from, rows, err);
}

/* Compares the places of one slice with those of other processes' ranks.
 * @param rows  vector of tm_peer_row; all slices reuse its memory */
static tm_status compare_slice(tm_replay_ranks *r, const tm_peer_slice *slice, tm_vec *rows,
                               tm_error *err) {
    tm_peer_places *places = &r->places;
    tm_vec peers = TM_VEC(tm_peer), there = TM_VEC(tm_peer), rows_there = TM_VEC(tm_peer_row);
    tm_vec others = TM_VEC(tm_peer_others), back = TM_VEC(tm_peer_others);
    rows->n = 0;
    tm_status status = list_slice(r, slice, &peers, rows, err);
    status = tm_mpi_agree(r->comm, status, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &peers, tm_replay_peer_owner, &there, err);
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, rows, row_owner, &rows_there, err);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, tm_peers_compare(&there, &rows_there, &others, err), err);
    tm_vec_free(&there);
    tm_vec_free(rows);
    *rows = rows_there;
    if (status == TM_OK)
        status = tm_mpi_shuffle(r->comm, &others, tm_replay_others_origin, &back, err);
    bool ok = back.n == 0 || tm_vec_append(&places->others, back.data, back.n);
    if (status == TM_OK)
        status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    TM_VECS_FREE(&peers, &others, &back);
    return status;
}

static tm_status compare(tm_replay_ranks *r, tm_error *err) {
    int64_t bytes = 0, rows_bytes = 0;
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    int self;
    MPI_Comm_rank(r->comm, &self);
    for (size_t i = 0; i < r->n; i++)
        bytes += (int64_t)(r->items[i].n * sizeof(tm_peer));
    for (size_t c = 0; c < n_batches; c++)
        rows_bytes += (int64_t)(batches[c].items->n * sizeof(tm_peer_row));
    const int64_t few = bytes / (SLICE_BYTES / SLICES), more = bytes / SLICE_BYTES;
    int64_t n = 1 + (few < SLICES ? few : more < SLICES ? SLICES : more);
    n += rows_bytes / SLICE_ROWS_BYTES;
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_MAX, r->comm);
    tm_peer_slice slice = {.n_slices = (uint32_t)n, .origin = self};
    tm_vec rows = TM_VEC(tm_peer_row);
    tm_status status = TM_OK;
    for (; slice.slice < slice.n_slices && status == TM_OK; slice.slice++)
        status = compare_slice(r, &slice, &rows, err);
    tm_vec_free(&rows);
    TM_TRY(status);
    return tm_mpi_agree(r->comm, tm_peers_note(&r->places, err), err);
}

TM_ORDER_BY(by_rank, tm_replay_fact, rank);

/* Computes the call time of each rank whose graph contains calls. Graphs of operations contain no
 * calls, so the call times of their ranks are not set.
 * @param out  [r->n] call times */
static bool find_call_times(const tm_replay_ranks *r, int64_t *out) {
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    bool ok = true;
    for (size_t i = 0; i < r->n && ok; i++)
        ok = !r->items[i].places || tm_call_time(&r->items[i], &out[i]);
    for (size_t c = 0; c < n_batches && ok; c++) {
        int64_t ns[TM_LANES];
        ok = batches[c].n == 0 || tm_batch_call_times(&batches[c], ns);
        for (size_t k = 0; k < batches[c].n && ok; k++)
            out[batches[c].index[k]] = ns[k];
    }
    return ok;
}

/* Collects the facts of all ranks of the job that have a graph, sorted by rank. */
static tm_status gather_facts(tm_replay_ranks *r, tm_error *err) {
    tm_vec own = TM_VEC(tm_replay_fact);
    int64_t *call_ns = calloc(r->n + 1, sizeof *call_ns);
    /* Call times are needed only to compare the hosts of stages. */
    const bool stages = r->collectives->stages.n > 0;
    bool ok = call_ns && (!stages || find_call_times(r, call_ns));
    for (size_t i = 0; i < r->n && ok; i++) {
        const tm_timeline *t = &r->timelines[i];
        const tm_replay_fact f = {.rank = t->rank,
                                  .stage = tm_stage_of(&r->collectives->stages, t->rank),
                                  .call_ns = call_ns[i],
                                  .host = tm_timeline_host(t)};
        ok = !tm_replay_has(r, i) || tm_vec_append(&own, &f, 1);
    }
    free(call_ns);
    tm_status status = tm_mpi_agree(r->comm, ok ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK)
        status = tm_mpi_everywhere(r->comm, &own, &r->facts, err);
    tm_vec_sort(&r->facts, by_rank);
    tm_vec_free(&own);
    return status;
}

/* If each stage is on a single host, all peers of a rank are on the rank's host, so they may be
 * equally slow. On a slow host, the peers' call times are therefore divided by the host's
 * factor. */
static tm_status compare_hosts(tm_replay_ranks *r, tm_error *err) {
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(r, &n_batches);
    TM_TRY(tm_host_times(r->facts.data, r->facts.n, &r->host_times, err));
    bool *done = calloc(r->places.others.n + 1, sizeof *done);
    for (size_t i = 0; i < r->n && done; i++) {
        const double factor = tm_host_factor(&r->host_times, tm_timeline_host(&r->timelines[i]));
        if (factor > 1.0 && r->items[i].places)
            tm_calls_divide(r->items[i].places, r->items[i].n_events, r->items[i].n, factor,
                            &r->places, done);
        for (size_t c = 0; c < n_batches && factor > 1.0; c++)
            if (batches[c].n > 0 && batches[c].index[0] == i)
                tm_calls_divide(batches[c].items->places, batches[c].items->n_events,
                                batches[c].items->n, factor, &r->places, done);
    }
    free(done);
    return done ? TM_OK : tm_fail_memory(err);
}

/* Frees the memory that only building the graphs needs. */
static void free_parts(tm_replay_ranks *r) {
    tm_graph_inputs_free(&r->inputs);
    for (size_t i = 0; i < r->n && r->items; i++)
        tm_peer_items_free(&r->items[i]);
    free(r->items);
    r->items = NULL;
}

tm_status tm_replay_share(MPI_Comm comm, tm_vec *own, tm_vec *all, tm_error *err) {
    int n_processes;
    MPI_Comm_size(comm, &n_processes);
    if (n_processes > 1) {
        tm_status status = tm_mpi_everywhere(comm, own, all, err);
        tm_vec_free(own);
        return status;
    }
    *all = *own;
    *own = (tm_vec){.size = all->size};
    return TM_OK;
}

/* Reduces the ranks of a batch one by one. Each rank gets a graph of its own for this. */
static tm_status reduce_apart(const tm_replay_ranks *r, const tm_batch *batch,
                              const tm_replay_weigh *weigh, tm_error *err) {
    for (size_t lane = 0; lane < batch->n; lane++) {
        tm_graph graph;
        tm_status status = tm_batch_pick(batch, lane, r->workspace, true, &graph, err);
        if (status == TM_OK)
            status =
                tm_reduce(&graph, weigh->n_sets, weigh->graph, weigh->context, weigh->words, err);
        tm_graph_free(&graph);
        TM_TRY(status);
    }
    return TM_OK;
}

static void name_rows(const tm_replay_ranks *r, const tm_replay_weigh *weigh, size_t i) {
    if (!weigh->sets)
        return;
    weigh->sets->names = r->timelines[i].name;
    weigh->sets->rank = i;
}

/* Reserves memory for the graphs or batches that remain, so that the words are not copied again and
 * again. The function assumes that each of these needs as much memory as the latest graph or batch.
 * @param before  number of words before the latest graph or batch */
static bool reserve_words(tm_vec *words, size_t before, size_t n_left) {
    return tm_vec_reserve(words, words->n + (words->n - before) * n_left);
}

static tm_status reduce_graph(const tm_replay_ranks *r, size_t i, const tm_replay_weigh *weigh,
                              tm_error *err) {
    const size_t before = weigh->words->n;
    name_rows(r, weigh, i);
    if (weigh->n_sets == 0 || r->graphs[i].n_nodes == 0)
        return TM_OK;
    TM_TRY(tm_graph_open(&r->graphs[i], err));
    TM_TRY(
        tm_reduce(&r->graphs[i], weigh->n_sets, weigh->graph, weigh->context, weigh->words, err));
    return reserve_words(weigh->words, before, r->n - 1 - i) ? TM_OK : tm_fail_memory(err);
}

/* Reduces the ranks of a batch.
 * @param batch   batch whose peer weights are in the workspace
 * @param n_left  number of batches that remain after this one */
static tm_status reduce_batch(const tm_replay_ranks *r, const tm_batch *batch, size_t n_left,
                              const tm_replay_weigh *weigh, tm_error *err) {
    const tm_batch_sets sets = {weigh->n_sets, weigh->batch, weigh->context};
    bool done = weigh->n_sets == 0;
    if (done)
        return TM_OK;
    name_rows(r, weigh, batch->index[0]);
    const size_t before = weigh->words->n;
    TM_TRY(tm_reduce_batch(batch, r->workspace, &sets, &done, weigh->words, err));
    if (!done)
        TM_TRY(reduce_apart(r, batch, weigh, err));
    if (!reserve_words(weigh->words, before, n_left))
        return tm_fail_memory(err);
    if (n_left > 0)
        tm_pages_make((int64_t *)weigh->words->data + weigh->words->n,
                      (weigh->words->n - before) * sizeof(int64_t));
    return TM_OK;
}

tm_status tm_replay_reduce(const tm_replay_ranks *ranks, const tm_replay_weigh *weighs, size_t n,
                           tm_error *err) {
    size_t n_batches;
    const tm_batch *batches = tm_replay_batches(ranks, &n_batches);
    for (size_t i = 0; i < ranks->n; i++) {
        for (size_t k = 0; k < n; k++)
            TM_TRY(reduce_graph(ranks, i, &weighs[k], err));
        tm_replay_close_graph(ranks, i);
    }
    for (size_t c = 0; c < n_batches; c++) {
        if (batches[c].n > 0 && !tm_batch_peers(&batches[c], &ranks->places, ranks->workspace))
            return tm_fail_memory(err);
        for (size_t k = 0; k < n && batches[c].n > 0; k++)
            TM_TRY(reduce_batch(ranks, &batches[c], n_batches - 1 - c, &weighs[k], err));
    }
    return TM_OK;
}

/* Sets the usual weights of all edges. */
static tm_status set_peers(tm_replay_ranks *r, tm_error *err) {
    for (size_t i = 0; i < r->n; i++)
        TM_TRY(tm_peers_set(&r->graphs[i], &r->items[i], &r->places, i, err));
    return TM_OK;
}

/* Evaluates the job with evenly divided work. */
static tm_status divide_evenly(tm_replay_ranks *r, tm_error *err) {
    const size_t size = r->places.others.n * r->places.others.size;
    void *middles = malloc(size + 1);
    tm_whatif_item item = {0};
    tm_status status = middles ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && size > 0)
        memcpy(middles, r->places.others.data, size);
    tm_peers_divide_evenly(&r->places);
    status = tm_mpi_agree(r->comm, status == TM_OK ? set_peers(r, err) : status, err);
    if (status == TM_OK)
        status = tm_mpi_changes_even(r, &item, err);
    if (status == TM_OK && size > 0)
        memcpy(r->places.others.data, middles, size);
    free(middles);
    r->even_ns = -item.saved_ns;
    r->even_explained_ns = -item.saved_most_ns;
    return status;
}

/* Sets the events of all graphs. From here on, `places` and `parts` are used only for batches. */
static tm_status set_events(tm_replay_ranks *r, tm_error *err) {
    const bool keeps_parts = r->models.batches.n > 0;
    for (size_t i = 0; i < r->n; i++)
        if (!tm_graph_set_events(&r->graphs[i], r->items[i].rows, r->items[i].n, keeps_parts))
            return tm_fail_memory(err);
    if (!keeps_parts)
        tm_peer_places_free(&r->places);
    return TM_OK;
}

tm_status tm_mpi_replay_ranks(tm_replay_ranks *ranks, tm_error *err) {
    tm_pairs pairs = TM_PAIRS();
    tm_peer_places_init(&ranks->places);
    ranks->extras = TM_VEC(tm_extra_row);
    ranks->models = TM_MODELS();
    ranks->workspace = calloc(1, sizeof *ranks->workspace);
    ranks->participants = TM_VEC(tm_replay_participant);
    ranks->facts = TM_VEC(tm_replay_fact);
    ranks->host_times = TM_VEC(tm_host_time);
    ranks->at_once = TM_VEC(tm_works_at_once);
    ranks->step_works = TM_VEC(tm_step_work);
    ranks->graphs = calloc(ranks->n + 1, sizeof *ranks->graphs);
    ranks->items = calloc(ranks->n + 1, sizeof *ranks->items);
    find_root(ranks);
    bool ok = tm_graph_inputs_open(&ranks->inputs, ranks->timelines, ranks->n, &ranks->base,
                                   ranks->names) &&
              ranks->graphs && ranks->items && ranks->workspace;
    TM_TRY(tm_mpi_agree(ranks->comm, ok ? TM_OK : tm_fail_memory(err), err));
    ranks->is_ops = tm_mpi_ops_is(ranks);
    if (!ranks->is_ops)
        TM_TRY(find_first_step(ranks, err));
    TM_TRY(find_cuts(ranks, err));
    ranks->alone = ranks->alone || ranks->n_ranks == 1;
    ranks->places.of_steps = ranks->n_ranks == 1 ? ranks->names : NULL;
    if (ranks->is_ops) {
        ranks->packs = false; /* graphs of operations stay open, and their events are few */
        TM_TRY(tm_mpi_ops_graphs(ranks, err));
        for (size_t i = 0; i < ranks->n; i++)
            sum_rank(ranks, i);
        return gather_facts(ranks, err);
    }
    ranks->inputs.stepless = lacks_steps(ranks);
    tm_status status = send_participants(ranks, err);
    if (status == TM_OK)
        status = make_inputs(ranks, &pairs, err);
    if (status == TM_OK)
        find_warm_up(ranks);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, make_graphs(ranks, &pairs, err), err);
    tm_pairs_free(&pairs);
    if (status == TM_OK)
        status = compare(ranks, err);
    if (status == TM_OK)
        status = gather_facts(ranks, err);
    if (status == TM_OK)
        status = tm_mpi_agree(ranks->comm, compare_hosts(ranks, err), err);
    if (status == TM_OK && ranks->n_ranks > 1)
        status = tm_mpi_extras(ranks, err);
    bool uneven = false;
    if (status == TM_OK && ranks->n_ranks > 1)
        status = tm_mpi_works_uneven(ranks->comm, &ranks->step_works, &uneven, err);
    if (status == TM_OK && uneven)
        status = divide_evenly(ranks, err);
    status = tm_mpi_agree(ranks->comm, status == TM_OK ? set_peers(ranks, err) : status, err);
    if (status == TM_OK && ranks->n_ranks > 1)
        status = tm_mpi_works(ranks, &ranks->works, err);
    status = tm_mpi_agree(ranks->comm, status == TM_OK ? set_events(ranks, err) : status, err);
    free_parts(ranks);
    tm_vec_free(&ranks->participants);
    tm_pages_give_back();
    return status;
}

void tm_replay_ranks_free(tm_replay_ranks *ranks) {
    free_parts(ranks);
    for (size_t i = 0; i < ranks->n && ranks->graphs; i++)
        tm_graph_free(&ranks->graphs[i]);
    free(ranks->graphs);
    tm_timebase_free(&ranks->base);
    TM_VECS_FREE(&ranks->participants, &ranks->facts, &ranks->host_times, &ranks->at_once,
                 &ranks->step_works);
    tm_models_free(&ranks->models);
    tm_peer_places_free(&ranks->places);
    tm_works_free(&ranks->works);
    tm_vec_free(&ranks->extras);
    if (ranks->workspace)
        tm_batch_workspace_free(ranks->workspace);
    free(ranks->workspace);
}
