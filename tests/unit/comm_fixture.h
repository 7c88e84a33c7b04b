/* Timelines of communication kernels with their metadata, for the matching tests. */
#ifndef TMERGE_TEST_COMM_FIXTURE_H
#define TMERGE_TEST_COMM_FIXTURE_H

#include "match/records.h"
#include "timeline_fixture.h"

/* A number in a comm_spec is GIVEN(number), so that 0 means that the trace does not have it. */
#define GIVEN(number) ((number) + 1)

/* A communication kernel. Kernels of one stream must begin at different times. */
typedef struct comm_spec {
    const char *name;   /* `Collective name`; NULL: the kernel has no metadata */
    const char *kernel; /* name of the kernel; NULL: ncclDevKernel_X */
    int64_t begin_ns, duration_ns;
    int64_t correlation;
    int stream;
    const char *group, *ranks, *dtype;
    int32_t size;
    int64_t seq, comms_id, in, out;
    int32_t src, dst;
} comm_spec;

/* Builds the timeline of these kernels and of the rank's other events. */
tm_timeline build_comm(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                       const event_spec *others, size_t n_others);

/* Returns the attribute row of the event that begins at begin_ns on the stream, or on a thread if
 * stream is -1. The test fails if there is none. */
tm_collective_attr *collective_at(const tm_timeline *timeline, int64_t begin_ns, int stream);

/* Returns the input for matching from a rank that has only these kernels; the caller frees it. */
tm_match_input collect_rank(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                            int64_t world_size);

#endif
