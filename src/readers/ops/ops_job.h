/* What an operation-level trace says of its job: its ranks, their places in it, its steps. */
#ifndef TMERGE_OPS_JOB_H
#define TMERGE_OPS_JOB_H

#include "base/vec.h"
#include "ops_event.h"
#include "tmerge/status.h"

/** The threads of a rank follow one another, and so the ranks: rank = tid / TM_OPS_THREADS. */
enum { TM_OPS_THREADS = 5 };

/** A rank, and its place in the three dimensions of the job: -1 where no thread's name tells. */
typedef struct tm_ops_rank {
    int64_t rank, data, stage, tensor;
    int64_t n_operations;
} tm_ops_rank;

/** The time from a step's first begin on any rank to its last end. */
typedef struct tm_ops_step {
    int64_t number, begin_ns, end_ns;
    int64_t early_ns; /* by how much it is set earlier than the file has it */
} tm_ops_step;

typedef struct tm_ops_job {
    tm_vec ranks;       /* of tm_ops_rank, ascending in rank once all was read */
    tm_vec steps;       /* of tm_ops_step, ascending in begin once all was read */
    int64_t last_chunk; /* the highest number of a part of the model */
    int64_t last_stage; /* -1 where no stage is known */
} tm_ops_job;

void tm_ops_job_init(tm_ops_job *job);
void tm_ops_job_free(tm_ops_job *job);

/** Takes what an event says of the job. False when memory is out. */
bool tm_ops_job_add(tm_ops_job *job, const tm_ops_event *event);

/**
 * Sorts ranks and steps and finds the last stage. Steps are samples of a run: those whose numbers
 * do not follow one another are laid end to end, and so are all where the exporter put a tenth of
 * each between it and the next (or all at one time).
 */
void tm_ops_job_finish(tm_ops_job *job);

/** By how much a step is set earlier than the file has it. */
int64_t tm_ops_job_early(const tm_ops_job *job, int64_t step);

/** The place of a rank of the job. */
const tm_ops_rank *tm_ops_job_rank(const tm_ops_job *job, int64_t rank);

/** What an operation is, told from its name. */
typedef enum tm_ops_kind {
    TM_OPS_COMPUTE,
    TM_OPS_HOST,     /* the garbage collector and the loading of data: nothing that a GPU does */
    TM_OPS_TRANSFER, /* to or from the stage beside it; this and what follows communicates */
    TM_OPS_DATA,     /* among the ranks of a stage, of one place in it */
    TM_OPS_TENSOR,   /* among those that share a stage */
    TM_OPS_ENDS,     /* between the first and the last stage */
    TM_OPS_ALL       /* among all */
} tm_ops_kind;

tm_ops_kind tm_ops_kind_of(const tm_json_text *name);

/**
 * The ranks of the group of an operation of a rank: ascending, of int64_t, appended to @p out;
 * none where no thread's name tells the ranks' places. False when memory is out.
 */
bool tm_ops_job_group(const tm_ops_job *job, const tm_ops_rank *of, tm_ops_kind kind, tm_vec *out);

/** The rank at the other end of a transfer, -1 where there is none: it would leave the model. */
int64_t tm_ops_job_peer(const tm_ops_job *job, const tm_ops_rank *of, const tm_json_text *name);

#endif
