/* Turns a rank's communication kernels into the records that are matched across ranks. */
#ifndef TMERGE_RECORDS_H
#define TMERGE_RECORDS_H

#include "timeline/collectives.h"
#include "tmerge/names.h"

/** A sequence of kernels of one rank that can be matched only by order: the kernels of one group on
 * one stream, or the transfers from one rank to another. Sent as bytes. */
typedef struct tm_sequence {
    uint64_t group; /* group of the sequence's records */
    /* number of the stream in the group */
    uint64_t stream;
    uint64_t digest; /* hash of the kernels' kinds and sizes, in order */
    int64_t n;       /* number of kernels */
    int64_t rank;
    int64_t first_step, last_step; /* steps of the first and last kernel; -1 unknown */
    int32_t group_size;
    int32_t origin; /* process that has the rank and gets the result */
    uint8_t way;    /* tm_match_way: PAIR or ORDER */
    bool named;     /* the kernels name their operations, see TM_SEQ_REPEATED */
    /* Result of tm_match_compare: whether all ranks have the same sequence. If not, the kernels may
     * still be aligned by their ends. */
    bool agrees;
} tm_sequence;

/** Start and end of a kernel that is matched by order, to be compared with other ranks. */
typedef struct tm_end {
    uint64_t group;
    uint64_t key; /* stream (numbered stream), and place in the sequence */
    int64_t rank;
    int64_t begin_ns, end_ns;
    bool synchronises;
    /* A host thread ran the kernel. The thread may leave it late, because the thread must first get
     * a core. */
    bool on_host;
} tm_end;

/** Data about the ranks of one process that are the input of matching. */
typedef struct tm_match_input {
    tm_vec records;   /* vector of tm_comm_record */
    tm_vec sequences; /* vector of tm_sequence: one for each sequence of records whose `way` is PAIR
                         or ORDER */
    tm_vec ends;      /* vector of tm_end: one for each record whose `way` is ORDER */
    tm_vec loose;     /* vector of tm_comm_record: kernels that ranks ran in different orders */
    /* vector of tm_comm_record whose `way` is INFERRED: all kernels of each stream on which some
     * kernels lack metadata. The key of such a record contains only the stream. */
    tm_vec bare;
    tm_vec left_out; /* vector of tm_left_out: counts of kernels that cannot be matched */
    struct tm_group_finder *groups; /* owned; created with the first rank */
} tm_match_input;

/** In a record's key, the stream starts at this bit. The bits below it contain the place in the
 * sequence. */
enum { TM_LANE_SHIFT = 40 };

/**
 * Adds a rank's kernels. They are matched in these ways:
 * - Sends and receives are matched by sender and receiver.
 * - Other kernels with metadata are matched by `Comms Id`, by process group and `Seq`, or by their
 *   order within the group.
 * - Kernels without metadata are left to inference (infer.h), except in a job of one rank.
 *
 * The streams of a group are numbered in the order of their first kernels. Streams with the same
 * number correspond on all ranks. But named kernels (TM_SEQ_REPEATED) have one order over all
 * streams.
 *
 * @param names       must be the same for all ranks
 * @param world_size  number of ranks of the job; must be the same for all ranks
 * @param origin      number of this process
 * @param out         initialised with tm_match_input_init; the kernels are added to it
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_add_rank(const tm_timeline *timeline, const tm_names *names, int64_t world_size,
                            int origin, tm_match_input *out, tm_error *err) TM_MUST_CHECK;

/** Returns the size [B] of a kernel's operation as nccl-tests defines it. For an all-gather or a
 * receive, this is the size of the output. For other operations, it is the size of the input.
 * Returns -1 if the kernel has no metadata. */
int64_t tm_match_bytes(const tm_names *names, const tm_collective_attr *attr);

/** Returns whether the steps of a rank are the steps of the job. A trace without compute does not
 * show the job's steps. The function searches the metadata, so call it only once per rank. */
bool tm_match_has_steps(const tm_timeline *timeline);

/** Returns the number of the step that launched an event. If none did, returns the number of the
 * step whose window contains the event's start, or -1. */
int64_t tm_match_step(const tm_timeline *timeline, uint32_t row);

void tm_match_input_init(tm_match_input *input);
void tm_match_input_free(tm_match_input *input);

/**
 * Sets `agrees` of each sequence. The sequences of one group and stream agree if their counts and
 * digests are equal, and if every rank of the group has a sequence or only a single rank has one.
 * If only some ranks have one, they agree only if the kernels name their operations. Otherwise, the
 * ranks may have recorded different operations of equal kinds.
 *
 * Sequences with equal counts still disagree in two cases. In the first case, both their first
 * kernels and their last kernels are of different steps. In the second case, the ends show that one
 * sequence is shifted, see tm_order_holds.
 *
 * @param sequences  [n] in any order; for each group, it must contain the sequences of all ranks
 * @param ends       [n_ends] ends of the same groups, in any order
 */
void tm_match_compare(tm_sequence *sequences, size_t n, tm_end *ends, size_t n_ends);

/**
 * Removes the records whose sequence does not agree: counts transfers as left out, and moves other
 * kernels to `loose`.
 * @param answers  [n] this process's sequences with `agrees` set, in any order
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_drop(tm_match_input *input, tm_sequence *answers, size_t n,
                        tm_error *err) TM_MUST_CHECK;

#endif
