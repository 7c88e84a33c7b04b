/* From a rank's communication kernels to the records that are matched across ranks. */
#ifndef TMERGE_RECORDS_H
#define TMERGE_RECORDS_H

#include "timeline/collectives.h"
#include "tmerge/names.h"

/**
 * A run of kernels of one rank that can only be matched by its order: all kernels of one group on
 * one stream, or all between one sender and one receiver. Sent as bytes.
 */
typedef struct tm_sequence {
    uint64_t group;  /* of the run: what its records have as group */
    uint64_t lane;   /* the stream's place in the group, or the direction of a pair */
    uint64_t digest; /* of its kinds and sizes, in order */
    int64_t n;       /* kernels */
    int64_t rank;
    int64_t first_step, last_step; /* of its first and last kernel; -1 unknown */
    int32_t group_size;
    int32_t origin; /* the process that asks */
    uint8_t way;    /* tm_match_way: PAIR or ORDER */
    bool named;     /* its kernels say which operations they are of: see TM_SEQ_REPEATED */
    bool agrees; /* see tm_match_compare; where not, kernels may still be aligned by their ends */
} tm_sequence;

/** When a kernel that its order is to match ran, for comparison with the other ranks. */
typedef struct tm_end {
    uint64_t group;
    uint64_t key; /* lane, and place in the sequence */
    int64_t rank;
    int64_t begin_ns, end_ns;
    bool synchronises;
    bool on_host; /* a thread ran it, which leaves when it gets a core, not when the last came */
} tm_end;

/** What a rank gives to matching. */
typedef struct tm_match_input {
    tm_vec records;   /* of tm_comm_record */
    tm_vec sequences; /* of tm_sequence: those that records of way PAIR and ORDER need */
    tm_vec ends;      /* of tm_end: of the records of way ORDER */
    tm_vec loose;     /* of tm_comm_record: on whose order the ranks do not agree */
    tm_vec bare;      /* of tm_comm_record: the kernels of streams that have some without metadata,
                         which have way INFERRED; keys have the stream alone */
    tm_vec left_out;  /* of tm_left_out: kernels that can be matched in no way */
    struct tm_group_finder *groups; /* owned; made for the first rank */
} tm_match_input;

/** Bits of a record's key above the place in its sequence: the lane. */
enum { TM_LANE_SHIFT = 40 };

/**
 * Adds a rank's kernels: sends and receives by sender and receiver, others by `Comms Id`, by
 * process group and `Seq`, by order inside the group among the kernels that carry metadata. There
 * streams are never compared by number: they correspond by the order of their first kernel. Kernels
 * that are named (TM_SEQ_REPEATED) have one order, whatever their streams. Kernels
 * without metadata are left to inference (infer.h), but for a job of one rank.
 *
 * @param names       the same for all ranks, as is
 * @param world_size  ranks of the job
 * @param origin      this process
 * @param out         vectors that were initialised with tm_match_input_init
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_add_rank(const tm_timeline *timeline, const tm_names *names, int64_t world_size,
                            int origin, tm_match_input *out, tm_error *err) TM_MUST_CHECK;

/** The size of a kernel's operation as nccl-tests counts it, -1 without metadata: what an
 * all-gather puts out, else what goes in (a receiver has only an out). */
int64_t tm_match_bytes(const tm_names *names, const tm_collective_attr *attr);

/** Whether a rank's steps are the job's: asked once for a rank, for it looks through its metadata.
 */
bool tm_match_has_steps(const tm_timeline *timeline);

/** Number of the step that launched an event, else of that in whose window it begins; -1 for none.
 */
int64_t tm_match_step(const tm_timeline *timeline, uint32_t row);

void tm_match_input_init(tm_match_input *input);
void tm_match_input_free(tm_match_input *input);

/**
 * Sets `agrees` of each sequence. The sequences of one group and lane agree where every rank's
 * count and digest are the same, and of a group every rank is there or one alone: a part of the
 * ranks may have recorded different operations of equal kinds, unless they are named. They do not
 * where their first and
 * last steps have different numbers, nor where ends show that equal counts hide a shift: see
 * tm_order_holds.
 *
 * @param sequences  [n] in any order; all that any rank has of their groups
 * @param ends       [n_ends] in any order; of the same
 */
void tm_match_compare(tm_sequence *sequences, size_t n, tm_end *ends, size_t n_ends);

/**
 * Takes out the records whose sequence does not agree: transfers are left out, others go to
 * `loose`.
 * @param answers  [n] this process's sequences with `agrees` set, in any order
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_drop(tm_match_input *input, tm_sequence *answers, size_t n,
                        tm_error *err) TM_MUST_CHECK;

#endif
