/* Finds ranks whose graphs have the same nodes and edges. The first of these ranks becomes a model
 * and keeps its own graph. The later ranks join the model's batches (batch.h). */
#ifndef TMERGE_REPLAY_BATCH_MODELS_H
#define TMERGE_REPLAY_BATCH_MODELS_H

#include "base/memory_pages.h"
#include "batch.h"
#include "replay/graph/build_graph.h"
#include "replay/job/peers.h"

/** A model describes the first of several equal ranks. To join one of the model's batches, another
 * rank must have the same events, calls and edges. */
typedef struct tm_model {
    const tm_graph *graph;       /* borrowed: graph of the first rank */
    const tm_timeline *timeline; /* borrowed: timeline of the first rank */
    /* only its address is used: ranks with the same input have the same events and calls */
    const tm_graph_input *input;
    int64_t stage;
    tm_vec parts; /* vector of kind_of_part: what identifies each event and call */
    tm_vec loose; /* vector of tm_loose_edge */
    tm_vec edges; /* vector of place_of_edge, parallel to `loose`: where a batch stores each edge's
                     weight */
    uint32_t *origin; /* owned; [edges of the graph] see tm_builder */
    uint32_t *wide;   /* owned; [edges of the graph] index of the edge's wide row, or TM_NO_SLOT.
                         Before the first batch, `wide` is NULL and n_wide is 0 */
    size_t n_wide;
    tm_vec transfers;      /* vector of uint32_t: indices of the transfers in `loose` */
    tm_vec extra;          /* vector of extra_edge: edges from the root that are not in `loose` */
    uint64_t *has_extra;   /* owned; [n_ends] 1 if an extra edge leads to the part; otherwise 0 */
    tm_batch_items *items; /* owned */
    size_t n_events;
    size_t n_ends; /* number of parts: starts and ends of all items, ends of steps, and the end of
                      the warm-up */
    size_t batch;  /* index of the latest batch, which may have free lanes; SIZE_MAX if there is no
                      batch */
} tm_model;

/** State kept from rank to rank while graphs are built. */
typedef struct tm_models {
    tm_vec models;        /* vector of tm_model */
    tm_vec batches;       /* vector of tm_batch */
    tm_pages rows;        /* memory of the batches' rows */
    tm_vec edges, causes; /* memory that the tm_builder of each rank reuses. `weights` is reused in
                             the same way */
    tm_weights weights;
    tm_vec times; /* vector of int64_t: times of a rank's parts */
} tm_models;

#define TM_MODELS()                                                                                \
    ((tm_models){.models = TM_VEC(tm_model),                                                       \
                 .batches = TM_VEC(tm_batch),                                                      \
                 .weights = TM_WEIGHTS(),                                                          \
                 .times = TM_VEC(int64_t)})

void tm_models_free(tm_models *models);

/** The rank whose graph is to be built. */
typedef struct tm_model_rank {
    const tm_recorded *recorded;
    const tm_vec *waits; /* for waits, participants and n, see tm_graph_build */
    const tm_replay_participant *participants; /* [n] */
    size_t n;
    uint32_t index; /* index of the rank in its process */
} tm_model_rank;

/** Returns whether a graph that is open may have become the model of a batch. */
bool tm_models_may_use(const tm_graph *graph);

/**
 * Like tm_graph_build. If the rank joins a batch, however, the rank's graph stays empty, and
 * in_batch is set.
 * @param out     must stay at the same address as long as the models are used
 * @param places  assigns numbers to places
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_models_build(tm_models *models, const tm_model_rank *rank, tm_peer_places *places,
                          tm_graph *out, tm_error *err) TM_MUST_CHECK;

/** Fills the unused lanes of each batch with the values of the batch's first rank. Frees the memory
 * that is needed only while graphs are built. */
void tm_models_close(tm_models *models);

#endif
