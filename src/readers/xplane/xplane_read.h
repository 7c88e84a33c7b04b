/* From the planes of an XSpace to the rows of a trace. Private to the reader of XSpaces. */
#ifndef TMERGE_XPLANE_READ_H
#define TMERGE_XPLANE_READ_H

#include "space.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"
#include "xplane_units.h"

/* The stats that are read: id, name. Others are passed over. */
#define TM_X_ROLES(X)                                                                              \
    X(TM_X_CORRELATION, "correlation_id")                                                          \
    X(TM_X_KERNEL_DETAILS, "kernel_details")                                                       \
    X(TM_X_MEMCPY_DETAILS, "memcpy_details")                                                       \
    X(TM_X_MEMSET_DETAILS, "memset_details")                                                       \
    X(TM_X_OCCUPANCY, "theoretical_occupancy_pct")                                                 \
    X(TM_X_TF_OP, "tf_op")                                                                         \
    X(TM_X_LEVEL_0, "level 0")                                                                     \
    X(TM_X_NAME, "name")                                                                           \
    X(TM_X_HLO_OP, "hlo_op")                                                                       \
    X(TM_X_HLO_MODULE, "hlo_module")                                                               \
    X(TM_X_PROGRAM, "program_id")                                                                  \
    X(TM_X_GROUP, "group_id")                                                                      \
    X(TM_X_STEP, "step_num")                                                                       \
    X(TM_X_ALLOCATOR, "allocator_name")                                                            \
    X(TM_X_RESERVED, "bytes_reserved")                                                             \
    X(TM_X_ALLOCATED, "bytes_allocated")                                                           \
    X(TM_X_AVAILABLE, "bytes_available")                                                           \
    X(TM_X_ALLOCATION, "allocation_bytes")                                                         \
    X(TM_X_ADDRESS, "addr")                                                                        \
    X(TM_X_SHAPE, "shape")                                                                         \
    X(TM_X_STAGE, "_ipl_stage_id")                                                                 \
    X(TM_X_STAGE_CATEGORY, "_ipl_stage_cat")                                                       \
    X(TM_X_PRODUCER_TYPE, "_pt")                                                                   \
    X(TM_X_PRODUCER, "_p")                                                                         \
    X(TM_X_CONSUMER_TYPE, "_ct")                                                                   \
    X(TM_X_CONSUMER, "_c")                                                                         \
    X(TM_X_HLO_CATEGORY, "hlo_category")                                                           \
    X(TM_X_FLOPS, "flops")                                                                         \
    X(TM_X_BYTES_ACCESSED, "bytes_accessed")                                                       \
    X(TM_X_BREAKDOWN, "memory_access_breakdown")                                                   \
    X(TM_X_DEVICE_OFFSET, "device_offset_ps")                                                      \
    X(TM_X_DEVICE_DURATION, "device_duration_ps")                                                  \
    X(TM_X_INDEX_ON_HOST, "index_on_host")                                                         \
    X(TM_X_DEVICE_ORDINAL, "device_ordinal")                                                       \
    X(TM_X_QUEUE, "queue_id")                                                                      \
    X(TM_X_RUN, "run_id")

typedef enum tm_xrole {
#define TM_X_ROLE_ENUM(id, name) id,
    TM_X_ROLES(TM_X_ROLE_ENUM)
#undef TM_X_ROLE_ENUM
        TM_X_N_ROLES
} tm_xrole;

/** The stats of one event that are read. */
typedef struct tm_xvalues {
    uint64_t present; /* bit r: values[r] is set */
    tm_xstat values[TM_X_N_ROLES];
} tm_xvalues;

static inline bool tm_x_has(const tm_xvalues *v, tm_xrole role) {
    return v->present >> role & 1;
}

/** An integer, or @p missing where the event does not have it. */
static inline int64_t tm_x_int(const tm_xvalues *v, tm_xrole role, int64_t missing) {
    return tm_x_has(v, role) ? v->values[role].i : missing;
}

enum { TM_X_NEAR = 256 };

/** A plane whose events are being read: what each of its stats is. */
typedef struct tm_xstats {
    const tm_xplane *plane;
    uint8_t near[TM_X_NEAR]; /* roles by the lowest ids, which nearly all stats have */
    uint8_t *roles;          /* [plane->stat_names.n] tm_xrole, or TM_X_N_ROLES; owned */
    uint32_t *names;         /* [plane->stat_names.n] name ids + 1 of those met as texts; owned */
} tm_xstats;

tm_status tm_xstats_init(tm_xstats *stats, const tm_xplane *plane, tm_error *err) TM_MUST_CHECK;
void tm_xstats_free(tm_xstats *stats);

/** Reads the stats of a message (@p number: TM_X_EVENT_STATS, ...) on top of what is in @p out.
 * Returns the place of a damaged one, else NULL. */
const uint8_t *tm_xstats_read(const tm_xstats *stats, tm_wire_message message, uint32_t number,
                              tm_xvalues *out);

/**
 * Takes the next event of a line with its stats, at once where it is as the profiler writes nearly
 * all; else as tm_space_next and tm_xstats_read do. event->message need not be set.
 * @param more  false behind the last
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xstats_next(const tm_xstats *stats, tm_space *space, tm_xevent *event, tm_xvalues *v,
                         bool *more, tm_error *err) TM_MUST_CHECK;

/** An allocator of the rank: as the records of its memory have it. */
typedef struct tm_xallocator {
    int32_t type, device;
    uint32_t name;       /* name id, TM_NO_NAME where the file tells none */
    int64_t limit_bytes; /* the largest sum of what is taken, reserved and available; -1 none */
} tm_xallocator;

/** What is known while a rank is read. */
typedef struct tm_xread {
    tm_space space;
    tm_vec devices; /* of tm_xdevice: the file's ranks, in their order */
    tm_names *names;
    tm_trace *trace;
    const tm_xdevice *device; /* of this rank, in devices; NULL: the file has none */
    bool is_first;            /* what belongs to no device, or to several, is this rank's */
    int64_t epoch_ns;         /* when the profile began; 0 where the file does not say */
    tm_vec scratch;           /* of char */
    tm_vec allocators;        /* of tm_xallocator */
} tm_xread;

/** Name id of bytes, made UTF-8 where they are not. TM_NAME_FAILED when memory is out. */
uint32_t tm_xread_intern(tm_xread *r, tm_text text);

/** Name id of a stat's text; TM_NO_NAME where it has none, TM_NAME_FAILED when memory is out. */
uint32_t tm_xread_intern_stat(tm_xread *r, tm_xstats *stats, const tm_xstat *stat);

/** Says that the rank has a part in a communicator; once for each. False when memory is out. */
bool tm_xread_add_communicator(tm_xread *r, const tm_communicator *added) TM_MUST_CHECK;

/** The track of a line; UINT32_MAX when memory is out. @p stream: of a device's line that counts,
 * else -1. */
uint32_t tm_xread_thread(tm_xread *r, const tm_xline *line);
uint32_t tm_xread_stream(tm_xread *r, const tm_xline *line, bool counts);

/**
 * Adds an event at a line's offsets, or counts why not. The begin and the end are rounded to
 * nanoseconds, each once.
 *
 * @param event  its name, track, category and kind; failed where one of them is the sign of it
 * @param row    its index, TM_NO_EVENT where it was not kept
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_xread_add(tm_xread *r, const tm_xline *line, const tm_xevent *at, tm_raw_event event,
                       uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** Picoseconds as nanoseconds, halves up. */
static inline int64_t tm_x_ns_of_ps(int64_t ps) {
    int64_t ns = ps / 1000, rest = ps % 1000;
    ns -= rest < 0;
    rest += rest < 0 ? 1000 : 0;
    return ns + (rest >= 500);
}

#endif
