/* What all export formats use: the output, the window, and a walk over a rank's events. */
#ifndef TMERGE_EXPORT_EXPORT_H
#define TMERGE_EXPORT_EXPORT_H

#include "table/out.h"
#include "tmerge/export.h"

struct tm_export {
    const tm_export_format *format;
    const tm_export_job *job;
    /* rows of the current rank; NULL if the rank's timeline contains them */
    const tm_event_rows *rows;
    int64_t *first_row; /* owned; [n_ranks] job-wide row of each rank's first event */
    tm_out out;         /* output that is not yet written; tm_export_flush writes it */
    int64_t written;
    int64_t n_events; /* events written */
    int fd;           /* borrowed */
    const char *path; /* borrowed; for errors */
    void *state;      /* owned by the format */
};

extern const tm_export_format tm_export_perfetto;
extern const tm_export_format tm_export_chrome;
extern const tm_export_format tm_export_csv;
extern const tm_export_format tm_export_archive;
extern const tm_export_format tm_export_folded;
extern const tm_export_format tm_export_speedscope;
extern const tm_export_format tm_export_sqlite;

/**
 * Writes x->out to the file and empties it.
 * @return TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT if an earlier append ran out of memory
 */
tm_status tm_export_flush(tm_export *x, tm_error *err) TM_MUST_CHECK;

/** Flushes if the buffer is large enough. */
static inline tm_status tm_export_spill(tm_export *x, tm_error *err) {
    enum { SPILL_BYTES = 256 * 1024 };
    return x->out.bytes.n < SPILL_BYTES && !x->out.failed ? TM_OK : tm_export_flush(x, err);
}

/**
 * Overwrites bytes already written.
 * @return TM_OK; TM_ERR_OUTPUT
 */
tm_status tm_export_patch(const tm_export *x, int64_t at, const void *bytes, size_t size,
                          tm_error *err) TM_MUST_CHECK;

/** Returns whether a text is ASCII without zero bytes. Nearly all texts are, and need no repair. */
static inline bool tm_export_is_ascii(tm_text text) {
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)(text.bytes[i] - 1) >= 0x7f)
            return false;
    return true;
}

/** Returns the index of a rank in the job; n_ranks if the job does not have it. */
size_t tm_export_rank_index(const tm_export_job *job, int64_t rank);

/** Writes "rank 3 (host1)", or without the host if it is unknown. */
void tm_export_rank_name(const tm_export_job *job, int64_t rank, char *out, size_t size);

/** Returns the number that identifies the operation of a matched kernel: the job-wide row of the
 * operation's first member. */
static inline int64_t tm_export_operation(const tm_export *x, const tm_collective_attr *c) {
    return x->first_row[tm_export_rank_index(x->job, c->first_rank)] + c->first_event;
}

/* An event with its attributes. An attribute that it lacks is NULL. */
typedef struct tm_export_event {
    uint32_t row;
    uint32_t name;    /* name id */
    uint32_t call;    /* row of the call that launched the event, or TM_NO_EVENT */
    int32_t step;     /* index into the rank's steps, or TM_NO_STEP */
    uint8_t category; /* tm_category */
    uint8_t kind;     /* tm_event_kind */
    uint8_t role;     /* tm_role */
    int64_t begin_ns,
        /* Start and end on the job's clock. Both are converted separately, so that nested events
         * stay nested. If the clock drifts, end_ns - begin_ns therefore differs a little from
         * duration_ns. */
        end_ns;
    int64_t duration_ns; /* duration as recorded */
    const tm_launch_attr *launch;
    const tm_kernel_attr *kernel;
    const tm_launch_shape *shape; /* launch shape of a kernel */
    const tm_copy_attr *copy;
    const tm_collective_attr *collective;
    const tm_memory_attr *memory;
    const tm_shapes_attr *shapes;
    const tm_inputs_attr *inputs;
    const tm_wait_attr *wait;
    const tm_operator_attr *operator;
    const tm_counter_attr *counters; /* [n_counters] */
    size_t n_counters;
} tm_export_event;

/** A walk over the events of a rank in the order of rows. Only one piece of the rank is in memory
 * at a time. */
typedef struct tm_export_walk {
    const tm_export *x;
    const tm_timeline *timeline; /* the rank's tracks and steps */
    const tm_timeline *piece;    /* the rank's events from row `first` on */
    size_t first;
    size_t row;            /* next row */
    size_t at[TM_N_ATTRS]; /* index of the first attribute of row `row` or a later row */
    tm_export_event event; /* current event */
    tm_status status;
    tm_error *err;
} tm_export_walk;

/** Begins a walk before its first event: call tm_export_walk_next next. */
void tm_export_walk_begin(tm_export_walk *walk, const tm_export *x, const tm_timeline *timeline,
                          tm_error *err);

/** Moves to the next event of the window before row @p end. Returns false at the end. Also returns
 * false if reading failed; walk->status is then not TM_OK. */
bool tm_export_walk_next(tm_export_walk *walk, size_t end);

/* A call and an event that it launched. */
typedef struct tm_export_launch {
    uint32_t call, row;
} tm_export_launch;

/** Facts about a rank's events, collected before they are written. */
typedef struct tm_export_scan {
    tm_vec launches; /* vector of tm_export_launch: the rank's launches, ascending by call, then by
                        row */
    tm_vec begins;   /* vector of int64_t: start of each launch's call on the job's clock */
    size_t at;       /* index into `launches` of the last result of tm_export_call_begin */
    /* Bytes of uint8_t with one bit for each row, which is set if the row is in the window. The
     * vector is empty if all rows are in the window. */
    tm_vec taken;
    int64_t n_taken;
} tm_export_scan;

#define TM_EXPORT_SCAN()                                                                           \
    ((tm_export_scan){.launches = TM_VEC(tm_export_launch),                                        \
                      .begins = TM_VEC(int64_t),                                                   \
                      .taken = TM_VEC(uint8_t)})

/**
 * Scans the events of a rank. If @p begins is set, the starts of calls are also collected, which
 * tm_export_call_begin needs.
 * @return TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_export_look(tm_export_scan *scan, const tm_export *x, const tm_timeline *timeline,
                         bool begins, tm_error *err) TM_MUST_CHECK;
void tm_export_scan_free(tm_export_scan *scan);

/** Returns whether an event is in the window. */
bool tm_export_takes(const tm_export_scan *scan, uint32_t row);

/** Returns the start of a call that launched something, on the job's clock. */
int64_t tm_export_call_begin(tm_export_scan *scan, uint32_t call);

/** Returns whether an event overlaps the half-open window. It is then exported whole, because
 * cutting an event would invent times. An event without duration counts at its start. */
static inline bool tm_export_in_window(const tm_export_job *job, int64_t begin_ns, int64_t end_ns) {
    if (begin_ns == end_ns)
        return begin_ns >= job->from_ns && begin_ns < job->to_ns;
    return begin_ns < job->to_ns && end_ns > job->from_ns;
}

/** Returns the end of a recorded event on the job's clock. Converts the end, not the duration: if
 * the clock drifts, start plus duration could end after the parent event. */
static inline int64_t tm_export_end_of(const tm_rank_clock *clock, int64_t begin_ns,
                                       int64_t duration_ns) {
    return tm_rank_clock_true(clock, begin_ns + duration_ns);
}

#endif
