/* What the formats share: the output, the window, and a walk over the events of a rank. */
#ifndef TMERGE_EXPORT_EXPORT_H
#define TMERGE_EXPORT_EXPORT_H

#include "table/out.h"
#include "tmerge/export.h"

struct tm_export {
    const tm_export_format *format;
    const tm_export_job *job;
    int64_t *first_row; /* owned; [n_ranks] the job-wide row of each rank's first event */
    tm_out out;         /* text that is not yet written; tm_export_flush */
    int64_t written;    /* bytes of the output in front of that */
    int64_t n_events;   /* written */
    int fd;             /* borrowed */
    const char *path;   /* borrowed; for errors */
    void *state;        /* owned; of the format */
};

extern const tm_export_format tm_export_perfetto;
extern const tm_export_format tm_export_chrome;
extern const tm_export_format tm_export_csv;
extern const tm_export_format tm_export_archive;
extern const tm_export_format tm_export_folded;
extern const tm_export_format tm_export_speedscope;
extern const tm_export_format tm_export_sqlite;

/** Writes what x->out holds, and empties it. TM_OK; TM_ERR_OUTPUT; TM_ERR_FAULT: memory was out at
 * an append. */
tm_status tm_export_flush(tm_export *x, tm_error *err) TM_MUST_CHECK;

/** The same once there is enough of it to be worth a write. */
static inline tm_status tm_export_spill(tm_export *x, tm_error *err) {
    enum { SPILL_BYTES = 256 * 1024 };
    return x->out.bytes.n < SPILL_BYTES && !x->out.failed ? TM_OK : tm_export_flush(x, err);
}

/** Overwrites bytes that were written. TM_OK; TM_ERR_OUTPUT. */
tm_status tm_export_patch(const tm_export *x, int64_t at, const void *bytes, size_t size,
                          tm_error *err) TM_MUST_CHECK;

/** Whether a text is ASCII without zeros, as nearly all are: then it needs no repair. */
static inline bool tm_export_is_ascii(tm_text text) {
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)(text.bytes[i] - 1) >= 0x7f)
            return false;
    return true;
}

/** The position of a rank among the job's; n_ranks where it is none of them. */
size_t tm_export_rank_index(const tm_export_job *job, int64_t rank);

/** "rank 3 (host1)", or without the host where it is not known. */
void tm_export_rank_name(const tm_export_job *job, int64_t rank, char *out, size_t size);

/** The job-wide row of the first member of the operation that a matched kernel belongs to: the
 * operation's name. */
static inline int64_t tm_export_operation(const tm_export *x, const tm_collective_attr *c) {
    return x->first_row[tm_export_rank_index(x->job, c->first_rank)] + c->first_event;
}

/* An event and what is told of it; what it does not have is NULL. */
typedef struct tm_export_event {
    uint32_t row;
    int64_t begin_ns, end_ns; /* both on the job's clock: so what nests in the trace still nests,
                                 and the difference is the duration but for the clock's drift */
    const tm_launch_attr *launch;
    const tm_kernel_attr *kernel;
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

/** A walk over a rank's events in the order of rows. */
typedef struct tm_export_walk {
    const tm_export_job *job;
    const tm_timeline *timeline;
    size_t row;            /* the next one */
    size_t at[TM_N_ATTRS]; /* the first attribute of that row or a later one */
    tm_export_event event; /* the one that it stands at */
} tm_export_walk;

/** Begins in front of the first row. */
void tm_export_walk_begin(tm_export_walk *walk, const tm_export_job *job,
                          const tm_timeline *timeline);

/** Goes on to the next event of the window in front of row @p end; false where there is none. */
bool tm_export_walk_next(tm_export_walk *walk, size_t end);

/** Whether the event of a row is in the window. */
bool tm_export_takes(const tm_export_job *job, const tm_timeline *timeline, uint32_t row);

#endif
