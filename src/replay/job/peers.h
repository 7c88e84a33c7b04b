/* Compares the times of ranks at the same place, to find how long work would have taken if a rank
 * were like the others.
 *
 * A place stands for the same event on all ranks of a role (pipeline stage). It is the n-th event
 * of a name in a step, in the order of launches. If ranks run the name unequally often, it is the
 * n-th event of the name in a stretch of the step (counts.h). A call that launched an event has the
 * place of this event.
 *
 * A rank's time is compared with the median of the other ranks at the place. If there are only two
 * other ranks, it is compared with the smaller of their times, because one of the three ranks may
 * be slow. The median replaces the rank's duration even if the median is longer: replacing only
 * durations above the median would promise too much. The unexplained part of a start is due to
 * chance, so it is never made longer. If the job has only one rank, the rank is compared with its
 * own other steps of the same kind.
 *
 * Each place has an owner. The owner is the process that gets the weights of all ranks at the
 * place. It finds a few middle values among these weights, and sends them to each process. From the
 * middle values, each rank can compute the median of the other ranks. */
#ifndef TMERGE_REPLAY_PEERS_H
#define TMERGE_REPLAY_PEERS_H

#include "base/keys.h"
#include "base/simd_lanes.h"
#include "replay/graph/counts.h"
#include "replay/graph/graph.h"
#include "replay/job/batch.h"
#include "replay/job/extras.h"

/** The highest bits of a place's hash contain the step, the kind of item, and the part of the
 * step. */
enum { TM_PLACE_STEPS = 255, TM_PLACE_PARTS = 64 };

/** Returns 1 + (number of the place's step modulo TM_PLACE_STEPS). Returns 0 if the place belongs
 * to no annotated step, or if the job has only one rank. */
static inline unsigned tm_place_step(uint64_t place) {
    return (unsigned)(place >> 56);
}

/** Returns whether the place belongs to a call. Otherwise, it belongs to an event. */
static inline bool tm_place_is_call(uint64_t place) {
    return place >> 55 & 1;
}

/** Returns whether the place belongs to a communication event, whose duration includes waits. */
static inline bool tm_place_is_communication(uint64_t place) {
    return place >> 54 & 1;
}

/** Returns the part of the step to which a place belongs. The part is the same in every run of
 * tmerge. */
static inline unsigned tm_place_part(uint64_t place) {
    return (unsigned)(place >> 48 & (TM_PLACE_PARTS - 1));
}

/** The two weights that are compared at a place. */
typedef struct tm_peer_weights {
    int64_t first_ns;  /* for an event: duration. For a call: host time before the call */
    int64_t second_ns; /* for an event: unexplained part of its start. For a call: its own work */
} tm_peer_weights;

/** A rank's weights at a place. Sent as bytes to the owner of the place. */
typedef struct tm_peer {
    uint64_t place;
    tm_peer_weights weights;
    int64_t origin; /* sending process */
} tm_peer;

/** The weights of several ranks of a process at the same place. Sent as bytes to the owner of the
 * place. */
typedef struct tm_peer_row {
    uint64_t place;
    int64_t origin, n;
    int64_t first_ns[TM_LANES], second_ns[TM_LANES]; /* only the first n elements are used */
} tm_peer_row;

/** The owner's answer for a place that n >= 2 ranks have: the middle weights of all these ranks.
 * Sent as bytes. */
typedef struct tm_peer_others {
    uint64_t place;
    tm_peer_weights middle[3]; /* both weights are sorted separately, so the two weights of an
                                  element may come from different ranks */
    int64_t mean_ns;           /* mean of the first weights */
    int64_t n, origin;
} tm_peer_others;

/** The places of a process's ranks, and the owners' answers. */
typedef struct tm_peer_places {
    tm_keys keys;             /* keys of type uint64_t */
    tm_vec names;             /* vector of uint32_t: name id of each place */
    const tm_names *of_steps; /* borrowed; set only if the job has one rank. Steps with the same
                                 words in their annotation are then compared with each other */
    uint32_t guess;  /* number of the latest place + 1. This is likely to be the number of the next
                        place */
    tm_keys uneven;  /* keys of type uint64_t: keys of the names that some ranks run more often than
                        other ranks in a step */
    tm_vec others;   /* vector of tm_peer_others */
    uint32_t *known; /* owned; [places] 1 + (index of the place in `others`); 0 if no other rank has
                        the place */
    tm_extras extras; /* places that most ranks of the role lack */
} tm_peer_places;

/** Place number of an item that is not compared. */
#define TM_NO_PLACE UINT32_MAX

/** The weights of a rank that are compared. The items are the events of tm_graph_input, then the
 * calls. */
typedef struct tm_peer_items {
    uint32_t *places;       /* [n] number of each item's place, or TM_NO_PLACE */
    uint32_t *rows;         /* [n] row of each item in the timeline */
    int32_t (*weights)[2];  /* owned; [n] the two weights of each item. If these are too long, the
                               elements are TM_LONG and the index of the weights in `longs` */
    tm_peer_weights *longs; /* owned */
    size_t n, n_events;
    bool borrows_places, borrows_rows; /* another rank owns `places`, or `rows` */
} tm_peer_items;

static inline tm_peer_weights tm_peer_item(const tm_peer_items *items, size_t item) {
    const int32_t *w = items->weights[item];
    return w[0] == TM_LONG ? items->longs[w[1]] : (tm_peer_weights){w[0], w[1]};
}

/** Initialises without places. */
void tm_peer_places_init(tm_peer_places *places);
void tm_peer_places_free(tm_peer_places *places);
void tm_peer_items_free(tm_peer_items *items);

/**
 * Collects the weights of a rank.
 * @param like  items of a rank whose input differs only in times, or NULL. @p out may borrow arrays
 *              from these items, so the items must outlive @p out.
 * @param out   The caller must free it with tm_peer_items_free, even after an error.
 * @return      TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_collect(const tm_graph_input *input, const tm_graph *graph,
                           tm_peer_places *places, const tm_peer_items *like, tm_peer_items *out,
                           tm_error *err) TM_MUST_CHECK;

/** A slice is a set of places that are compared together. The values of 32 bits of a place's hash
 * are cut into n_slices equal ranges, and a place belongs to the slice whose range has its bits. */
typedef struct tm_peer_slice {
    uint32_t slice, n_slices;
    int64_t origin;
} tm_peer_slice;

static inline bool tm_peer_slice_has(const tm_peer_slice *slice, uint64_t place) {
    return (uint64_t)(uint32_t)(place >> 16) * slice->n_slices >> 32 == slice->slice;
}

/** Appends the weights of [n] ranks at the places of a slice, place by place. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_peers_list(const tm_peer_items *ranks, size_t n, const tm_peer_places *places,
                        const tm_peer_slice *slice, tm_vec *peers, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the middle weights of each place that several ranks have. @p peers and @p rows must contain
 * the weights of all ranks at these places.
 * @param peers   vector of tm_peer: weights of ranks that are not in batches
 * @param rows    vector of tm_peer_row: weights of batches
 * @param others  vector of tm_peer_others to which the results are appended. Each process that has
 *                a rank at a place gets at least one result for the place.
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_compare(const tm_vec *peers, const tm_vec *rows, tm_vec *others,
                           tm_error *err) TM_MUST_CHECK;

/** Makes the mean of all ranks the middle weights of compute kernels and copies: each rank then has
 * an equal share of the ranks' work at a place. */
void tm_peers_divide_evenly(tm_peer_places *places);

/** Sets `known`. Before this call, `others` must contain all answers. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_note(tm_peer_places *places, tm_error *err) TM_MUST_CHECK;

/** The two middle weights of a place, and the value after each of them. */
typedef struct tm_peer_around {
    int64_t low, after_low, high, after_high;
} tm_peer_around;

/** Returns the two middle weights of a place. These are first weights if @p first is true;
 * otherwise, they are second weights. */
tm_peer_around tm_peers_around(const tm_peer_others *others, bool first);

/** Returns the median over all ranks of a place except a rank whose weight is @p ns. */
static inline int64_t tm_peer_median(const tm_peer_around *around, int64_t ns) {
    const int64_t a = ns <= around->low ? around->after_low : around->low;
    const int64_t b = ns <= around->high ? around->after_high : around->high;
    return a + (int64_t)((uint64_t)(b - a) / 2); /* the difference is unsigned, because it may
                                                    exceed INT64_MAX although b >= a */
}

/** A call is a stall only if its time exceeds the time of the other ranks by more than this
 * [ns]. */
enum { TM_STALL_NS = 1000000 };

/** Returns whether a call's weight @p ns is a stall, if the other ranks take @p others_ns. */
bool tm_peers_stall(const tm_peer_others *others, int64_t ns, int64_t others_ns);

/**
 * Returns the weights of the other ranks at a place. They replace the rank's own weights.
 * @param others  middle weights of the place; NULL if no other rank has the place
 * @param flags   the function adds TM_EDGE_MISSING, TM_EDGE_PAIR and TM_EDGE_STALL where they apply
 */
tm_peer_weights tm_peers_of(const tm_peer_others *others, const tm_peer_weights *own, bool call,
                            uint8_t *flags);

/** Assigns numbers to the places of all events and calls of a rank, even if they have no weights.
 * Call this only for jobs with several ranks. False when out of memory.
 * @param out  [events, then calls] numbers of the places */
bool tm_peers_number(const tm_graph_input *input, tm_peer_places *places,
                     uint32_t *out) TM_MUST_CHECK;

typedef struct tm_batch_places {
    const tm_peer_places *places;
    const tm_peer_slice *slice;
    const struct tm_batch_loops *loops; /* as in tm_batch_workspace */
} tm_batch_places;

/** Appends the weights of [n] batches at the places of a slice, place by place. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_batch_rows(const tm_batch *batches, size_t n, const tm_batch_places *of, tm_vec *rows,
                        tm_error *err) TM_MUST_CHECK;

/** Sets the peer weights of a batch's edges in the workspace. False when out of memory. */
bool tm_batch_peers(const tm_batch *batch, const tm_peer_places *places,
                    tm_batch_workspace *workspace) TM_MUST_CHECK;

/** Sets peer_ns of the edges of a graph, and the flags that follow from peer_ns. The graph may be
 * closed. TM_OK; TM_ERR_FAULT.
 * @param index  index of the rank in its process */
tm_status tm_peers_set(tm_graph *graph, const tm_peer_items *items, const tm_peer_places *places,
                       size_t index, tm_error *err) TM_MUST_CHECK;

#endif
