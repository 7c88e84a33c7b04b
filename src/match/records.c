#include "records.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "left_out.h"
#include "loose.h"
#include "rank_groups.h"
#include "timeline/classify.h"
#include "timeline/metadata.h"
#include "timeline/restarts.h"
#include "timeline/trace.h"

/* A stream (numbered stream) of a group on this rank. */
typedef struct stream {
    uint64_t group;
    uint64_t stream;
    const tm_track *track; /* the stream; NULL for transfers, named kernels and host operations */
    size_t sequence;       /* index in out->sequences of the stream's sequence */
} stream;

typedef struct collector {
    const tm_timeline *timeline;
    const tm_names *names;
    tm_classifier *classifier;
    int64_t world_size;
    int origin;
    tm_match_input *out;
    tm_vec used;   /* vector of stream */
    bool *is_bare; /* [tracks] some kernels of the track lack metadata */
    /* [tracks] index of the track that stands for the stream to which the track belongs */
    uint32_t *streams;
    uint32_t *groups;     /* [tracks] name id of the group whose operations the thread runs */
    bool transfers_alone; /* the trace records the transfers of operations, but not the waits before
                             them */
    bool has_steps;       /* tm_match_has_steps */
} collector;

void tm_match_input_init(tm_match_input *input) {
    *input = (tm_match_input){
        .records = TM_VEC(tm_comm_record),
        .sequences = TM_VEC(tm_sequence),
        .ends = TM_VEC(tm_end),
        .loose = TM_VEC(tm_comm_record),
        .bare = TM_VEC(tm_comm_record),
        .left_out = TM_VEC(tm_left_out),
    };
}

void tm_match_input_free(tm_match_input *input) {
    TM_VECS_FREE(&input->records, &input->sequences, &input->ends, &input->loose, &input->bare,
                 &input->left_out);
    tm_group_finder_destroy(input->groups);
}

/* The number of elements is limited, so that the sum of two sizes cannot overflow when a median is
 * computed. */
int64_t tm_match_bytes(const tm_names *names, const tm_collective_attr *attr) {
    int64_t elements = attr->kind == TM_COLL_ALLGATHER || attr->kind == TM_COLL_RECV
                           ? attr->out_elements
                           : attr->in_elements;
    int64_t size = tm_dtype_bytes(tm_names_text(names, attr->dtype));
    return elements >= 0 && size > 0 && elements <= INT64_MAX / 32 ? elements * size : -1;
}

/* In a trace without compute, the whole recording is the only step, while other ranks may have
 * recorded the job's real steps. */
bool tm_match_has_steps(const tm_timeline *timeline) {
    return !tm_timeline_lacks_compute(timeline);
}

/* Returns the step of the launch. If the launch is in no step, returns the step that contains the
 * start of the event. */
int64_t tm_match_step(const tm_timeline *timeline, uint32_t row) {
    if (timeline->step[row] != TM_NO_STEP)
        return timeline->steps[timeline->step[row]].number;
    for (size_t i = 0; i < timeline->n_steps; i++)
        if (timeline->begin_ns[row] >= timeline->steps[i].begin_ns &&
            timeline->begin_ns[row] < timeline->steps[i].end_ns)
            return timeline->steps[i].number;
    return -1;
}

/* Returns the record's step. Steps show whether the recordings of two ranks start at different
 * operations. Returns -1 for programs that name their operations, because they number steps from
 * the start of the recording. */
static int64_t step_of(const tm_comm_record *record) {
    return record->operation ? -1 : record->step;
}

/* Returns the stream in which the order of kernels identifies an operation. Returns NULL on the
 * host: the threads of a group take turns there, so the order over all threads identifies an
 * operation. */
static const tm_track *stream_track(const collector *c, uint32_t event) {
    const tm_track *track = tm_timeline_track(c->timeline, event);
    return track->kind == TM_TRACK_GPU ? track : NULL;
}

/* Returns the sequence of a record's stream. If the stream is new, the sequence is made. Streams
 * are numbered in the order in which they appear. */
static tm_sequence *sequence_of(collector *c, const tm_comm_record *record) {
    stream *streams = c->used.data;
    bool named = record->operation != 0, by_stream = record->way == TM_MATCH_ORDER && !named;
    const tm_track *track = by_stream ? stream_track(c, record->event) : NULL;
    uint64_t next = 0;
    for (size_t i = 0; i < c->used.n; i++) {
        if (streams[i].group != record->group)
            continue;
        if (streams[i].track == track)
            return (tm_sequence *)c->out->sequences.data + streams[i].sequence;
        next++;
    }
    stream added = {record->group, next, track, c->out->sequences.n};
    tm_sequence sequence = {.group = record->group,
                            .stream = added.stream,
                            .rank = record->rank,
                            .group_size = record->group_size,
                            .first_step = step_of(record),
                            .origin = record->origin,
                            .way = record->way,
                            .named = named};
    if (!tm_vec_append(&c->used, &added, 1))
        return NULL;
    return tm_vec_append(&c->out->sequences, &sequence, 1);
}

/* Sets the key of a record to its stream and its place in the sequence. */
static bool place(collector *c, tm_comm_record *record) {
    tm_sequence *sequence = sequence_of(c, record);
    if (!sequence)
        return false;
    uint64_t signature = tm_record_signature(record);
    record->key = sequence->stream << TM_LANE_SHIFT | (uint64_t)sequence->n;
    sequence->digest = tm_hash_mixed(sequence->digest, &signature, sizeof signature);
    sequence->n++;
    sequence->last_step = step_of(record);
    tm_end end = {.group = record->group,
                  .key = record->key,
                  .rank = record->rank,
                  .begin_ns = record->begin_ns,
                  .end_ns = record->end_ns,
                  .synchronises = tm_record_synchronises(record),
                  .on_host = tm_timeline_track(c->timeline, record->event)->kind != TM_TRACK_GPU};
    return record->way != TM_MATCH_ORDER || tm_vec_append(&c->out->ends, &end, 1);
}

/* Adds a send or a receive to the sequence of its sender and receiver. Sets *matched to false if
 * the peer is unknown. */
static bool place_pair(collector *c, tm_comm_record *record, const tm_collective_attr *attr,
                       bool *matched) {
    int64_t own = record->rank;
    int64_t from = record->kind == TM_COLL_SEND ? own : attr->src_rank;
    int64_t to = record->kind == TM_COLL_SEND ? attr->dst_rank : own;
    *matched = from >= 0 && to >= 0 && from != to;
    if (!*matched)
        return true;
    int64_t ends[2] = {from, to};
    record->group = tm_hash_mixed(record->group, ends, sizeof ends);
    if (record->tagged)
        record->group = tm_hash_mixed(record->group, &record->operation, sizeof record->operation);
    record->group_size = 2;
    record->way = TM_MATCH_PAIR;
    return place(c, record);
}

/* Decides how a kernel is matched. Sets *matched to false if it cannot be matched. */
static bool place_record(collector *c, tm_comm_record *record, const tm_collective_attr *attr,
                         bool *matched) {
    bool pair = tm_collective_is_one_way(record->kind);
    *matched = true;
    /* Transfers come first, because their recorded sequence numbers count per rank and group, not
     * per pair of ranks. */
    if (pair)
        return place_pair(c, record, attr, matched);
    const uint64_t restarts = (uint64_t)tm_timeline_restarts(c->timeline, record->begin_ns);
    if (attr->comms_id != 0 && attr->seq != TM_SEQ_REPEATED) {
        record->way = TM_MATCH_COMMS_ID;
        memcpy(&record->key, &attr->comms_id, sizeof record->key);
        record->key += restarts << TM_LANE_SHIFT;
        return true;
    }
    if (attr->seq >= 0) {
        record->way = TM_MATCH_SEQ;
        record->key = (uint64_t)attr->seq + (restarts << TM_LANE_SHIFT);
        return true;
    }
    record->way = TM_MATCH_ORDER;
    return place(c, record);
}

/* Returns why a kernel without metadata certainly cannot be matched; TM_UNMATCHED_NOT if it may
 * be. */
static tm_unmatched exclusion(const collector *c, uint32_t name, uint8_t kind) {
    if (tm_classifier_kind(c->classifier, c->names, name).class == TM_KERNEL_ONE_SIDED)
        return TM_UNMATCHED_ONE_SIDED;
    bool transfer = tm_collective_is_one_way(kind);
    return transfer ? TM_UNMATCHED_PEER : TM_UNMATCHED_NOT;
}

/* Returns whether a kernel starts more than 1 ms before its launch. This is so much that inaccurate
 * clocks cannot be the reason. */
static bool begins_too_early(const tm_timeline *timeline, uint32_t row) {
    enum { EARLY_NS = 1000000 };
    uint32_t launch = timeline->launch[row];
    return launch != TM_NO_EVENT && timeline->begin_ns[row] + EARLY_NS < timeline->begin_ns[launch];
}

static tm_comm_record make_record(const collector *c, const tm_collective_attr *attr,
                                  const tm_group *group) {
    const tm_timeline *timeline = c->timeline;
    int64_t begin = timeline->begin_ns[attr->event];
    tm_comm_record record = {
        .group = group->id,
        .begin_ns = begin,
        .end_ns = begin + timeline->duration_ns[attr->event],
        .bytes = attr->name != TM_NO_NAME ? tm_match_bytes(c->names, attr) : -1,
        .call_bytes = attr->call_bytes,
        .step = c->has_steps ? tm_match_step(timeline, attr->event) : -1,
        .seq = attr->seq,
        .rank = timeline->rank,
        .process_group = group->id,
        .process_group_size = group->n_ranks,
        .description = attr->group_description,
        .event = attr->event,
        .group_size = group->n_ranks,
        .origin = c->origin,
        .kind = attr->kind,
        .exchange = attr->kind == TM_COLL_SENDRECV && attr->src_rank >= 0 &&
                    attr->src_rank == attr->dst_rank && attr->src_rank != timeline->rank,
        .wrong_clock = begins_too_early(timeline, attr->event),
        .transfer_alone = c->transfers_alone,
    };
    record.tagged = attr->seq == TM_SEQ_REPEATED && record.kind != TM_COLL_SENDRECV &&
                    tm_timeline_track(timeline, attr->event)->kind == TM_TRACK_CPU;
    if (attr->seq == TM_SEQ_REPEATED)
        memcpy(&record.operation, &attr->comms_id, sizeof record.operation);
    memcpy(record.group_text, group->text, sizeof record.group_text);
    return record;
}

/* Hashes the kernel's name without template arguments and parameters. All kernels of an operation
 * have the same hash. */
static uint64_t signature_of(tm_text name) {
    static const char unnamed[] = "(anonymous namespace)";
    size_t n = 0;
    while (n < name.size && name.bytes[n] != '<') {
        bool skipped = name.size - n >= sizeof unnamed - 1 &&
                       memcmp(name.bytes + n, unnamed, sizeof unnamed - 1) == 0;
        if (name.bytes[n] == '(' && !skipped)
            break;
        n += skipped ? sizeof unnamed - 1 : 1;
    }
    return tm_hash_mixed(0, name.bytes, n);
}

/* Returns the number of the stream of an event. On the host, the threads of a group take turns.
 * They count as one stream, which has the number of one of these threads. */
static uint64_t stream_of(const collector *c, uint32_t event) {
    const tm_track *own = tm_timeline_track(c->timeline, event);
    return c->streams[own - c->timeline->tracks];
}

/* Sets streams and groups. Returns false if out of memory. */
static bool find_streams(collector *c) {
    const tm_timeline *t = c->timeline;
    c->streams = calloc(t->n_tracks + 1, sizeof *c->streams);
    c->groups = calloc(t->n_tracks + 1, sizeof *c->groups);
    if (!c->streams || !c->groups)
        return false;
    for (size_t k = 0; k < t->n_tracks; k++) {
        const size_t i = tm_timeline_collectives_from(t, t->tracks[k].first);
        const tm_collective_attr *row = (tm_collective_attr *)t->attrs[TM_ATTR_COLLECTIVE] + i;
        const bool on_host = t->tracks[k].kind != TM_TRACK_GPU &&
                             i < t->n_attrs[TM_ATTR_COLLECTIVE] &&
                             row->event < t->tracks[k].first + t->tracks[k].count;
        c->streams[k] = (uint32_t)k;
        c->groups[k] = on_host ? row->group : TM_NO_NAME;
        for (size_t before = 0; before < k && c->groups[k] != TM_NO_NAME; before++)
            if (c->groups[before] == c->groups[k]) {
                c->streams[k] = c->streams[before];
                break;
            }
    }
    return true;
}

/* Adds a kernel to the input of inference. Its `way` says whether it has already been matched by
 * its metadata. */
static tm_status add_to_stream(collector *c, const tm_comm_record *record, uint64_t signature,
                               tm_error *err) {
    tm_comm_record copy = *record;
    copy.key = stream_of(c, record->event) << TM_LANE_SHIFT;
    copy.process_group = signature;
    return tm_vec_append(&c->out->bare, &copy, 1) ? TM_OK : tm_fail_memory(err);
}

/* Adds a kernel whose group is unknown to the input of inference. In a job of one rank, the order
 * of kernels matches it instead. */
static tm_status add_bare(collector *c, const tm_collective_attr *attr, tm_error *err) {
    const tm_timeline *timeline = c->timeline;
    const tm_group own = tm_group_of_ranks(&timeline->rank, 1);
    uint32_t name = timeline->name[attr->event];
    const int64_t what[] = {attr->kind, attr->in_elements};
    tm_unmatched reason = exclusion(c, name, attr->kind);
    if (reason != TM_UNMATCHED_NOT)
        return tm_left_out_add(&c->out->left_out, "", -1, reason, err);
    tm_comm_record record = make_record(c, attr, &own);
    record.way = c->world_size > 1 ? TM_MATCH_INFERRED : TM_MATCH_ORDER;
    if (record.way == TM_MATCH_INFERRED) {
        record.group_size = (int32_t)c->world_size;
        return add_to_stream(c, &record,
                             attr->name == TM_NO_NAME ? signature_of(tm_names_text(c->names, name))
                                                      : tm_hash_mixed(0, what, sizeof what),
                             err);
    }
    bool ok = place(c, &record) && tm_vec_append(&c->out->records, &record, 1);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* If a kernel with metadata is on a stream that also has kernels without metadata, adds it to the
 * input of inference, as evidence for these. Its signature includes the group. */
static tm_status add_context(collector *c, const tm_comm_record *record, tm_error *err) {
    uint64_t signature[2] = {
        record->process_group,
        signature_of(tm_names_text(c->names, c->timeline->name[record->event]))};
    if (!c->is_bare[stream_of(c, record->event)])
        return TM_OK;
    return add_to_stream(c, record, tm_hash_mixed(0, signature, sizeof signature), err);
}

static tm_status add_kernel(collector *c, const tm_collective_attr *attr, tm_error *err) {
    tm_vec *left_out = &c->out->left_out;
    tm_group group;
    TM_TRY(tm_group_find(c->out->groups, attr, &group, err));
    tm_comm_record record = make_record(c, attr, &group);
    bool matched = false;
    TM_TRY(add_context(c, &record, err));
    if (!group.known)
        return tm_left_out_add(left_out, group.text, group.n_ranks, TM_UNMATCHED_GROUP, err);
    if (!place_record(c, &record, attr, &matched))
        return tm_fail_memory(err);
    if (!matched)
        return tm_left_out_add(left_out, group.text, group.n_ranks, TM_UNMATCHED_PEER, err);
    return tm_vec_append(&c->out->records, &record, 1) ? TM_OK : tm_fail_memory(err);
}

/* A kernel to sort by launch, then by start: all ranks launch a communicator's operations in the
 * same order, but kernels on two streams may start in any order. */
typedef struct ordered {
    int64_t launch_ns; /* time of the launch; the kernel's start if the launch is unknown */
    int64_t begin_ns;
    uint32_t attr; /* index of the kernel's attributes; breaks ties */
} ordered;

TM_ORDER_BY(by_begin, ordered, launch_ns, begin_ns, attr);

/* Returns whether the group of a kernel must be inferred from the traces of all ranks: the kernel
 * has no metadata, or is an operation on the host whose ranks are not recorded. */
static bool is_without_group(const collector *c, const tm_collective_attr *attr) {
    const bool on_host = tm_timeline_track(c->timeline, attr->event)->kind != TM_TRACK_GPU;
    return attr->name == TM_NO_NAME || (on_host && attr->group_ranks == TM_NO_NAME);
}

/* Sorts the rank's communication kernels by launch. */
static tm_status order_kernels(collector *c, tm_vec *out, tm_error *err) {
    const tm_timeline *timeline = c->timeline;
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COLLECTIVE]; i++) {
        if (timeline->role[attrs[i].event] != TM_ROLE_COMMUNICATION)
            continue; /* a CPU operator, not a kernel */
        if (is_without_group(c, &attrs[i]))
            c->is_bare[stream_of(c, attrs[i].event)] = true;
        uint32_t event = attrs[i].event, launch = timeline->launch[event];
        int64_t begin = timeline->begin_ns[event];
        ordered kernel = {launch == TM_NO_EVENT ? begin : timeline->begin_ns[launch], begin,
                          (uint32_t)i};
        if (!tm_vec_append(out, &kernel, 1))
            return tm_fail_memory(err);
    }
    tm_vec_sort(out, by_begin);
    return TM_OK;
}

tm_status tm_match_add_rank(const tm_timeline *timeline, const tm_names *names, int64_t world_size,
                            int origin, tm_match_input *out, tm_error *err) {
    collector c = {.timeline = timeline,
                   .names = names,
                   .world_size = world_size,
                   .origin = origin,
                   .out = out,
                   .used = TM_VEC(stream),
                   .has_steps = tm_match_has_steps(timeline),
                   .transfers_alone =
                       tm_trace_holds_transfers_alone(tm_timeline_metadata(timeline))};
    tm_vec kernels = TM_VEC(ordered);
    const tm_collective_attr *attrs = timeline->attrs[TM_ATTR_COLLECTIVE];
    c.is_bare = calloc(timeline->n_tracks + 1, sizeof *c.is_bare);
    tm_status status = c.is_bare && find_streams(&c) ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_classifier_create(NULL, &c.classifier, err);
    if (status == TM_OK && !out->groups)
        status = tm_group_finder_create(names, world_size, &out->groups, err);
    if (status == TM_OK)
        status = tm_group_finder_enter(out->groups, timeline, err);
    if (status == TM_OK)
        status = order_kernels(&c, &kernels, err);
    for (size_t i = 0; i < kernels.n && status == TM_OK; i++) {
        const tm_collective_attr *attr = &attrs[((const ordered *)kernels.data)[i].attr];
        status = is_without_group(&c, attr) ? add_bare(&c, attr, err) : add_kernel(&c, attr, err);
    }
    free(c.is_bare);
    free(c.streams);
    free(c.groups);
    tm_classifier_destroy(c.classifier);
    tm_vec_free(&c.used);
    tm_vec_free(&kernels);
    return status;
}
