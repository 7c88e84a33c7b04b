/* Delay propagation, from the operations' side: how much of a rank's lateness is waiting of its
 * own, and who is late behind a wait that is passed back.
 *
 * A late rank l of an operation may be late because it was kept waiting in operations of other
 * groups since its group was together last. For two ranks that were together, the difference of
 * their arrivals is that of what they did themselves plus that of what they waited. So of the cost
 * of l the fraction (W_l - W) / (s_l - s) is indirect, kept within 0 and 1: s_l is its begin, W_l
 * its waits in between, s and W are the means over the early ranks, weighted by their shares in the
 * cost. W counts all waits, W_l those in other groups alone. Indirect cost goes back to the
 * operations in which l waited, in proportion, there to the late ranks by the layered split
 * (blame.h), and so on; what does not go on stays with the rank where it is.
 *
 * An operation releases a rank that computes when it ends and did not before: no compute kernel
 * runs at its end, and none of the operations that the rank was in by then ends between that moment
 * and the next compute kernel. A group was together at the end of an operation that released all of
 * its members. A wait counts where it kept the rank from computing: in an operation that released
 * the rank, the part after its last compute kernel. A send or receive that waits for its partner
 * counts and passes back as well, though it is no wait of any table, and brings the two together.
 */
#ifndef TMERGE_DELAY_H
#define TMERGE_DELAY_H

#include "timeline/collectives.h"

/** When a rank came to an operation; the same for all members. */
typedef enum tm_arrival {
    TM_ARRIVAL_UNKNOWN,
    TM_ARRIVAL_BEGIN, /* when its kernel began */
    TM_ARRIVAL_DONE   /* when it had computed last before that */
} tm_arrival;

/** One kernel's part in an operation that can hold ranks up, as the process that owns the operation
 * and the one that holds the rank tell each other. Sent as bytes. */
typedef struct tm_visit {
    uint64_t group;
    int64_t rank;
    int64_t wait_ns;          /* in the operation, or for its partner */
    int64_t all_ns, other_ns; /* from the holder: waits since the group was together, in all
                                 operations and in those of other groups */
    int64_t done_ns;       /* from the holder: when the rank had computed last, see stretches.h */
    int64_t own_ns;        /* from the holder: its own time, see there; -1 unknown */
    uint32_t event;        /* row in the rank's timeline */
    uint32_t member;       /* record of the owner */
    uint32_t host;         /* from the holder: name id of the rank's host */
    int32_t owner, origin; /* the processes */
    bool transfer;         /* from one sender to one receiver */
    bool released;         /* from the holder: the rank, to compute */
    bool together;         /* from the owner: all members were released */
    bool follows;          /* from the holder: it begins when its stream is free of another */
    bool computes;         /* from the holder: a compute kernel runs inside of it */
    bool unseen;           /* from the holder: what the rank computes is not recorded */
    bool meets;            /* from the owner: none of the members computes inside of it */
    uint8_t arrival;       /* from the owner: tm_arrival */
} tm_visit;

/** Cost of a rank in one operation that is to be passed back, to the process that holds the rank.
 */
typedef struct tm_debt {
    int64_t rank, step; /* the step of the operation where the wait was */
    int64_t ns;
    uint32_t event;
    int32_t origin;
} tm_debt;

/** A part of it, to the owner of an operation in which that rank waited. */
typedef struct tm_claim {
    int64_t step, ns;
    uint32_t member; /* the rank's record there */
    int32_t owner;
} tm_claim;

/** Adds a visit for each member of operations with waits, and of transfers, ascending in member.
 * @param owner  this process  @return TM_OK; TM_ERR_FAULT */
tm_status tm_delay_visits(const tm_collectives *collectives, int owner, tm_vec *visits,
                          tm_error *err) TM_MUST_CHECK;

/** Puts visits that came back into the order of tm_delay_visits. */
void tm_delay_sort(tm_vec *visits);

/** Sets `together` of all visits, which are those of tm_delay_visits with `released` set. Of a
 * transfer it is enough that the one who waited is released: the other went on its way. */
void tm_delay_together(const tm_collectives *collectives, tm_visit *visits);

/** What propagation makes: initialised with TM_DELAY_FLOW(), freed by the caller. */
typedef struct tm_delay_flow {
    tm_vec debts; /* of tm_debt: what is to be passed back next */
    tm_vec costs; /* of tm_cost: where it left and where it stayed */
} tm_delay_flow;

#define TM_DELAY_FLOW() ((tm_delay_flow){TM_VEC(tm_debt), TM_VEC(tm_cost)})

/**
 * Finds the indirect fraction of every late rank, and how much of what it caused is to be passed
 * back: debts, and the same amounts as passed_ns of costs, in whole nanoseconds.
 *
 * @param visits     those of tm_delay_visits with all_ns and other_ns set
 * @param fractions  [records] set for the members of visits
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_begin(const tm_collectives *collectives, const tm_visit *visits,
                         double *fractions, tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/**
 * Splits claims among the late ranks of their operations: of its part each keeps what is its own
 * (indirect_ns of costs) and passes the rest back (debts). The sum of a rank's claims on one
 * operation and step is split, so that neither their order nor their number matters.
 *
 * @param fractions  of tm_delay_begin
 * @param claims     of tm_claim; emptied
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_delay_split(const tm_collectives *collectives, const double *fractions, tm_vec *claims,
                         tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Leaves all debts with the ranks that have them. TM_OK; TM_ERR_FAULT. */
tm_status tm_delay_end(tm_delay_flow *flow, tm_error *err) TM_MUST_CHECK;

/** Adds up the costs of each rank and step, ascending. */
void tm_delay_settle(tm_vec *costs);

#endif
