/* Writes ranks as an Nsight Systems sqlite export, schema 3.25.
 *
 * All times equal those of the Kineto format to the nanosecond, but count from the session's start.
 * Nsight does not record shapes and groups of operators, sequence numbers, torch's allocations, and
 * the copies of annotations on the GPU's tracks, so they are left out. Operators and annotations
 * are NVTX ranges, as torch's emit_nvtx writes them. Steps are NVTX ranges, too, but without the ",
 * op_id" of operators. Ranks are written one after another, so rows are not in order of time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nsys_db.h"
#include "synth/base/rng.h"
#include "synth/sim/host_clock.h"
#include "write_nsys_facts.h"
#include "write_nsys_host.h"
#include "write_nsys_nccl.h"
#include "writer.h"

/* Number that selects the session's random numbers. For a step, the step's number does this.
 * injected_faults.c, simulated_rank.c and kineto_frame.c use other such values. */
#define SESSION_STREAM (UINT64_MAX - 3)

enum { NVTX_PUSH_POP = 59, NVTX_DOMAIN_CREATE = 75 };

enum {
    PAGEABLE = 0,
    PINNED = 1,
    DEVICE = 2,
    HOST_TO_DEVICE = 1,
    SYNC_STREAM = 3,
    SYNC_CONTEXT = 4
};

/* CUPTI's value for no event or no stream. */
#define NONE 4294967295

/* First ids of the strings. They are arbitrary, so that a reader cannot take ids for indices. Each
 * kind has two strings: its full name and its short name. */
enum { STRING_THREADS = 40, STRING_NCCL = 50, STRING_FULL = 1000, STRING_SHORT = 2000 };

/* Time [ns] from the start of an annotation of torch to the start of the NCCL call in it, and from
 * the end of the call to the end of the annotation. Opening and closing an annotation each take at
 * least this long (see cpu.c). */
#define NCCL_MARGIN_NS 200

typedef struct nsys {
    tms_writer writer;
    const tms_plan *plan; /* borrowed */
    tms_db *db;           /* owned */
    tms_nsys_session session;
    tms_placement placement; /* placement of the current rank */
    int64_t process;         /* the rank's globalPid */
    int64_t n_launches;
    bool communicates; /* the rank's communicators have been created */
} nsys;

/* Returns the version of the CUDA interface that Nsight appends to a call's name, such as "_v7000".
 */
static const char *runtime_version(tms_kind kind) {
    switch (kind) {
    case TMS_RT_LAUNCH:
        return "_v7000";
    case TMS_RT_LAUNCH_EX:
        return "_v11060";
    default:
        return "_v3020";
    }
}

/* Extracts the function's name without result type, namespaces, template arguments and parameters.
 */
static void short_name(char *name, size_t size, const char *full) {
    static const char anonymous[] = "(anonymous namespace)";
    const char *begin = full;
    const char *p = full;

    while (*p != '\0' && *p != '<') {
        if (strncmp(p, anonymous, sizeof anonymous - 1) == 0) {
            p += sizeof anonymous - 1;
            continue;
        }
        if (*p == '(') {
            break;
        }
        if (*p == ' ' || *p == ':') {
            begin = p + 1;
        }
        p++;
    }
    (void)snprintf(name, size, "%.*s", (int)(p - begin), begin);
}

/* Writes the names of runtime calls, kernels, NCCL's functions and threads as strings. */
static void write_strings(tms_db *db) {
    char name[128];

    for (int kind = 0; kind < TMS_KIND_COUNT; kind++) {
        const tms_kind_info *info = tms_kind_get((tms_kind)kind);

        if (info->shape == TMS_SHAPE_RUNTIME) {
            (void)snprintf(name, sizeof name, "%s%s", info->name, runtime_version((tms_kind)kind));
            TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_FULL + kind), TMS_TEXT(name));
        } else if (info->shape == TMS_SHAPE_KERNEL || info->shape == TMS_SHAPE_COMM) {
            short_name(name, sizeof name, info->name);
            TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_FULL + kind), TMS_TEXT(info->name));
            TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_SHORT + kind), TMS_TEXT(name));
        }
    }
    for (int i = 0; i < TMS_NCCL_COUNT; i++) {
        TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_NCCL + i), TMS_TEXT(tms_nccl_name(i)));
    }
    TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_THREADS), TMS_TEXT("python"));
    TMS_ROW(db, TMS_TABLE_STRING, TMS_INT(STRING_THREADS + 1), TMS_TEXT("pt_autograd_0"));
}

static tms_status open_file(tms_writer **writer, const tms_plan *plan, int64_t rank,
                            const char *path, tms_error *err) {
    const tms_config *config = plan->config;
    tms_placement placement = tms_placement_of(config, rank);
    tms_clock clock = tms_clock_of(plan, &placement);
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, SESSION_STREAM);
    nsys *made = calloc(1, sizeof *made);
    tms_status status;

    if (made == NULL) {
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace");
    }
    status = tms_db_open(&made->db, path, config->host_tables != 0, err);
    if (status != TMS_OK) {
        free(made);
        return status;
    }
    made->writer.format = &tms_format_nsys;
    made->plan = plan;
    /* Each session starts at another time, one to two seconds before the job, so that files can be
     * aligned only by their epochs. */
    made->session = (tms_nsys_session){
        .rank = rank,
        .host = placement.host,
        .begin_ns = tms_clock_recorded_ns(&clock, TMS_EPOCH_NS) -
                    tms_rng_range(&rng, INT64_C(1000000000), INT64_C(2000000000)),
    };
    tms_nsys_begin_facts(made->db, config, &made->session);
    write_strings(made->db);
    if (config->host_tables != 0) {
        tms_nsys_host_names(made->db);
    }
    *writer = &made->writer;
    return TMS_OK;
}

static int64_t since(const nsys *file, int64_t ns) {
    return ns - file->session.begin_ns;
}

static int64_t thread_of(const nsys *file, tms_track track) {
    return tms_nsys_thread(file->placement.pid[track], file->placement.tid[track]);
}

static tms_status begin(tms_writer *writer, int64_t rank, tms_error *err) {
    static const int64_t thread_names[2] = {STRING_THREADS, STRING_THREADS + 1};
    nsys *file = (nsys *)writer;

    (void)err;
    writer->count = 0;
    file->communicates = false;
    file->placement = tms_placement_of(file->plan->config, rank);
    file->process = tms_nsys_process(file->placement.pid[TMS_TRACK_HOST]);
    tms_nsys_rank_facts(file->db, file->plan->config, &file->placement, thread_names);
    tms_nccl_schemas(file->db);
    TMS_ROW(file->db, TMS_TABLE_NVTX, TMS_INT(0), TMS_NULL, TMS_INT(NVTX_DOMAIN_CREATE),
            TMS_TEXT("NCCL"), TMS_INT(thread_of(file, TMS_TRACK_HOST)), TMS_NULL,
            TMS_INT(TMS_NCCL_DOMAIN), TMS_NULL);
    return TMS_OK;
}

/* Writes a range of the default domain. */
static void write_range(nsys *file, const tms_event *event, const char *text) {
    int64_t begin_ns = since(file, event->begin_ns);

    TMS_ROW(file->db, TMS_TABLE_NVTX, TMS_INT(begin_ns), TMS_INT(begin_ns + event->duration_ns),
            TMS_INT(NVTX_PUSH_POP), TMS_TEXT(text), TMS_INT(thread_of(file, event->track)),
            TMS_NULL, TMS_INT(0), TMS_NULL);
    file->writer.count++;
}

/* Writes an NCCL call. Its name is a registered string. */
static void write_nccl(nsys *file, int function, tms_track track, int64_t begin_ns, int64_t end_ns,
                       tms_cell payload) {
    if (file->plan->config->no_metadata != 0) {
        payload = TMS_NULL;
    }
    TMS_ROW(file->db, TMS_TABLE_NVTX, TMS_INT(since(file, begin_ns)), TMS_INT(since(file, end_ns)),
            TMS_INT(NVTX_PUSH_POP), TMS_NULL, TMS_INT(thread_of(file, track)),
            TMS_INT(STRING_NCCL + function), TMS_INT(TMS_NCCL_DOMAIN), payload);
    file->writer.count++;
}

/* Writes the creation of communicators, within the 500 ns in which a step's first annotation opens.
 * So a rank starts with the same event as in the Kineto format, and covers the same time. */
static void write_communicators(nsys *file, int64_t begin_ns) {
    const tms_groups *groups = &file->plan->groups;

    for (int role = 0; role < TMS_ROLE_COUNT; role++) {
        const tms_channel *channel = tms_groups_channel(groups, &file->placement, (tms_role)role);
        int64_t at_ns = begin_ns + 50 + role * INT64_C(80);

        if (channel != NULL) {
            uint8_t payload[TMS_NCCL_BYTES];
            size_t size = tms_nccl_init(payload, groups, channel, &file->placement);

            write_nccl(file, TMS_NCCL_INIT, TMS_TRACK_HOST, at_ns, at_ns + 60,
                       TMS_BYTES(payload, size));
        }
    }
    file->communicates = true;
}

static void write_annotation(nsys *file, const tms_event *event, const tms_comm *comm) {
    const tms_kind_info *info = tms_kind_get(event->kind);
    const tms_channel *channel;
    uint8_t payload[TMS_NCCL_BYTES];
    size_t size;
    char text[160];
    int n;

    if (info->number == TMS_NUMBER_STEP) {
        (void)snprintf(text, sizeof text, "%s%" PRId64, info->name, event->value);
        write_range(file, event, text);
        return;
    }
    n = snprintf(text, sizeof text, "%s", info->name);
    if (comm == NULL) {
        (void)snprintf(text + n, sizeof text - (size_t)n, ", op_id = %" PRId64, event->external_id);
        write_range(file, event, text);
        if (!file->communicates && event->track == TMS_TRACK_HOST) {
            write_communicators(file, event->begin_ns);
        }
        return;
    }
    channel = tms_groups_channel(&file->plan->groups, &file->placement, comm->role);
    if (info->number == TMS_NUMBER_PEER) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%" PRId64 "%s%" PRId64,
                      tms_ranks_position(&channel->group, file->placement.rank),
                      comm->what == TMS_SEND ? "->" : "<-",
                      tms_ranks_position(&channel->group, comm->peer));
    }
    (void)snprintf(text + n, sizeof text - (size_t)n, ", op_id = %" PRId64, event->external_id);
    write_range(file, event, text);
    size = tms_nccl_call(payload, &file->plan->groups, channel, comm);
    write_nccl(file, (int)comm->what, event->track, event->begin_ns + NCCL_MARGIN_NS,
               event->begin_ns + event->duration_ns - NCCL_MARGIN_NS, TMS_BYTES(payload, size));
}

static void write_operator(nsys *file, const tms_event *event) {
    char text[160];
    int n = snprintf(text, sizeof text, "%s", tms_kind_get(event->kind)->name);

    if (event->value != 0) {
        n += snprintf(text + n, sizeof text - (size_t)n, ", seq = %" PRId64, event->value);
    }
    (void)snprintf(text + n, sizeof text - (size_t)n, ", op_id = %" PRId64, event->external_id);
    write_range(file, event, text);
}

/* Writes a call. If it waits for the GPU, also writes a synchronisation. */
static void write_runtime(nsys *file, const tms_event *event) {
    int64_t begin_ns = since(file, event->begin_ns);
    int64_t end_ns = begin_ns + event->duration_ns;
    bool context = event->kind == TMS_RT_SYNCHRONIZE;

    TMS_ROW(file->db, TMS_TABLE_RUNTIME, TMS_INT(begin_ns), TMS_INT(end_ns), TMS_INT(0),
            TMS_INT(thread_of(file, event->track)), TMS_INT(event->correlation),
            TMS_INT(STRING_FULL + event->kind), TMS_INT(0));
    file->writer.count++;
    if (context || event->kind == TMS_RT_STREAM_SYNCHRONIZE) {
        TMS_ROW(file->db, TMS_TABLE_SYNCHRONIZATION, TMS_INT(begin_ns), TMS_INT(end_ns),
                TMS_INT(file->placement.device), TMS_INT(1),
                TMS_INT(context ? NONE : file->placement.tid[TMS_TRACK_COMPUTE]),
                TMS_INT(event->correlation), TMS_INT(file->process),
                TMS_INT(context ? SYNC_CONTEXT : SYNC_STREAM), TMS_INT(NONE), TMS_INT(0));
        file->writer.count++;
    }
}

/* The cells of the first columns, which are the same for all GPU work. */
#define PLACE(file, event)                                                                         \
    TMS_INT(since(file, (event)->begin_ns)),                                                       \
        TMS_INT(since(file, (event)->begin_ns) + (event)->duration_ns),                            \
        TMS_INT((file)->placement.device), TMS_INT(1),                                             \
        TMS_INT((file)->placement.tid[(event)->track]), TMS_INT((event)->correlation),             \
        TMS_INT((file)->process)

static void write_kernel(nsys *file, const tms_event *event) {
    const tms_launch *launch = &tms_kind_get(event->kind)->launch;
    /* Kineto has only the sum of fixed and dynamic shared memory. Memory of a block over 48 KiB can
     * only be dynamic. */
    int64_t fixed = launch->shared_bytes % 1024;

    TMS_ROW(file->db, TMS_TABLE_KERNEL, PLACE(file, event), TMS_INT(STRING_FULL + event->kind),
            TMS_INT(STRING_SHORT + event->kind), TMS_INT(1), TMS_INT(1), TMS_INT(launch->registers),
            TMS_INT(launch->grid[0]), TMS_INT(launch->grid[1]), TMS_INT(launch->grid[2]),
            TMS_INT(launch->block[0]), TMS_INT(launch->block[1]), TMS_INT(launch->block[2]),
            TMS_INT(fixed), TMS_INT(launch->shared_bytes - fixed), TMS_INT(0), TMS_INT(0),
            TMS_INT(++file->n_launches), TMS_TEXT("[]"));
    file->writer.count++;
}

static void write_copy(nsys *file, const tms_event *event) {
    int64_t source = event->kind == TMS_GPU_MEMCPY_PAGEABLE ? PAGEABLE : PINNED;

    TMS_ROW(file->db, TMS_TABLE_MEMCPY, PLACE(file, event), TMS_INT(event->value),
            TMS_INT(HOST_TO_DEVICE), TMS_INT(source), TMS_INT(DEVICE), TMS_INT(0), TMS_INT(1));
    file->writer.count++;
}

static void write_set(nsys *file, const tms_event *event) {
    TMS_ROW(file->db, TMS_TABLE_MEMSET, PLACE(file, event), TMS_INT(0), TMS_INT(event->value),
            TMS_INT(DEVICE));
    file->writer.count++;
}

static void write_event(nsys *file, const tms_event *event, const tms_comm *comm) {
    switch (tms_kind_get(event->kind)->shape) {
    case TMS_SHAPE_OP:
        write_operator(file, event);
        break;
    case TMS_SHAPE_ANNOTATION:
        write_annotation(file, event, comm);
        break;
    case TMS_SHAPE_RUNTIME:
        write_runtime(file, event);
        break;
    case TMS_SHAPE_KERNEL:
    case TMS_SHAPE_COMM:
        write_kernel(file, event);
        break;
    case TMS_SHAPE_MEMCPY:
        write_copy(file, event);
        break;
    case TMS_SHAPE_MEMSET:
        write_set(file, event);
        break;
    case TMS_SHAPE_INSTANT:
    case TMS_SHAPE_GPU_ANNOTATION:
    case TMS_SHAPE_COUNT:
        break;
    }
}

static void write_events(tms_writer *writer, const tms_events *events, tms_section section) {
    nsys *file = (nsys *)writer;

    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];

        if (tms_events_section(event->kind, event->track) == section) {
            write_event(file, event, event->comm > 0 ? &events->comms[event->comm - 1] : NULL);
        }
    }
}

static void end(tms_writer *writer, int64_t begin_ns, int64_t end_ns) {
    nsys *file = (nsys *)writer;

    if (file->plan->config->host_tables != 0) {
        tms_nsys_host_rows(file->db, &file->placement, since(file, begin_ns), since(file, end_ns));
    }
    if (end_ns > file->session.end_ns) {
        file->session.end_ns = end_ns;
    }
}

static bool failed(const tms_writer *writer) {
    return tms_db_failed(((const nsys *)writer)->db);
}

static tms_status commit(tms_writer *writer, tms_error *err) {
    nsys *file = (nsys *)writer;
    tms_status status;

    tms_nsys_end_facts(file->db, &file->session);
    status = tms_db_commit(file->db, err);
    free(file);
    return status;
}

static void abandon(tms_writer *writer) {
    nsys *file = (nsys *)writer;

    if (file != NULL) {
        tms_db_abandon(file->db);
        free(file);
    }
}

const tms_format tms_format_nsys = {.ending = "sqlite",
                                    .open = open_file,
                                    .begin = begin,
                                    .events = write_events,
                                    .end = end,
                                    .failed = failed,
                                    .commit = commit,
                                    .abandon = abandon};
