/* A rank's timeline: its events as columns, grouped by track, ascending in begin time. */
#ifndef TMERGE_TIMELINE_H
#define TMERGE_TIMELINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"

/** What an event is. Values are stored. */
typedef enum tm_event_kind { TM_DURATION = 0, TM_INSTANT = 1, TM_COUNTER = 2 } tm_event_kind;

/* The `cat` of an event: value (stored), word in the store, and the older words that mean the
 * same. Compared without case. */
#define TM_CATEGORY_LIST(X)                                                                        \
    X(TM_CAT_OTHER, 0, "other", NULL)                                                              \
    X(TM_CAT_CPU_OP, 1, "cpu_op", "operator")                                                      \
    X(TM_CAT_USER_ANNOTATION, 2, "user_annotation", NULL)                                          \
    X(TM_CAT_PYTHON, 3, "python_function", "python")                                               \
    X(TM_CAT_RUNTIME, 4, "cuda_runtime", "runtime")                                                \
    X(TM_CAT_DRIVER, 5, "cuda_driver", NULL)                                                       \
    X(TM_CAT_KERNEL, 6, "kernel", NULL)                                                            \
    X(TM_CAT_MEMCPY, 7, "gpu_memcpy", "memcpy")                                                    \
    X(TM_CAT_MEMSET, 8, "gpu_memset", "memset")                                                    \
    X(TM_CAT_GPU_ANNOTATION, 9, "gpu_user_annotation", NULL)                                       \
    X(TM_CAT_CUDA_SYNC, 10, "cuda_sync", NULL)                                                     \
    X(TM_CAT_CUDA_EVENT, 11, "cuda_event", NULL)                                                   \
    X(TM_CAT_OVERHEAD, 12, "overhead", NULL)                                                       \
    X(TM_CAT_CPU_INSTANT, 13, "cpu_instant_event", NULL)                                           \
    X(TM_CAT_TRACE, 14, "trace", NULL)                                                             \
    X(TM_CAT_COLLECTIVE_COMM, 15, "collective_comm", NULL)                                         \
    X(TM_CAT_NONE, 16, "none", "")                                                                 \
    X(TM_CAT_OS_RUNTIME, 17, "os_runtime", NULL)                                                   \
    X(TM_CAT_LIBRARY, 18, "library", NULL)                                                         \
    X(TM_CAT_OPENMP, 19, "openmp", NULL)                                                           \
    X(TM_CAT_OPENACC, 20, "openacc", NULL)                                                         \
    X(TM_CAT_SYSCALL, 21, "syscall", NULL)                                                         \
    X(TM_CAT_PAGE_FAULT, 22, "page_fault", NULL)                                                   \
    X(TM_CAT_ON_CPU, 23, "on_cpu", NULL)                                                           \
    X(TM_CAT_MPI, 24, "mpi", NULL)                                                                 \
    X(TM_CAT_HOST_WORK, 25, "host_work", NULL)

typedef enum tm_category {
#define TM_CATEGORY_ENUM(id, value, word, alias) id = value,
    TM_CATEGORY_LIST(TM_CATEGORY_ENUM)
#undef TM_CATEGORY_ENUM
        TM_N_CATEGORIES = 26
} tm_category;

/** The store's word for a category. */
const char *tm_category_word(tm_category category);

/** The category of a `cat` text, without case; TM_CAT_OTHER for one that is not in the list. */
tm_category tm_category_of(const char *bytes, size_t size);

/** What a GPU event does. Values are stored. */
typedef enum tm_role {
    TM_ROLE_NONE = 0,          /* not a GPU event */
    TM_ROLE_COMPUTE = 1,       /* P: a kernel that does not communicate */
    TM_ROLE_COMMUNICATION = 2, /* C */
    TM_ROLE_MEMORY = 3         /* M: copies and sets */
} tm_role;

/* Kinds of collective: value (stored) and word. */
#define TM_COLLECTIVE_LIST(X)                                                                      \
    X(TM_COLL_OTHER, 0, "other")                                                                   \
    X(TM_COLL_ALLREDUCE, 1, "allreduce")                                                           \
    X(TM_COLL_ALLGATHER, 2, "allgather")                                                           \
    X(TM_COLL_REDUCESCATTER, 3, "reducescatter")                                                   \
    X(TM_COLL_BROADCAST, 4, "broadcast")                                                           \
    X(TM_COLL_REDUCE, 5, "reduce")                                                                 \
    X(TM_COLL_ALLTOALL, 6, "alltoall")                                                             \
    X(TM_COLL_GATHER, 7, "gather")                                                                 \
    X(TM_COLL_SCATTER, 8, "scatter")                                                               \
    X(TM_COLL_SEND, 9, "send")                                                                     \
    X(TM_COLL_RECV, 10, "recv")                                                                    \
    X(TM_COLL_SENDRECV, 11, "sendrecv")                                                            \
    X(TM_COLL_BARRIER, 12, "barrier")                                                              \
    X(TM_COLL_COALESCED, 13, "coalesced")

typedef enum tm_collective_kind {
#define TM_COLLECTIVE_ENUM(id, value, word) id = value,
    TM_COLLECTIVE_LIST(TM_COLLECTIVE_ENUM)
#undef TM_COLLECTIVE_ENUM
        TM_N_COLLECTIVE_KINDS = 14
} tm_collective_kind;

const char *tm_collective_word(tm_collective_kind kind);

/* Kinds of recorded wait: value (stored; those of CUPTI), word, and how Kineto writes it. */
#define TM_WAIT_LIST(X)                                                                            \
    X(TM_WAIT_OTHER, 0, "other", "Unknown Sync")                                                   \
    X(TM_WAIT_EVENT_SYNC, 1, "event_sync", "Event Sync")                                           \
    X(TM_WAIT_STREAM_WAIT, 2, "stream_wait", "Stream Wait Event")                                  \
    X(TM_WAIT_STREAM_SYNC, 3, "stream_sync", "Stream Sync")                                        \
    X(TM_WAIT_CONTEXT_SYNC, 4, "context_sync", "Context Sync")

typedef enum tm_wait_kind {
#define TM_WAIT_ENUM(id, value, word, kineto) id = value,
    TM_WAIT_LIST(TM_WAIT_ENUM)
#undef TM_WAIT_ENUM
        TM_N_WAIT_KINDS = 5
} tm_wait_kind;

/** How Kineto writes it. */
const char *tm_wait_text(tm_wait_kind kind);

/** What a count says of the events or values that it counts. */
typedef enum tm_remark {
    TM_REMARK_NOTE,     /* as it should be: nothing to tell the user */
    TM_REMARK_MINOR,    /* kept as it is; no figure of the summary changes by it */
    TM_REMARK_ODD,      /* kept as it is, and figures may be wrong by it */
    TM_REMARK_REPAIRED, /* malformed text, repaired: the values or strings that needed it */
    TM_REMARK_SKIPPED   /* events read and not kept */
} tm_remark;

/* What is counted while a trace is read and its timeline built: id, word, remark, what it means.
 * All are in the store's /ranks, and by trace in /spans. */
#define TM_COUNT_LIST(X)                                                                           \
    X(TM_COUNT_NO_TIME, "no_time", TM_REMARK_SKIPPED,                                              \
      "duration, instant or counter events without a valid ts or dur")                             \
    X(TM_COUNT_NEGATIVE_DURATION, "negative_duration", TM_REMARK_SKIPPED,                          \
      "duration events with a dur below 0: when they ended is not known")                          \
    X(TM_COUNT_ABSURD_DURATION, "absurd_duration", TM_REMARK_SKIPPED,                              \
      "duration events over 24 hours: no profiler records that long")                              \
    X(TM_COUNT_UNKNOWN_WORK_TIME, "unknown_work_time", TM_REMARK_SKIPPED,                          \
      "kernels, copies and sets whose time the profiler did not know: its begin or duration is "   \
      "0, it lies a year off the rest, ends after the rank's next recording began, or the file "   \
      "describes work without its task or operation")                                              \
    X(TM_COUNT_UNKNOWN_TIME, "unknown_time", TM_REMARK_SKIPPED,                                    \
      "other events whose time the profiler did not know: 0, or a year off the rest")              \
    X(TM_COUNT_OTHER_PHASE, "other_phase", TM_REMARK_SKIPPED,                                      \
      "events of a ph, or samples of a list, that nothing here is made of")                        \
    X(TM_COUNT_NOT_OBJECT, "not_object", TM_REMARK_SKIPPED,                                        \
      "entries of traceEvents that are no objects")                                                \
    X(TM_COUNT_CUT_EVENT, "cut_event", TM_REMARK_SKIPPED,                                          \
      "events in whose middle a truncated trace ends")                                             \
    X(TM_COUNT_OVERLAPPING_TRACE, "overlapping_trace", TM_REMARK_SKIPPED,                          \
      "events of a trace left out by --skip-bad because its time overlaps another of the rank")    \
    X(TM_COUNT_OPEN_RANGE, "open_range", TM_REMARK_SKIPPED,                                        \
      "calls and ranges that had not ended when the recording did")                                \
    X(TM_COUNT_NOT_RECORD, "not_record", TM_REMARK_SKIPPED,                                        \
      "lines of NCCL's inspector that are damaged, or have values that cannot be")                 \
    X(TM_COUNT_OTHER_GPU, "other_gpu", TM_REMARK_SKIPPED,                                          \
      "operations of smaller communicators in a process with several GPUs: of which GPU stands "   \
      "nowhere")                                                                                   \
    X(TM_COUNT_MOSTLY_SKIPPED, "mostly_skipped", TM_REMARK_ODD,                                    \
      "events skipped of a trace of which less than half of the timed events is kept")             \
    X(TM_COUNT_REPAIRED_EVENT, "repaired_event", TM_REMARK_NOTE,                                   \
      "events with at least one repair")                                                           \
    X(TM_COUNT_NON_FINITE, "non_finite", TM_REMARK_REPAIRED, "bare inf, NaN or N/A, read as null") \
    X(TM_COUNT_CONTROL_CHARACTER, "control_character", TM_REMARK_REPAIRED,                         \
      "strings with raw control characters, kept")                                                 \
    X(TM_COUNT_INVALID_UTF8, "invalid_utf8", TM_REMARK_REPAIRED,                                   \
      "strings with bytes that are not UTF-8, read as U+FFFD")                                     \
    X(TM_COUNT_BACKSLASH, "backslash", TM_REMARK_REPAIRED,                                         \
      "strings with backslashes that escape nothing, read as they stand")                          \
    X(TM_COUNT_UNESCAPED_QUOTE, "unescaped_quote", TM_REMARK_REPAIRED,                             \
      "strings with quotes that are not escaped, kept")                                            \
    X(TM_COUNT_TRAILING_COMMA, "trailing_comma", TM_REMARK_REPAIRED,                               \
      "commas before a closing brace or bracket, passed over")                                     \
    X(TM_COUNT_SIGNED_FRACTION, "signed_fraction", TM_REMARK_REPAIRED,                             \
      "negative numbers written like -1.-500, read as -1.500")                                     \
    X(TM_COUNT_NO_NAME, "no_name", TM_REMARK_ODD, "events kept without a name")                    \
    X(TM_COUNT_NO_CATEGORY, "no_category", TM_REMARK_MINOR, "duration events kept without a cat")  \
    X(TM_COUNT_OTHER_CATEGORY, "other_category", TM_REMARK_NOTE,                                   \
      "events kept as category other, its text is not known")                                      \
    X(TM_COUNT_BAD_VALUE, "bad_value", TM_REMARK_ODD,                                              \
      "attributes left empty: not of the type that the field has")                                 \
    X(TM_COUNT_ZERO_TIME, "zero_time", TM_REMARK_MINOR,                                            \
      "events at ts 0: where many are, the profiler clamped times before its base")                \
    X(TM_COUNT_FAR_TIME, "far_time", TM_REMARK_ODD,                                                \
      "events that begin over 24 hours from the median begin of the trace's events")               \
    X(TM_COUNT_ADOPTED_BASE, "adopted_base", TM_REMARK_ODD,                                        \
      "events of a truncated trace whose base time is cut off: that of other traces is taken")     \
    X(TM_COUNT_NO_EPOCH, "no_epoch", TM_REMARK_MINOR,                                              \
      "events of a trace that tells no time of day: they count from the start of the recording, "  \
      "or of its host")                                                                            \
    X(TM_COUNT_EVENT_LIMIT, "event_limit", TM_REMARK_ODD,                                          \
      "events of a file that has exactly as many as its writer keeps: later ones are cut off")     \
    X(TM_COUNT_WHOLE_GRAPH, "whole_graph", TM_REMARK_ODD,                                          \
      "CUDA graphs recorded as one kernel each; nsys profile --cuda-graph-trace=node shows "       \
      "inside")                                                                                    \
    X(TM_COUNT_DIAGNOSTIC, "diagnostic", TM_REMARK_MINOR,                                          \
      "warnings and errors of the profiler itself, whose texts are in the rank's metadata")        \
    X(TM_COUNT_OTHER_TASK, "other_task", TM_REMARK_ODD,                                            \
      "events of an NPU whose task type is not known: they count as computation")                  \
    X(TM_COUNT_OTHER_SUMS, "other_sums", TM_REMARK_ODD,                                            \
      "lanes of the profiler's own overlap analysis whose sum is not that of the events")          \
    X(TM_COUNT_STREAM_OVERLAP, "stream_overlap", TM_REMARK_MINOR,                                  \
      "kernels that begin before an earlier one of their stream has ended")                        \
    X(TM_COUNT_RESTART, "restart", TM_REMARK_ODD,                                                  \
      "recordings in which Seq or the numbers of steps begin again, so the job was restarted: "    \
      "collectives are matched within each run, steps of the second are numbered from 1000000 on") \
    X(TM_COUNT_OTHER_RUN, "other_run", TM_REMARK_ODD,                                              \
      "recordings that share no communicator with an earlier one of their rank: the job was "      \
      "restarted, or they are of another job")                                                     \
    X(TM_COUNT_DUPLICATE_CORRELATION, "duplicate_correlation", TM_REMARK_ODD,                      \
      "GPU events whose correlation id several launches have, one after another: the first "       \
      "counts")                                                                                    \
    X(TM_COUNT_LATER_RECORD, "later_record", TM_REMARK_MINOR,                                      \
      "waits for a CUDA event with the id of a record that comes after them: it is not used")      \
    X(TM_COUNT_UNKNOWN_RECORD, "unknown_record", TM_REMARK_MINOR,                                  \
      "waits of a stream for a CUDA event whose record the profiler did not see: what they wait "  \
      "for is guessed by times in the replay")                                                     \
    X(TM_COUNT_SHARED_SEQUENCE, "shared_sequence", TM_REMARK_MINOR,                                \
      "nodes of autograd's graph that bear the number of another one: which forward operator "     \
      "they are of, and so which module, may be wrong")                                            \
    X(TM_COUNT_UNLINKED, "unlinked", TM_REMARK_NOTE,                                               \
      "GPU events whose launch is not in the trace")                                               \
    X(TM_COUNT_FLOW, "flow", TM_REMARK_NOTE,                                                       \
      "flow records; launches are linked by correlation instead")                                  \
    X(TM_COUNT_METADATA, "metadata", TM_REMARK_NOTE,                                               \
      "metadata records: names of processes and threads")                                          \
    X(TM_COUNT_ODD_METADATA, "odd_metadata", TM_REMARK_ODD,                                        \
      "top-level values not kept (over 16 MiB) or not understood")

typedef enum tm_count {
#define TM_COUNT_ENUM(id, word, remark, doc) id,
    TM_COUNT_LIST(TM_COUNT_ENUM)
#undef TM_COUNT_ENUM
        TM_N_COUNTS
} tm_count;

typedef struct tm_count_def {
    const char *word;
    tm_remark remark;
    const char *doc;
} tm_count_def;

const tm_count_def *tm_count_info(tm_count count);

/** No rank is larger, and no job has more ranks. */
#define TM_RANK_MAX INT64_C(1000000000)

/** No launch, no step, no event. */
#define TM_NO_EVENT UINT32_MAX
enum { TM_NO_STEP = -1 };

typedef enum tm_track_kind { TM_TRACK_GPU = 0, TM_TRACK_CPU = 1 } tm_track_kind;

/** A CPU thread or a GPU stream. Text fields are name ids. */
typedef struct tm_track {
    uint8_t kind;          /* tm_track_kind */
    int32_t device;        /* GPU: device number, -1 unknown; CPU: -1 */
    int64_t stream;        /* GPU: stream number, -1 unknown; CPU: -1 */
    uint32_t pid, tid;     /* as written in the trace */
    uint32_t process_name; /* from metadata records */
    uint32_t thread_name;
    uint32_t first; /* its events are rows [first, first + count) of the timeline */
    uint32_t count;
} tm_track;

/* Attributes that few events have: tables keyed by event row, ascending. An id field that is not
 * in the trace is TM_NO_NAME, an integer -1 (correlation: 0), a real NaN. */

/** A call of the CUDA or HIP runtime or driver. */
typedef struct tm_launch_attr {
    int64_t correlation;
    uint32_t event;
} tm_launch_attr;

/** How a kernel was launched. Of a timeline there are few, which many kernels share. */
typedef struct tm_launch_shape {
    int32_t grid[3], block[3];   /* blocks, threads */
    int32_t registers;           /* per thread */
    int32_t shared_memory_bytes; /* per block */
    float blocks_per_sm, warps_per_sm;
    float occupancy_pct; /* estimated achieved occupancy; NaN where it is not known */
} tm_launch_shape;

typedef struct tm_kernel_attr {
    int64_t correlation;
    uint32_t event;
    uint32_t shape; /* index into the timeline's shapes */
} tm_kernel_attr;

/** A copy or a set. */
typedef struct tm_copy_attr {
    int64_t correlation;
    int64_t bytes;
    float bandwidth_gbps; /* GB/s as the profiler computed it */
    uint32_t event;
} tm_copy_attr;

/** In seq: comms_id is of an operation of a program that runs again and again, and the same on all
 * ranks; which run it is, the order of its runs tells. */
enum { TM_SEQ_REPEATED = -2 };

/** A communication kernel, or the CPU operator that asked for it. Matching sets wait_ns, first_rank
 * and first_event: the last two name the operation that the kernel belongs to, complete or not; and
 * exposed_ns (waits/exposed.h). */
typedef struct tm_collective_attr {
    int64_t comms_id; /* 0 where the trace has none */
    int64_t seq;      /* or TM_SEQ_REPEATED */
    int64_t in_elements, out_elements;
    int64_t wait_ns;    /* until the operation's last rank came; -1 where it has no wait */
    int64_t exposed_ns; /* of a kernel, while its rank computes nothing; -1 unknown */
    int64_t call_bytes; /* of a kernel whose size is not recorded: that of the tensors that the call
                           took which launched it, -1 unknown (timeline/comm_calls.h); not stored */
    uint32_t event;
    uint32_t first_event;            /* that rank's kernel: its row among the rank's events; 0 */
    int32_t first_rank;              /* lowest rank of the operation, -1 not matched */
    int32_t group_size;              /* ranks */
    int32_t rank_start, rank_stride; /* global ranks of the group, where it is regular */
    int32_t src_rank, dst_rank;
    uint32_t name, dtype;              /* `Collective name`, `dtype` */
    uint32_t group, group_description; /* `Process Group Name`, `... Description` */
    uint32_t group_ranks;              /* `Process Group Ranks`, cut after 30 by the profiler */
    uint32_t in_split, out_split;
    uint8_t kind; /* tm_collective_kind */
} tm_collective_attr;

/** A communicator of NCCL that a rank made or used, where its trace tells them by a hash and not by
 * their ranks. `src_rank` and `dst_rank` of its kernels are places in it until tm_mpi_load has
 * found those (match/communicators.h). */
typedef struct tm_communicator {
    uint32_t name;   /* name id: `group` of its kernels, the same text on all of its ranks */
    int32_t n_ranks; /* ranks, and */
    int32_t place;   /* of this rank among them; both -1 where its making was not recorded */
    bool used;       /* by a kernel of this rank */
    bool numbered;   /* its kernels have a Comms Id of NCCL's counters, which other traces lack */
    bool joined;     /* this rank's trace tells it by name and ranks (match/joined.h) */
    uint64_t nccl; /* the first TM_NCCL_DIGITS hex digits of NCCL's hash; 0: it is none of these */
} tm_communicator;

/** As many digits of a communicator's hash every profiler of NCCL writes: of up to 16. */
enum { TM_NCCL_DIGITS = 14 };

/** The first digits of a hash, its leading zeros left out. */
static inline uint64_t tm_nccl_digits(uint64_t hash) {
    while (hash >> (4 * TM_NCCL_DIGITS))
        hash >>= 4;
    return hash;
}

/** No job has more ranks; a group that claims to is not believed. */
enum { TM_GROUP_RANKS_MAX = 1 << 20 };

/** A [memory] instant: an allocation, or a release where bytes is negative. */
typedef struct tm_memory_attr {
    int64_t address; /* -1 where not recorded */
    int64_t bytes;
    int64_t allocated_bytes, reserved_bytes; /* totals after it, -1 where not recorded; of a TPU is
                                              * reserved a part of allocated: its programs' own */
    uint32_t event;
    int32_t device_type; /* 0 CPU, 1 CUDA, ... */
    int32_t device;      /* -1 CPU */
} tm_memory_attr;

/** One series of a counter event. */
typedef struct tm_counter_attr {
    double value;
    uint32_t event;
    uint32_t series; /* name id of the args key, which may be empty */
} tm_counter_attr;

/** What a CPU operator was called with, where the profiler recorded it. */
typedef struct tm_shapes_attr {
    uint32_t event;
    uint32_t shapes; /* name id of its `Input Dims` on one line: [[8, 16], [16], []] */
} tm_shapes_attr;

/** What tells, besides its shapes, how much an operator computes, or which parameters a model has:
 * of those alone of which that is known (timeline/counted.h). */
typedef struct tm_inputs_attr {
    uint32_t event;
    uint32_t types;    /* name id of its `Input type`: a list of texts, as JSON */
    uint32_t concrete; /* name id of its `Concrete Inputs`, likewise */
} tm_inputs_attr;

/** What autograd and Python say of a CPU operator, where the profiler recorded it. Building the
 * timeline sets forward. */
typedef struct tm_operator_attr {
    int64_t sequence; /* autograd's number: that of the forward operator whose gradient it computes;
                         -1 not recorded */
    uint32_t event;
    uint32_t forward; /* row of that operator, TM_NO_EVENT where it is none or not in the trace */
    uint32_t stack;   /* name id of the functions that called it, the innermost first, with ";"
                         between */
    int32_t thread;   /* autograd's number of the forward operator's thread; 0 where it is one */
} tm_operator_attr;

/** A recorded wait: of a stream for an event of CUDA (stream_wait), or of the host for an event, a
 * stream, or all that a context was given. Its event is the record of category cuda_sync, on whose
 * device both streams are. An event_sync may be of cudaEventQuery, which asks and does not wait:
 * the name of the call tells. Building the timeline sets call and record. */
typedef struct tm_wait_attr {
    int64_t correlation;        /* of the call */
    int64_t record_correlation; /* of the call that recorded the event; 0 not recorded */
    int64_t stream;             /* the one that waits; -1 the host */
    int64_t on_stream;          /* waited for; -1 all of the context, or not known */
    uint32_t event;
    uint32_t call;   /* row of the call that asked for it (cudaStreamWaitEvent, ...), and */
    uint32_t record; /* of the cudaEventRecord whose work is waited for; both may be TM_NO_EVENT */
    uint8_t kind;    /* tm_wait_kind */
} tm_wait_attr;

/** What XLA or TensorFlow tells of an event of the device: names it, and says what it computes. */
typedef struct tm_xla_attr {
    int64_t flops, bytes; /* of one run, as the compiler counts them, bytes of the device's main
                             memory; -1 not told */
    uint32_t event;
    uint32_t program;  /* name id of the module, with its fingerprint where it has one */
    uint32_t hlo;      /* name id of the operation in it: "fusion.2" */
    uint32_t category; /* name id of the compiler's, "loop fusion" */
    uint32_t origin;   /* name id of what in the source it is of: "jit(f)/dot_general", "MatMul" */
    uint32_t shape;    /* name id of what it makes, or of the operator's inputs: "bf16[8,128]" */
} tm_xla_attr;

/** Of a migration or a page fault of unified memory the page's. */
typedef struct tm_unified_attr {
    int64_t address;
    uint32_t event;
} tm_unified_attr;

typedef enum tm_attr {
    TM_ATTR_LAUNCH,
    TM_ATTR_KERNEL,
    TM_ATTR_COPY,
    TM_ATTR_COLLECTIVE,
    TM_ATTR_MEMORY,
    TM_ATTR_COUNTER,
    TM_ATTR_SHAPES,
    TM_ATTR_WAIT,
    TM_ATTR_INPUTS,
    TM_ATTR_OPERATOR,
    TM_ATTR_XLA,
    TM_ATTR_UNIFIED,
    TM_N_ATTRS
} tm_attr;

/** A step of the rank: the annotation on the CPU that marks it, and its window. */
typedef struct tm_step {
    int64_t number;           /* its name's, or its place among them where names do not count steps;
                                 0 where the whole trace is the step */
    int64_t begin_ns, end_ns; /* the window, half open */
    bool annotated;           /* false: the trace marks no steps */
    uint32_t name; /* name id of the annotation; TM_NO_NAME where the trace marks no steps,
                      and in what tm_store_read_ranks gives */
} tm_step;

/** Recordings that are further apart are of no one job, on whatever clocks: none is as wrong. A
 * time before the first one is no time of day. */
#define TM_FAR_APART_NS INT64_C(600000000000)
#define TM_FIRST_DAY_NS INT64_C(946684800000000000) /* of 2000 */

/** One trace of the rank: its path and the time that it covers. A trace in which the profiler
 * paused between steps is several spans of one source. */
typedef struct tm_span {
    uint32_t source;                   /* name id of the path as given */
    int64_t begin_ns, end_ns;          /* over its duration events but for those of category
                                        trace and of the operating system */
    int64_t gpu_begin_ns, gpu_end_ns;  /* over its GPU events */
    int64_t open_ns;                   /* from when on the profilers of those that it met first were
                                          open (mpi/opening.h): begin_ns where they were by then */
    int64_t n_durations, n_gpu_events; /* how many; a range of none is [0, 0) */
    int64_t counts[TM_N_COUNTS];       /* of this trace alone; with the first of its spans */
    bool truncated;                    /* it ends before its end */
} tm_span;

/** What matching says of one communication kernel. */
typedef struct tm_comm_answer {
    int64_t wait_ns;          /* -1 where its operation has no wait */
    int64_t lateness_ns;      /* L minus the runner-up's begin, where it came last alone */
    int64_t caused_ns;        /* the wait of others that it caused: whole nanoseconds, and */
    uint64_t caused_fraction; /* 2^-40 ns, below 2^40 */
    int64_t doubt_ns;         /* of what it caused: what its clock may be wrong by, for each rank
                                 that was early */
    int64_t step;             /* of the operation, -1 for none */
    int32_t group_size;
    bool matched;    /* it belongs to an operation, complete or not */
    bool complete;   /* of which every member gave a kernel */
    bool at_least;   /* whose group may have further members, which no trace tells */
    bool last, tied; /* it came last alone; it shares the last place with another */
    bool untied;     /* one of the operation's ranks came last alone */
} tm_comm_answer;

/** How a rank's clock was brought to the job's. */
typedef enum tm_clock_way {
    TM_CLOCK_AS_RECORDED, /* by its wall clock alone */
    TM_CLOCK_FITTED,      /* by the ends of collectives */
    TM_CLOCK_UNKNOWN      /* it cannot be compared with others */
} tm_clock_way;

/** Far below where the numbers of a double lie a half apart. */
#define TM_SHORT_DRIFT_NS 1e15

/** A rank's clock: true time = t + offset + drift x (t - middle). All 0 where it is as recorded. */
typedef struct tm_rank_clock {
    int64_t offset_ns; /* at the middle of the rank's trace */
    int64_t middle_ns; /* recorded */
    double drift_ppb;
    int64_t uncertainty_ns;    /* standard deviation of the offset, the largest over the trace */
    int64_t spread_ns;         /* robust spread of the clocks of the GPUs of its domain */
    int64_t low_ns, high_ns;   /* where bounded: the offset's guaranteed interval */
    int64_t residual_ns;       /* where n_residuals > 0: median of its ends against the others' */
    int64_t n_residuals;       /* matched ends that this is of */
    int64_t anchors;           /* collectives whose ends had weight in the fit of its domain */
    int64_t step_ns;           /* how far the clock was set within the trace; 0: was not */
    int32_t domain, component; /* ranks of one domain share a clock; those of one component have
                                  clocks that can be compared */
    bool bounded;
    uint8_t way; /* tm_clock_way */
} tm_rank_clock;

/** True time [ns] of a recorded one. */
static inline int64_t tm_rank_clock_true(const tm_rank_clock *clock, int64_t recorded_ns) {
    double since = (double)(recorded_ns - clock->middle_ns), share = clock->drift_ppb * 1e-9;
    double ns = since * share;
    if (!(ns > -TM_SHORT_DRIFT_NS && ns < TM_SHORT_DRIFT_NS))
        return recorded_ns + clock->offset_ns + llround(ns);
    /* As llround, of which the call takes as long as all else here. */
    int64_t whole = (int64_t)ns;
    double rest = ns - (double)whole; /* exact */
    return recorded_ns + clock->offset_ns + whole + (rest >= 0.5) - (rest <= -0.5);
}

/** What a level's row is of. Values are stored. */
typedef enum tm_level_lane {
    TM_LEVEL_COMPUTE = 0,   /* P */
    TM_LEVEL_TRANSFER = 1,  /* communication after its last rank came */
    TM_LEVEL_WAIT = 2,      /* before; not where another operation transfers */
    TM_LEVEL_UNMATCHED = 3, /* communication without wait and transfer, where no other has them */
    TM_LEVEL_COPIES = 4,    /* M without P */
    TM_LEVEL_HOST = 5,      /* operators and calls of the runtime and driver, of all threads */
    TM_N_LEVEL_LANES
} tm_level_lane;

/** The finest level has at most a row for so many events of the rank. */
enum { TM_LEVEL_EVENTS = 12 };

/** A lane of the timeline in one bucket of time. A lane without anything in it has no row. */
typedef struct tm_level {
    int64_t begin_ns; /* of the bucket, on the job's clock since the epoch: a multiple of its width
                       */
    int64_t busy_ns;  /* of it, the lane's intervals united */
    int64_t events;   /* that begin in it */
    int64_t longest_ns; /* of these */
    uint8_t lane;       /* tm_level_lane */
    uint8_t exponent;   /* of the width: 2^exponent ns */
} tm_level;

/** One rank's events and all that is known of it. Arrays are owned. */
typedef struct tm_timeline {
    int64_t rank;
    int64_t world_size;          /* -1 unknown */
    uint32_t host;               /* name id of what trace, file name or user say, TM_NO_NAME if
                                    nothing does */
    uint32_t format;             /* name id of the reader's name */
    int32_t device;              /* the device with most busy time, -1 without GPU events */
    bool truncated;              /* one of its traces is */
    int64_t counts[TM_N_COUNTS]; /* over its traces */

    size_t n_events;
    int64_t *begin_ns;    /* [n_events] since the epoch, as recorded */
    int64_t *duration_ns; /* [n_events] 0 for instants and counters */
    uint32_t *name;       /* [n_events] */
    int32_t *step;        /* [n_events] index into steps, or TM_NO_STEP */
    uint32_t *launch;     /* [n_events] row of the call that launched it, or TM_NO_EVENT; of a call
                             for what its thread took from a queue, of the call that put it there */
    uint8_t *category;    /* [n_events] tm_category */
    uint8_t *kind;        /* [n_events] tm_event_kind */
    uint8_t *role;        /* [n_events] tm_role */

    tm_track *tracks; /* GPU streams first, then CPU threads */
    size_t n_tracks;
    tm_step *steps; /* ascending in begin */
    size_t n_steps;
    uint8_t *step_marks; /* a bit for each event, NULL where none: see tm_timeline_is_step */
    tm_span *spans;      /* ascending in begin */
    size_t n_spans;
    void *attrs[TM_N_ATTRS]; /* arrays of tm_launch_attr, tm_kernel_attr, ... */
    size_t n_attrs[TM_N_ATTRS];
    tm_launch_shape *shapes; /* [n_shapes] of the kernels, in any order */
    size_t n_shapes;
    char *metadata; /* [n_metadata] the trace's top-level JSON without traceEvents, and without */
    size_t n_metadata; /* its lists (timeline/metadata.h); terminated, NULL where it has none */
    uint32_t *metadata_lists; /* name ids */
    size_t n_metadata_lists;
    tm_communicator *communicators; /* NULL once the ranks of all are known */
    size_t n_communicators;
    tm_rank_clock clock;
    tm_level *levels; /* level by level, the finest first, lane by lane; NULL until they are asked
                         for */
    size_t n_levels;
    tm_comm_answer *answers; /* [n_attrs[TM_ATTR_COLLECTIVE]], NULL before matching */
} tm_timeline;

/** What is read of events, where not all of it is needed; or'ed. */
typedef enum tm_rows_part {
    TM_ROWS_TIMES = 1,    /* begin_ns and duration_ns */
    TM_ROWS_LAUNCHES = 2, /* launch */
    TM_ROWS_KINDS = 4,    /* category, kind and role */
    TM_ROWS_ATTRS = 8,    /* the attributes */
    TM_ROWS_NAMES = 16,   /* name */
    TM_ROWS_ALL = 31      /* step, too */
} tm_rows_part;

/** Where the events of a rank come from, piece by piece. */
typedef struct tm_event_rows {
    /** Events of the rank from @p first on, 0 or where the last piece ended, as tm_store_read_piece
     * gives them. */
    tm_status (*read)(void *context, size_t first, unsigned what, const tm_timeline **out,
                      tm_error *err);
    void *context;
} tm_event_rows;

/**
 * The next events of a rank, of which the last ones began at row *first and were as many as *piece
 * has, NULL before the first.
 *
 * @param rows  NULL: they are in the timeline, and are one piece
 * @param what  tm_rows_part
 */
tm_status tm_event_rows_next(const tm_event_rows *rows, const tm_timeline *timeline, unsigned what,
                             size_t *first, const tm_timeline **piece, tm_error *err) TM_MUST_CHECK;

void tm_timeline_destroy(tm_timeline *timeline);

/** The sum of the counts with this remark: TM_REMARK_SKIPPED gives the events not kept. */
int64_t tm_timeline_count(const tm_timeline *timeline, tm_remark remark);

/** One more than the largest name id of its events. */
size_t tm_timeline_n_names(const tm_timeline *timeline);

/** The range [ns] over its duration events but for those of category trace and of the operating
 * system; false where it has none. */
bool tm_timeline_range(const tm_timeline *timeline, int64_t *begin_ns, int64_t *end_ns);

/** Whether nothing but communication is recorded of the rank: what it computes, and when it does
 * nothing, is not known. */
bool tm_timeline_lacks_compute(const tm_timeline *timeline);

/** True where an event on the CPU marks a step, of the job or of the profiler alone: such encloses
 * a step's work and is none itself. All that asks what a step is asks this, for which annotations
 * are steps depends on the trace and on --step-pattern. False where steps were not found: in
 * timelines of tm_store_read_timelines. */
static inline bool tm_timeline_is_step(const tm_timeline *timeline, uint32_t row) {
    return timeline->step_marks && (timeline->step_marks[row / 8] >> row % 8 & 1);
}

/** The call by which the program asked for an event of the device: that launched it or, where a
 * thread did so for what it took from a queue, that put it there. TM_NO_EVENT where none is known.
 */
static inline uint32_t tm_timeline_asked(const tm_timeline *timeline, uint32_t row) {
    uint32_t call = timeline->launch[row];
    uint32_t by = call == TM_NO_EVENT ? TM_NO_EVENT : timeline->launch[call];
    return by == TM_NO_EVENT ? call : by;
}

/** How a kernel of the timeline was launched. */
static inline const tm_launch_shape *tm_kernel_shape(const tm_timeline *timeline,
                                                     const tm_kernel_attr *kernel) {
    return &timeline->shapes[kernel->shape];
}

/** The track of a row below n_events. */
const tm_track *tm_timeline_track(const tm_timeline *timeline, uint32_t row);

/** The first row of TM_ATTR_COLLECTIVE that belongs to this event row or to a later one; n_attrs
 * where there is none. */
size_t tm_timeline_collectives_from(const tm_timeline *timeline, uint32_t row);

/** The row of TM_ATTR_COLLECTIVE of an event row; NULL where it has none. */
const tm_collective_attr *tm_timeline_collective(const tm_timeline *timeline, uint32_t row);

/** The recording that a moment of the rank lies in, or that was the last to begin before it; NULL
 * where none had. Nothing is known of the time between two, so no duration reaches from one into
 * the next. */
const tm_span *tm_timeline_span(const tm_timeline *timeline, int64_t recorded_ns);

/** A moment of the rank, or if the profilers were not open yet, when they were. */
static inline int64_t tm_opened(const tm_timeline *timeline, int64_t recorded_ns) {
    const tm_span *in = timeline->spans;
    if (timeline->n_spans > 1)
        in = tm_timeline_span(timeline, recorded_ns);
    return in && in->open_ns > recorded_ns && in->open_ns > in->begin_ns ? in->open_ns
                                                                         : recorded_ns;
}

/** The middle [ns] of the time from the first begin to the last end of its spans; 0 without. */
int64_t tm_timeline_middle(const tm_timeline *timeline);

/** Numbers the hosts of ranks whose host nobody tells: devices of one host are numbered upwards,
 * and where ranks are missing, as many devices are. */
typedef struct tm_host_rule {
    int64_t rank, device; /* the last ones; begin with rank -2 */
    int32_t host;         /* the last number; begin with -1 */
} tm_host_rule;

/** The number, from 0, of the host of the next such rank.
 * @param device  its device number, -1 unknown */
int32_t tm_host_rule_next(tm_host_rule *rule, int64_t rank, int64_t device);

/** A rank whose host is told comes between: the next such rank is on another host. */
static inline void tm_host_rule_part(tm_host_rule *rule) {
    rule->device = INT64_MAX;
}

/** A rank and its host. */
typedef struct tm_host_rank {
    int64_t rank, device;
    uint32_t name;  /* name id of the host; TM_NO_NAME unknown */
    int32_t number; /* answer */
} tm_host_rank;

/**
 * Numbers the hosts of all ranks of a job in the order of their lowest rank.
 * @param ranks    [n] ascending in rank; their numbers are set
 * @param n_hosts  set on TM_OK
 * @return         TM_OK; TM_ERR_FAULT
 */
tm_status tm_hosts_number(tm_host_rank *ranks, size_t n, int32_t *n_hosts,
                          tm_error *err) TM_MUST_CHECK;

#endif
