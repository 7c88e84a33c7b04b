/* The job of an operation-level trace: its ranks, their places in it, and its steps. */
#ifndef TMERGE_OPS_JOB_H
#define TMERGE_OPS_JOB_H

#include "base/vec.h"
#include "ops_event.h"
#include "tmerge/status.h"

/** Threads of a rank are numbered consecutively: rank = tid / TM_OPS_THREADS. */
enum { TM_OPS_THREADS = 5 };

/** A rank and its place in the three dimensions of the job; -1 if no thread's name has it. */
typedef struct tm_ops_rank {
    int64_t rank, data, stage, tensor;
    int64_t n_operations;
} tm_ops_rank;

/** The time from a step's earliest start on any rank to its latest end. */
typedef struct tm_ops_step {
    int64_t number, begin_ns, end_ns;
    int64_t early_ns; /* time by which the step is placed earlier than in the file */
} tm_ops_step;

typedef struct tm_ops_job {
    tm_vec ranks;       /* of tm_ops_rank; sorted by rank by tm_ops_job_finish */
    tm_vec steps;       /* of tm_ops_step; sorted by start by tm_ops_job_finish */
    int64_t last_chunk; /* the highest model chunk */
    int64_t last_stage; /* -1 if no stage is known */
} tm_ops_job;

void tm_ops_job_init(tm_ops_job *job);
void tm_ops_job_free(tm_ops_job *job);

/** Updates the job's ranks and steps by an event. False if out of memory. */
bool tm_ops_job_add(tm_ops_job *job, const tm_ops_event *event);

/**
 * Sorts ranks and steps, and finds the last stage. Steps are samples of a run: steps with
 * non-consecutive numbers are placed end to end. So are all steps if the exporter inserted a tenth
 * of each step after it (or starts all at one time).
 */
void tm_ops_job_finish(tm_ops_job *job);

/** Returns how much earlier a step is placed than in the file [ns]. */
int64_t tm_ops_job_early(const tm_ops_job *job, int64_t step);

/** Returns a rank of the job; NULL if there is no such rank. */
const tm_ops_rank *tm_ops_job_rank(const tm_ops_job *job, int64_t rank);

/** The kind of an operation, derived from its name. */
typedef enum tm_ops_kind {
    TM_OPS_COMPUTE,
    TM_OPS_HOST,     /* garbage collection and data loading: no GPU work */
    TM_OPS_TRANSFER, /* to or from the adjacent stage; this kind and those below communicate */
    TM_OPS_DATA,     /* among the ranks with the same stage and tensor place */
    TM_OPS_TENSOR,   /* among the ranks of a stage with the same data rank */
    TM_OPS_ENDS,     /* between the first and the last stage */
    TM_OPS_ALL       /* among all ranks */
} tm_ops_kind;

tm_ops_kind tm_ops_kind_of(const tm_json_text *name);

/**
 * Appends the ranks of the group of a rank's operation to @p out, of int64_t, ascending; none if no
 * thread's name has the ranks' places. False if out of memory.
 */
bool tm_ops_job_group(const tm_ops_job *job, const tm_ops_rank *of, tm_ops_kind kind, tm_vec *out);

/** Returns the peer of a transfer; -1 if it would be outside of the model. */
int64_t tm_ops_job_peer(const tm_ops_job *job, const tm_ops_rank *of, const tm_json_text *name);

#endif
