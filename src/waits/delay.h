/* Delay propagation, the part for operations. It finds how much of a rank's lateness was caused by
 * the rank's own waits, and which ranks are to blame for a wait that is passed back.
 *
 * A rank l may be late in an operation because it has waited in operations of other groups since
 * its own group was last together. After two ranks were together, two things make their next
 * arrivals differ: their own work, and their waits. So a part of the cost of l is indirect, namely
 * the fraction (W_l - W) / (s_l - s), clamped to 0..1:
 * - s_l is the start of l;
 * - W_l is the sum of the waits of l in other groups since the group was together;
 * - s is the mean start of the early ranks, weighted by their shares in the cost;
 * - W is the mean of the sums of all waits of the early ranks, with the same weights.
 *
 * The indirect cost is passed back to the operations in which l waited, in proportion to these
 * waits. There, the layered split (blame.h) assigns it to the ranks that were late, and so on. Cost
 * that is not passed on stays with its rank.
 *
 * An operation releases a rank if the rank computes because the operation ended. This means: no
 * compute kernel runs at the operation's end, and before the rank's next compute kernel starts, no
 * other operation ends that the rank had started. A group was together at the end of an operation
 * that released all members of the group.
 *
 * A wait counts only while it kept the rank from computing. So only waits in operations that
 * released the rank count, and only the part of the wait after the rank's last compute kernel. A
 * send or receive that waits for the other rank counts, too, although no table lists it as a wait.
 * It passes cost back, and it brings the two ranks together. */
#ifndef TMERGE_DELAY_H
#define TMERGE_DELAY_H

#include "timeline/collectives.h"

/** What counts as the arrival of a rank at an operation; the same for all members. */
typedef enum tm_arrival {
    TM_ARRIVAL_UNKNOWN,
    TM_ARRIVAL_BEGIN, /* the start of the rank's kernel */
    TM_ARRIVAL_DONE   /* the end of the rank's last compute kernel before its communication kernel
                         starts */
} tm_arrival;

/** The participation of one kernel in an operation in which ranks can wait. The process that owns
 * the operation is called the owner. The process that holds the kernel's rank is called the holder.
 * The owner sends the participation to the holder as bytes, and the holder sends it back. */
typedef struct tm_participant {
    uint64_t group;
    int64_t rank;
    int64_t wait_ns; /* how long the rank waited in the operation (in a transfer: for its peer) */
    /* Set by the holder: sums of the rank's waits since the group was last together. all_ns: waits
     * in all operations. other_ns: waits in operations of other groups. */
    int64_t all_ns, other_ns;
    int64_t done_ns; /* set by the holder: end of the rank's last computation before the kernel
                        (stretches.h) */
    int64_t own_ns;  /* set by the holder: own time of the rank (stretches.h); -1 if unknown */
    uint32_t event;  /* row of the kernel in the rank's timeline */
    uint32_t member; /* index of the kernel's record on the owner */
    uint32_t host;   /* set by the holder: name id of the rank's host */
    int32_t owner, origin; /* owner: process that owns the operation; origin: process that holds the
                              rank */
    bool transfer;         /* the operation is a transfer from one sender to one receiver */
    bool released;         /* set by the holder: the operation released the rank (see above) */
    bool together;         /* set by the owner: the group was together at the operation's end (see
                              above) */
    bool follows;    /* set by the holder: the kernel started as soon as its stream was free */
    bool computes;   /* set by the holder: a compute kernel runs inside the kernel (stretches.h) */
    bool unseen;     /* set by the holder: the rank's computation is not recorded */
    bool meets;      /* set by the owner: the operation is a meeting, that is, no member computes
                        inside it */
    uint8_t arrival; /* set by the owner: tm_arrival */
} tm_participant;

/** Cost of a rank's lateness in one operation. Sent to the process that holds the rank, to be
 * passed back. */
typedef struct tm_pending_cost {
    int64_t rank, step; /* step: step of the operation in which other ranks waited */
    int64_t ns;
    uint32_t event;
    int32_t origin;
} tm_pending_cost;

/** A share of a tm_pending_cost, for an operation in which the rank waited. Sent to the owner of
 * that operation. */
typedef struct tm_cost_share {
    int64_t step, ns;
    uint32_t member; /* index of the rank's record in that operation */
    int32_t owner;
} tm_cost_share;

/**
 * Appends a tm_participant for each member of operations with waits and of transfers, in the order
 * of the records.
 * @param owner  number of this process
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_participants(const tm_collectives *collectives, int owner, tm_vec *participants,
                                tm_error *err) TM_MUST_CHECK;

/** Sorts participations that the holders have sent back into the order in which
 * tm_delay_participants made them. */
void tm_delay_sort(tm_vec *participants);

/** Sets `together` in the participations that tm_delay_participants returned. `released` must be
 * set in them. In a transfer, only a side that waited has to be released, because the other side
 * did not block. */
void tm_delay_together(const tm_collectives *collectives, tm_participant *participants);

/** Output of propagation. Initialise with TM_DELAY_FLOW(); the caller frees it. */
typedef struct tm_delay_flow {
    tm_vec pending_costs; /* vector of tm_pending_cost: cost to pass back next */
    tm_vec costs; /* vector of tm_cost: cost that ranks have passed on, and cost that they keep */
} tm_delay_flow;

#define TM_DELAY_FLOW() ((tm_delay_flow){TM_VEC(tm_pending_cost), TM_VEC(tm_cost)})

/**
 * Finds the indirect fraction of every late rank. Multiplies it by the rank's caused wait, in whole
 * nanoseconds. Appends the result as a tm_pending_cost, and as passed_ns of a tm_cost.
 *
 * @param participants     the participations that tm_delay_participants made; all_ns and other_ns
 *                         must be set
 * @param fractions  [records] set for the members of participants
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_begin(const tm_collectives *collectives, const tm_participant *participants,
                         double *fractions, tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/**
 * Splits shares of cost among the late ranks of their operations. Each late rank keeps the part
 * that its own work caused, which is indirect_ns of a tm_cost, and passes the rest back
 * (tm_pending_cost). Shares of the same rank, operation and step are summed before the split, so
 * that their order and number do not matter.
 *
 * @param fractions    the fractions that tm_delay_begin has set
 * @param cost_shares  vector of tm_cost_share; emptied
 * @return             TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_split(const tm_collectives *collectives, const double *fractions,
                         tm_vec *cost_shares, tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Ends propagation: ranks keep the costs that have reached them. Empties pending_costs. TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_delay_end(tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Sums the costs by rank and step, in ascending order. */
void tm_delay_settle(tm_vec *costs);

#endif
