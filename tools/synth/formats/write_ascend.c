/* Writes a rank as torch_npu's profiler of an Ascend NPU does: a JSON array of events with times as
 * strings, and with the vendor's own overlap tracks. Rounded to nanoseconds, starts and ends equal
 * those of the Kineto format. Lengths of device events have an error of up to 499 ps. This profiler
 * does not record launch shapes, the allocator's memory, copies of annotations on the device's
 * tracks, and which ranges are operators, so they are left out. A memset is written as a copy on
 * the device. A collective is identified by the number of its group, and by its index among the
 * group's collectives in the file. The thread that runs the operators makes the calls, as torch_npu
 * does without its queue. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"
#include "synth/base/text_out.h"
#include "writer.h"

/* Processes that a rank has besides the Python process. The values are indices in the profiler's
 * list. */
typedef enum process {
    PYTHON = -1,
    CANN = 7,
    HARDWARE = 13,
    FREQUENCY = 14,
    HCCL = 15,
    OVERLAP = 23
} process;

/* The overlap tracks, by number. */
enum { COMPUTING, COMMUNICATION, NOT_OVERLAPPED, FREE, LANE_COUNT };

static const char *const lane_names[LANE_COUNT] = {"Computing", "Communication",
                                                   "Communication(Not Overlapped)", "Free"};

/* A time or length in microseconds with three decimals. */
#define US "%" PRId64 ".%03d"
#define AS_US(ns) (ns) / 1000, (int)((ns) % 1000)

/* The start of an operator. The array of starts is indexed by External id. */
typedef struct start {
    int64_t begin_ns;
    int64_t tid;
} start;

/* The start or end of a kernel, for the overlap tracks. */
typedef struct edge {
    int64_t time_ns;
    int lane; /* COMPUTING or COMMUNICATION */
    int change;
} edge;

typedef struct ascend {
    tms_writer writer;
    const tms_plan *plan; /* borrowed */
    char *path;           /* owned; the file's */
    tms_sink *sink;       /* owned */
    tms_out out;
    tms_placement placement;
    tms_bytes starts;   /* array of start, by External id */
    tms_bytes edges;    /* array of edge, for all kernels */
    int64_t first_step; /* number of the first step in the file; -1: not yet known */
    bool began;         /* the array is not empty */
} ascend;

static void name_file(char *name, size_t size, const tms_config *config, int64_t rank) {
    tms_placement placement = tms_placement_of(config, rank);

    (void)snprintf(name, size,
                   "host%" PRId64 "_%" PRId64 "_20251201000000000_ascend_pt/"
                   "ASCEND_PROFILER_OUTPUT/trace_view.json",
                   placement.host, placement.pid[TMS_TRACK_HOST]);
}

static void destroy(ascend *file) {
    free(file->path);
    free(file->starts.data);
    free(file->edges.data);
    tms_out_free(&file->out);
    free(file);
}

static void abandon(tms_writer *writer) {
    ascend *file = (ascend *)writer;

    if (file != NULL) {
        tms_sink_abandon(file->sink);
        destroy(file);
    }
}

static tms_status open_file(tms_writer **writer, const tms_plan *plan, int64_t rank,
                            const char *path, tms_error *err) {
    ascend *made = calloc(1, sizeof *made);
    tms_status status;

    (void)rank;
    if (made == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace");
    }
    made->path = malloc(strlen(path) + 1);
    status = made->path == NULL || !tms_out_init(&made->out, NULL)
                 ? tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace")
                 : tms_sink_open(&made->sink, path, plan->config->compress, err);
    if (status != TMS_OK) {
        abandon(&made->writer);
        return status;
    }
    memcpy(made->path, path, strlen(path) + 1);
    made->writer.format = &tms_format_ascend;
    made->plan = plan;
    made->out.sink = made->sink;
    *writer = &made->writer;
    return TMS_OK;
}

static tms_status begin(tms_writer *writer, int64_t rank, tms_error *err) {
    ascend *file = (ascend *)writer;

    (void)err;
    file->placement = tms_placement_of(file->plan->config, rank);
    file->first_step = -1;
    return TMS_OK;
}

/* Appends text, which must fit: the longest is a kernel's name of 400 characters with about 400
 * around it. */
__attribute__((format(printf, 2, 3))) static void print(ascend *file, const char *format, ...) {
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tms_out_string(&file->out, text);
}

/* Returns the number of a process in the trace. The profiler derives the numbers from the number of
 * the Python process. */
static int64_t pid_of(const ascend *file, process of) {
    int64_t pid = file->placement.pid[TMS_TRACK_HOST];

    return of == PYTHON ? pid : pid << 10 | (int64_t)of << 5 | file->placement.device;
}

/* Begins an event on a track; the caller closes its braces. */
static void print_event(ascend *file, const char *ph, process of, int64_t tid) {
    print(file, "%s{\"ph\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64,
          file->began ? ", " : "[", ph, pid_of(file, of), tid);
    file->began = true;
}

/* Writes an event with a length of up to six decimals. */
static void print_span(ascend *file, process of, int64_t tid, const char *name, int64_t begin_ns,
                       int64_t length_ps) {
    print_event(file, "X", of, tid);
    print(file, ", \"name\": \"%s\", \"ts\": \"" US "\", \"dur\": %" PRId64, name, AS_US(begin_ns),
          length_ps / 1000000);
    if (length_ps % 1000000 != 0) {
        print(file, ".%06d", (int)(length_ps % 1000000));
    }
    file->writer.count++;
}

/* Writes an arrow's start ("s") or end ("f"). Ids are strings, because real ones exceed 64 bits. */
static void print_arrow(ascend *file, const char *ph, const char *what, process of, int64_t tid,
                        int64_t ts_ns) {
    print_event(file, ph, of, tid);
    print(file, ", \"bp\": \"e\", %s, \"ts\": \"" US "\"}", what, AS_US(ts_ns));
}

/* Makes the JSON members of both ends of an arrow from a call to its device event. */
static void name_launch(char text[160], int64_t correlation, bool collective) {
    char id[32];

    (void)snprintf(id, sizeof id, collective ? "1%010" PRId64 "4294967295" : "%" PRId64,
                   correlation);
    (void)snprintf(text, 160,
                   "\"cat\": \"HostToDevice\", \"name\": \"HostToDevice%s\", \"id\": \"%s\"", id,
                   id);
}

/* Writes the list @p name of the catalogue's arguments, as this profiler writes lists. For example,
 * [[1, 2], [3]] becomes "1,2;\r\n3". */
static void print_list(ascend *file, const char *args, const char *name) {
    const char *p = strstr(args, name);
    int depth = 0;

    if (p == NULL) {
        return;
    }
    print(file, ", %s: \"", name);
    for (p += strlen(name) + 2; *p != ']' || depth > 1; p++) {
        depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        if (*p == ',' && depth == 1) {
            print(file, ";\\r\\n");
        } else if (strchr("[]\" ", *p) == NULL) {
            tms_out_text(&file->out, p, 1);
        }
    }
    print(file, "\"");
}

/* Writes an operator, a step or another range. In the format, these look the same. */
static void write_range(ascend *file, const tms_event *event, const tms_comm *comm) {
    const tms_kind_info *info = tms_kind_get(event->kind);
    start begins = {event->begin_ns, file->placement.tid[event->track]};
    size_t at = (size_t)event->external_id * sizeof begins;
    int64_t number = info->number == TMS_NUMBER_STEP ? event->value : comm != NULL ? comm->peer : 0;
    char text[160];

    (void)snprintf(text, sizeof text, info->number == TMS_NUMBER_NONE ? "%s" : "%s%" PRId64,
                   info->name, number);
    print_span(file, PYTHON, begins.tid, text, event->begin_ns, event->duration_ns * 1000);
    print(file,
          ", \"cat\": \"cpu_op\", \"args\": {\"Sequence number\": %" PRId64
          ", \"Fwd thread id\": %d",
          info->shape == TMS_SHAPE_OP && event->value != 0 ? event->value : -1,
          event->track == TMS_TRACK_AUTOGRAD);
    if (info->args != NULL) {
        print_list(file, info->args, "\"Input Dims\"");
        print_list(file, info->args, "\"Input type\"");
    }
    print(file, "}}");
    if (info->shape == TMS_SHAPE_OP && info->flow != TMS_FLOW_NONE) {
        (void)snprintf(text, sizeof text,
                       "\"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"id\": %" PRId64, event->value);
        print_arrow(file, info->flow == TMS_FLOW_OUT ? "s" : "f", text, PYTHON, begins.tid,
                    event->begin_ns);
    }
    while (file->starts.size < at + sizeof begins && !file->starts.failed) {
        tms_bytes_put(&file->starts, &(start){0, 0}, sizeof begins);
    }
    if (!file->starts.failed) {
        memcpy(file->starts.data + at, &begins, sizeof begins);
    }
}

static void write_call(ascend *file, const tms_event *event) {
    static const char *const names[TMS_KIND_COUNT] = {
        [TMS_RT_LAUNCH] = "Node@launch",
        [TMS_RT_LAUNCH_EX] = "Node@launch",
        [TMS_RT_MEMCPY] = "AscendCL@aclrtMemcpyAsync",
        [TMS_RT_MEMSET] = "AscendCL@aclrtMemsetAsync",
        [TMS_RT_EVENT_RECORD] = "AscendCL@aclrtRecordEvent",
        [TMS_RT_WAIT_EVENT] = "AscendCL@aclrtStreamWaitEvent",
        [TMS_RT_SYNCHRONIZE] = "AscendCL@aclrtSynchronizeDevice",
        [TMS_RT_STREAM_SYNCHRONIZE] = "AscendCL@aclrtSynchronizeStreamWithTimeout",
    };
    int64_t tid = file->placement.tid[event->track];
    bool node = event->kind == TMS_RT_LAUNCH || event->kind == TMS_RT_LAUNCH_EX;
    char text[160];

    print_span(file, CANN, tid, names[event->kind], event->begin_ns, event->duration_ns * 1000);
    print(file,
          ", \"args\": {\"Thread Id\": %" PRId64 ", \"Mode\": \"%s\", \"level\": \"%s\", "
          "\"item_id\": \"0\", \"connection_id\": %" PRId64 "}}",
          tid, node ? "launch" : "ACL_RTS", node ? "node" : "acl", event->correlation);
    if (node || event->kind == TMS_RT_MEMCPY || event->kind == TMS_RT_MEMSET) {
        name_launch(text, event->correlation, event->kind == TMS_RT_LAUNCH_EX);
        print_arrow(file, "s", text, CANN, tid, event->begin_ns);
    }
}

/* Writes the two arrows to a device event: from its call, and from its operator. */
static void print_arrows(ascend *file, const tms_event *event, process of, int64_t tid,
                         bool collective) {
    size_t at = (size_t)event->external_id * sizeof(start);
    char text[160];

    name_launch(text, event->correlation, collective);
    print_arrow(file, "f", text, of, tid, event->begin_ns);
    if (event->external_id != 0 && at < file->starts.size) {
        start from;

        memcpy(&from, file->starts.data + at, sizeof from);
        (void)snprintf(text, sizeof text,
                       "\"cat\": \"async_npu\", \"name\": \"torch_to_npu\", \"id\": %" PRId64,
                       event->begin_ns);
        print_arrow(file, "s", text, PYTHON, from.tid, from.begin_ns);
        print_arrow(file, "f", text, of, tid, event->begin_ns);
    }
}

static void print_task(ascend *file, const tms_event *event, const char *name, const char *type,
                       int64_t begin_ns, int64_t length_ps) {
    int64_t stream = file->placement.tid[event->track];

    print_span(file, HARDWARE, stream, name, begin_ns, length_ps);
    print(file,
          ", \"args\": {\"Model Id\": 4294967295, \"Task Type\": \"%s\", "
          "\"Physic Stream Id\": %" PRId64 ", \"Task Id\": %" PRId64 ", \"Batch Id\": 0, "
          "\"Subtask Id\": 4294967295, \"connection_id\": %" PRId64,
          type, stream, event->correlation & 65535, event->correlation);
}

/* Returns the length of a device event [ps]. Adds an error of up to 499 ps unless the length is 0.
 */
static int64_t length_ps(const tms_event *event) {
    return event->duration_ns * 1000 + (event->duration_ns > 0 ? event->begin_ns % 999 - 499 : 0);
}

/* Adds a kernel to the overlap tracks. */
static void note(ascend *file, const tms_event *event, int lane) {
    edge begins = {event->begin_ns, lane, 1};
    edge ends = {event->begin_ns + event->duration_ns, lane, -1};

    tms_bytes_put(&file->edges, &begins, sizeof begins);
    tms_bytes_put(&file->edges, &ends, sizeof ends);
}

static void write_kernel(ascend *file, const tms_event *event) {
    print_task(file, event, tms_kind_get(event->kind)->name, "AI_CORE", event->begin_ns,
               length_ps(event));
    print(file, "}}");
    print_arrows(file, event, HARDWARE, file->placement.tid[event->track], false);
    note(file, event, COMPUTING);
}

static void write_copy(ascend *file, const tms_event *event) {
    bool set = event->kind == TMS_GPU_MEMSET;

    print_task(file, event, "MEMCPY_ASYNC", set ? "SDMA_SQE" : "PCIE_DMA_SQE", event->begin_ns,
               length_ps(event));
    print(file, ", \"memcpy direction\": \"%s to device\", \"data size(Byte)\": %" PRId64 "}}",
          set ? "device" : "host", event->value);
    print_arrows(file, event, HARDWARE, file->placement.tid[event->track], false);
}

/* Writes a collective on its group's track, and the two tasks of which it consists. */
static void write_collective(ascend *file, const tms_events *events, const tms_event *event,
                             const tms_comm *comm) {
    static const char *const names[TMS_COLLECTIVE_COUNT] = {
        [TMS_ALL_REDUCE] = "allReduce",
        [TMS_ALL_GATHER] = "allGather",
        [TMS_REDUCE_SCATTER] = "reduceScatter",
        [TMS_BROADCAST] = "broadcast",
        [TMS_SEND] = "send",
        [TMS_RECV] = "receive",
    };
    static const char *const types[] = {"BFP16", "FP32", "INT64"};
    const tms_groups *groups = &file->plan->groups;
    const tms_channel *channel = tms_groups_channel(groups, &file->placement, comm->role);
    int64_t count = comm->bytes / tms_dtype_get(comm->dtype)->bytes;
    int64_t wait_ns = event->duration_ns / 3;
    int64_t lane = 2 * (int64_t)comm->role;
    char name[96];

    /* For these two kinds, the profiler records the number of elements of one rank. */
    if (comm->what == TMS_ALL_GATHER || comm->what == TMS_REDUCE_SCATTER) {
        count /= channel->ranks.size;
    }
    /* The three digits stand for the hash in real names. They differ for up to 1000 groups. */
    (void)snprintf(name, sizeof name, "hcom_%s__%03d_%" PRId64 "_1", names[comm->what],
                   (int)((channel - groups->channels) * 387 + 586) % 1000,
                   (events->step - file->first_step) * channel->n_instances + comm->index);
    print_span(file, HCCL, lane, name, event->begin_ns, length_ps(event));
    print(file,
          ", \"args\": {\"connection_id\": %" PRId64 ", \"model id\": 4294967295, "
          "\"data_type\": \"%s\", \"alg_type\": \"RING\", \"count\": %" PRId64 "}}",
          event->correlation, types[comm->dtype], count);
    print_arrows(file, event, HCCL, lane, true);
    print_task(file, event, "Notify Wait", "Notify Wait", event->begin_ns, wait_ns * 1000);
    print(file, "}}");
    print_task(file, event, "SDMA", "SDMA", event->begin_ns + wait_ns,
               (event->duration_ns - wait_ns) * 1000);
    print(file, "}}");
    note(file, event, COMMUNICATION);
}

static void write_event(ascend *file, const tms_events *events, const tms_event *event,
                        const tms_comm *comm) {
    switch (tms_kind_get(event->kind)->shape) {
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
        write_range(file, event, comm);
        break;
    case TMS_SHAPE_RUNTIME:
        write_call(file, event);
        break;
    case TMS_SHAPE_KERNEL:
        write_kernel(file, event);
        break;
    case TMS_SHAPE_COMM:
        if (comm != NULL) {
            write_collective(file, events, event, comm);
        }
        break;
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
        write_copy(file, event);
        break;
    case TMS_SHAPE_INSTANT:
    case TMS_SHAPE_GPU_ANNOTATION:
    case TMS_SHAPE_COUNT:
        break;
    }
}

static void write_events(tms_writer *writer, const tms_events *events, tms_section section) {
    ascend *file = (ascend *)writer;

    file->first_step = file->first_step < 0 ? events->step : file->first_step;
    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];

        if (tms_events_section(event->kind, event->track) == section) {
            write_event(file, events, event,
                        event->comm > 0 ? &events->comms[event->comm - 1] : NULL);
        }
    }
}

static int compare_edges(const void *a, const void *b) {
    const edge *x = a;
    const edge *y = b;

    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Writes the vendor's overlap tracks. Goes through all starts and ends in order. */
static void write_lanes(ascend *file) {
    edge *edges = (edge *)(void *)file->edges.data;
    size_t n = file->edges.size / sizeof *edges;
    int running[2] = {0, 0};
    int64_t since_ns[LANE_COUNT] = {0};
    bool open[LANE_COUNT] = {false};

    if (n > 0) {
        qsort(edges, n, sizeof *edges, compare_edges);
    }
    for (size_t i = 0; i < n; i++) {
        int64_t now_ns = edges[i].time_ns;
        bool now[LANE_COUNT];

        running[edges[i].lane] += edges[i].change;
        if (i + 1 < n && edges[i + 1].time_ns == now_ns) {
            continue;
        }
        now[COMPUTING] = running[COMPUTING] > 0;
        now[COMMUNICATION] = running[COMMUNICATION] > 0;
        now[NOT_OVERLAPPED] = now[COMMUNICATION] && !now[COMPUTING];
        now[FREE] = !now[COMMUNICATION] && !now[COMPUTING] && i + 1 < n;
        for (int lane = 0; lane < LANE_COUNT; lane++) {
            if (open[lane] && !now[lane]) {
                print_span(file, OVERLAP, lane, lane_names[lane], since_ns[lane],
                           (now_ns - since_ns[lane]) * 1000);
                print(file, "}");
            } else if (!open[lane] && now[lane]) {
                since_ns[lane] = now_ns;
            }
            open[lane] = now[lane];
        }
    }
}

static void print_name(ascend *file, const char *what, process of, int64_t tid, const char *name) {
    print_event(file, "M", of, tid);
    print(file, ", \"name\": \"%s\", \"args\": {\"name\": \"%s\"}}", what, name);
}

static void write_names(ascend *file) {
    const tms_placement *placement = &file->placement;
    char text[64];

    print_name(file, "process_name", PYTHON, 0, "Python");
    print_name(file, "process_name", CANN, 0, "CANN");
    print_name(file, "process_name", HARDWARE, 0, "Ascend Hardware");
    print_name(file, "process_name", FREQUENCY, 0, "AI Core Freq");
    print_name(file, "process_name", HCCL, 0, "HCCL");
    print_name(file, "process_name", OVERLAP, 0, "Overlap Analysis");
    for (int track = 0; track < TMS_TRACK_COUNT; track++) {
        bool gpu = tms_track_gpu((tms_track)track);
        int64_t tid = placement->tid[track];

        if (tms_placement_used(file->plan->config, placement, (tms_track)track)) {
            (void)snprintf(text, sizeof text, "%s %" PRId64, gpu ? "Stream" : "Thread", tid);
            print_name(file, "thread_name", gpu ? HARDWARE : PYTHON, tid, text);
        }
        if (!gpu) {
            print_name(file, "thread_name", CANN, tid, text);
        }
    }
    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        if (tms_groups_channel(&file->plan->groups, placement, (tms_role)role) != NULL) {
            (void)snprintf(text, sizeof text, "Group %d Communication", role);
            print_name(file, "thread_name", HCCL, 2 * (int64_t)role, text);
        }
    }
    for (int lane = 0; lane < LANE_COUNT; lane++) {
        print_name(file, "thread_name", OVERLAP, lane, lane_names[lane]);
    }
}

static void end(tms_writer *writer, int64_t begin_ns, int64_t end_ns) {
    ascend *file = (ascend *)writer;
    int64_t n = writer->count;

    write_names(file);
    /* Writes two values of a counter, one of them as a string, because real files have both forms.
     */
    print_event(file, "C", FREQUENCY, 0);
    print(file, ", \"name\": \"AI Core Freq\", \"ts\": \"" US "\", \"args\": {\"MHz\": 1800}}",
          AS_US(begin_ns));
    print_event(file, "C", FREQUENCY, 0);
    print(file, ", \"name\": \"AI Core Freq\", \"ts\": \"" US "\", \"args\": {\"MHz\": \"1650\"}}",
          AS_US(end_ns));
    write_lanes(file);
    print(file, "]");
    tms_out_flush(&file->out);
    writer->count = n;
}

static bool failed(const tms_writer *writer) {
    return tms_sink_failed(((const ascend *)writer)->sink);
}

/* Writes the file that states the rank. It lies next to the trace's folder. */
static tms_status write_info(const ascend *file, tms_error *err) {
    tms_sink *sink;
    tms_status status;
    char *path = malloc(strlen(file->path) + 64);
    char *tail;
    char text[96];

    if (path == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a file name");
    }
    memcpy(path, file->path, strlen(file->path) + 1);
    tail = strstr(path, "/ASCEND_PROFILER_OUTPUT/");
    (void)snprintf(tail, 64, "/profiler_info_%" PRId64 ".json", file->placement.rank);
    status = tms_sink_open(&sink, path, TMS_COMPRESS_NONE, err);
    free(path);
    if (status != TMS_OK) {
        return status;
    }
    (void)snprintf(text, sizeof text,
                   "{\"rank_id\": %" PRId64 ", \"torch_npu_version\": \"2.1.0\"}\n",
                   file->placement.rank);
    tms_sink_write(sink, text, strlen(text));
    return tms_sink_commit(sink, err);
}

static tms_status commit(tms_writer *writer, tms_error *err) {
    ascend *file = (ascend *)writer;
    tms_status status = file->starts.failed || file->edges.failed
                            ? tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace")
                            : write_info(file, err);

    if (status == TMS_OK) {
        status = tms_sink_commit(file->sink, err);
        file->sink = NULL;
    }
    abandon(writer);
    return status;
}

const tms_format tms_format_ascend = {.name_file = name_file,
                                      .open = open_file,
                                      .begin = begin,
                                      .events = write_events,
                                      .end = end,
                                      .failed = failed,
                                      .commit = commit,
                                      .abandon = abandon};
