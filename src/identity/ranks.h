/* Which rank each trace of a job is of: what the user, the trace and its name say, held against
 * what the others say. */
#ifndef TMERGE_IDENTITY_RANKS_H
#define TMERGE_IDENTITY_RANKS_H

#include "base/vec.h"
#include "names.h"
#include "tmerge/status.h"

/**
 * Numbers the ranks that labels stand for: by their own number where each of those stands for one
 * rank, else replica after replica (DP), in each stage after stage (PP).
 * @param labels  [n]
 * @param least   ranks that a replica has at least, 0 unknown
 * @param out     [n] set only on TM_OK; -1 where the label has no word
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_labels_number(const tm_rank_label *labels, size_t n, int64_t least, int64_t *out,
                                tm_error *err) TM_MUST_CHECK;

typedef enum tm_claim_fate {
    TM_CLAIM_KEPT,
    TM_CLAIM_HELPER,   /* of a process that is no rank: a server's front end, a data loader */
    TM_CLAIM_COVERED,  /* a copy of what another trace of its rank holds */
    TM_CLAIM_NO_RANK,  /* it does not say its rank, and other traces cover all of them */
    TM_CLAIM_NO_WORLD, /* its rank is told in a communicator that is one of several */
    TM_CLAIM_SMALLER,  /* its communicator has fewer ranks than another trace's */
    TM_CLAIM_TWICE     /* another trace tells its rank at the same time */
} tm_claim_fate;

/** What is known of a trace, and what it comes to. */
typedef struct tm_claim {
    int64_t mapped;           /* rank by the user's map, -1 */
    int64_t told;             /* rank by the trace, which its process groups are told in; -1 */
    int64_t world_size;       /* by the trace, -1 */
    int64_t begin_ns, end_ns; /* of its events; equal where it has none, or is not read yet */
    tm_rank_label label;      /* of its name */
    bool is_bad;              /* it cannot be read: it may be of any rank, and keeps its place */
    bool is_copy;             /* of a file that was made of the ranks' own */
    bool of_communicator;     /* what it tells, is by its largest communicator; is_copy, too */
    bool has_device;          /* it holds work of a device, or may hold some */
    /* answers */
    bool by_place; /* its rank is its place among those that nothing tells */
    tm_claim_fate fate;
    int64_t rank;    /* of those that are kept */
    int64_t replica; /* whose numbers its process groups are told in: tm_rank_moved; -1: they are
                        those of the job */
} tm_claim;

/** What a rank of a replica, which counts from 0, is in the job. */
typedef struct tm_rank_move {
    int64_t replica, told, rank;
} tm_rank_move;

/**
 * Finds the rank of each trace: by the map, else by what the trace tells, else by its name, else by
 * its place among those that nothing tells, of the ranks that are free. Where traces with different
 * names tell one rank, as those of replicas do, the names decide, if each stands for one rank.
 *
 * A trace that tells no rank and holds no work of a device, where others do, is a helper's; also
 * where its name has a rank that another trace has at the same time, or the job has not, or calls
 * it a worker and a trace that holds such work is called something else.
 *
 * @param claims  [n] in the order of the arguments; answers are set
 * @param moves   of tm_rank_move, appended to, sorted; for tm_rank_moved
 * @param world   set to the number of ranks that the job has by what traces tell, -1 unknown
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ranks_decide(tm_claim *claims, size_t n, tm_vec *moves, int64_t *world,
                          tm_error *err) TM_MUST_CHECK;

/** The rank in the job of a rank that a trace of a replica tells; -1 where that cannot be known. */
int64_t tm_rank_moved(const tm_vec *moves, int64_t replica, int64_t told);

#endif
