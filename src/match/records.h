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
    int32_t group_size;
    int32_t origin; /* the process that asks */
    uint8_t agrees; /* answer: every member seen has the same n and digest */
} tm_sequence;

/** What a rank gives to matching. */
typedef struct tm_match_input {
    tm_vec records;      /* of tm_comm_record */
    tm_vec sequences;    /* of tm_sequence: those that records of way PAIR and ORDER need */
    int64_t n_unmatched; /* kernels that can be matched in no way */
} tm_match_input;

/** Bits of a record's key above the place in its sequence: the lane. */
enum { TM_LANE_SHIFT = 40 };

/**
 * Adds a rank's kernels: sends and receives by sender and receiver, others by `Comms Id`, by
 * process group and `Seq`, by order inside the group among the kernels that carry metadata; only
 * where no kernel of the rank carries any, by order among all. Streams are never compared by
 * number: they correspond by the order of their first kernel.
 *
 * @param world_size  ranks of the job
 * @param origin      this process
 * @param out         vectors that were initialised with tm_match_input_init
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_add_rank(const tm_timeline *timeline, const tm_names *names, int64_t world_size,
                            int origin, tm_match_input *out, tm_error *err) TM_MUST_CHECK;

void tm_match_input_init(tm_match_input *input);
void tm_match_input_free(tm_match_input *input);

/** Sets `agrees` of each sequence, which lie in any order: the sequences of one group and lane
 * agree where every rank's count and digest are the same. */
void tm_match_compare(tm_sequence *sequences, size_t n);

/** Drops the records whose sequence does not agree, and counts them as unmatched.
 * @param answers  [n] this process's sequences with `agrees` set, in any order */
void tm_match_drop(tm_match_input *input, tm_sequence *answers, size_t n);

#endif
