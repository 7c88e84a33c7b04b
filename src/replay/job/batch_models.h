/* Finds ranks whose graphs have the same nodes and edges. The first of them becomes a model and
 * keeps its own graph. The later ones join the model's batches (batch.h). */
#ifndef TMERGE_REPLAY_BATCH_MODELS_H
#define TMERGE_REPLAY_BATCH_MODELS_H

#include "base/memory_pages.h"
#include "batch.h"
#include "replay/graph/build_graph.h"
#include "replay/job/peers.h"

/** A model: what another rank must have, too, to join one of the model's batches. */
typedef struct tm_model {
    const tm_graph *graph;       /* borrowed: graph of the first rank */
    const tm_timeline *timeline; /* borrowed: timeline of the first rank */
    /* for comparison of addresses only: ranks with the same draft have the same events and calls */
    const tm_draft *draft;
    int64_t stage;
    tm_vec parts;     /* of kind_of_part: identity of each event and call */
    tm_vec loose;     /* of tm_loose_edge */
    tm_vec edges;     /* of place_of_edge, parallel to `loose`: where a batch stores the edge's
                         weight */
    uint32_t *origin; /* owned; [edges of the graph] see tm_maker */
    uint32_t *wide;   /* owned; [edges of the graph] index of the edge's wide row, or TM_NO_SLOT.
                         NULL, with n_wide 0, before the first batch */
    size_t n_wide;
    tm_vec transfers;      /* of uint32_t: indices in `loose` of the transfers */
    tm_vec extra;          /* of extra_edge: edges from the root that are not in `loose` */
    uint64_t *has_extra;   /* owned; [n_ends] 1: an extra edge leads to this part; else 0 */
    tm_batch_items *items; /* owned */
    size_t n_events;
    size_t n_ends; /* number of parts: starts and ends of all items, plus ends of steps */
    size_t batch;  /* index of the latest batch, which may have free lanes; SIZE_MAX: none */
} tm_model;

/** State kept from rank to rank while graphs are built. */
typedef struct tm_models {
    tm_vec models;        /* of tm_model */
    tm_vec batches;       /* of tm_batch */
    tm_pages rows;        /* memory of the batches' rows */
    tm_vec edges, causes; /* memory of a tm_maker, reused for each rank; also `weights` */
    tm_weights weights;
    tm_vec times; /* of int64_t: times of a rank's parts */
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
    const tm_vec *waits;           /* see tm_graph_build, like the next two */
    const tm_replay_visit *visits; /* [n] */
    size_t n;
    uint32_t index; /* index of the rank in its process */
} tm_model_rank;

/**
 * Same as tm_graph_build; but if the rank joins a batch, its graph stays empty and in_batch is set.
 * @param out     must stay at its address as long as the models are used
 * @param places  numbers the places
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_models_build(tm_models *models, const tm_model_rank *rank, tm_peer_places *places,
                          tm_graph *out, tm_error *err) TM_MUST_CHECK;

/** Fills the unused lanes of batches with the values of the batch's first rank. Frees what only
 * building needs. */
void tm_models_close(tm_models *models);

#endif
