/* Converts the planes of an XSpace to the rows of a trace. Private to the reader of XSpaces. */
#ifndef TMERGE_XPLANE_READ_H
#define TMERGE_XPLANE_READ_H

#include "device_plane.h"
#include "space.h"
#include "timeline/trace.h"

/* The stats that are read: id and name. Other stats are skipped. */
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

/** The stats of one event, by their roles. */
typedef struct tm_xvalues {
    uint64_t present; /* bit r: whether values[r] is set */
    tm_xstat values[TM_X_N_ROLES];
} tm_xvalues;

static inline bool tm_x_has(const tm_xvalues *v, tm_xrole role) {
    return v->present >> role & 1;
}

/** Returns an integer, or @p missing if the event does not have it. */
static inline int64_t tm_x_int(const tm_xvalues *v, tm_xrole role, int64_t missing) {
    return tm_x_has(v, role) ? v->values[role].i : missing;
}

enum { TM_X_NEAR = 256 };

/** The roles of the stats of a plane whose events are being read. */
typedef struct tm_xstats {
    const tm_xplane *plane;
    /* [id] roles of the stats with the lowest ids; nearly all stats have such an id */
    uint8_t near[TM_X_NEAR];
    uint8_t *roles; /* [plane->stat_names.n] role of each stat, or TM_X_N_ROLES; owned */
    /* [plane->stat_names.n] owned; 1 + name id of each stat name that was used as a text; 0: not
     * used yet */
    uint32_t *names;
} tm_xstats;

tm_status tm_xstats_init(tm_xstats *stats, const tm_xplane *plane, tm_error *err) TM_MUST_CHECK;
void tm_xstats_free(tm_xstats *stats);

/**
 * Reads the stats of a message, and adds them to @p out. Returns the position of a damaged stat;
 * NULL if there is none.
 *
 * @param number  field number of the stats: TM_X_EVENT_STATS, ...
 */
const uint8_t *tm_xstats_read(const tm_xstats *stats, tm_wire_message message, uint32_t number,
                              tm_xvalues *out);

/**
 * Takes the next event of a line with its stats. Events of the usual form are read in a fast way,
 * other events with tm_space_next and tm_xstats_read. May leave event->message unset.
 *
 * @param more  false after the last event
 * @return      TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_xstats_next(const tm_xstats *stats, tm_space *space, tm_xevent *event, tm_xvalues *v,
                         bool *more, tm_error *err) TM_MUST_CHECK;

/** An allocator of the rank. It is identified by the type and the device in its memory records. */
typedef struct tm_xallocator {
    int32_t type, device;
    uint32_t name;       /* name id, TM_NO_NAME if not given */
    int64_t limit_bytes; /* maximum of allocated + reserved + available; -1 unknown */
} tm_xallocator;

/** State while a rank is read. */
typedef struct tm_xread {
    tm_space space;
    tm_vec devices; /* vector of tm_xdevice: the file's ranks, in order */
    tm_names *names;
    tm_trace *trace;
    /* this rank's device, which is an element of `devices`; NULL: the file has no devices */
    const tm_xdevice *device;
    bool is_first; /* this is the first rank, which gets everything that belongs to no device or to
                      several */
    int64_t epoch_ns;  /* start time of the profile; 0 unknown */
    tm_vec scratch;    /* vector of char */
    tm_vec allocators; /* vector of tm_xallocator */
} tm_xread;

/** Returns the name id of a text, which is converted to valid UTF-8 if necessary. TM_NAME_FAILED if
 * out of memory. */
uint32_t tm_xread_intern(tm_xread *r, tm_text text);

/** Returns the name id of a stat's text; TM_NO_NAME if the stat has no text; TM_NAME_FAILED if out
 * of memory. */
uint32_t tm_xread_intern_stat(tm_xread *r, tm_xstats *stats, const tm_xstat *stat);

/** Records that the rank is a member of a communicator, unless this was recorded before. Returns
 * false if out of memory. */
bool tm_xread_add_communicator(tm_xread *r, const tm_communicator *added) TM_MUST_CHECK;

/**
 * Return the track of a line; UINT32_MAX if out of memory.
 *
 * @param counts  whether the line is device work. If it is, its track is a stream. Otherwise, the
 *                track has stream -1.
 */
uint32_t tm_xread_thread(tm_xread *r, const tm_xline *line);
uint32_t tm_xread_stream(tm_xread *r, const tm_xline *line, bool counts);

/**
 * Adds an event with the times that it has on a line. If the times are invalid, drops the event,
 * and counts the reason. Begin and end are rounded to nanoseconds independently.
 *
 * @param event  name, track, category and kind of the event. The function fails if the name or the
 *               track is a failure value.
 * @param row    set to the index of the event; TM_NO_EVENT if it was dropped
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_xread_add(tm_xread *r, const tm_xline *line, const tm_xevent *at, tm_raw_event event,
                       uint32_t *row, tm_error *err) TM_MUST_CHECK;

/** Converts picoseconds to nanoseconds, rounding halves up. */
static inline int64_t tm_x_ns_of_ps(int64_t ps) {
    int64_t ns = ps / 1000, rest = ps % 1000;
    ns -= rest < 0;
    rest += rest < 0 ? 1000 : 0;
    return ns + (rest >= 500);
}

#endif
