/* Timeline of a rank: its events as columns, grouped by track, and within a track ordered by
 * start. */
#ifndef TMERGE_TIMELINE_H
#define TMERGE_TIMELINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/names.h"
#include "tmerge/status.h"

/** Kind of an event. Values are stored. */
typedef enum tm_event_kind { TM_DURATION = 0, TM_INSTANT = 1, TM_COUNTER = 2 } tm_event_kind;

/* Event categories. Each has its stored value, its word in the store, and another word that is also
 * read (or NULL). A trace has the word in `cat`, in upper or lower case. */
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

/** Returns the store's word for a category. */
const char *tm_category_word(tm_category category);

/** Returns the category of a `cat` text, ignoring case; TM_CAT_OTHER if it is not in the list. */
tm_category tm_category_of(const char *bytes, size_t size);

/** Role of a GPU event. Values are stored. */
typedef enum tm_role {
    TM_ROLE_NONE = 0,          /* not a GPU event */
    TM_ROLE_COMPUTE = 1,       /* P: a kernel that does not communicate */
    TM_ROLE_COMMUNICATION = 2, /* C */
    TM_ROLE_MEMORY = 3         /* M: memory copies and sets */
} tm_role;

/* Kinds of collective. Each has its stored value and its word. */
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

/** Returns whether a tm_collective_kind is a send or a receive: an operation with one peer. */
static inline bool tm_collective_is_one_way(unsigned kind) {
    return kind == TM_COLL_SEND || kind == TM_COLL_RECV;
}

/** Returns whether a tm_collective_kind is a send, a receive, or both in one kernel. */
static inline bool tm_collective_is_transfer(unsigned kind) {
    return tm_collective_is_one_way(kind) || kind == TM_COLL_SENDRECV;
}

/* Kinds of recorded wait. Each has its stored value (CUPTI's number), its word, and Kineto's text.
 */
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

/** Returns Kineto's text for a kind of wait. */
const char *tm_wait_text(tm_wait_kind kind);

/** What a count of events or values means to the user. */
typedef enum tm_diagnostic {
    TM_DIAGNOSTIC_NOTE,     /* expected in such a trace: not reported to the user */
    TM_DIAGNOSTIC_MINOR,    /* kept unchanged; cannot change the figures of the summary */
    TM_DIAGNOSTIC_ODD,      /* kept unchanged, but figures may be wrong */
    TM_DIAGNOSTIC_REPAIRED, /* malformed text that was repaired: number of values or strings */
    TM_DIAGNOSTIC_SKIPPED   /* events read but not kept */
} tm_diagnostic;

/* Counts that are made while a trace is read and its timeline is built. Each has an id, a word, a
 * severity and a meaning. In the store, /spans has the counts of each trace, and /ranks has their
 * sums for each rank. */
#define TM_COUNT_LIST(X)                                                                           \
    X(TM_COUNT_NO_TIME, "no_time", TM_DIAGNOSTIC_SKIPPED,                                          \
      "duration, instant or counter events without a valid ts or dur")                             \
    X(TM_COUNT_NEGATIVE_DURATION, "negative_duration", TM_DIAGNOSTIC_SKIPPED,                      \
      "duration events with a dur below 0: their end is unknown")                                  \
    X(TM_COUNT_ABSURD_DURATION, "absurd_duration", TM_DIAGNOSTIC_SKIPPED,                          \
      "duration events over 24 hours: no profiler records that long")                              \
    X(TM_COUNT_UNKNOWN_WORK_TIME, "unknown_work_time", TM_DIAGNOSTIC_SKIPPED,                      \
      "kernels, copies and sets whose time the profiler did not know: their start or duration is " \
      "0, they are a year away from other events, they start long after their launch and all "     \
      "other events, they end after the rank's next recording started, or the file describes "     \
      "them without their task or operation")                                                      \
    X(TM_COUNT_UNKNOWN_TIME, "unknown_time", TM_DIAGNOSTIC_SKIPPED,                                \
      "other events whose time the profiler did not know: it is 0, or a year away from other "     \
      "events")                                                                                    \
    X(TM_COUNT_OTHER_PHASE, "other_phase", TM_DIAGNOSTIC_SKIPPED,                                  \
      "events of a kind (ph), or samples of a list, that tmerge does not use")                     \
    X(TM_COUNT_NOT_OBJECT, "not_object", TM_DIAGNOSTIC_SKIPPED,                                    \
      "entries of traceEvents that are not objects")                                               \
    X(TM_COUNT_CUT_EVENT, "cut_event", TM_DIAGNOSTIC_SKIPPED,                                      \
      "events that are cut by the end of a truncated trace")                                       \
    X(TM_COUNT_OVERLAPPING_TRACE, "overlapping_trace", TM_DIAGNOSTIC_SKIPPED,                      \
      "events of a trace that --skip-bad left out because its time overlaps another trace of the " \
      "rank")                                                                                      \
    X(TM_COUNT_OPEN_RANGE, "open_range", TM_DIAGNOSTIC_SKIPPED,                                    \
      "calls and ranges that had not ended at the end of the recording")                           \
    X(TM_COUNT_NOT_RECORD, "not_record", TM_DIAGNOSTIC_SKIPPED,                                    \
      "lines of NCCL's inspector that are damaged or have impossible values")                      \
    X(TM_COUNT_OTHER_GPU, "other_gpu", TM_DIAGNOSTIC_SKIPPED,                                      \
      "operations of smaller communicators in a process with several GPUs: their GPU is unknown")  \
    X(TM_COUNT_MOSTLY_SKIPPED, "mostly_skipped", TM_DIAGNOSTIC_ODD,                                \
      "skipped events of a trace that keeps less than half of its timed events")                   \
    X(TM_COUNT_REPAIRED_EVENT, "repaired_event", TM_DIAGNOSTIC_NOTE,                               \
      "events with at least one repair")                                                           \
    X(TM_COUNT_NON_FINITE, "non_finite", TM_DIAGNOSTIC_REPAIRED,                                   \
      "bare inf, NaN or N/A, read as null")                                                        \
    X(TM_COUNT_CONTROL_CHARACTER, "control_character", TM_DIAGNOSTIC_REPAIRED,                     \
      "strings with raw control characters, kept")                                                 \
    X(TM_COUNT_INVALID_UTF8, "invalid_utf8", TM_DIAGNOSTIC_REPAIRED,                               \
      "strings with bytes that are not UTF-8, read as U+FFFD")                                     \
    X(TM_COUNT_BACKSLASH, "backslash", TM_DIAGNOSTIC_REPAIRED,                                     \
      "strings with backslashes that escape nothing, read literally")                              \
    X(TM_COUNT_UNESCAPED_QUOTE, "unescaped_quote", TM_DIAGNOSTIC_REPAIRED,                         \
      "strings with quotes that are not escaped, kept")                                            \
    X(TM_COUNT_TRAILING_COMMA, "trailing_comma", TM_DIAGNOSTIC_REPAIRED,                           \
      "commas before a closing brace or bracket, ignored")                                         \
    X(TM_COUNT_SIGNED_FRACTION, "signed_fraction", TM_DIAGNOSTIC_REPAIRED,                         \
      "negative numbers written like -1.-500, read as -1.500")                                     \
    X(TM_COUNT_NO_NAME, "no_name", TM_DIAGNOSTIC_ODD, "events kept without a name")                \
    X(TM_COUNT_NO_CATEGORY, "no_category", TM_DIAGNOSTIC_MINOR,                                    \
      "duration events kept without a cat")                                                        \
    X(TM_COUNT_OTHER_CATEGORY, "other_category", TM_DIAGNOSTIC_NOTE,                               \
      "events kept as category other because tmerge does not know the text of their category")     \
    X(TM_COUNT_BAD_VALUE, "bad_value", TM_DIAGNOSTIC_ODD,                                          \
      "attributes left empty because their value is not of the field's type")                      \
    X(TM_COUNT_ZERO_TIME, "zero_time", TM_DIAGNOSTIC_MINOR,                                        \
      "events at ts 0: if there are many, the profiler clamped times before its base")             \
    X(TM_COUNT_FAR_TIME, "far_time", TM_DIAGNOSTIC_ODD,                                            \
      "events that start over 24 hours from the median start of the trace's events, or GPU work "  \
      "that starts long after everything else")                                                    \
    X(TM_COUNT_ADOPTED_BASE, "adopted_base", TM_DIAGNOSTIC_ODD,                                    \
      "events of a truncated trace whose base time is cut off: the base time of other traces is "  \
      "used")                                                                                      \
    X(TM_COUNT_NO_EPOCH, "no_epoch", TM_DIAGNOSTIC_MINOR,                                          \
      "events of a trace that does not give the time of day: their times count from the start of " \
      "the recording, or of the host")                                                             \
    X(TM_COUNT_EVENT_LIMIT, "event_limit", TM_DIAGNOSTIC_ODD,                                      \
      "events of a file that has exactly as many as its writer keeps: later events are cut off")   \
    X(TM_COUNT_WHOLE_GRAPH, "whole_graph", TM_DIAGNOSTIC_ODD,                                      \
      "CUDA graphs recorded as one kernel each; nsys profile --cuda-graph-trace=node records "     \
      "their kernels")                                                                             \
    X(TM_COUNT_DIAGNOSTIC, "diagnostic", TM_DIAGNOSTIC_MINOR,                                      \
      "warnings and errors of the profiler itself; their texts are in the rank's metadata")        \
    X(TM_COUNT_OTHER_TASK, "other_task", TM_DIAGNOSTIC_ODD,                                        \
      "events of an NPU whose task type is unknown: they count as computation")                    \
    X(TM_COUNT_OTHER_SUMS, "other_sums", TM_DIAGNOSTIC_ODD,                                        \
      "rows of the profiler's own overlap analysis whose sum differs from that of the events")     \
    X(TM_COUNT_STREAM_OVERLAP, "stream_overlap", TM_DIAGNOSTIC_MINOR,                              \
      "kernels that start before an earlier kernel of their stream has ended")                     \
    X(TM_COUNT_REPEATED, "repeated", TM_DIAGNOSTIC_ODD,                                            \
      "kernels, copies and sets that the trace contains twice, with one launch and equal times: "  \
      "the second one does not count")                                                             \
    X(TM_COUNT_RESTART, "restart", TM_DIAGNOSTIC_ODD,                                              \
      "recordings in which Seq or the numbers of steps start again, so the job was restarted: "    \
      "collectives are matched within each run, and steps of the second run are numbered from "    \
      "1000000 on")                                                                                \
    X(TM_COUNT_OTHER_RUN, "other_run", TM_DIAGNOSTIC_ODD,                                          \
      "recordings that share no communicator with an earlier recording of their rank: the job "    \
      "was restarted, or they are of another job")                                                 \
    X(TM_COUNT_DUPLICATE_CORRELATION, "duplicate_correlation", TM_DIAGNOSTIC_ODD,                  \
      "GPU events whose correlation id belongs to several launches, one after another: the first " \
      "launch counts")                                                                             \
    X(TM_COUNT_LATER_RECORD, "later_record", TM_DIAGNOSTIC_MINOR,                                  \
      "waits for a CUDA event with the id of a record that comes after them: the record is not "   \
      "used")                                                                                      \
    X(TM_COUNT_UNKNOWN_RECORD, "unknown_record", TM_DIAGNOSTIC_MINOR,                              \
      "waits of a stream for a CUDA event whose record the profiler did not see: the replay "      \
      "infers from times what they wait for")                                                      \
    X(TM_COUNT_SHARED_SEQUENCE, "shared_sequence", TM_DIAGNOSTIC_MINOR,                            \
      "nodes of autograd's graph that have the number of another node: their forward operator, "   \
      "and so their module, may be wrong")                                                         \
    X(TM_COUNT_UNLINKED, "unlinked", TM_DIAGNOSTIC_NOTE,                                           \
      "GPU events whose launch is not in the trace")                                               \
    X(TM_COUNT_FLOW, "flow", TM_DIAGNOSTIC_NOTE,                                                   \
      "flow records; launches are linked by correlation instead")                                  \
    X(TM_COUNT_METADATA, "metadata", TM_DIAGNOSTIC_NOTE,                                           \
      "metadata records: names of processes and threads")                                          \
    X(TM_COUNT_ODD_METADATA, "odd_metadata", TM_DIAGNOSTIC_ODD,                                    \
      "top-level values not kept (over 16 MiB) or not understood")

typedef enum tm_count {
#define TM_COUNT_ENUM(id, word, diagnostic, doc) id,
    TM_COUNT_LIST(TM_COUNT_ENUM)
#undef TM_COUNT_ENUM
        TM_N_COUNTS
} tm_count;

typedef struct tm_count_def {
    const char *word;
    tm_diagnostic diagnostic;
    const char *doc;
} tm_count_def;

const tm_count_def *tm_count_info(tm_count count);

/** Maximum rank, and maximum number of ranks of a job. */
#define TM_RANK_MAX INT64_C(1000000000)

/** Row number that means "no event", and index that means "no step". */
#define TM_NO_EVENT UINT32_MAX
enum { TM_NO_STEP = -1 };

typedef enum tm_track_kind { TM_TRACK_GPU = 0, TM_TRACK_CPU = 1 } tm_track_kind;

/** A CPU thread or a GPU stream. Texts are name ids. */
typedef struct tm_track {
    uint8_t kind;          /* tm_track_kind */
    int32_t device;        /* GPU: device number, -1 unknown; CPU: -1 */
    int64_t stream;        /* GPU: stream number, -1 unknown; CPU: -1 */
    uint32_t pid, tid;     /* ids of the process and the thread, as written in the trace */
    uint32_t process_name; /* from metadata records */
    uint32_t thread_name;
    uint32_t first; /* the track's events are rows [first, first + count) of the timeline */
    uint32_t count;
} tm_track;

/* Attributes that few events have. Each kind of attribute has a table. Its rows are sorted by
 * `event`, the row of the event that has the attribute. A missing id is TM_NO_NAME, a missing
 * correlation is 0, other missing integers are -1, and missing reals are NaN. */

/** A call of the CUDA or HIP runtime or driver. */
typedef struct tm_launch_attr {
    int64_t correlation;
    uint32_t event;
} tm_launch_attr;

/** Launch parameters of a kernel. Many kernels of a timeline share one entry. */
typedef struct tm_launch_shape {
    int32_t grid[3], block[3];   /* grid in blocks, block in threads */
    int32_t registers;           /* per thread */
    int32_t shared_memory_bytes; /* per block */
    float blocks_per_sm, warps_per_sm;
    float occupancy_pct; /* estimated achieved occupancy; NaN if unknown */
} tm_launch_shape;

typedef struct tm_kernel_attr {
    int64_t correlation;
    uint32_t event;
    uint32_t shape; /* index into the timeline's shapes */
} tm_kernel_attr;

/** A memory copy or set. */
typedef struct tm_copy_attr {
    int64_t correlation;
    int64_t bytes;
    float bandwidth_gbps; /* GB/s as computed by the profiler */
    uint32_t event;
} tm_copy_attr;

/** Value of seq for an operation of a program that runs repeatedly. comms_id then identifies the
 * operation: it is the same on all ranks and in every run. The run follows from the order of the
 * kernels. */
enum { TM_SEQ_REPEATED = -2 };

/** A communication kernel, or the CPU operator that issued it. wait_ns, exposed_ns, first_rank and
 * first_event are set after matching. first_rank and first_event identify the operation; they are
 * set even if some ranks of the operation have no kernel. */
typedef struct tm_collective_attr {
    int64_t comms_id; /* 0 if not in the trace */
    int64_t seq;      /* position among the group's operations, or TM_SEQ_REPEATED */
    int64_t in_elements, out_elements;
    int64_t wait_ns;    /* time until the operation's last rank arrived; -1 if the operation has no
                           wait */
    int64_t exposed_ns; /* for a kernel: the part of its duration in which the rank computes
                           nothing; -1: unknown */
    int64_t call_bytes; /* for a kernel without a recorded size: size [B] of the tensors that were
                           passed to the call that launched it (timeline/comm_calls.h); -1: unknown.
                           Not stored. */
    uint32_t event;
    uint32_t first_event; /* row of the operation's kernel on rank first_rank; 0 if not matched */
    int32_t first_rank;   /* lowest rank of the operation, -1 not matched */
    int32_t group_size;   /* number of ranks */
    int32_t rank_start, rank_stride; /* rank i of the group is global rank rank_start + i x
                                        rank_stride, if the ranks are regularly spaced */
    int32_t src_rank, dst_rank;
    uint32_t name, dtype; /* `Collective name`, `dtype` */
    /* Name ids of `Process Group Name` and `Process Group Description`. */
    uint32_t group, group_description;
    uint32_t group_ranks; /* name id of `Process Group Ranks`, a list that the profiler cuts after
                             30 ranks */
    uint32_t in_split, out_split;
    uint8_t kind; /* tm_collective_kind */
} tm_collective_attr;

/** An NCCL communicator that a rank made or used. The trace identifies the communicator by a hash,
 * not by its ranks. `src_rank` and `dst_rank` of its kernels are numbers in the communicator until
 * tm_mpi_load has found the ranks (match/communicators.h). */
typedef struct tm_communicator {
    uint32_t name;   /* name id of a text that is the same on all ranks of the communicator; `group`
                        of the communicator's kernels has the same id */
    int32_t n_ranks; /* number of ranks; -1: unknown, because the creation of the communicator was
                        not recorded; another negative number -n: at least n ranks */
    int32_t place;   /* number of this rank in the communicator; -1 if unknown */
    bool used;       /* a kernel of this rank uses the communicator */
    bool numbered;   /* the kernels have a Comms Id from NCCL's counters; false for traces of other
                        profilers */
    bool joined;     /* this rank's trace has the communicator's name and ranks (match/joined.h) */
    uint64_t nccl;   /* first TM_NCCL_DIGITS hex digits of NCCL's hash; 0: the name is not an NCCL
                        hash */
} tm_communicator;

/** Number of hex digits of a communicator's hash that every NCCL profiler writes; some write all
 * 16. */
enum { TM_NCCL_DIGITS = 14 };

/** Returns the first TM_NCCL_DIGITS hex digits of a hash, not counting leading zeros. */
static inline uint64_t tm_nccl_digits(uint64_t hash) {
    while (hash >> (4 * TM_NCCL_DIGITS))
        hash >>= 4;
    return hash;
}

/** Maximum group size; a larger size in a trace counts as an error of the trace. */
enum { TM_GROUP_RANKS_MAX = 1 << 20 };

/** A [memory] instant: an allocation, or a release if bytes is negative. */
typedef struct tm_memory_attr {
    int64_t address; /* address of the memory, -1 if not recorded */
    int64_t bytes;
    int64_t allocated_bytes, reserved_bytes; /* totals of the device after this event, -1 if not
                                                recorded. On a TPU, reserved_bytes is the part of
                                                allocated_bytes that belongs to programs. */
    uint32_t event;
    int32_t device_type; /* 0 CPU, 1 CUDA, ... */
    int32_t device;      /* -1 CPU */
} tm_memory_attr;

/** One series of a counter event. */
typedef struct tm_counter_attr {
    double value;
    uint32_t event;
    uint32_t series; /* name id of the args key, may be empty */
} tm_counter_attr;

/** Input shapes of a CPU operator, if the profiler recorded them. */
typedef struct tm_shapes_attr {
    uint32_t event;
    uint32_t shapes; /* name id of its `Input Dims` in one line: [[8, 16], [16], []] */
} tm_shapes_attr;

/** Further inputs of an operator, kept only if the operator's amount of computation or its
 * parameters depend on them (timeline/counted.h). */
typedef struct tm_inputs_attr {
    uint32_t event;
    uint32_t types;    /* name id of the operator's `Input type`: a JSON list of texts */
    uint32_t concrete; /* name id of the operator's `Concrete Inputs` in one line */
} tm_inputs_attr;

/** Autograd and Python information on a CPU operator, if the profiler recorded it. `forward` is set
 * when the timeline is built. */
typedef struct tm_operator_attr {
    int64_t sequence; /* autograd's sequence number of a forward operator, -1 if not recorded. A
                         backward operator has the number of the forward operator whose gradient it
                         computes. */
    uint32_t event;
    uint32_t forward; /* for a backward operator: row of its forward operator. TM_NO_EVENT for other
                         operators, or if the forward operator is not in the trace. */
    uint32_t stack;   /* name id of the operator's call stack, innermost function first, separated
                         by ";" */
    int32_t thread; /* for a backward operator: autograd's number of the thread that ran the forward
                       operator; otherwise 0 */
} tm_operator_attr;

/** A recorded wait. Either a stream waits for a CUDA event (stream_wait), or the host waits for an
 * event, a stream or all work of a context. The row of the event has category cuda_sync and the
 * device of both streams. An event_sync may come from cudaEventQuery, which does not wait, so check
 * the name of the call. `call` and `record` are set when the timeline is built. */
typedef struct tm_wait_attr {
    int64_t correlation;        /* correlation id of the call that waits */
    int64_t record_correlation; /* correlation id of the call that recorded the event; 0 if not in
                                   the trace */
    int64_t stream;             /* stream that waits; -1: the host waits */
    int64_t on_stream;          /* stream that is waited for; -1: all streams of the context, or
                                   unknown */
    uint32_t event;
    uint32_t call;   /* row of the call that waits (cudaStreamWaitEvent, ...), or TM_NO_EVENT */
    uint32_t record; /* row of the cudaEventRecord whose work is waited for, or TM_NO_EVENT */
    uint8_t kind;    /* tm_wait_kind */
} tm_wait_attr;

/** What XLA's or TensorFlow's compiler says of a device event: its names and what it computes. */
typedef struct tm_xla_attr {
    /* the compiler's estimates for one execution, -1 if not recorded. `bytes` counts what the
     * execution reads from and writes to the main memory of the device. */
    int64_t flops, bytes;
    uint32_t event;
    uint32_t program;  /* name id of the module, with its fingerprint if it has one */
    uint32_t hlo;      /* name id of the operation in the module: "fusion.2" */
    uint32_t category; /* name id of the compiler's category, "loop fusion" */
    uint32_t origin;   /* name id of the operation's origin in the source: "jit(f)/dot_general",
                          "MatMul" */
    uint32_t shape; /* name id of a text such as "bf16[8,128]": the shapes of the output or, for an
                       operator, of the inputs */
} tm_xla_attr;

/** A migration or page fault of unified memory: the address of its page. */
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

/** A step of the rank, from the CPU annotation that marks it. */
typedef struct tm_step {
    int64_t number;           /* number in the annotation's name, otherwise the step's index; 0 if
                                 the whole trace is the step */
    int64_t begin_ns, end_ns; /* the step's window [begin, end) */
    bool annotated; /* false: the trace marks no steps, and this step is the whole trace */
    uint32_t name;  /* name id of the annotation; TM_NO_NAME if the trace marks no steps, or if
                       tm_store_read_ranks has not read the name */
} tm_step;

/** Recordings with a larger distance in time belong to different jobs, because no host's clock is
 * that wrong. */
#define TM_FAR_APART_NS INT64_C(600000000000)
#define TM_FIRST_DAY_NS INT64_C(946684800000000000) /* start of 2000 */

/** One trace of the rank: its path and the time that it covers. A trace whose profiler paused
 * between steps has several spans with the same source. */
typedef struct tm_span {
    uint32_t source; /* name id of the path as given */
    /* time from the first start to the last end of the trace's duration events, without events of
     * category trace and of the operating system; [0, 0) if there are none */
    int64_t begin_ns, end_ns;
    /* Time from the first start to the last end of the trace's GPU events; [0, 0) if there are
     * none. */
    int64_t gpu_begin_ns, gpu_end_ns;
    int64_t open_ns; /* end of the opening (mpi/opening.h); at least begin_ns */
    int64_t n_durations, n_gpu_events;
    int64_t counts[TM_N_COUNTS]; /* counts of the whole trace, by tm_count; only the first span of a
                                    trace has them */
    bool truncated;              /* the trace is cut short */
} tm_span;

/** Results of matching for one communication kernel. */
typedef struct tm_comm_answer {
    /* Time until the operation's last rank arrived; -1: the operation has no wait. */
    int64_t wait_ns;
    int64_t least_ns;    /* for an operation in which some ranks have no kernel: lower bound of the
                            wait, or -1 if unknown. It is the time until the last recorded rank
                            started, minus the uncertainty of the clocks. */
    int64_t lateness_ns; /* if only this rank came last: its start minus the start of the second to
                            last rank */
    int64_t caused_ns;   /* wait of other ranks that this kernel caused, rounded down */
    uint64_t caused_fraction; /* fraction of a ns lost by rounding caused_ns down, in units of 2^-40
                                 ns */
    int64_t doubt_ns;         /* uncertainty of caused_ns: sum of the clock errors of the ranks that
                                 waited */
    int64_t step;             /* number of the step to which the operation belongs, -1 if none */
    int32_t group_size;
    bool matched;    /* the kernel belongs to an operation, complete or not */
    bool complete;   /* every member of the operation has a kernel */
    bool at_least;   /* the group may have more members, whose traces are missing */
    bool last, tied; /* `last`: only this rank came last. `tied`: this rank came last together with
                        other ranks. */
    bool untied;     /* exactly one rank of the operation came last; it need not be this rank */
} tm_comm_answer;

/** How a rank's clock was aligned to the job's. */
typedef enum tm_clock_way {
    TM_CLOCK_AS_RECORDED, /* not aligned: as given by the wall clock of the host */
    TM_CLOCK_FITTED,      /* fitted to the ends of collectives */
    TM_CLOCK_UNKNOWN      /* not comparable with other clocks */
} tm_clock_way;

/** If the product of time and drift is smaller than this, tm_rank_clock_true need not call llround:
 * doubles of this size are still exact to much less than 0.5. */
#define TM_SHORT_DRIFT_NS 1e15

/** Clock of a rank: true time = t + offset + drift x (t - middle), for a recorded time t. All
 * members are 0 if recorded times are used unchanged. */
typedef struct tm_rank_clock {
    int64_t offset_ns; /* offset at middle_ns, the middle of the rank's trace */
    int64_t middle_ns; /* recorded time */
    double drift_ppb;
    int64_t uncertainty_ns; /* largest standard deviation of the offset during the trace */
    int64_t spread_ns; /* robust standard deviation of the differences between the GPU clocks of the
                          domain */
    int64_t low_ns, high_ns; /* interval that certainly contains the offset; the int64 limits if
                                unbounded */
    int64_t residual_ns;     /* if n_residuals > 0: median difference between the times at which
                                collectives end on this rank and on other ranks */
    int64_t n_residuals;     /* number of ends from which residual_ns is computed */
    int64_t ends_late_ns; /* how much later than the earliest rank of the host the rank leaves its
                             collectives, if both certainly share a clock; otherwise 0 */
    int64_t anchors; /* number of collectives whose ends have a weight in the fit of the clock of
                        the rank's domain */
    int64_t step_ns; /* size of the step if the host's clock was set during the recording; otherwise
                        0 */
    int32_t domain, component; /* ranks of the same domain share a clock; clocks of the same
                                  component are comparable */
    bool bounded;
    uint8_t way; /* tm_clock_way */
} tm_rank_clock;

/** Returns the true time [ns] of a recorded time. */
static inline int64_t tm_rank_clock_true(const tm_rank_clock *clock, int64_t recorded_ns) {
    double since = (double)(recorded_ns - clock->middle_ns), share = clock->drift_ppb * 1e-9;
    double ns = since * share;
    if (!(ns > -TM_SHORT_DRIFT_NS && ns < TM_SHORT_DRIFT_NS))
        return recorded_ns + clock->offset_ns + llround(ns);
    /* This rounds like llround. A call of llround would double the cost of the function. */
    int64_t whole = (int64_t)ns;
    double rest = ns - (double)whole; /* exact */
    return recorded_ns + clock->offset_ns + whole + (rest >= 0.5) - (rest <= -0.5);
}

/** Sub-track of a rank in the levels. Values are stored. */
typedef enum tm_level_lane {
    TM_LEVEL_COMPUTE = 0,  /* P */
    TM_LEVEL_TRANSFER = 1, /* communication after the operation's last rank arrived */
    TM_LEVEL_WAIT = 2, /* communication while the operation waits for its last rank, unless another
                          operation transfers data meanwhile */
    TM_LEVEL_UNMATCHED = 3, /* communication of an operation whose wait is unknown, unless another
                               operation waits or transfers data meanwhile */
    TM_LEVEL_COPIES = 4,    /* M without P */
    TM_LEVEL_HOST = 5,      /* operators and runtime and driver calls of all threads */
    TM_N_LEVEL_LANES
} tm_level_lane;

/** In the finest level, a sub-track has at most n_events / TM_LEVEL_EVENTS + 1 rows. */
enum { TM_LEVEL_EVENTS = 12 };

/** A sub-track of the timeline in one time bucket. Empty buckets have no row. */
typedef struct tm_level {
    int64_t begin_ns;   /* start of the bucket on the job's clock, since the epoch: a multiple of
                           its width */
    int64_t busy_ns;    /* part of the bucket covered by the sub-track's intervals */
    int64_t events;     /* number of events that start in the bucket */
    int64_t longest_ns; /* duration of the longest of these events */
    uint8_t lane;       /* tm_level_lane */
    uint8_t exponent;   /* the bucket is 2^exponent ns wide */
} tm_level;

/** One rank: its events, and all other data that was read or derived. Arrays are owned. */
typedef struct tm_timeline {
    int64_t rank;
    int64_t world_size;          /* -1 unknown */
    uint32_t host;               /* name id of the host's name, from the trace, the file name or the
                                    user; TM_NO_NAME if unknown */
    uint32_t inferred_host;      /* name id of the host that follows from the device numbers of all
                                    ranks (identity/hosts.h), if `host` is unknown; not stored */
    uint32_t format;             /* name id of the reader's name */
    int32_t device;              /* device with the most busy time, -1 if there are no GPU events */
    bool truncated;              /* at least one of the rank's traces is truncated */
    int64_t counts[TM_N_COUNTS]; /* counts by tm_count, summed over the rank's traces */

    size_t n_events;
    int64_t *begin_ns;    /* [n_events] recorded starts [ns since the epoch] */
    int64_t *duration_ns; /* [n_events] 0 for instants and counters */
    uint32_t *name;       /* [n_events] */
    int32_t *step;        /* [n_events] index into steps, or TM_NO_STEP */
    /* [n_events] For a device event, the row of the call that launched it. For a call that took its
     * work from a queue, the row of the call that queued the work. If the device is the CPU, the
     * row of the operator that requested the work, or the event's own row. Otherwise TM_NO_EVENT.
     */
    uint32_t *launch;
    uint8_t *category; /* [n_events] tm_category */
    uint8_t *kind;     /* [n_events] tm_event_kind */
    uint8_t *role;     /* [n_events] tm_role */

    tm_track *tracks; /* GPU streams first, then CPU threads */
    size_t n_tracks;
    tm_step *steps; /* ordered by start time */
    size_t n_steps;
    uint8_t *step_marks; /* bit set of the events that mark steps (tm_timeline_is_step); NULL: no
                            event does */
    tm_span *spans;      /* ordered by start time */
    size_t n_spans;
    void *attrs[TM_N_ATTRS]; /* arrays of the attributes, by tm_attr: of tm_launch_attr,
                                tm_kernel_attr, ... */
    size_t n_attrs[TM_N_ATTRS];
    tm_launch_shape *shapes; /* [n_shapes] distinct launch parameters of the kernels */
    size_t n_shapes;
    char *metadata; /* [n_metadata] the trace's top-level JSON without traceEvents and lists,
                       zero-terminated; NULL if none (timeline/metadata.h) */
    size_t n_metadata;
    uint32_t *metadata_lists; /* name ids */
    size_t n_metadata_lists;
    tm_communicator *communicators; /* communicators of the rank; NULL when the ranks of all
                                       communicators are known */
    size_t n_communicators;
    tm_rank_clock clock;
    tm_level *levels; /* ordered by level, finest first, then by sub-track; NULL until requested */
    size_t n_levels;
    tm_comm_answer *answers; /* [n_attrs[TM_ATTR_COLLECTIVE]], NULL before matching */
    uint8_t *packed;         /* packed events (timeline/packed_events.h); NULL: not packed */
} tm_timeline;

/** Columns of events to read. They are combined with |. */
typedef enum tm_rows_part {
    TM_ROWS_TIMES = 1,    /* begin_ns and duration_ns */
    TM_ROWS_LAUNCHES = 2, /* launch */
    TM_ROWS_KINDS = 4,    /* columns category, kind and role */
    TM_ROWS_ATTRS = 8,    /* the attributes */
    TM_ROWS_NAMES = 16,   /* name */
    TM_ROWS_ALL = 31      /* all of the above, and step */
} tm_rows_part;

/** Source of a rank's events, in pieces. */
typedef struct tm_event_rows {
    /** Reads events of the rank from row @p first on, where @p first is 0 or the end of the
     * previous piece; see tm_store_read_piece. */
    tm_status (*read)(void *context, size_t first, unsigned what, const tm_timeline **out,
                      tm_error *err);
    void *context;
} tm_event_rows;

/**
 * Gets the next piece of a rank's events. On entry *first and *piece describe the previous piece;
 * *piece is NULL before the first piece.
 * @param rows  source of the events; NULL: they are in the timeline and form one piece
 * @param what  the tm_rows_part to read, combined with |
 */
tm_status tm_event_rows_next(const tm_event_rows *rows, const tm_timeline *timeline, unsigned what,
                             size_t *first, const tm_timeline **piece, tm_error *err) TM_MUST_CHECK;

void tm_timeline_destroy(tm_timeline *timeline);

/** Returns the sum of the counts of this severity. For TM_DIAGNOSTIC_SKIPPED, this is the number of
 * events that were not kept. */
int64_t tm_timeline_count(const tm_timeline *timeline, tm_diagnostic diagnostic);

/** Returns one more than the largest name id of the timeline's events. */
size_t tm_timeline_n_names(const tm_timeline *timeline);

/** Sets *begin_ns and *end_ns to the first start and last end of duration events, except events of
 * category trace and of the operating system. Returns false if there are none. */
bool tm_timeline_range(const tm_timeline *timeline, int64_t *begin_ns, int64_t *end_ns);

/** Returns whether the rank's traces contain only communication, so that compute and idle times are
 * unknown. */
bool tm_timeline_lacks_compute(const tm_timeline *timeline);

/** Returns whether a CPU event marks a step of the job or of the profiler. Such an event encloses a
 * step's work and is not work itself. Use only this function to identify steps, because which
 * annotations are steps depends on the trace and on --step-pattern. Always false for timelines of
 * tm_store_read_timelines, which does not restore the marks. */
static inline bool tm_timeline_is_step(const tm_timeline *timeline, uint32_t row) {
    return timeline->step_marks && (timeline->step_marks[row / 8] >> row % 8 & 1);
}

/** Returns the call by which the program requested a device event: the call that launched it or, if
 * a thread launched it from a queue, the call that queued it. Returns TM_NO_EVENT if unknown. */
static inline uint32_t tm_timeline_asked(const tm_timeline *timeline, uint32_t row) {
    uint32_t call = timeline->launch[row];
    uint32_t by = call == TM_NO_EVENT ? TM_NO_EVENT : timeline->launch[call];
    return by == TM_NO_EVENT ? call : by;
}

/** Returns the launch parameters of a kernel. */
static inline const tm_launch_shape *tm_kernel_shape(const tm_timeline *timeline,
                                                     const tm_kernel_attr *kernel) {
    return &timeline->shapes[kernel->shape];
}

/** Returns the track of a row; the row must be below n_events. */
const tm_track *tm_timeline_track(const tm_timeline *timeline, uint32_t row);

/** Returns the first row of TM_ATTR_COLLECTIVE that belongs to this event row or a later one;
 * n_attrs if there is none. */
size_t tm_timeline_collectives_from(const tm_timeline *timeline, uint32_t row);

/** Returns the row of TM_ATTR_COLLECTIVE of an event row; NULL if it has none. */
const tm_collective_attr *tm_timeline_collective(const tm_timeline *timeline, uint32_t row);

/** Returns the span that contains a time of the rank, or the last span that started before that
 * time; NULL if there is none. Nothing is known of the time between spans, so no duration extends
 * over two spans. */
const tm_span *tm_timeline_span(const tm_timeline *timeline, int64_t recorded_ns);

/** Returns the later of a time and the open_ns of the time's span. */
static inline int64_t tm_opened(const tm_timeline *timeline, int64_t recorded_ns) {
    const tm_span *in = timeline->spans;
    if (timeline->n_spans > 1)
        in = tm_timeline_span(timeline, recorded_ns);
    return in && in->open_ns > recorded_ns && in->open_ns > in->begin_ns ? in->open_ns
                                                                         : recorded_ns;
}

/** Returns the middle [ns] of the time from first start to last end of the spans; 0 without
 * spans. */
int64_t tm_timeline_middle(const tm_timeline *timeline);

/** Returns the name id of the rank's host, recorded or inferred; TM_NO_NAME if unknown. */
static inline uint32_t tm_timeline_host(const tm_timeline *timeline) {
    return timeline->host != TM_NO_NAME ? timeline->host : timeline->inferred_host;
}

#endif
