/* What NCCL says of its calls in the payloads of its NVTX ranges, and whose kernels they are.
 * Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_NCCL_H
#define TMERGE_NSYS_NCCL_H

#include "base/vec.h"
#include "readers/sqlite/database.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** A payload; what it does not hold is -1, the communicator 0. */
typedef struct tm_nsys_payload {
    uint64_t communicator; /* hash of its id, the same on all of its ranks */
    int64_t bytes;         /* what a rank gives, of a reduce-scatter or a receive what it takes */
    int64_t peer;          /* rank within the communicator */
    int64_t n_ranks, rank; /* of a call that makes a communicator */
    int64_t device;
} tm_nsys_payload;

/** A range of NCCL on a thread. */
typedef struct tm_nsys_range {
    int64_t begin_ns, end_ns;
    int64_t reach_ns; /* set by the join */
    uint32_t track;
    uint32_t name; /* its text without a domain */
    tm_nsys_payload payload;
} tm_nsys_range;

/**
 * Reads how payloads are laid out.
 *
 * @param fields  set to a vector that is the caller's, whatever comes of it
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_read_schemas(const tm_db *db, tm_vec *fields, tm_error *err) TM_MUST_CHECK;

/** What a payload holds; nothing where its bytes are not as its schema has them. */
tm_nsys_payload tm_nsys_decode_payload(const tm_vec *fields, int64_t domain, const void *bytes,
                                       size_t size);

/**
 * Gives the kernels of NCCL what the calls that launched them say: a row of TM_ATTR_COLLECTIVE for
 * each whose runtime call lies in a range with a payload, or at the end of a group of such. Lists
 * the communicators of all calls.
 *
 * @param unit    what is read: a process may have several devices, each with communicators
 * @param ranges  of tm_nsys_range, in any order; sorted by the call
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_join_nccl(tm_trace *trace, tm_names *names, const tm_unit *unit, tm_vec *ranges,
                            tm_error *err) TM_MUST_CHECK;

#endif
