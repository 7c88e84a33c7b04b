/* What the other ranks took at the same place: how long it would have taken, were it as there.
 *
 * A place is that of an event among those of its name in a step (where ranks do not run the name
 * equally often: in a stretch of the step, counts.h), in the order of launches, on ranks of one
 * role (stage of a pipeline); of a call, that of the event that it launches. What others
 * took is their median, of two the less: one of three may be slow. A duration goes there up and
 * down, for clamping would promise too much; what nothing explains of a begin only shrinks, for
 * that is chance. Where a job is of one rank, its other steps of the same kind stand for the
 * others.
 *
 * Who owns a place gets the weights of all ranks there, and answers each process once: the middle
 * of all tells each rank the median of all but itself. */
#ifndef TMERGE_REPLAY_PEERS_H
#define TMERGE_REPLAY_PEERS_H

#include "base/keys.h"
#include "base/lanes.h"
#include "graph.h"
#include "replay/crew/crew.h"
#include "replay/extras/counts.h"
#include "replay/extras/extras.h"

/** The highest bits of a place's hash say which step it is of and what is compared there; the
 * others are those of a hash. */
enum { TM_PLACE_STEPS = 255, TM_PLACE_PARTS = 64 };

/** 1 + the step's number modulo TM_PLACE_STEPS; 0 for none, or where steps stand for ranks. */
static inline unsigned tm_place_step(uint64_t place) {
    return (unsigned)(place >> 56);
}

/** Of a call, not of an event. */
static inline bool tm_place_is_call(uint64_t place) {
    return place >> 55 & 1;
}

/** Of an event of communication, whose length holds what the rank waited. */
static inline bool tm_place_is_communication(uint64_t place) {
    return place >> 54 & 1;
}

/** Which of the parts of its step it is of, the same in every run. */
static inline unsigned tm_place_part(uint64_t place) {
    return (unsigned)(place >> 48 & (TM_PLACE_PARTS - 1));
}

/** What is compared at a place. */
typedef struct tm_peer_weights {
    int64_t first_ns;  /* event: duration; call: what lies before it */
    int64_t second_ns; /* event: what nothing explains of its begin; call: its own work */
} tm_peer_weights;

/** One rank's weights at a place, on their way to where the place's are compared. Sent as bytes. */
typedef struct tm_peer {
    uint64_t place;
    tm_peer_weights weights;
    int64_t origin; /* the process */
} tm_peer;

/** The weights of several of a process's ranks at a place, likewise. Sent as bytes. */
typedef struct tm_peer_row {
    uint64_t place;
    int64_t origin, n;
    int64_t first_ns[TM_LANES], second_ns[TM_LANES]; /* of n */
} tm_peer_row;

/** The middle of the weights of all [n >= 2] ranks at a place, on its way back. Sent as bytes. */
typedef struct tm_peer_others {
    uint64_t place;
    tm_peer_weights middle[3]; /* ascending, each of the two by itself */
    int64_t n, origin;
} tm_peer_others;

/** The places that a process's ranks have, and what is known of them. */
typedef struct tm_peer_places {
    tm_keys keys;     /* of uint64_t */
    tm_vec names;     /* of uint32_t: by number, the name id */
    uint32_t guess;   /* the number that comes next where a rank is as the one before it */
    tm_keys uneven;   /* of uint64_t: keys of names that ranks do not run equally often */
    tm_vec others;    /* of tm_peer_others */
    uint32_t *known;  /* owned; [keys] 1 + index, 0 where no other rank is there */
    tm_extras extras; /* what most ranks of the role do not run */
} tm_peer_places;

/** No place: the item has no weight. */
#define TM_NO_PLACE UINT32_MAX

/** What of one rank is compared, by items: events of the draft, then calls. */
typedef struct tm_peer_items {
    uint32_t *places;         /* owned; [n] numbers, or TM_NO_PLACE */
    tm_peer_weights *weights; /* owned; [n] */
    size_t n, n_events;
} tm_peer_items;

/** Makes places without any. */
void tm_peer_places_init(tm_peer_places *places);
void tm_peer_places_free(tm_peer_places *places);
void tm_peer_items_free(tm_peer_items *items);

/**
 * Collects the weights of a rank.
 * @param names  of the job where it has no other rank: other steps whose marks have the same words
 *               stand for the others; else NULL
 * @param out    to be freed in either case
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_collect(const tm_draft *draft, const tm_graph *graph, const tm_names *names,
                           tm_peer_places *places, tm_peer_items *out, tm_error *err) TM_MUST_CHECK;

/** Which places are sent together: those whose hash is this of as many. */
typedef struct tm_peer_slice {
    uint32_t slice, n_slices;
    int64_t origin;
} tm_peer_slice;

static inline bool tm_peer_slice_has(const tm_peer_slice *slice, uint64_t place) {
    return (place >> 32) % slice->n_slices == slice->slice;
}

/** Adds the weights of [n] ranks in a slice, place by place. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_list(const tm_peer_items *ranks, size_t n, const tm_peer_places *places,
                        const tm_peer_slice *slice, tm_vec *peers, tm_error *err) TM_MUST_CHECK;

/**
 * Finds the middle at each place that several ranks have.
 * @param peers   of tm_peer; those of one place must all be there
 * @param rows    of tm_peer_row, likewise
 * @param others  of tm_peer_others, appended to: one for each process that has a rank there
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_peers_compare(const tm_vec *peers, const tm_vec *rows, tm_vec *others,
                           tm_error *err) TM_MUST_CHECK;

/** Notes what came back, all at once. TM_OK; TM_ERR_FAULT. */
tm_status tm_peers_note(tm_peer_places *places, tm_error *err) TM_MUST_CHECK;

/** The weights of a place next to its middle: from the lower one on, and from the higher. */
typedef struct tm_peer_around {
    int64_t low, behind_low, high, behind_high;
} tm_peer_around;

/** @param first  of the first weight, else of the second */
tm_peer_around tm_peers_around(const tm_peer_others *others, bool first);

/** The median of all but one, which has @p ns. */
static inline int64_t tm_peer_median(const tm_peer_around *around, int64_t ns) {
    const int64_t a = ns <= around->low ? around->behind_low : around->low;
    const int64_t b = ns <= around->high ? around->behind_high : around->high;
    return a + (int64_t)((uint64_t)(b - a) / 2); /* b is not below a */
}

/** A stall is longer than on the others by more than this. */
enum { TM_STALL_NS = 1000000 };

/** Whether a call's weight is a stall, where the others took @p others_ns. */
bool tm_peers_stall(const tm_peer_others *others, int64_t ns, int64_t others_ns);

/**
 * What the others have at a place instead of a rank's own weights.
 * @param others  NULL where no other rank is there
 * @param flags   added to: TM_EDGE_MISSING, TM_EDGE_PAIR, TM_EDGE_STALL
 */
tm_peer_weights tm_peers_of(const tm_peer_others *others, const tm_peer_weights *own, bool call,
                            uint8_t *flags);

/** The places of all events and calls of a rank that is not the job's only one, whether they have
 * weights or not. False when memory is out. @param out  [events, then calls] */
bool tm_peers_number(const tm_draft *draft, tm_peer_places *places, uint32_t *out) TM_MUST_CHECK;

/** What of the crews is sent together. */
typedef struct tm_crew_places {
    const tm_peer_places *places;
    const tm_peer_slice *slice;
    const struct tm_crew_loops *loops; /* as in tm_crew_desk */
} tm_crew_places;

/** Adds the weights of [n] crews in a slice, place by place. TM_OK; TM_ERR_FAULT. */
tm_status tm_crew_rows(const tm_crew *crews, size_t n, const tm_crew_places *of, tm_vec *rows,
                       tm_error *err) TM_MUST_CHECK;

/** Sets what the desk has of a crew's peers. False when memory is out. */
bool tm_crew_peers(const tm_crew *crew, const tm_peer_places *places,
                   tm_crew_desk *desk) TM_MUST_CHECK;

/** Sets the peer weights of the edges of a graph. @param index  which of the process's ranks */
void tm_peers_set(tm_graph *graph, const tm_peer_items *items, const tm_peer_places *places,
                  size_t index);

#endif
