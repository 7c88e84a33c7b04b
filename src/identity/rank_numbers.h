/* Decides the rank of each trace of a job from the user's map, the trace, its name, and the other
 * traces. */
#ifndef TMERGE_IDENTITY_RANK_NUMBERS_H
#define TMERGE_IDENTITY_RANK_NUMBERS_H

#include "base/vec.h"
#include "rank_from_path.h"
#include "tmerge/status.h"

/**
 * Numbers the ranks that labels stand for. If no two ranks have the same number in their labels,
 * these numbers are used. Otherwise, labels are numbered by replica (DP), stage (PP), then number.
 * @param labels  [n]
 * @param least   minimum number of ranks in a replica, 0 unknown
 * @param out     [n] set only on TM_OK; -1 if the label is empty, or if its number would be above
 *                TM_RANK_MAX
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_rank_labels_number(const tm_rank_label *labels, size_t n, int64_t least, int64_t *out,
                                tm_error *err) TM_MUST_CHECK;

typedef enum tm_rank_fate {
    TM_RANK_KEPT,
    TM_RANK_HELPER,   /* left out: from a process that is not a rank, such as a server's front end
                          or a data loader */
    TM_RANK_COVERED,  /* left out: a copy of data that another trace of the rank contains */
    TM_RANK_NO_RANK,  /* left out: reports no rank, and other traces cover all ranks */
    TM_RANK_NO_WORLD, /* left out: its communicators do not show its rank in the job */
    TM_RANK_SMALLER,  /* left out: its communicator has fewer ranks than another trace reports */
    TM_RANK_TWICE     /* left out: another trace reports the same rank at the same time */
} tm_rank_fate;

/** The facts about a trace from which its rank is decided, and the decision. */
typedef struct tm_trace_rank {
    int64_t mapped;     /* rank by the user's map; -1: none */
    int64_t reported;   /* rank that the trace reports, in the numbering of its process groups; -1:
                       none */
    int64_t world_size; /* world size that the trace reports; -1: none */
    int64_t begin_ns, end_ns; /* first start and last end of the trace's events; equal if the trace
                                 has no events or has not been read */
    tm_rank_label label;      /* label of the trace's name */
    /* The trace is unreadable, so its rank is unknown. It gets the rank of its position. */
    bool is_bad;
    /* the trace is from a file that was generated from the files of the ranks */
    bool is_copy;
    /* `reported`, world_size and is_copy refer to the trace's largest communicator, not to the
     * job */
    bool of_communicator;
    bool has_device; /* whether the trace contains, or may contain, device work */
    /* The decision: */
    bool by_place; /* whether the trace reports no rank and got a free rank by its position */
    tm_rank_fate fate;
    int64_t rank; /* rank in the job; set if the trace is kept */
    /* Number of the replica if the trace's process groups number the ranks of each replica from 0
     * (see tm_rank_moved). -1 if the process groups use the job's ranks. */
    int64_t replica;
} tm_trace_rank;

/** Maps a rank within a replica (from 0) to a rank in the job. */
typedef struct tm_rank_move {
    int64_t replica, reported, rank;
} tm_rank_move;

/**
 * Decides the rank of each trace. The rank comes from the first of these sources that has one: the
 * map, the rank that the trace reports, the name of the trace. A trace without any rank gets the
 * next free rank, by position.
 *
 * Traces with different names may report the same rank, for example the traces of replicas. Names
 * then take precedence, provided that each name stands for one rank.
 *
 * If some traces contain device work, a trace without device work belongs to a helper process in
 * any of these cases:
 * - The trace reports no rank.
 * - Another trace has the same rank at the same time.
 * - The job does not have the rank.
 * - The rank is only from the word "worker" in the name, and a trace with device work has a name
 *   without this word.
 *
 * @param traces  [n] in the order of the arguments; the call sets the decisions
 * @param moves   vector of tm_rank_move; the call appends to it and sorts it for tm_rank_moved
 * @param world   set to the world size of the job that the traces report; -1 if unknown
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_ranks_decide(tm_trace_rank *traces, size_t n, tm_vec *moves, int64_t *world,
                          tm_error *err) TM_MUST_CHECK;

/** Returns the job rank for a rank reported by a trace of a replica; -1 if unknown. */
int64_t tm_rank_moved(const tm_vec *moves, int64_t replica, int64_t reported);

#endif
