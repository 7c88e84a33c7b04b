/* Compares the times of ranks at the same place, to find how long work would have taken if a rank
 * were like the others.
 *
 * A place stands for the same event on all ranks of a role (pipeline stage): the n-th event of a
 * name in a step, in the order of launches. If ranks run the name unequally often, it is the n-th
 * one in a stretch of the step (counts.h). A call that launched an event has that event's place.
 *
 * A rank's time is compared with the median of the other ranks at the place. If there are two
 * others, it is compared with the smaller of their times, because one of the three ranks may be
 * slow. For durations, the median replaces the rank's time even if the median is longer: replacing
 * only longer times would promise too much. The unexplained part of a start is due to chance, so
 * it is never made longer. If the job has one rank, the rank's other steps of the same kind stand
 * for other ranks.
 *
 * Each place has an owner: a process that gets the weights of all ranks at the place. From these
 * weights, the owner sends each process a few middle values, from which each rank can compute the
 * median of the others. */
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

/** Returns 1 + (number of the place's step modulo TM_PLACE_STEPS); 0 if the place belongs to no
 * step, or if other steps stand for other ranks. */
static inline unsigned tm_place_step(uint64_t place) {
    return (unsigned)(place >> 56);
}

/** Returns whether the place is of a call. If not, it is of an event. */
static inline bool tm_place_is_call(uint64_t place) {
    return place >> 55 & 1;
}

/** Returns whether the place is of a communication event, whose duration includes waits. */
static inline bool tm_place_is_communication(uint64_t place) {
    return place >> 54 & 1;
}

/** Returns the part of its step to which a place belongs. It is the same in every run of tmerge. */
static inline unsigned tm_place_part(uint64_t place) {
    return (unsigned)(place >> 48 & (TM_PLACE_PARTS - 1));
}

/** The two weights that are compared at a place. */
typedef struct tm_peer_weights {
    int64_t first_ns;  /* of an event: its duration; of a call: the host time before it */
    int64_t second_ns; /* of an event: the unexplained part of its start; of a call: its own work */
} tm_peer_weights;

/** A rank's weights at a place. Sent as bytes to the owner of the place. */
typedef struct tm_peer {
    uint64_t place;
    tm_peer_weights weights;
    int64_t origin; /* sending process */
} tm_peer;

/** The weights at a place of several ranks of a process. Sent as bytes to the owner of the place.
 */
typedef struct tm_peer_row {
    uint64_t place;
    int64_t origin, n;
    int64_t first_ns[TM_LANES], second_ns[TM_LANES]; /* the first n are used */
} tm_peer_row;

/** The owner's answer for a place that n >= 2 ranks have: the middle weights of all these ranks.
 * Sent as bytes. */
typedef struct tm_peer_others {
    uint64_t place;
    tm_peer_weights middle[3]; /* each of the two weights ascends by itself, so the weights of an
                                  element may be of different ranks */
    int64_t n, origin;
} tm_peer_others;

/** The places of a process's ranks, and the owners' answers. */
typedef struct tm_peer_places {
    tm_keys keys;             /* of uint64_t */
    tm_vec names;             /* of uint32_t: name id of each place */
    const tm_names *of_steps; /* borrowed; set only if the job has one rank: then steps with the
                                 same words in their annotation stand for other ranks */
    uint32_t guess;           /* number of the latest place + 1: likely the next place's number */
    tm_keys uneven;   /* of uint64_t: keys of the names that some ranks run more often than others
                         in a step */
    tm_vec others;    /* of tm_peer_others */
    uint32_t *known;  /* owned; [places] 1 + index in `others`; 0: no other rank has the place */
    tm_extras extras; /* places that most ranks of the role lack */
} tm_peer_places;

/** Place number of an item that is not compared. */
#define TM_NO_PLACE UINT32_MAX

/** The weights of a rank that are compared, by item: events of tm_draft, then calls. */
typedef struct tm_peer_items {
    uint32_t *places;       /* [n] place numbers, or TM_NO_PLACE */
    uint32_t *rows;         /* [n] rows in the timeline */
    int32_t (*weights)[2];  /* owned; [n] the two weights; if they are too long: TM_LONG, and their
                               index in `longs` */
    tm_peer_weights *longs; /* owned */
    size_t n, n_events;
    bool borrows_places, borrows_rows; /* another rank owns them */
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
 * @param like   the items of a rank with the same draft but for times, from which @p out may
 *               borrow, so they must outlive it; or NULL
 * @param out    to be freed in either case
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_collect(const tm_draft *draft, const tm_graph *graph, tm_peer_places *places,
                           const tm_peer_items *like, tm_peer_items *out,
                           tm_error *err) TM_MUST_CHECK;

/** A slice: places that are compared together, selected by their hash modulo n_slices. */
typedef struct tm_peer_slice {
    uint32_t slice, n_slices;
    int64_t origin;
} tm_peer_slice;

static inline bool tm_peer_slice_has(const tm_peer_slice *slice, uint64_t place) {
    return (place >> 32) % slice->n_slices == slice->slice;
}

/** Appends the weights of [n] ranks at the places of a slice, place by place. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_peers_list(const tm_peer_items *ranks, size_t n, const tm_peer_places *places,
                        const tm_peer_slice *slice, tm_vec *peers, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the middle weights of each place that several ranks have.
 * @param peers   of tm_peer: at each place, those of all ranks that are not in batches
 * @param rows    of tm_peer_row: at each place, those of all batches
 * @param others  of tm_peer_others, appended to: for each place, at least one for each
 *                process that has a rank there
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_compare(const tm_vec *peers, const tm_vec *rows, tm_vec *others,
                           tm_error *err) TM_MUST_CHECK;

/** Sets `known`. `others` must contain all answers. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_note(tm_peer_places *places, tm_error *err) TM_MUST_CHECK;

/** The two middle weights of a place, and the next value after each. */
typedef struct tm_peer_around {
    int64_t low, behind_low, high, behind_high;
} tm_peer_around;

/** Returns the middle of the first weights or, if @p first is false, of the second weights. */
tm_peer_around tm_peers_around(const tm_peer_others *others, bool first);

/** Returns the median over all ranks of a place except one whose weight is @p ns. */
static inline int64_t tm_peer_median(const tm_peer_around *around, int64_t ns) {
    const int64_t a = ns <= around->low ? around->behind_low : around->low;
    const int64_t b = ns <= around->high ? around->behind_high : around->high;
    return a + (int64_t)((uint64_t)(b - a) / 2); /* unsigned, because b >= a and the difference may
                                                    exceed INT64_MAX */
}

/** A stall exceeds the other ranks' time by more than this. */
enum { TM_STALL_NS = 1000000 };

/** Returns whether a call's weight @p ns is a stall, if the other ranks take @p others_ns. */
bool tm_peers_stall(const tm_peer_others *others, int64_t ns, int64_t others_ns);

/**
 * Returns the weights of the other ranks at a place, which replace a rank's own.
 * @param others  NULL if no other rank has the place
 * @param flags   TM_EDGE_MISSING, TM_EDGE_PAIR and TM_EDGE_STALL are added where they apply
 */
tm_peer_weights tm_peers_of(const tm_peer_others *others, const tm_peer_weights *own, bool call,
                            uint8_t *flags);

/** Numbers the places of all events and calls of a rank, even of those without weights. Only for
 * jobs with several ranks. False when out of memory.
 * @param out  [events, then calls] */
bool tm_peers_number(const tm_draft *draft, tm_peer_places *places, uint32_t *out) TM_MUST_CHECK;

typedef struct tm_batch_places {
    const tm_peer_places *places;
    const tm_peer_slice *slice;
    const struct tm_batch_loops *loops; /* as in tm_batch_workspace */
} tm_batch_places;

/** Appends the weights of [n] batches at the places of a slice, place by place. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_batch_rows(const tm_batch *batches, size_t n, const tm_batch_places *of, tm_vec *rows,
                        tm_error *err) TM_MUST_CHECK;

/** Sets the peer weights of a batch's edges, in the workspace. False when out of memory. */
bool tm_batch_peers(const tm_batch *batch, const tm_peer_places *places,
                    tm_batch_workspace *workspace) TM_MUST_CHECK;

/** Sets peer_ns, and the flags that follow from it, of the edges of a graph. TM_OK; TM_ERR_FAULT.
 * @param index  of the rank in its process */
tm_status tm_peers_set(tm_graph *graph, const tm_peer_items *items, const tm_peer_places *places,
                       size_t index, tm_error *err) TM_MUST_CHECK;

#endif
