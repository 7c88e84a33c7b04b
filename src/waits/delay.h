/* Delay propagation, the part for operations: finds how much of a rank's lateness was caused by its
 * own waiting, and which ranks are to blame for a wait that is passed back.
 *
 * A late rank l of an operation may be late because it waited in operations of other groups since
 * its group was last together. For two ranks that were together, the difference of their arrivals
 * is the difference of their own work plus the difference of their waits. So the fraction (W_l - W)
 * / (s_l - s) of the cost of l, clamped to 0..1, is indirect: s_l is its start, W_l its waits since
 * then; s and W are means over the early ranks, weighted by their shares in the cost. W counts all
 * waits, W_l only those in other groups. Indirect cost is passed back to the operations in which l
 * waited, in proportion to these waits; there the layered split (blame.h) assigns it to the late
 * ranks, and so on. Cost that is not passed on stays with its rank.
 *
 * An operation releases a rank if the rank computes because the operation ended: no compute kernel
 * runs at its end, and no other operation that the rank was in by then ends between that moment and
 * the next compute kernel. A group was together at the end of an operation that released all of its
 * members. A wait counts only while it kept the rank from computing: in an operation that released
 * the rank, the part after the rank's last compute kernel. A send or receive that waits for its
 * partner also counts and passes back, although no table lists it as a wait, and it brings the two
 * ranks together. */
#ifndef TMERGE_DELAY_H
#define TMERGE_DELAY_H

#include "timeline/collectives.h"

/** What counts as the arrival of a rank at an operation; the same for all members. */
typedef enum tm_arrival {
    TM_ARRIVAL_UNKNOWN,
    TM_ARRIVAL_BEGIN, /* the start of its kernel */
    TM_ARRIVAL_DONE   /* the end of its last compute kernel before that */
} tm_arrival;

/** The participation of one kernel in an operation in which ranks can wait. It is sent from the
 * process that owns the operation (the owner) to the one that holds the rank (the holder), and
 * back. Sent as bytes. */
typedef struct tm_visit {
    uint64_t group;
    int64_t rank;
    int64_t wait_ns;          /* how long the rank waited in the operation, or in a transfer for its
                                 partner */
    int64_t all_ns, other_ns; /* set by the holder: the rank's waits since the group was last
                                 together, in all operations and in those of other groups */
    int64_t done_ns; /* set by the holder: end of the rank's last computation, see stretches.h */
    int64_t own_ns;  /* set by the holder: the rank's own time, see stretches.h; -1 unknown */
    uint32_t event;  /* row of the kernel in the rank's timeline */
    uint32_t member; /* index of its record on the owner */
    uint32_t host;   /* set by the holder: name id of the rank's host */
    int32_t owner, origin; /* owner: process that owns the operation; origin: process that holds the
                              rank */
    bool transfer;         /* a transfer from one sender to one receiver */
    bool released;         /* set by the holder: the operation released the rank (see above) */
    bool together;         /* set by the owner: all members were released */
    bool follows;    /* set by the holder: the kernel started as soon as its stream was free */
    bool computes;   /* set by the holder: a compute kernel runs inside it */
    bool unseen;     /* set by the holder: the rank's computation is not recorded */
    bool meets;      /* set by the owner: no member computes inside the operation */
    uint8_t arrival; /* set by the owner: tm_arrival */
} tm_visit;

/** Cost to pass back, of a rank in one operation. Sent to the process that holds the rank. */
typedef struct tm_pending_cost {
    int64_t rank, step; /* step: that of the operation in which others waited */
    int64_t ns;
    uint32_t event;
    int32_t origin;
} tm_pending_cost;

/** A share of a tm_pending_cost. Sent to the owner of an operation in which the rank waited. */
typedef struct tm_cost_share {
    int64_t step, ns;
    uint32_t member; /* index of the rank's record in that operation */
    int32_t owner;
} tm_cost_share;

/** Appends a tm_visit for each member of operations with waits and of transfers, in the order of
 * members.
 * @param owner  number of this process
 * @return  TM_OK; TM_ERR_FAULT */
tm_status tm_delay_visits(const tm_collectives *collectives, int owner, tm_vec *visits,
                          tm_error *err) TM_MUST_CHECK;

/** Restores the order of tm_delay_visits when the participations are back from the holders. */
void tm_delay_sort(tm_vec *visits);

/** Sets `together` in the participations of tm_delay_visits, which have `released`. Only the side
 * of a transfer that waited must be released, because the other side did not block. */
void tm_delay_together(const tm_collectives *collectives, tm_visit *visits);

/** Output of propagation: initialised with TM_DELAY_FLOW(), freed by the caller. */
typedef struct tm_delay_flow {
    tm_vec pending_costs; /* of tm_pending_cost: cost to pass back next */
    tm_vec costs;         /* of tm_cost: cost that ranks pass on, and cost that they keep */
} tm_delay_flow;

#define TM_DELAY_FLOW() ((tm_delay_flow){TM_VEC(tm_pending_cost), TM_VEC(tm_cost)})

/**
 * Finds the indirect fraction of every late rank, and so how much of its caused wait to pass back,
 * in whole nanoseconds. Appends this as tm_pending_cost, and as passed_ns of a tm_cost.
 *
 * @param visits     those of tm_delay_visits, with all_ns and other_ns set
 * @param fractions  [records] set for the members of visits
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_begin(const tm_collectives *collectives, const tm_visit *visits,
                         double *fractions, tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/**
 * Splits shares of cost among the late ranks of their operations. Each late rank keeps its direct
 * part (indirect_ns of a tm_cost) and passes the rest back (tm_pending_cost). Shares of one rank,
 * operation and step are summed before the split, so their order and number do not matter.
 *
 * @param fractions  of tm_delay_begin
 * @param cost_shares     of tm_cost_share; emptied
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_split(const tm_collectives *collectives, const double *fractions,
                         tm_vec *cost_shares, tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Leaves all remaining cost at the ranks that it has reached. TM_OK; TM_ERR_FAULT. */
tm_status tm_delay_end(tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Sums the costs by rank and step, in ascending order. */
void tm_delay_settle(tm_vec *costs);

#endif
