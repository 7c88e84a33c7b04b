/* The job in an operation-level trace: its ranks, their places in the parallelism, and its
 * steps. */
#ifndef TMERGE_OPS_JOB_H
#define TMERGE_OPS_JOB_H

#include "base/vec.h"
#include "ops_event.h"

/** Threads of a rank are numbered consecutively: rank = tid / TM_OPS_THREADS. */
enum { TM_OPS_THREADS = 5 };

/** A rank and its place in the three dimensions of the job's parallelism. The place is -1 if no
 * thread's name states it. */
typedef struct tm_ops_rank {
    int64_t rank, data, stage, tensor;
    int64_t n_operations;
} tm_ops_rank;

/** A step: from its earliest start on any rank to its latest end on any rank. */
typedef struct tm_ops_step {
    int64_t number, begin_ns, end_ns;
    int64_t early_ns; /* how much earlier the step is placed than in the file */
} tm_ops_step;

typedef struct tm_ops_job {
    tm_vec ranks;       /* vector of tm_ops_rank; sorted by rank by tm_ops_job_finish */
    tm_vec steps;       /* vector of tm_ops_step; sorted by start by tm_ops_job_finish */
    int64_t last_chunk; /* the highest model chunk */
    int64_t last_stage; /* number of the last stage; -1 if no stage is known */
} tm_ops_job;

void tm_ops_job_init(tm_ops_job *job);
void tm_ops_job_free(tm_ops_job *job);

/** Adds what an event shows about the job's ranks and steps. Returns false if out of memory. */
bool tm_ops_job_add(tm_ops_job *job, const tm_ops_event *event);

/** Sorts ranks and steps, and finds the last stage. A file may have samples of a run's steps: if
 * the numbers of two steps are not consecutive, the later step is placed directly after the earlier
 * one. All steps are placed in this way if the exporter invented the gaps between them (a tenth of
 * a step), or starts all steps at the same time. */
void tm_ops_job_finish(tm_ops_job *job);

/** Returns how much earlier a step is placed than in the file [ns]. */
int64_t tm_ops_job_early(const tm_ops_job *job, int64_t step);

/** Returns a rank of the job; NULL if there is no such rank. */
const tm_ops_rank *tm_ops_job_rank(const tm_ops_job *job, int64_t rank);

/** The kind of an operation, derived from its name. */
typedef enum tm_ops_kind {
    TM_OPS_COMPUTE,
    TM_OPS_HOST, /* host work such as garbage collection and data loading */
    /* communication with an adjacent stage; all kinds from this one on are communication */
    TM_OPS_TRANSFER,
    TM_OPS_DATA,   /* communication among the ranks with the same stage and tensor rank */
    TM_OPS_TENSOR, /* communication among the ranks with the same stage and data rank */
    TM_OPS_ENDS,   /* communication between the first and the last stage */
    TM_OPS_ALL     /* communication among all ranks */
} tm_ops_kind;

tm_ops_kind tm_ops_kind_of(const tm_json_text *name);

/**
 * Lists the ranks that take part in a rank's operation, in ascending order. Lists none if the
 * places of the ranks are unknown, because no thread's name states them.
 * @param out  vector of int64_t; the ranks are appended
 * @return     false if out of memory
 */
bool tm_ops_job_group(const tm_ops_job *job, const tm_ops_rank *of, tm_ops_kind kind, tm_vec *out);

/** Returns the rank to which a transfer goes, or from which it comes. Returns -1 if there is none,
 * because the transfer would be with a stage before the first or after the last. */
int64_t tm_ops_job_peer(const tm_ops_job *job, const tm_ops_rank *of, const tm_json_text *name);

#endif
