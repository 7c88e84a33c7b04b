/* The payloads of NCCL's NVTX ranges, and the kernels that they belong to. Private to the reader of
 * Nsight Systems exports. */
#ifndef TMERGE_NSYS_NCCL_H
#define TMERGE_NSYS_NCCL_H

#include "base/vec.h"
#include "readers/sqlite/profiler_database.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** A payload. A field that the payload lacks is -1, except the communicator, which is then 0. */
typedef struct tm_nsys_payload {
    uint64_t communicator; /* hash of the communicator's id, equal on all of its ranks */
    /* Number of bytes that a rank sends. In a reduce-scatter or a receive: number of bytes that it
     * receives. */
    int64_t bytes;
    int64_t peer;          /* the peer's rank within the communicator */
    int64_t n_ranks, rank; /* known only if the call creates a communicator */
    int64_t device;
} tm_nsys_payload;

/** An NCCL range on a thread. */
typedef struct tm_nsys_range {
    int64_t begin_ns, end_ns;
    int64_t reach_ns; /* latest end of the range and all earlier ranges of its thread; set by
                         tm_nsys_join_nccl */
    uint32_t track;
    uint32_t name; /* name id of the text, without the domain */
    tm_nsys_payload payload;
} tm_nsys_range;

/**
 * Reads the layouts of payloads.
 *
 * @param fields  set to a vector, which the caller must free, also on failure
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_nsys_read_schemas(const tm_db *db, tm_vec *fields, tm_error *err) TM_MUST_CHECK;

/** Returns the decoded payload. If the bytes do not match the schema of the payload, returns an
 * empty payload. */
tm_nsys_payload tm_nsys_decode_payload(const tm_vec *fields, int64_t domain, const void *bytes,
                                       size_t size);

/**
 * Finds the NCCL calls that launched NCCL kernels, and adds a row of TM_ATTR_COLLECTIVE to each
 * such kernel. The runtime call that launched the kernel must be inside a range with a payload, or
 * at the end of a group of such ranges. Also lists the communicators of all calls.
 *
 * @param unit    the unit being read: a process may have several devices, each with its own
 *                communicators
 * @param ranges  vector of tm_nsys_range, in any order; the call sorts them
 * @return        TM_OK; TM_ERR_FAULT
 */
tm_status tm_nsys_join_nccl(tm_trace *trace, tm_names *names, const tm_unit *unit, tm_vec *ranges,
                            tm_error *err) TM_MUST_CHECK;

#endif
