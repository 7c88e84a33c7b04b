#include "batch_models.h"

#include <stdlib.h>
#include <string.h>

#include "replay/graph/builder.h"
#include "replay/graph/order.h"

/* A rank is compared with this many of the latest models. Without a limit, a job would be slow if
 * all its ranks differ. */
enum {
    LATEST = 8,
    MOST_EDGES = 1 << 16 /* Ranks with more loose edges join no batch, because the weights would not
                            fit into the caches. */
};

/* If a weight on the first rank is longer than this, it gets a wide row, because it may be too long
 * for a short value on another rank. The limit is a quarter of what a short value can hold. */
static const int64_t WIDE_NS = INT32_MAX / 4;

/* Values that identify an event or call. An event or call is the same on two ranks if all these
 * values are equal, and the order of times is equal, too. */
typedef struct kind_of_part {
    uint32_t row, name;
    int32_t step;
    uint32_t launched; /* call: see tm_part_call. Event: the event's occurrence index */
} kind_of_part;

typedef struct place_of_edge {
    uint32_t place; /* index of the edge in the graph. TM_NO_ORIGIN if the graph does not contain
                       the edge, because the edge leads to an earlier node */
    uint32_t source, to; /* indices of the edge's source and target in the result of find_times */
    uint32_t slot;       /* slot of the edge's target (see tm_batch_items) */
    uint32_t wide;       /* index of the edge's wide row; TM_NO_SLOT if the weight is short */
} place_of_edge;

/* An edge from the root to a part whose other edges do not explain the part's time. */
typedef struct extra_edge {
    uint32_t part, wide;
} extra_edge;

/* Frees what is needed only while batches are made. */
static void free_making(tm_model *model) {
    TM_VECS_FREE(&model->loose, &model->edges, &model->transfers, &model->extra);
    free(model->has_extra);
    free(model->origin);
    free(model->wide);
    model->has_extra = NULL;
    model->origin = model->wide = NULL;
}

void tm_models_free(tm_models *models) {
    for (size_t i = 0; i < models->models.n; i++) {
        tm_model *model = (tm_model *)models->models.data + i;
        tm_vec_free(&model->parts);
        free_making(model);
        if (model->items)
            tm_batch_items_free(model->items);
        free(model->items);
    }
    tm_vec_free(&models->models);
    tm_vec_free(&models->batches);
    tm_pages_free(&models->rows);
    tm_vec_free(&models->edges);
    tm_weights_free(&models->weights);
    tm_vec_free(&models->causes);
    tm_vec_free(&models->times);
}

static kind_of_part event_at(const tm_graph_input *d, size_t i) {
    const tm_part_event *e = (const tm_part_event *)d->events.data + i;
    return (kind_of_part){e->row, d->timeline->name[e->row], e->step, e->nth};
}

static kind_of_part call_at(const tm_graph_input *d, size_t i) {
    const tm_part_call *c = (const tm_part_call *)d->calls.data + i;
    return (kind_of_part){c->row, d->timeline->name[c->row], c->step, c->launched};
}

static bool same_part(const kind_of_part *a, kind_of_part b) {
    return a->row == b.row && a->name == b.name && a->step == b.step && a->launched == b.launched;
}

static bool same_parts(const tm_model *model, const tm_graph_input *d) {
    const kind_of_part *parts = model->parts.data;
    for (size_t i = 0; i < d->events.n; i++)
        if (!same_part(&parts[i], event_at(d, i)))
            return false;
    for (size_t i = 0; i < d->calls.n; i++)
        if (!same_part(&parts[d->events.n + i], call_at(d, i)))
            return false;
    return true;
}

/* Returns whether the rank of @p m has operations at the same events as the model, and the same
 * step numbers. Its ends of steps are then equal, too. */
static bool same_boundaries(const tm_model *model, const tm_builder *m) {
    const tm_timeline *a = model->timeline, *b = m->input->timeline;
    const tm_graph_participant *x = model->graph->participants.data,
                               *y = m->graph->participants.data;
    if (a->n_steps != b->n_steps || model->graph->steps.n != m->graph->steps.n ||
        model->graph->participants.n != m->graph->participants.n ||
        model->graph->n_inferred != m->graph->n_inferred)
        return false;
    for (size_t k = 0; k < a->n_steps; k++)
        if (a->steps[k].number != b->steps[k].number)
            return false;
    for (size_t i = 0; i < m->graph->participants.n; i++)
        if (x[i].event != y[i].event)
            return false;
    return true;
}

static bool is_like(const tm_model *model, const tm_builder *m) {
    return !m->unseen && model->stage == m->input->stage && model->n_events == m->input->events.n &&
           model->parts.n == m->input->events.n + m->input->calls.n &&
           model->edges.n == m->edges.n && same_boundaries(model, m) &&
           (model->input == m->input || same_parts(model, m->input));
}

/* Returns the times of a rank in this order: the starts and ends of all items, the ends of steps
 * and of the warm-up, the root, and the rank's operations. The array ends with room for one more
 * value for each part. Returns NULL when out of memory. */
static int64_t *find_times(const tm_builder *m, tm_vec *times) {
    const tm_part_event *events = m->input->events.data;
    const tm_part_call *calls = m->input->calls.data;
    const tm_loose_edge *edges = m->edges.data;
    const tm_graph_participant *participants = m->graph->participants.data;
    const size_t n_events = m->input->events.n, parts = 2 * (n_events + m->input->calls.n);
    const size_t n = parts + m->input->timeline->n_steps + 1;
    times->n = 0;
    int64_t *ns = tm_vec_append(times, NULL, n + 1 + m->graph->participants.n + n);
    if (!ns)
        return NULL;
    for (size_t i = 0; i < n_events; i++) {
        ns[2 * i] = events[i].begin_ns;
        ns[2 * i + 1] = events[i].end_ns;
    }
    for (size_t i = 0; i < m->input->calls.n; i++) {
        ns[2 * (n_events + i)] = calls[i].begin_ns;
        ns[2 * (n_events + i) + 1] = calls[i].end_ns;
    }
    for (size_t i = parts; i < n; i++)
        ns[i] = INT64_MIN;
    ns[n] = 0;
    for (size_t i = 0; i < m->graph->participants.n; i++)
        ns[n + 1 + i] = participants[i].last_ns;
    for (size_t i = m->edges.n; i > 0 && edges[i - 1].to >= parts; i--) {
        int64_t *end = &ns[edges[i - 1].to], from = ns[edges[i - 1].from];
        *end = from > *end ? from : *end;
    }
    return ns;
}

/* Returns whether an edge leads to an earlier part, according to this rank's times. The graph
 * leaves out such edges. This function is rarely called. */
static __attribute__((noinline)) bool leads_back(const tm_builder *m, const int64_t *ns,
                                                 uint32_t from, uint32_t to) {
    if (ns[from] != ns[to])
        return ns[from] > ns[to];
    const size_t n_events = m->input->events.n, n_items = n_events + m->input->calls.n;
    const bool from_took = from % 2 && from < 2 * n_items && ns[from] > ns[from - 1];
    const bool to_took = to % 2 && to < 2 * n_items && ns[to] > ns[to - 1];
    const unsigned a = tm_phase_of(from, from_took, n_events, n_items);
    const unsigned b = tm_phase_of(to, to_took, n_events, n_items);
    return a != b ? a > b : from > to;
}

static bool is_short(int64_t ns) {
    return (int32_t)ns == ns && ns != TM_WIDE;
}

/* Time of a part that no edge leads to. It is less than all times, but so far above INT64_MIN that
 * adding a weight cannot overflow. */
static const int64_t UNREACHED = INT64_MIN / 4;

/* Stores the weights of all edges in the batch. Sets @p reached [model->n_ends] to the time at
 * which each part happens according to its edges.
 *
 * Returns false if this rank cannot join the batch, for one of three reasons: the edges that it
 * leaves out differ from the model's; an edge has unexplained time, but no slot; or a weight is
 * long, but its edge has no wide row. */
static bool take_weights(const tm_model *model, const tm_builder *m, const int64_t *ns,
                         int64_t *reached, tm_batch *batch) {
    const place_of_edge *at = model->edges.data;
    int32_t *const recorded = batch->recorded->ns + batch->n;
    int64_t *const wide = batch->wide->ns + batch->n;
    int64_t *const over = batch->over->ns + batch->n;
    uint8_t *const has_over = batch->has_over, lane = (uint8_t)(1U << batch->n);
    const size_t n_parts = model->n_ends;
    for (size_t i = 0; i < m->edges.n; i++, at++) {
        const tm_weight weight = tm_weights_at(&m->weights, i);
        const int64_t source = ns[at->source], due = source + weight.ns;
        const uint32_t to = at->to;
        const bool back =
            source >= ns[to] && at->source < n_parts && leads_back(m, ns, at->source, to);
        if (back != (at->place == TM_NO_ORIGIN))
            return false;
        if (back)
            continue;
        reached[to] = due > reached[to] ? due : reached[to];
        if (at->wide != TM_NO_SLOT)
            wide[(size_t)at->wide * TM_LANES] = weight.ns;
        else if (is_short(weight.ns))
            recorded[(size_t)at->place * TM_LANES] = (int32_t)weight.ns;
        else
            return false;
        if (weight.over_ns != 0) {
            if (at->slot == TM_NO_SLOT)
                return false;
            has_over[at->place] |= lane;
            over[(size_t)at->slot * TM_LANES] = weight.over_ns;
        }
    }
    return true;
}

static void take_usual(const tm_model *model, const tm_builder *m, tm_batch *batch) {
    const uint32_t *transfers = model->transfers.data;
    for (size_t i = 0; i < model->transfers.n; i++) {
        const tm_loose_edge *edge = (const tm_loose_edge *)m->edges.data + transfers[i];
        batch->participants[edge->from & ~TM_FROM_OPERATION].usual_ns[batch->n] =
            tm_weights_at(&m->weights, transfers[i]).peer_ns;
    }
}

/* Returns whether the model's extra edges from the root lead to exactly those parts whose times are
 * not explained by the rank's edges. The loop has no branches, so that it can be vectorised. */
static bool same_extras(const tm_model *model, const int64_t *ns, const int64_t *reached) {
    const size_t n = model->n_ends;
    const uint64_t *has_extra = model->has_extra;
    uint64_t differs = 0;
    for (size_t part = 0; part < n; part++)
        differs |= (uint64_t)(reached[part] - ns[part]) >> 63 ^ has_extra[part];
    return differs == 0;
}

/* Stores a rank's edges in a batch. Returns false if the edges differ from the edges of the
 * model. */
static bool take_edges(const tm_model *model, const tm_builder *m, const int64_t *ns,
                       int64_t *reached, tm_batch *batch) {
    int64_t *const wide = batch->wide->ns + batch->n;
    const size_t n = model->n_ends;
    for (size_t part = 0; part < n; part++)
        reached[part] = UNREACHED;
    if (memcmp(model->loose.data, m->edges.data, m->edges.n * sizeof(tm_loose_edge)) != 0 ||
        !take_weights(model, m, ns, reached, batch) || !same_extras(model, ns, reached))
        return false;
    take_usual(model, m, batch);
    const extra_edge *extra = model->extra.data;
    for (size_t i = 0; i < model->extra.n; i++)
        wide[(size_t)extra[i].wide * TM_LANES] = ns[extra[i].part];
    return true;
}

/* Finds the edges with wide weights. All edges from the root are wide, because they span all the
 * time since the root. Other edges are wide if they are so long on the first rank that they may be
 * too long for a short value on another rank. */
static uint32_t *find_wide(tm_model *model) {
    const tm_graph *g = model->graph;
    const uint32_t n_edges = g->first[g->n_nodes];
    uint32_t *wide = calloc((size_t)n_edges + 1, sizeof *wide);
    for (uint32_t e = 0; e < n_edges && wide; e++) {
        const tm_edge *edge = &g->edges[e];
        const int64_t ns = tm_graph_weight(g, edge).ns;
        wide[e] = edge->from == TM_FROM_ROOT || ns > WIDE_NS || ns < -WIDE_NS
                      ? (uint32_t)model->n_wide++
                      : TM_NO_SLOT;
    }
    return wide;
}

/* Lists the extra edges from the root, and the transfers. */
static bool find_others(tm_model *model) {
    const tm_graph *g = model->graph;
    const tm_loose_edge *loose = model->loose.data;
    bool ok = true;
    model->has_extra = calloc(model->n_ends + 1, sizeof *model->has_extra);
    if (!model->has_extra)
        return false;
    for (uint32_t v = 0; v < g->n_nodes; v++)
        for (uint32_t e = g->first[v]; e < g->first[v + 1] && ok; e++) {
            const extra_edge extra = {g->parts[v], model->wide[e]};
            if (model->origin[e] != TM_NO_ORIGIN)
                continue;
            model->has_extra[extra.part] = 1;
            ok = tm_vec_append(&model->extra, &extra, 1) != NULL;
        }
    for (uint32_t i = 0; i < model->loose.n && ok; i++)
        ok = loose[i].kind != TM_EDGE_TRANSFER || tm_vec_append(&model->transfers, &i, 1);
    return ok;
}

/* Computes what all batches of a model share. */
static bool open_model(tm_model *model, const tm_graph_input *input, tm_peer_places *places) {
    place_of_edge *edges = model->edges.data;
    model->items = calloc(1, sizeof *model->items);
    model->wide = find_wide(model);
    const bool ok =
        model->items && model->wide && find_others(model) &&
        tm_batch_items_make(model->items, model->graph, model->parts.n, model->n_events) &&
        tm_peers_number(input, places, model->items->places);
    for (size_t i = 0; i < model->edges.n && ok; i++) {
        const uint32_t place = edges[i].place;
        edges[i].slot = place == TM_NO_ORIGIN ? TM_NO_SLOT : model->items->slots[place];
        edges[i].wide = place == TM_NO_ORIGIN ? TM_NO_SLOT : model->wide[place];
    }
    return ok;
}

static tm_batch *add_batch(tm_models *models, tm_model *model) {
    const tm_graph *g = model->graph;
    tm_batch *batch = tm_vec_push(&models->batches);
    if (!batch)
        return NULL;
    const size_t n_edges = g->first[g->n_nodes], n_slots = model->items->n_slots;
    const size_t bytes = (model->n_wide + n_slots) * sizeof(tm_batch_row) +
                         g->participants.n * sizeof(tm_batch_participant) +
                         n_edges * (sizeof(tm_batch_short) + sizeof *batch->has_over);
    tm_batch_row *rows = tm_pages_alloc(&models->rows, bytes);
    *batch = (tm_batch){.like = g, .items = model->items, .wide = rows};
    if (!rows)
        return NULL;
    tm_pages_make(rows, bytes);
    batch->over = batch->wide + model->n_wide;
    batch->participants = (void *)(batch->over + n_slots);
    batch->recorded = (void *)(batch->participants + g->participants.n);
    batch->has_over = (void *)(batch->recorded + n_edges);
    memset(batch->over, 0, n_slots * sizeof *batch->over);
    memset(batch->has_over, 0, n_edges);
    for (size_t e = 0; e < n_edges; e++)
        if (model->wide[e] != TM_NO_SLOT)
            memcpy(batch->recorded[e].ns, (int32_t[]){TM_WIDE, (int32_t)model->wide[e]},
                   2 * sizeof *batch->recorded[e].ns);
    model->batch = models->batches.n - 1;
    return batch;
}

/* Clears unexplained times in the next free lane. A rank that did not join may have left them. */
static void forget_over(tm_batch *batch) {
    const size_t n_edges = tm_batch_edges(batch);
    for (size_t slot = 0; slot < batch->items->n_slots; slot++)
        batch->over[slot].ns[batch->n] = 0;
    for (size_t e = 0; e < n_edges; e++)
        batch->has_over[e] &= (uint8_t) ~(1U << batch->n);
}

static void take_participants(const tm_builder *m, tm_batch *batch) {
    const tm_graph_participant *participants = m->graph->participants.data;
    for (size_t i = 0; i < m->graph->participants.n; i++) {
        batch->participants[i].operation[batch->n] = participants[i].operation;
        batch->participants[i].last_ns[batch->n] = participants[i].last_ns;
    }
}

/* Tries to add a rank to the model's latest batch, or to a new batch. Sets *taken to whether the
 * rank was added, which requires the model's nodes and edges. Returns false when out of memory. */
static bool take(tm_models *models, tm_model *model, const tm_builder *m, const tm_model_rank *rank,
                 tm_peer_places *places, bool *taken) {
    const int64_t *ns = find_times(m, &models->times);
    if (!ns || (!model->items && !open_model(model, m->input, places)))
        return false;
    tm_batch *batch =
        model->batch == SIZE_MAX ? NULL : (tm_batch *)models->batches.data + model->batch;
    const size_t before = model->batch;
    if (!batch || batch->n == TM_LANES)
        batch = add_batch(models, model);
    if (!batch)
        return false;
    int64_t *reached = (int64_t *)models->times.data + models->times.n - model->n_ends;
    *taken = take_edges(model, m, ns, reached, batch);
    if (*taken) {
        take_participants(m, batch);
        batch->rank[batch->n] = m->graph->rank;
        batch->index[batch->n++] = rank->index;
    } else if (batch->n == 0) { /* add_batch has just made this batch */
        tm_pages_undo(&models->rows, batch->wide);
        models->batches.n--;
        model->batch = before;
    } else {
        forget_over(batch);
    }
    return true;
}

static uint32_t source_of(uint32_t from, uint32_t n_parts) {
    if (!(from & TM_FROM_OPERATION))
        return from;
    return n_parts + (from == TM_FROM_ROOT ? 0 : 1 + (from & ~TM_FROM_OPERATION));
}

/* Makes the rank the first rank of a new model. */
static bool add_model(tm_models *models, tm_builder *m) {
    tm_model *model = tm_vec_push(&models->models);
    if (!model)
        return false;
    *model = (tm_model){.graph = m->graph,
                        .timeline = m->input->timeline,
                        .input = m->input,
                        .stage = m->input->stage,
                        .parts = TM_VEC(kind_of_part),
                        .loose = m->edges,
                        .edges = TM_VEC(place_of_edge),
                        .transfers = TM_VEC(uint32_t),
                        .extra = TM_VEC(extra_edge),
                        .origin = m->origin,
                        .n_events = m->input->events.n,
                        .n_ends = 2 * (m->input->events.n + m->input->calls.n) +
                                  m->input->timeline->n_steps + 1,
                        .batch = SIZE_MAX};
    m->origin = NULL;
    m->edges = TM_VEC(tm_loose_edge);
    const tm_loose_edge *loose = model->loose.data;
    kind_of_part *part = tm_vec_append(&model->parts, NULL, m->input->events.n + m->input->calls.n);
    place_of_edge *edge = tm_vec_append(&model->edges, NULL, model->loose.n);
    for (size_t i = 0; i < m->input->events.n && part; i++)
        *part++ = event_at(m->input, i);
    for (size_t i = 0; i < m->input->calls.n && part; i++)
        *part++ = call_at(m->input, i);
    for (size_t i = 0; i < model->loose.n && edge; i++)
        edge[i] = (place_of_edge){TM_NO_ORIGIN, source_of(loose[i].from, (uint32_t)model->n_ends),
                                  loose[i].to, TM_NO_SLOT, TM_NO_SLOT};
    for (uint32_t e = 0; e < m->graph->first[m->graph->n_nodes] && edge; e++)
        if (model->origin[e] != TM_NO_ORIGIN)
            edge[model->origin[e]].place = e;
    return (part || model->parts.n == 0) && (edge || model->edges.n == 0);
}

static bool find_model(tm_models *models, const tm_builder *m, const tm_model_rank *rank,
                       tm_peer_places *places, bool *taken) {
    bool ok = true;
    for (size_t back = 1; back <= LATEST && back <= models->models.n && ok && !*taken; back++) {
        tm_model *model = (tm_model *)models->models.data + models->models.n - back;
        if (is_like(model, m))
            ok = take(models, model, m, rank, places, taken);
    }
    return ok;
}

tm_status tm_models_build(tm_models *models, const tm_model_rank *rank, tm_peer_places *places,
                          tm_graph *out, tm_error *err) {
    tm_builder m = {.input = rank->recorded->input,
                    .recorded = rank->recorded,
                    .waits = rank->waits,
                    .participants = rank->participants,
                    .n_participants = rank->n,
                    .graph = out,
                    .edges = models->edges.size > 0 ? models->edges : TM_VEC(tm_loose_edge),
                    .weights = models->weights,
                    .causes = models->causes.size > 0 ? models->causes : TM_VEC(tm_cause)};
    bool taken = false;
    m.edges.n = m.weights.longs.n = m.causes.n = 0;
    bool ok = tm_builder_loose(&m);
    const bool small = m.models = m.edges.n <= MOST_EDGES;
    ok = ok && (!small || find_model(models, &m, rank, places, &taken));
    tm_status status = ok ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK && !taken) {
        status = tm_builder_order(&m, err);
        if (status == TM_OK && small && out->n_nodes > 0 && !add_model(models, &m))
            status = tm_fail_memory(err);
    }
    if (taken) {
        tm_vec_free(&out->participants);
        tm_vec_free(&out->steps);
        out->in_batch = true;
    }
    free(m.origin);
    models->edges = m.edges;
    models->weights = m.weights;
    models->causes = m.causes;
    return status;
}

bool tm_models_may_use(const tm_graph *graph) {
    return graph->first && graph->first[graph->n_nodes] <= MOST_EDGES + graph->n_nodes;
}

static void fill_lanes(tm_batch *batch, size_t n_wide) {
    const size_t n_edges = tm_batch_edges(batch), n_slots = batch->items->n_slots;
    for (size_t lane = batch->n; lane < TM_LANES; lane++) {
        for (size_t e = 0; e < n_edges; e++) {
            int32_t *ns = batch->recorded[e].ns;
            ns[lane] = ns[0] == TM_WIDE ? ns[lane] : ns[0];
            batch->has_over[e] |= (uint8_t)((batch->has_over[e] & 1U) << lane);
        }
        for (size_t s = 0; s < n_wide; s++)
            batch->wide[s].ns[lane] = batch->wide[s].ns[0];
        for (size_t s = 0; s < n_slots; s++)
            batch->over[s].ns[lane] = batch->over[s].ns[0];
        for (size_t i = 0; i < batch->like->participants.n; i++) {
            tm_batch_participant *participant = &batch->participants[i];
            participant->operation[lane] = participant->operation[0];
            participant->last_ns[lane] = participant->last_ns[0];
            participant->usual_ns[lane] = participant->usual_ns[0];
        }
    }
}

void tm_models_close(tm_models *models) {
    for (size_t i = 0; i < models->models.n; i++) {
        tm_model *model = (tm_model *)models->models.data + i;
        free_making(model);
        tm_batch *batch =
            model->batch == SIZE_MAX ? NULL : (tm_batch *)models->batches.data + model->batch;
        if (batch && batch->n > 0)
            fill_lanes(batch, model->n_wide);
    }
    tm_vec_free(&models->edges);
    tm_weights_free(&models->weights);
    tm_vec_free(&models->causes);
    tm_vec_free(&models->times);
}
