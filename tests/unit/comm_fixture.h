/* Timelines of communication kernels with their metadata, for the tests of matching. */
#ifndef TMERGE_TEST_COMM_FIXTURE_H
#define TMERGE_TEST_COMM_FIXTURE_H

#include "match/records.h"
#include "timeline_fixture.h"

/* What is left out of a comm_spec is not in the trace: numbers that are stand as GIVEN(number). */
#define GIVEN(number) ((number) + 1)

/* A communication kernel. No two of one stream begin at the same time. */
typedef struct comm_spec {
    const char *name;   /* `Collective name`; NULL: the kernel carries no metadata */
    const char *kernel; /* NULL: ncclDevKernel_X */
    int64_t begin_ns, duration_ns;
    int64_t correlation;
    int stream;
    const char *group, *ranks, *dtype;
    int32_t size; /* of the group */
    int64_t seq, comms_id, in, out;
    int32_t src, dst;
} comm_spec;

/* The timeline of these kernels and of what else the rank did. */
tm_timeline build_comm(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                       const event_spec *others, size_t n_others);

/* The attribute row of the event that begins then, on that stream, or on a thread where it is -1.
 * The test fails where there is none. */
tm_collective_attr *collective_at(const tm_timeline *timeline, int64_t begin_ns, int stream);

/* What a rank with these kernels alone gives to matching; freed by the caller. */
tm_match_input collect_rank(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                            int64_t world_size);

#endif
