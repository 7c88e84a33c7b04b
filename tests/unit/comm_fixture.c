/* Timelines of communication kernels with their metadata, for the matching tests. */
#include "comm_fixture.h"

enum { ORIGIN = 7 };

static bool lies_on(const tm_track *track, int stream) {
    return track->kind == TM_TRACK_GPU && track->stream == stream;
}

tm_collective_attr *collective_at(const tm_timeline *timeline, int64_t begin_ns, int stream) {
    tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        uint32_t row = attrs[i].event;
        const tm_track *track = timeline->tracks;
        while (row >= track->first + track->count)
            track++;
        bool fits = stream < 0 ? track->kind == TM_TRACK_CPU : lies_on(track, stream);
        if (fits && timeline->begin_ns[row] == begin_ns)
            return &attrs[i];
    }
    fail_msg("no communication at %lld on %d", (long long)begin_ns, stream);
    return NULL;
}

static void set_attr(const ground *g, tm_collective_attr *attr, const comm_spec *spec) {
    attr->comms_id = spec->comms_id;
    attr->seq = spec->seq - 1;
    attr->in_elements = spec->in - 1;
    attr->out_elements = spec->out - 1;
    attr->src_rank = spec->src - 1;
    attr->dst_rank = spec->dst - 1;
    attr->group_size = spec->size;
    attr->rank_start = attr->rank_stride = -1;
    attr->group = name_of(g, spec->group);
    attr->group_ranks = name_of(g, spec->ranks);
    attr->dtype = name_of(g, spec->dtype);
}

tm_timeline build_comm(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                       const event_spec *others, size_t n_others) {
    event_spec *events = calloc(n + n_others + 1, sizeof *events);
    assert_non_null(events);
    for (size_t i = 0; i < n; i++)
        events[i] = (event_spec){
            .category = TM_CAT_KERNEL,
            .name = kernels[i].kernel ? kernels[i].kernel : "ncclDevKernel_X",
            .begin_ns = kernels[i].begin_ns,
            .duration_ns = kernels[i].duration_ns,
            .correlation = kernels[i].correlation,
            .where = kernels[i].stream,
            .collective = kernels[i].name,
        };
    for (size_t i = 0; i < n_others; i++)
        events[n + i] = others[i];
    tm_timeline timeline = build_one(g, rank, events, n + n_others);
    for (size_t i = 0; i < n; i++)
        if (kernels[i].name)
            set_attr(g, collective_at(&timeline, kernels[i].begin_ns, kernels[i].stream),
                     &kernels[i]);
    free(events);
    return timeline;
}

tm_match_input collect_rank(ground *g, int64_t rank, const comm_spec *kernels, size_t n,
                            int64_t world_size) {
    tm_match_input input;
    tm_timeline timeline = build_comm(g, rank, kernels, n, NULL, 0);
    tm_match_input_init(&input);
    assert_int_equal(tm_match_add_rank(&timeline, g->names, world_size, ORIGIN, &input, &g->err),
                     TM_OK);
    tm_timeline_destroy(&timeline);
    return input;
}
