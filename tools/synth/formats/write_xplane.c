/* Writes the ranks of a host as the profiler of TensorFlow and JAX does: an XSpace with a plane for
 * each GPU and a plane for all threads of the host. All starts and ends have an error of up to 499
 * ps. Rounded to nanoseconds, they equal those of the Kineto format. This profiler does not record
 * process groups and other attributes of collectives, shapes, sequence numbers, and which ranges
 * are operators, so they are left out. A step is a range with the name "train" and the step's
 * number. The first rank of a host writes the steps of all ranks. Allocations contain the name of
 * their allocator. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"
#include "synth/base/file_sink.h"
#include "synth/base/rng.h"
#include "synth/sim/host_clock.h"
#include "writer.h"

/* Number that selects the profile's random numbers. For a step, the step's number does this.
 * write_nsys.c lists files that use other such values. */
#define START_STREAM (UINT64_MAX - 4)

enum {
    SPACE_PLANE = 1,
    SPACE_HOSTNAME = 4,
    PLANE_LINE = 3,
    PLANE_EVENT_NAME = 4,
    PLANE_STAT_NAME = 5,
    PLANE_STAT = 6,
    LINE_TIMESTAMP_NS = 3,
    LINE_EVENT = 4,
    EVENT_OFFSET_PS = 2,
    EVENT_DURATION_PS = 3,
    EVENT_STAT = 4,
    ID = 1,   /* id of a plane, line or name; in an event or stat: the id of its name */
    NAME = 2, /* name of a plane or line; in an entry of a name: its text */
    VALUE = 2 /* value of an entry of a map; the entry's key is an id */
};

/* Fields of a stat that hold its value. */
enum { STAT_UINT = 3, STAT_INT = 4, STAT_TEXT = 5, STAT_REFERENCE = 7 };

/* Names of stats. They are numbered from 1. Higher numbers are used for texts to which events
 * refer, one for each kind of event. */
#define STATS(X)                                                                                   \
    X(CORRELATION, "correlation_id")                                                               \
    X(KERNEL, "kernel_details")                                                                    \
    X(MEMCPY, "memcpy_details")                                                                    \
    X(MEMSET, "memset_details")                                                                    \
    X(STEP, "step_num")                                                                            \
    X(ROOT, "_r")                                                                                  \
    X(ALLOCATOR, "allocator_name")                                                                 \
    X(RESERVED, "bytes_reserved")                                                                  \
    X(ALLOCATED, "bytes_allocated")                                                                \
    X(REQUESTED, "requested_bytes")                                                                \
    X(ALLOCATION, "allocation_bytes")                                                              \
    X(ADDRESS, "addr")                                                                             \
    X(VENDOR, "device_vendor")                                                                     \
    X(CLOCK, "clock_rate")                                                                         \
    X(CORES, "core_count")                                                                         \
    X(BANDWIDTH, "memory_bandwidth")                                                               \
    X(MEMORY, "memory_size")                                                                       \
    X(MAJOR, "compute_cap_major")                                                                  \
    X(MINOR, "compute_cap_minor")                                                                  \
    X(BEGIN, "profile_start_time")                                                                 \
    X(END, "profile_stop_time")
#define NUMBER(name, text) STAT_##name,
#define TEXT(name, text) [STAT_##name] = (text),

typedef enum stat { STAT_NONE, STATS(NUMBER) STAT_COUNT } stat;

static const char *const stat_names[] = {STATS(TEXT)};

/* Names of events are numbered by kind; a release of memory has a separate number. */
enum { EVENT_RELEASE = TMS_KIND_COUNT + 1 };

/* ALLOCATED_BYTES: memory that is allocated when the recording starts [B]. HEAP_ADDRESS: address of
 * every allocation. */
#define ALLOCATED_BYTES INT64_C(8589934592)
#define HEAP_ADDRESS INT64_C(139926520725504)

/* Id of a line that the profiler derives from other lines: its events are copies of theirs. The
 * profiler numbers such lines from 0xdeadbeef on, as signed 32-bit numbers. */
#define DERIVED_ID ((uint64_t)(INT64_C(0xdeadbeef) + 1 - (INT64_C(1) << 32)))
enum { LINE_DERIVED = TMS_TRACK_COUNT, LINE_COUNT };

/* Where an event is in the bytes of its line. The events of a line are written in order of time. */
typedef struct place {
    int64_t begin_ps;
    int64_t end_ps;
    size_t offset;
    size_t size;
} place;

typedef struct line {
    tms_bytes head;   /* encoded fields before the events */
    tms_bytes events; /* encoded events, not yet in order */
    tms_bytes places; /* array of place: one per event */
    int64_t begin_ns; /* origin of the times of the line's events [ns after the profile's start] */
} line;

typedef struct xplane {
    tms_writer writer;
    const tms_plan *plan; /* borrowed */
    tms_sink *sink;       /* owned */
    tms_bytes stat;       /* the stat that is being made */
    tms_bytes stats;      /* stats of the event or plane that is being made */
    tms_bytes event;
    line devices[LINE_COUNT]; /* Lines of the current rank's device. The elements for lines of the
                                 host are not used. */
    line *threads;            /* owned; [2 * ranks_per_file] lines of the host's threads, two for
                                 each rank */
    tms_placement placement;
    int64_t first_rank;
    int64_t begin_ns; /* start and end of the profile [recorded ns since the epoch] */
    int64_t end_ns;
    int64_t allocated_bytes;
} xplane;

static void name_file(char *name, size_t size, const tms_config *config, int64_t rank) {
    (void)snprintf(name, size, "plugins/profile/2025_12_01_00_00_00/host%" PRId64 ".xplane.pb",
                   rank / config->host_ranks);
}

static tms_status open_file(tms_writer **writer, const tms_plan *plan, int64_t rank,
                            const char *path, tms_error *err) {
    const tms_config *config = plan->config;
    tms_placement placement = tms_placement_of(config, rank);
    tms_clock clock = tms_clock_of(plan, &placement);
    tms_rng rng = tms_rng_start((uint64_t)config->seed, (uint64_t)rank, START_STREAM);
    xplane *made = calloc(1, sizeof *made);
    tms_status status;

    if (made != NULL) {
        made->threads = calloc(2 * (size_t)config->ranks_per_file, sizeof *made->threads);
    }
    status = made == NULL || made->threads == NULL
                 ? tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace")
                 : tms_sink_open(&made->sink, path, config->compress, err);
    if (status != TMS_OK) {
        free(made != NULL ? made->threads : NULL);
        free(made);
        return status;
    }
    made->writer.format = &tms_format_xplane;
    made->plan = plan;
    made->first_rank = rank;
    made->begin_ns = tms_clock_recorded_ns(&clock, TMS_EPOCH_NS) -
                     tms_rng_range(&rng, INT64_C(1000000000), INT64_C(2000000000));
    *writer = &made->writer;
    return TMS_OK;
}

static void put_stat(xplane *file, stat name, unsigned form, uint64_t value) {
    tms_bytes_number(&file->stat, ID, name);
    tms_bytes_number(&file->stat, form, value);
    tms_bytes_message(&file->stats, name < STAT_VENDOR ? EVENT_STAT : PLANE_STAT, &file->stat);
}

static void put_text(xplane *file, stat name, const char *text) {
    tms_bytes_number(&file->stat, ID, name);
    tms_bytes_text(&file->stat, STAT_TEXT, text);
    tms_bytes_message(&file->stats, name < STAT_VENDOR ? EVENT_STAT : PLANE_STAT, &file->stat);
}

/* Empties a line and sets its number and name. The times of each line count from a different time.
 */
static void begin_line(line *made, uint64_t id, const char *name, int64_t begin_ns) {
    made->head.size = made->events.size = made->places.size = 0;
    made->begin_ns = begin_ns;
    tms_bytes_number(&made->head, ID, id);
    tms_bytes_text(&made->head, NAME, name);
    tms_bytes_number(&made->head, LINE_TIMESTAMP_NS, (uint64_t)begin_ns);
}

static tms_status begin(tms_writer *writer, int64_t rank, tms_error *err) {
    xplane *file = (xplane *)writer;
    line *threads = &file->threads[2 * (rank - file->first_rank)];
    const int64_t *ids;
    char name[64];

    (void)err;
    writer->count = 0;
    file->placement = tms_placement_of(file->plan->config, rank);
    file->allocated_bytes = ALLOCATED_BYTES;
    ids = file->placement.tid;
    for (int track = 0; track < TMS_TRACK_COUNT; track++) {
        bool gpu = tms_track_gpu((tms_track)track);

        (void)snprintf(name, sizeof name,
                       track == TMS_TRACK_HOST       ? "python/%" PRId64
                       : track == TMS_TRACK_AUTOGRAD ? "pt_autograd_0/%" PRId64
                       : track == TMS_TRACK_COMPUTE  ? "Stream #%" PRId64
                                                      "(Compute,MemcpyH2D,Memset)"
                                                    : "Stream #%" PRId64 "(Compute)",
                       ids[track]);
        begin_line(gpu ? &file->devices[track] : &threads[track], (uint64_t)ids[track], name,
                   40000 + 1013 * track);
    }
    begin_line(&file->devices[LINE_DERIVED], DERIVED_ID, "TensorFlow Name Scope", 0);
    return TMS_OK;
}

/* Converts to picoseconds. Adds an error of up to 499 ps, the same for equal times. */
static int64_t in_ps(int64_t ns) {
    uint64_t state = (uint64_t)ns;

    return ns * 1000 + (int64_t)(tms_splitmix64(&state) % 999) - 499;
}

static void put_event(xplane *file, line *to, uint64_t name, const tms_event *event) {
    int64_t begin_ns = event->begin_ns - file->begin_ns - to->begin_ns;
    place at = {in_ps(begin_ns), in_ps(begin_ns + event->duration_ns), to->events.size, 0};

    tms_bytes_number(&file->event, ID, name);
    tms_bytes_number(&file->event, EVENT_OFFSET_PS, (uint64_t)at.begin_ps);
    if (at.end_ps > at.begin_ps) {
        tms_bytes_number(&file->event, EVENT_DURATION_PS, (uint64_t)(at.end_ps - at.begin_ps));
    }
    tms_bytes_put(&file->event, file->stats.data, file->stats.size);
    tms_bytes_message(&to->events, LINE_EVENT, &file->event);
    to->events.failed = to->events.failed || file->stats.failed;
    file->stats.size = 0;
    at.size = to->events.size - at.offset;
    tms_bytes_put(&to->places, &at, sizeof at);
    file->writer.count++;
}

/* Adds an allocation or release. bytes_reserved is 0, because it does not mean the pool that torch
 * reserves. */
static void put_memory(xplane *file, const tms_event *event) {
    uint64_t bytes = (uint64_t)(event->value < 0 ? -event->value : event->value);
    char allocator[32];

    (void)snprintf(allocator, sizeof allocator, "GPU_%" PRId64 "_bfc", file->placement.device);
    file->allocated_bytes += event->value;
    put_text(file, STAT_ALLOCATOR, allocator);
    put_stat(file, STAT_RESERVED, STAT_INT, 0);
    put_stat(file, STAT_ALLOCATED, STAT_INT, (uint64_t)file->allocated_bytes);
    put_stat(file, STAT_REQUESTED, STAT_INT, bytes);
    put_stat(file, STAT_ALLOCATION, STAT_INT, bytes);
    put_stat(file, STAT_ADDRESS, STAT_INT, (uint64_t)HEAP_ADDRESS);
}

/* Adds the attributes of an event, apart from name and times. Launch ids are unique in the file,
 * because one process launches everything. */
static void put_stats(xplane *file, const tms_event *event) {
    tms_shape shape = tms_kind_get(event->kind)->shape;
    bool pageable = event->kind == TMS_GPU_MEMCPY_PAGEABLE;
    int64_t correlation = event->correlation * file->plan->config->ranks_per_file +
                          file->placement.rank - file->first_rank;
    char text[128];

    if (event->correlation != 0 && shape != TMS_SHAPE_GPU_ANNOTATION) {
        put_stat(file, STAT_CORRELATION, STAT_UINT, (uint64_t)correlation);
    }
    if (shape == TMS_SHAPE_KERNEL || shape == TMS_SHAPE_COMM) {
        put_stat(file, STAT_KERNEL, STAT_REFERENCE, STAT_COUNT + (uint64_t)event->kind);
    } else if (shape == TMS_SHAPE_MEMCPY) {
        (void)snprintf(text, sizeof text,
                       "kind_src:%s kind_dst:device size:%" PRId64 " dest:%" PRId64 " async:1",
                       pageable ? "pageable" : "pinned", event->value, file->placement.device);
        put_text(file, STAT_MEMCPY, text);
    } else if (shape == TMS_SHAPE_MEMSET) {
        (void)snprintf(text, sizeof text, "kind:device size:%" PRId64 " async:1", event->value);
        put_text(file, STAT_MEMSET, text);
    } else if (event->kind == TMS_ANN_STEP) {
        put_stat(file, STAT_STEP, STAT_INT, (uint64_t)event->value);
        put_stat(file, STAT_ROOT, STAT_INT, 1);
    } else if (shape == TMS_SHAPE_INSTANT) {
        put_memory(file, event);
    }
}

static void write_events(tms_writer *writer, const tms_events *events, tms_section section) {
    xplane *file = (xplane *)writer;
    line *threads = &file->threads[2 * (file->placement.rank - file->first_rank)];

    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];
        bool derived = section == TMS_SECTION_GPU_ANNOTATION;
        bool release = event->kind == TMS_INSTANT_MEMORY && event->value < 0;
        /* One process drives all devices, so only the first rank writes steps. */
        bool again = event->kind == TMS_ANN_STEP && file->placement.rank != file->first_rank;

        if (tms_events_section(event->kind, event->track) == section && !again) {
            put_stats(file, event);
            put_event(file,
                      derived                       ? &file->devices[LINE_DERIVED]
                      : tms_track_gpu(event->track) ? &file->devices[event->track]
                                                    : &threads[event->track],
                      release ? EVENT_RELEASE : (uint64_t)event->kind + 1, event);
        }
    }
}

/* Adds a name to one of the two maps of a plane. */
static void put_name(tms_bytes *plane, unsigned map, uint64_t id, const char *name) {
    tms_bytes value = {0};
    tms_bytes entry = {0};

    tms_bytes_number(&value, ID, id);
    tms_bytes_text(&value, NAME, name);
    tms_bytes_number(&entry, ID, id);
    tms_bytes_message(&entry, VALUE, &value);
    tms_bytes_message(plane, map, &entry);
    free(value.data);
    free(entry.data);
}

/* Adds the attributes of a kernel's launch. Does nothing for other kinds. */
static void put_launch(tms_bytes *plane, int kind) {
    const tms_launch *launch = &tms_kind_get((tms_kind)kind)->launch;
    int fixed = launch->shared_bytes % 1024; /* as in write_nsys.c */
    char text[160];

    if (launch->registers == 0) {
        return;
    }
    (void)snprintf(text, sizeof text,
                   "regs:%d static_shared:%d dynamic_shared:%d grid:%d,%d,%d block:%d,%d,%d "
                   "occ_pct:%d",
                   launch->registers, fixed, launch->shared_bytes - fixed, launch->grid[0],
                   launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                   launch->block[2], launch->occupancy);
    put_name(plane, PLANE_STAT_NAME, STAT_COUNT + (uint64_t)kind, text);
}

/* Adds the names of events on a GPU, or on the host, then the names of all stats. */
static void put_names(tms_bytes *plane, bool gpu) {
    for (int kind = 0; kind < TMS_KIND_COUNT; kind++) {
        const tms_kind_info *info = tms_kind_get((tms_kind)kind);
        bool on_gpu = info->shape == TMS_SHAPE_GPU_ANNOTATION || info->shape == TMS_SHAPE_KERNEL ||
                      info->shape == TMS_SHAPE_COMM || info->shape == TMS_SHAPE_MEMCPY ||
                      info->shape == TMS_SHAPE_MEMSET;
        const char *name = info->shape == TMS_SHAPE_MEMCPY    ? "MemcpyH2D"
                           : info->shape == TMS_SHAPE_MEMSET  ? "Memset"
                           : info->shape == TMS_SHAPE_INSTANT ? "MemoryAllocation"
                           : kind == TMS_ANN_STEP             ? "train"
                                                              : info->name;

        if (on_gpu == gpu) {
            put_name(plane, PLANE_EVENT_NAME, (uint64_t)kind + 1, name);
        }
    }
    if (!gpu) {
        put_name(plane, PLANE_EVENT_NAME, EVENT_RELEASE, "MemoryDeallocation");
    }
    for (int i = 1; i < STAT_COUNT; i++) {
        put_name(plane, PLANE_STAT_NAME, (uint64_t)i, stat_names[i]);
    }
    for (int kind = 0; kind < TMS_KIND_COUNT && gpu; kind++) {
        put_launch(plane, kind);
    }
}

/* Orders events by start. If starts are equal, longer events come first, so that an event comes
 * after the events that contain it. */
static int compare_places(const void *a, const void *b) {
    const place *x = a;
    const place *y = b;

    if (x->begin_ps != y->begin_ps) {
        return x->begin_ps < y->begin_ps ? -1 : 1;
    }
    if (x->end_ps != y->end_ps) {
        return x->end_ps > y->end_ps ? -1 : 1;
    }
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void put_line(tms_bytes *plane, const line *made) {
    size_t n = made->places.size / sizeof(place);
    place *places = (place *)(void *)made->places.data;
    tms_bytes body = {.failed = made->head.failed || made->events.failed || made->places.failed};

    if (n > 0) {
        qsort(places, n, sizeof *places, compare_places);
        tms_bytes_put(&body, made->head.data, made->head.size);
        for (size_t i = 0; i < n; i++) {
            tms_bytes_put(&body, made->events.data + places[i].offset, places[i].size);
        }
        tms_bytes_message(plane, PLANE_LINE, &body);
    }
    free(body.data);
}

/* Writes a plane: its name, its nonempty lines, all names, and its stats. */
static void write_plane(xplane *file, const char *name, int64_t id, const line *lines, size_t n) {
    tms_bytes plane = {0};
    uint8_t field[11] = {SPACE_PLANE << 3 | 2};

    if (id > 0) {
        tms_bytes_number(&plane, ID, (uint64_t)id);
    }
    tms_bytes_text(&plane, NAME, name);
    for (size_t i = 0; i < n; i++) {
        put_line(&plane, &lines[i]);
    }
    put_names(&plane, id >= 0);
    tms_bytes_put(&plane, file->stats.data, file->stats.size);
    file->stats.size = 0;
    file->stats.failed = file->stats.failed || plane.failed;
    tms_sink_write(file->sink, field, 1 + tms_varint(field + 1, plane.size));
    tms_sink_write(file->sink, plane.data, plane.size);
    free(plane.data);
}

/* Writes a device. The card is the same as in kineto_frame.c. */
static void write_device(xplane *file, int64_t device, const line *lines, size_t n) {
    char name[40];

    put_text(file, STAT_VENDOR, "Nvidia");
    put_stat(file, STAT_CLOCK, STAT_INT, 1980000);
    put_stat(file, STAT_CORES, STAT_INT, 132);
    put_stat(file, STAT_BANDWIDTH, STAT_UINT, UINT64_C(3352320000000));
    put_stat(file, STAT_MEMORY, STAT_UINT, UINT64_C(85028372480));
    put_stat(file, STAT_MAJOR, STAT_INT, 9);
    put_stat(file, STAT_MINOR, STAT_INT, 0);
    (void)snprintf(name, sizeof name, "/device:GPU:%" PRId64, device);
    write_plane(file, name, device, lines, n);
}

static void end(tms_writer *writer, int64_t begin_ns, int64_t end_ns) {
    xplane *file = (xplane *)writer;

    (void)begin_ns;
    file->end_ns = end_ns > file->end_ns ? end_ns : file->end_ns;
    write_device(file, file->placement.device, &file->devices[TMS_TRACK_COMPUTE],
                 LINE_COUNT - TMS_TRACK_COMPUTE);
}

static bool failed(const tms_writer *writer) {
    return tms_sink_failed(((const xplane *)writer)->sink);
}

static void free_line(line *made) {
    free(made->head.data);
    free(made->events.data);
    free(made->places.data);
}

/* Frees everything except the sink. */
static void destroy(xplane *file) {
    for (int64_t i = 0; i < 2 * file->plan->config->ranks_per_file; i++) {
        free_line(&file->threads[i]);
    }
    for (int i = 0; i < LINE_COUNT; i++) {
        free_line(&file->devices[i]);
    }
    free(file->threads);
    free(file->stat.data);
    free(file->stats.data);
    free(file->event.data);
    free(file);
}

/* A device of the host on which no rank runs has a plane without lines. */
static tms_status commit(tms_writer *writer, tms_error *err) {
    xplane *file = (xplane *)writer;
    const tms_config *config = file->plan->config;
    tms_sink *sink = file->sink;
    bool complete;
    char name[32];

    for (int64_t i = file->placement.device + 1; i < config->host_ranks; i++) {
        write_device(file, i, NULL, 0);
    }
    write_plane(file, "/host:CPU", -1, file->threads, 2 * (size_t)config->ranks_per_file);
    put_stat(file, STAT_BEGIN, STAT_UINT, (uint64_t)file->begin_ns);
    put_stat(file, STAT_END, STAT_UINT, (uint64_t)file->end_ns);
    write_plane(file, "Task Environment", -1, NULL, 0);
    (void)snprintf(name, sizeof name, "host%" PRId64, file->placement.host);
    tms_bytes_text(&file->stats, SPACE_HOSTNAME, name);
    tms_sink_write(sink, file->stats.data, file->stats.size);
    complete = !file->stats.failed;
    destroy(file);
    if (!complete) {
        tms_sink_abandon(sink);
        return tms_fail(err, TMS_ERR_FAULT, "out of memory for a trace");
    }
    return tms_sink_commit(sink, err);
}

static void abandon(tms_writer *writer) {
    xplane *file = (xplane *)writer;

    if (file != NULL) {
        tms_sink_abandon(file->sink);
        destroy(file);
    }
}

const tms_format tms_format_xplane = {.name_file = name_file,
                                      .open = open_file,
                                      .begin = begin,
                                      .events = write_events,
                                      .end = end,
                                      .failed = failed,
                                      .commit = commit,
                                      .abandon = abandon};
