/* Everything that a simulated job can record: names, categories and constant attributes. */
#ifndef TMERGE_SYNTH_CATALOGUE_H
#define TMERGE_SYNTH_CATALOGUE_H

#include <stdbool.h>

/* How an event is written, and what it counts as. */
typedef enum tms_shape {
    TMS_SHAPE_OP,             /* cpu_op */
    TMS_SHAPE_ANNOTATION,     /* user_annotation */
    TMS_SHAPE_INSTANT,        /* cpu_instant_event: [memory] */
    TMS_SHAPE_RUNTIME,        /* cuda_runtime */
    TMS_SHAPE_KERNEL,         /* kernel: computation */
    TMS_SHAPE_COMM,           /* kernel: communication */
    TMS_SHAPE_MEMCPY,         /* gpu_memcpy */
    TMS_SHAPE_MEMSET,         /* gpu_memset */
    TMS_SHAPE_GPU_ANNOTATION, /* gpu_user_annotation: never counted as work */
    TMS_SHAPE_COUNT
} tms_shape;

/* Says whether an event has the start or the end of a flow arrow. The arrow's start or end is
 * written after the event. */
typedef enum tms_flow {
    TMS_FLOW_NONE,
    TMS_FLOW_OUT, /* "s": a launch, or a forward operator */
    TMS_FLOW_IN   /* "f": a kernel, or a backward operator */
} tms_flow;

/* The kinds of events. The output does not depend on their order. */
typedef enum tms_kind {
    TMS_ANN_STEP,
    TMS_ANN_DATALOADER,
    TMS_ANN_OPTIMIZER,
    TMS_ANN_ZERO_GRAD,
    TMS_ANN_ALL_REDUCE,
    TMS_ANN_ALL_GATHER,
    TMS_ANN_REDUCE_SCATTER,
    TMS_ANN_BROADCAST,
    TMS_ANN_SEND,
    TMS_ANN_RECV,
    TMS_OP_TO,
    TMS_OP_COPY,
    TMS_OP_LINEAR,
    TMS_OP_ADDMM,
    TMS_OP_NORM,
    TMS_OP_NATIVE_NORM,
    TMS_OP_ATTENTION,
    TMS_OP_FLASH,
    TMS_OP_LOSS,
    TMS_OP_EVALUATE,
    TMS_OP_ADDMM_BACKWARD,
    TMS_OP_EVALUATE_NORM,
    TMS_OP_NORM_BACKWARD,
    TMS_OP_EVALUATE_FLASH,
    TMS_OP_FLASH_BACKWARD,
    TMS_OP_COMMS,
    TMS_OP_ZERO,
    TMS_OP_ADAMW,
    TMS_INSTANT_MEMORY,
    TMS_RT_LAUNCH,
    TMS_RT_LAUNCH_EX,
    TMS_RT_GRAPH_LAUNCH,
    TMS_RT_MEMCPY,
    TMS_RT_MEMSET,
    TMS_RT_EVENT_RECORD,
    TMS_RT_WAIT_EVENT,
    TMS_RT_SYNCHRONIZE,
    TMS_RT_STREAM_SYNCHRONIZE,
    TMS_GPU_NORM,
    TMS_GPU_GEMM_QKV,
    TMS_GPU_FLASH,
    TMS_GPU_GEMM_MLP,
    TMS_GPU_GELU,
    TMS_GPU_LOSS,
    TMS_GPU_GELU_BACKWARD,
    TMS_GPU_GEMM_DGRAD,
    TMS_GPU_GEMM_WGRAD,
    TMS_GPU_FLASH_BACKWARD,
    TMS_GPU_NORM_BACKWARD,
    TMS_GPU_ADAMW,
    TMS_GPU_SQUARES,
    TMS_GPU_SMALL,
    TMS_GPU_ALL_REDUCE,
    TMS_GPU_ALL_REDUCE_FLOAT,
    TMS_GPU_CUSTOM_ONE_STAGE,
    TMS_GPU_CUSTOM_TWO_STAGE,
    TMS_GPU_ALL_GATHER,
    TMS_GPU_REDUCE_SCATTER,
    TMS_GPU_BROADCAST,
    TMS_GPU_SEND_RECV,
    TMS_GPU_MEMCPY,
    TMS_GPU_MEMCPY_PAGEABLE,
    TMS_GPU_MEMSET,
    TMS_GPU_ANN_STEP,
    TMS_GPU_ANN_ALL_REDUCE,
    TMS_GPU_ANN_ALL_GATHER,
    TMS_GPU_ANN_REDUCE_SCATTER,
    TMS_GPU_ANN_BROADCAST,
    TMS_GPU_ANN_SEND,
    TMS_GPU_ANN_RECV,
    TMS_KIND_COUNT
} tms_kind;

typedef enum tms_collective {
    TMS_ALL_REDUCE,
    TMS_ALL_GATHER,
    TMS_REDUCE_SCATTER,
    TMS_BROADCAST,
    TMS_SEND,
    TMS_RECV,
    TMS_COLLECTIVE_COUNT
} tms_collective;

typedef struct tms_collective_info {
    const char *name; /* torch's "Collective name" */
    const char *kind; /* word for the kind of operation in tmerge's tables */
    tms_kind annotation;
    tms_kind gpu_annotation;
    tms_kind kernel;
    int passes;        /* see tms_config_move_ns */
    bool synchronises; /* no rank leaves the operation before all ranks have arrived */
} tms_collective_info;

/* Returns the row of a collective; static, never NULL. */
const tms_collective_info *tms_collective_get(tms_collective what);

/* A number that is appended to an event's name. */
typedef enum tms_number {
    TMS_NUMBER_NONE,
    TMS_NUMBER_STEP, /* the step's number */
    TMS_NUMBER_PEER  /* sender and receiver within their group, as "0->1" */
} tms_number;

/* A kernel's launch parameters, from a real H100, so that readers get usual values. */
typedef struct tms_launch {
    int registers;    /* per thread */
    int shared_bytes; /* per block */
    int grid[3];
    int block[3];
    int occupancy; /* value of "est. achieved occupancy %" */
} tms_launch;

/* The constant attributes of a kind. */
typedef struct tms_kind_info {
    const char *name;
    tms_shape shape;
    tms_flow flow;
    tms_number number;
    int cbid;          /* CUPTI callback number of a runtime call */
    const char *args;  /* more JSON members of an operator, each with ", " after it; NULL if there
                          are none */
    tms_launch launch; /* kernels only */
} tms_kind_info;

/* Returns the row of a kind; static, never NULL. */
const tms_kind_info *tms_kind_get(tms_kind kind);

/* Returns the value of "cat" for a shape; static. */
const char *tms_shape_category(tms_shape shape);

#endif
