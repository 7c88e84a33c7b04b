/* Writes what a trace file has before and after its events. The layout is that of Kineto since
 * 2025-03, in which baseTimeNanoseconds comes before the events. Blanks and line breaks are as
 * Kineto writes them, because some readers split files at them. */
#include "kineto_frame.h"

#include <stdio.h>

#include "synth/base/rng.h"

/* Sort index of the GPUs in Perfetto and chrome://tracing: after all processes. */
#define GPU_SORT_INDEX 5000000

/* A card's properties (H100 SXM) as Kineto prints them, with its stray comma line. */
static const char device_properties[] =
    ", \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85028372480,\n"
    "      \"computeMajor\": 9, \"computeMinor\": 0,\n"
    "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
    "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n"
    "      \"sharedMemPerBlock\": 49152, \"numSms\": 132\n"
    "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
    "\"sharedMemPerMultiprocessor\": 233472\n    }";

/* Writes the properties of all cards of the host, because every process sees all of them. */
static void devices(tms_out *out, const tms_config *config) {
    tms_out_string(out, "    \"deviceProperties\": [\n");
    for (int64_t i = 0; i < config->host_ranks; i++) {
        tms_out_string(out, i > 0 ? ",\n    {\n      \"id\": " : "    {\n      \"id\": ");
        tms_out_int(out, i);
        tms_out_string(out, device_properties);
    }
    tms_out_string(out, "\n    ],\n");
}

/* Writes a group in torch's list, with all of its ranks. Torch cuts only the lists in kernels. */
static void group(tms_out *out, const tms_channel *channel, bool first) {
    tms_out_string(out, first ? "{\"pg_name\": \"" : ", {\"pg_name\": \"");
    tms_out_int(out, channel->name);
    tms_out_string(out, "\", \"pg_desc\": \"");
    tms_out_string(out, channel->description);
    tms_out_string(out, "\", \"backend_config\": \"cuda:nccl\", \"pg_size\": ");
    tms_out_int(out, channel->group.size);
    tms_out_string(out, ", \"ranks\": [");
    for (int64_t i = 0; i < channel->group.size; i++) {
        tms_out_string(out, i > 0 ? ", " : "");
        tms_out_int(out, tms_ranks_at(&channel->group, i));
    }
    tms_out_string(out, "]}");
}

/* Writes the members that torch adds: the rank, and the groups of the rank. (Nothing else in the
 * trace states the rank reliably.) A stage has a pair with each of its neighbours, but both pairs
 * have the same group. */
static void distributed_info(tms_out *out, const tms_groups *groups,
                             const tms_placement *placement) {
    static const tms_role order[] = {TMS_ROLE_WORLD, TMS_ROLE_DATA, TMS_ROLE_TENSOR,
                                     TMS_ROLE_PREVIOUS, TMS_ROLE_NEXT};
    const tms_channel *channels[TMS_ROLE_COUNT] = {NULL};
    int64_t count = 0;

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const tms_channel *channel = tms_groups_channel(groups, placement, order[i]);

        if (channel != NULL && (count == 0 || channels[count - 1]->name != channel->name)) {
            channels[count++] = channel;
        }
    }
    tms_out_string(out, "      \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ");
    tms_out_int(out, placement->rank);
    tms_out_string(out, ", \"world_size\": ");
    tms_out_int(out, groups->config->ranks);
    tms_out_string(out, ", \"pg_count\": ");
    tms_out_int(out, count);
    tms_out_string(out, ", \"pg_config\": [");
    for (int64_t i = 0; i < count; i++) {
        group(out, channels[i], i == 0);
    }
    tms_out_string(out, "], \"nccl_version\": \"2.28.9\"},\n");
}

void tms_kineto_header(tms_out *out, const tms_groups *groups, const tms_placement *placement) {
    const tms_config *config = groups->config;
    /* Random numbers that no step uses: UINT64_MAX - 1 is not the number of a step. */
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)placement->rank, UINT64_MAX - 1);
    uint64_t high = tms_rng_next(&rng);
    uint64_t low = tms_rng_next(&rng);
    char text[64];

    /* Kineto's files begin with white space, which readers must skip. */
    tms_out_string(out, "\n  {\n    \"schemaVersion\": 1,\n");
    devices(out, config);
    tms_out_string(out, "      \"cupti_version\": 24,\n"
                        "      \"cuda_runtime_version\": 12060,\n"
                        "      \"cuda_driver_version\": 12080,\n");
    distributed_info(out, groups, placement);
    tms_out_string(out, "      \"host_name\": \"host");
    tms_out_int(out, placement->host);
    (void)snprintf(text, sizeof text, "%016llX%016llX", (unsigned long long)high,
                   (unsigned long long)low);
    tms_out_string(out, "\",\n      \"record_shapes\": 1,\n      \"profile_memory\": 1,\n"
                        "      \"trace_id\": \"");
    tms_out_string(out, text);
    tms_out_string(out, "\",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
    tms_out_int(out, TMS_BASE_NS);
    tms_out_string(out, ",\n  \"traceEvents\": [\n");
}

/* Writes the start of a metadata event ("ph": "M"). The caller must write the event's argument and
 * end the event. */
static void metadata(tms_out *out, const char *name, int64_t ts_ns, int64_t pid, int64_t tid) {
    tms_out_string(out, "  {\n    \"name\": \"");
    tms_out_string(out, name);
    tms_out_string(out, "\", \"ph\": \"M\", \"ts\": ");
    tms_out_us(out, ts_ns);
    tms_out_string(out, ", \"pid\": ");
    tms_out_int(out, pid);
    tms_out_string(out, ", \"tid\": ");
    tms_out_int(out, tid);
    tms_out_string(out, ",\n    \"args\": {\n      ");
}

static void end_metadata(tms_out *out) {
    tms_out_string(out, "\n    }\n  },\n");
}

/* Writes a process, or a GPU, which the format treats as a process. */
static void process(tms_out *out, int64_t ts_ns, int64_t pid, bool gpu) {
    metadata(out, "process_name", ts_ns, pid, 0);
    tms_out_string(out, "\"name\": \"python\"");
    end_metadata(out);
    metadata(out, "process_labels", ts_ns, pid, 0);
    tms_out_string(out, gpu ? "\"labels\": \"GPU " : "\"labels\": \"CPU");
    if (gpu) {
        tms_out_int(out, pid);
    }
    tms_out_string(out, "\"");
    end_metadata(out);
    metadata(out, "process_sort_index", ts_ns, pid, 0);
    tms_out_string(out, "\"sort_index\": ");
    tms_out_int(out, gpu ? GPU_SORT_INDEX + pid : pid);
    end_metadata(out);
}

/* Writes a thread or a stream. The format distinguishes them only by name. */
static void thread(tms_out *out, int64_t ts_ns, const tms_placement *placement, tms_track track) {
    bool gpu = tms_track_gpu(track);
    int64_t pid = placement->pid[track];
    int64_t tid = placement->tid[track];

    metadata(out, "thread_name", ts_ns, pid, tid);
    tms_out_string(out, gpu ? "\"name\": \"stream " : "\"name\": \"thread ");
    tms_out_int(out, tid);
    tms_out_string(out, track == TMS_TRACK_HOST       ? " (python)\""
                        : track == TMS_TRACK_AUTOGRAD ? " (pt_autograd_0)\""
                                                      : " \"");
    end_metadata(out);
    metadata(out, "thread_sort_index", ts_ns, pid, tid);
    tms_out_string(out, "\"sort_index\": ");
    tms_out_int(out, tid);
    end_metadata(out);
}

int64_t tms_kineto_footer(tms_out *out, const tms_config *config, const tms_placement *placement,
                          tms_window window, const char *name) {
    int64_t begin_ns = window.begin_ns;
    int64_t end_ns = window.end_ns;

    process(out, begin_ns, placement->pid[TMS_TRACK_HOST], false);
    /* Kineto names all GPUs of the host, including those that this process never used. */
    for (int64_t i = 0; i < config->host_ranks; i++) {
        process(out, begin_ns, i, true);
    }
    for (int i = 0; i < TMS_TRACK_COUNT; i++) {
        if (tms_placement_used(config, placement, (tms_track)i)) {
            thread(out, begin_ns, placement, (tms_track)i);
        }
    }
    /* The profiler's own event has strings in place of numeric ids. Readers must accept this. */
    tms_out_string(out, "  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
    tms_out_us(out, begin_ns);
    tms_out_string(out, ", \"dur\": ");
    tms_out_us(out, end_ns - begin_ns);
    tms_out_string(out, ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n"
                        "    \"name\": \"PyTorch Profiler (0)\",\n    \"args\": {\n"
                        "      \"Op count\": 0\n    }\n  },\n"
                        "  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ");
    tms_out_us(out, begin_ns);
    tms_out_string(out, ",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n"
                        "      \"sort_index\": 536870912\n    }\n  },\n"
                        "  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", "
                        "\"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", "
                        "\"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
    tms_out_us(out, begin_ns);
    tms_out_string(out, "\n  },\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", "
                        "\"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": ");
    /* After the last step, the profiler takes a while to collect the records: 20 ms here. */
    tms_out_us(out, end_ns + 20000000);
    tms_out_string(out, "\n  }\n  ],\n  \"traceName\": \"");
    tms_out_string(out, name);
    tms_out_string(out, "\"\n}");
    /* Three events: the profiler's own event, "Iteration Start" and "Record Window End". */
    return 3;
}
