/* What a rank's graph is made of where the trace holds operations of the training loop instead of
 * kernels: which operation follows which is known from their kinds, as the schedule of a pipeline
 * has it, and not from times. After "Understanding Stragglers in Large Model Training Using What-if
 * Analysis" (OSDI 2025). */
#ifndef TMERGE_REPLAY_OPS_DRAFT_H
#define TMERGE_REPLAY_OPS_DRAFT_H

#include "base/vec.h"
#include "replay/timebase.h"
#include "tmerge/timeline.h"

/** Types of operations, by what their names begin with. Computation, and what counts as such, comes
 * first: of it the mean is ideal, of communication the median. */
#define TM_OPS_TYPE_LIST(X)                                                                        \
    X(FORWARD, "forward-compute")                                                                  \
    X(BACKWARD, "backward-compute")                                                                \
    X(GC, "gc")                                                                                    \
    X(OPTIMIZER, "optimizer")                                                                      \
    X(FORWARD_SEND, "forward-send")                                                                \
    X(FORWARD_RECV, "forward-recv")                                                                \
    X(BACKWARD_SEND, "backward-send")                                                              \
    X(BACKWARD_RECV, "backward-recv")                                                              \
    X(PARAMS, "params-all-gather")                                                                 \
    X(GRADS, "grads-reduce-scatter")                                                               \
    X(SEPARATE, "separate-grads-all-reduce")                                                       \
    X(LAYERNORM, "layernorm-grads-all-reduce")                                                     \
    X(EMBEDDING, "embedding-grads-all-reduce")                                                     \
    X(CLIP, "optimizer-clip-main-grad")

typedef enum tm_ops_type {
#define TM_OPS_TYPE_ENUM(id, word) TM_OPS_##id,
    TM_OPS_TYPE_LIST(TM_OPS_TYPE_ENUM)
#undef TM_OPS_TYPE_ENUM
        TM_N_OPS_TYPES
} tm_ops_type;

static inline bool tm_ops_computes(uint8_t type) {
    return type <= TM_OPS_OPTIMIZER;
}

/** Where a rank stands in its job, as the reader of such traces writes it into the metadata. */
typedef struct tm_ops_place {
    int64_t data, stage, tensor;
    int64_t stages, chunks; /* of the job: stages of the pipeline, parts of the model on each */
} tm_ops_place;

/** False where the text does not tell. */
bool tm_ops_place_read(const char *metadata, tm_ops_place *out);

/** An operation. Times are in ns since the root, on the job's clock. */
typedef struct tm_ops_part {
    int64_t begin_ns, end_ns;
    int64_t arrival_ns; /* when the last had ended that it follows: set by tm_ops_arrive */
    int64_t join_ns;    /* the latest arrival of its members, and */
    int64_t last_ns;    /* their latest begin: set by tm_ops_take */
    uint64_t operation; /* the same on all members, unique in the job; 0: it joins nobody */
    uint32_t row;       /* in the timeline */
    uint32_t step;      /* index into the timeline's steps */
    uint32_t nth;       /* of its type in its step */
    int32_t chunk;      /* part of the model, 0 where there is but one */
    uint8_t type;       /* tm_ops_type */
} tm_ops_part;

/** One operation follows another: both by their index. */
typedef struct tm_ops_edge {
    uint32_t from, to;
} tm_ops_edge;

/** The end of the rank's part of a step: from where the job's next step begins. */
typedef struct tm_ops_end {
    int64_t end_ns;  /* of its last operation */
    int64_t join_ns; /* of the job's: set by tm_ops_take */
    uint32_t step;   /* index into the timeline's steps */
    uint32_t first;  /* its operations begin here */
} tm_ops_end;

typedef struct tm_ops_draft {
    const tm_timeline *timeline; /* borrowed */
    tm_ops_place place;
    tm_vec parts; /* of tm_ops_part, step after step, none before one that it follows */
    tm_vec edges; /* of tm_ops_edge, ascending in to */
    tm_vec ends;  /* of tm_ops_end, ascending in time */
} tm_ops_draft;

/**
 * Collects the operations of a rank, and what each follows.
 *
 * @param base  what times count from
 * @return         TM_OK; TM_ERR_FAULT; free it in either case
 */
tm_status tm_ops_draft_make(const tm_timeline *timeline, const tm_names *names,
                            const tm_timebase *base, tm_ops_draft *out,
                            tm_error *err) TM_MUST_CHECK;
void tm_ops_draft_free(tm_ops_draft *draft);

#endif
