/* Which ranks did the same: the first of each sort is the model, with a graph of its own; those
 * that follow make crews (crew.h). */
#ifndef TMERGE_REPLAY_MODELS_H
#define TMERGE_REPLAY_MODELS_H

#include "base/pages.h"
#include "crew.h"
#include "replay/build.h"
#include "replay/peers.h"

/** What a rank must have in common with the first of its sort. */
typedef struct tm_model {
    const tm_graph *graph;       /* borrowed: of the first rank */
    const tm_timeline *timeline; /* likewise */
    const tm_draft *draft;       /* its address alone: whoever has it, has the same parts */
    int64_t stage;
    tm_vec parts;     /* of what each event and call is */
    tm_vec loose;     /* of tm_loose_edge, and */
    tm_vec edges;     /* where the weight of each goes */
    uint32_t *origin; /* owned; [edges of the graph] as in tm_maker */
    uint32_t *wide;   /* owned; [edges of the graph] which of a crew's wide rows each has, or
                         TM_NO_SLOT; NULL before the first crew, as the next */
    size_t n_wide;
    tm_vec transfers;     /* of uint32_t: the loose edges that are some */
    tm_vec extra;         /* edges from the root that parts have besides loose ones */
    uint64_t *has_extra;  /* owned; [n_ends] 1 where a part has one, else 0 */
    tm_crew_items *items; /* owned */
    size_t n_events;
    size_t n_ends; /* begins and ends of all parts, then those of steps */
    size_t crew;   /* among the crews: its last, which may have room; SIZE_MAX: none */
} tm_model;

/** Everything that is kept from rank to rank while graphs are made. */
typedef struct tm_models {
    tm_vec models;                 /* of tm_model */
    tm_vec crews;                  /* of tm_crew */
    tm_pages rows;                 /* theirs */
    tm_vec edges, weights, causes; /* room of the graph's maker */
    tm_vec times;                  /* of int64_t: of a rank's parts */
} tm_models;

#define TM_MODELS()                                                                                \
    ((tm_models){.models = TM_VEC(tm_model), .crews = TM_VEC(tm_crew), .times = TM_VEC(int64_t)})

void tm_models_free(tm_models *models);

/** Which of the process's ranks is built, and where its graph goes. */
typedef struct tm_model_rank {
    const tm_recorded *recorded;
    const tm_vec *waits;           /* these as for tm_graph_build */
    const tm_replay_visit *visits; /* [n] */
    size_t n;
    uint32_t index; /* of the rank */
} tm_model_rank;

/**
 * As tm_graph_build; the graph stays empty, of its rank, where the rank joins a crew.
 * @param out     its address stays while the models are in use
 * @param places  what places are numbered by
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_models_build(tm_models *models, const tm_model_rank *rank, tm_peer_places *places,
                          tm_graph *out, tm_error *err) TM_MUST_CHECK;

/** Has the lanes that no rank came to repeat the first, and frees what only building needs. */
void tm_models_close(tm_models *models);

#endif
