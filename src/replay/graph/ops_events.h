/* A rank's operations. They are used for traces that record operations of the training loop instead
 * of kernels. The types of the operations and the pipeline schedule show which operation follows
 * which; times are hardly needed. The method is that of "Understanding Stragglers in Large Model
 * Training Using What-if Analysis" (OSDI 2025). */
#ifndef TMERGE_REPLAY_OPS_EVENTS_H
#define TMERGE_REPLAY_OPS_EVENTS_H

#include "base/vec.h"
#include "replay/graph/timebase.h"
#include "tmerge/timeline.h"

/** Types of operations. The name of an operation starts with the word of its type. Types of
 * computation come first. The ideal time of a computation type is the mean over the job. The ideal
 * time of a communication type is the median over the job. */
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

/** Position of a rank in its job, counted from 0. The reader writes the position into the
 * metadata. */
typedef struct tm_ops_place {
    int64_t data, stage, tensor;
    int64_t stages, chunks; /* number of pipeline stages, and number of model parts per stage */
} tm_ops_place;

/** Parses the position from the metadata. Returns false if the metadata does not contain a
 * position. */
bool tm_ops_place_read(const char *metadata, tm_ops_place *out);

/** An operation. Times are replay times [ns] (timebase.h). */
typedef struct tm_ops_part {
    int64_t begin_ns, end_ns;
    int64_t arrival_ns; /* latest end of the operations that this operation follows. If it follows
                           none, the start of the step. Set by tm_ops_ask_joins */
    int64_t join_ns;    /* latest arrival of a member of the operation. Set by tm_ops_take */
    int64_t last_ns;    /* latest start of a member of the operation. Set by tm_ops_take */
    uint64_t operation; /* id of the operation, unique in the job and equal on all members; 0 if the
                           operation joins no ranks */
    uint32_t row;       /* in the timeline */
    uint32_t step;      /* index into the timeline's steps */
    uint32_t nth;  /* occurrence index (0-based) among the step's operations of the same type */
    int32_t chunk; /* model part, from 0 */
    uint8_t type;  /* tm_ops_type */
} tm_ops_part;

/** Operation `to` follows operation `from` (indices in `parts`). */
typedef struct tm_ops_edge {
    uint32_t from, to;
} tm_ops_edge;

/** The end of a step on a rank. The job's next step starts when all ranks have ended this step. */
typedef struct tm_ops_end {
    int64_t end_ns;  /* latest end of the rank's operations in the step */
    int64_t join_ns; /* time when the last rank ends the step. Set by tm_ops_take */
    uint32_t step;   /* index into the timeline's steps */
    uint32_t first;  /* index in `parts` of the step's first operation */
} tm_ops_end;

typedef struct tm_ops_input {
    const tm_timeline *timeline; /* borrowed */
    tm_ops_place place;
    tm_vec parts; /* vector of tm_ops_part, sorted by step. Within a step, each operation comes
                     after the operations that it follows */
    tm_vec edges; /* vector of tm_ops_edge, ascending in `to` */
    tm_vec ends;  /* vector of tm_ops_end, ascending in step */
} tm_ops_input;

/**
 * Collects the operations of a rank, and finds which operations each one follows.
 * @param base  origin of times
 * @return      TM_OK; TM_ERR_FAULT. The caller must free @p out with tm_ops_input_free, even after
 *              an error.
 */
tm_status tm_ops_input_make(const tm_timeline *timeline, const tm_names *names,
                            const tm_timebase *base, tm_ops_input *out,
                            tm_error *err) TM_MUST_CHECK;
void tm_ops_input_free(tm_ops_input *input);

#endif
