/* The record tables of a store, and the member of the timeline that each column holds. */
#include "tmerge/store.h"

#include <string.h>

#include "fill.h"

/* Chunks are written as they are in memory, and types in the file are little-endian. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the store is little-endian");
_Static_assert(sizeof(bool) == 1 && sizeof(float) == 4 && sizeof(double) == 8, "sizes are stored");
_Static_assert(sizeof(size_t) == 8, "numbers of rows are stored as int64");

#define WORDS(array)                                                                               \
    { (array), (int)(sizeof(array) / sizeof *(array)) }

static const char *const boolean_list[] = {"FALSE", "TRUE"}; /* h5py reads these two as bool */
static const char *const kind_list[] = {"duration", "instant", "counter"};
static const char *const role_list[] = {"none", "compute", "communication", "memory"};
static const char *const track_kind_list[] = {"gpu", "cpu"};
static const char *const category_list[] = {
#define CATEGORY_WORD(id, value, word, alias) [value] = word,
    TM_CATEGORY_LIST(CATEGORY_WORD)
#undef CATEGORY_WORD
};
static const char *const collective_list[] = {
#define COLLECTIVE_WORD(id, value, word) [value] = word,
    TM_COLLECTIVE_LIST(COLLECTIVE_WORD)
#undef COLLECTIVE_WORD
};
static const char *const wait_list[] = {
#define WAIT_WORD(id, value, word, kineto) [value] = word,
    TM_WAIT_LIST(WAIT_WORD)
#undef WAIT_WORD
};

static const char *const lane_list[] = {"compute",   "transfer", "wait",
                                        "unmatched", "copies",   "host"};

static const tm_word_list booleans = WORDS(boolean_list);
static const tm_word_list kinds = WORDS(kind_list);
static const tm_word_list roles = WORDS(role_list);
static const tm_word_list track_kinds = WORDS(track_kind_list);
static const tm_word_list categories = WORDS(category_list);
static const tm_word_list collectives = WORDS(collective_list);
static const tm_word_list waits = WORDS(wait_list);
static const tm_word_list lanes = WORDS(lane_list);

/* A column's number type, derived from the field's type. */
#define ELEMENT_OF(value)                                                                          \
    _Generic((value), bool                                                                         \
             : TM_U8, uint8_t                                                                      \
             : TM_U8, int32_t                                                                      \
             : TM_I32, uint32_t                                                                    \
             : TM_U32, int64_t                                                                     \
             : TM_I64, size_t                                                                      \
             : TM_I64, float                                                                       \
             : TM_F32, double                                                                      \
             : TM_F64)

/* Use this only in sizeof and _Generic. They do not evaluate the expression, so the null pointer is
 * not dereferenced. */
#define MEMBER(type, member) (((type *)0)->member)

/* clang-format off: one line for each column */

/* Members that all columns have. tm_fill_WAY writes the column from a timeline, and tm_take_WAY
 * reads the column back. */
#define COLUMN(name_, unit_, doc_, element_, words_, way)                                          \
    .name = name_, .unit = unit_, .doc = doc_, .element = element_, .words = words_,               \
    .fill = tm_fill_##way, .take = tm_take_##way

#define IN_ARRAY(array, type, member)                                                              \
    .array_at = offsetof(tm_timeline, array), .stride = sizeof(type),                              \
    .field_at = offsetof(type, member)

/* Kinds of columns:
 * - FIELD: a number that is in each element of an array of the timeline;
 * - WORD: a number that stands for a word;
 * - NAME: an id in /names;
 * - EVENT: a row of the rank, stored as a job-wide row of 64 bits. */
#define FIELD(array, type, member, name, unit, doc)                                                \
    {                                                                                              \
        COLUMN(name, unit, doc, ELEMENT_OF(MEMBER(type, member)), NULL, field),                    \
            IN_ARRAY(array, type, member)                                                          \
    }
#define WORD(array, type, member, words, doc)                                                      \
    { COLUMN(#member, "", doc, TM_U8, words, field), IN_ARRAY(array, type, member) }
#define NAME(array, type, member, doc)                                                             \
    {                                                                                              \
        COLUMN(#member, "", doc, ELEMENT_OF(MEMBER(type, member)), NULL, field),                   \
            IN_ARRAY(array, type, member), .refers = TM_REFERS_NAME                                \
    }
#define EVENT(array, type, member, doc)                                                            \
    {                                                                                              \
        COLUMN(#member, "", doc, TM_I64, NULL, event), IN_ARRAY(array, type, member),              \
            .refers = TM_REFERS_EVENT                                                              \
    }
/* Like EVENT, but the rows may be in any order, and -1 means that there is no event. */
#define CALL(array, type, member, doc)                                                             \
    {                                                                                              \
        COLUMN(#member, "", doc, TM_I64, NULL, event), IN_ARRAY(array, type, member),              \
            .refers = TM_REFERS_LAUNCH                                                             \
    }
/* A column that has the rank's number in every row. So the table can be read without /ranks. */
#define RANK(doc)                                                                                  \
    { COLUMN("rank", "", doc, TM_I64, NULL, rank) }
/* A column of a table that has one row per rank. The value is a member of the timeline itself. */
#define OWN_AS(name, member, doc, words_, refers_)                                                 \
    {                                                                                              \
        COLUMN(name, "", doc, ELEMENT_OF(MEMBER(tm_timeline, member)), words_, own),               \
            .field_at = offsetof(tm_timeline, member), .refers = refers_                           \
    }
#define OWN_CLOCK(member, unit, doc)                                                               \
    {                                                                                              \
        COLUMN(#member, unit, doc, ELEMENT_OF(MEMBER(tm_rank_clock, member)), NULL, own),          \
            .field_at = offsetof(tm_timeline, clock) + offsetof(tm_rank_clock, member)             \
    }
#define OWN(member, doc, words, refers) OWN_AS(#member, member, doc, words, refers)
/* A column with the number of a rank's rows in another table. Readers add up these numbers to find
 * the rank's first row. */
#define N_ROWS(table, member)                                                                      \
    OWN_AS("n_" table, member, "number of the rank's rows in /" table, NULL, TM_REFERS_NOTHING)

/* A column that is computed from other columns. It is written, but not read back. */
#define MADE(name_, unit_, doc_, element_, fill_)                                                  \
    { .name = name_, .unit = unit_, .doc = doc_, .element = element_, .fill = fill_ }

/* Each column of /events is an array in memory. */
#define ARRAY(member, doc, element_, way, refers_)                                                 \
    { COLUMN(#member, "", doc, element_, NULL, way), VALUE_OF(member), .refers = refers_ }
#define VALUES(member, unit, doc, words)                                                           \
    {                                                                                              \
        COLUMN(#member, unit, doc, ELEMENT_OF(*MEMBER(tm_timeline, member)), words, field),        \
            VALUE_OF(member)                                                                       \
    }
#define VALUE_OF(member)                                                                           \
    .array_at = offsetof(tm_timeline, member), .stride = sizeof *MEMBER(tm_timeline, member)

static const tm_record_column rank_columns[] = {
    OWN(rank, "global rank", NULL, TM_REFERS_NOTHING),
    OWN(world_size, "number of ranks of the job as recorded in the trace, -1 if unknown", NULL,
        TM_REFERS_NOTHING),
    OWN(host, "id in /names of the host, as recorded in the trace", NULL, TM_REFERS_NAME),
    OWN(format, "id in /names of the trace's format", NULL, TM_REFERS_NAME),
    OWN(device, "number of the GPU with the most busy time, -1 without GPU events", NULL,
        TM_REFERS_NOTHING),
    OWN(truncated, "whether a trace of the rank is cut short", &booleans, TM_REFERS_NOTHING),
    MADE("first_event", "", "row in /events of the rank's first event", TM_I64,
         tm_fill_first_event),
    N_ROWS("events", n_events),
    N_ROWS("spans", n_spans),
    N_ROWS("steps", n_steps),
    N_ROWS("tracks", n_tracks),
    N_ROWS("launches", n_attrs[TM_ATTR_LAUNCH]),
    N_ROWS("kernels", n_attrs[TM_ATTR_KERNEL]),
    N_ROWS("copies", n_attrs[TM_ATTR_COPY]),
    N_ROWS("collective_events", n_attrs[TM_ATTR_COLLECTIVE]),
    N_ROWS("memory", n_attrs[TM_ATTR_MEMORY]),
    N_ROWS("counters", n_attrs[TM_ATTR_COUNTER]),
    N_ROWS("shapes", n_attrs[TM_ATTR_SHAPES]),
    N_ROWS("waits", n_attrs[TM_ATTR_WAIT]),
    N_ROWS("inputs", n_attrs[TM_ATTR_INPUTS]),
    N_ROWS("operators", n_attrs[TM_ATTR_OPERATOR]),
    N_ROWS("xla", n_attrs[TM_ATTR_XLA]),
    N_ROWS("unified", n_attrs[TM_ATTR_UNIFIED]),
    N_ROWS("metadata_text", n_metadata),
    N_ROWS("metadata_lists", n_metadata_lists),
    N_ROWS("levels", n_levels),
#define COUNT_COLUMN(id, word, diagnostic, doc)                                                    \
    OWN_AS("n_" word, counts[id], doc, NULL, TM_REFERS_NOTHING),
    TM_COUNT_LIST(COUNT_COLUMN)
#undef COUNT_COLUMN
};

static const tm_record_column clock_columns[] = {
    RANK("global rank"),
    OWN_CLOCK(offset_ns, "ns", "aligned = begin + offset + drift_ppb * 1e-9 * (begin - middle)"),
    OWN_CLOCK(drift_ppb, "ppb", "rate at which the rank's clock falls behind the job's time"),
    /* The middle of the rank's spans. Readers compute it again from the spans. */
    MADE("middle_ns", "ns", "recorded time at which the drift is 0", TM_I64, tm_fill_middle),
    OWN_CLOCK(uncertainty_ns, "ns",
              "standard deviation of the offset, the largest within the trace"),
    OWN_CLOCK(spread_ns, "ns",
              "standard deviation of the GPU clocks in the rank's domain, computed robustly"),
    OWN_CLOCK(domain, "", "number of the domain; all ranks of a domain share a clock"),
    OWN_CLOCK(way, "", "0 as recorded, 1 fitted to the ends of collectives, 2 not comparable"),
};

#define SPAN(member, unit, doc) FIELD(spans, tm_span, member, #member, unit, doc)
static const tm_record_column span_columns[] = {
    RANK("global rank"),
    NAME(spans, tm_span, source, "id in /names of the trace's path as given"),
    SPAN(begin_ns, "ns", "recorded start of the first event"),
    SPAN(end_ns, "ns", "recorded end of the last event"),
    SPAN(gpu_begin_ns, "ns", "recorded start of the first GPU event"),
    SPAN(gpu_end_ns, "ns",
         "recorded end of the last GPU event; gpu_begin_ns if there are no GPU events"),
    SPAN(n_durations, "", "number of duration events between begin_ns and end_ns"),
    SPAN(n_gpu_events, "", "number of GPU events between gpu_begin_ns and gpu_end_ns"),
    WORD(spans, tm_span, truncated, &booleans, "whether the trace is cut short"),
#define SPAN_COUNT(id, word, diagnostic, doc) FIELD(spans, tm_span, counts[id], "n_" word, "", doc),
    TM_COUNT_LIST(SPAN_COUNT)
#undef SPAN_COUNT
};

#define STEP(member, unit, doc) FIELD(steps, tm_step, member, #member, unit, doc)
static const tm_record_column step_columns[] = {
    RANK("global rank"),
    STEP(number, "", "number of the step, 0 if the whole trace is the step"),
    STEP(begin_ns, "ns", "recorded start of the step's window"),
    STEP(end_ns, "ns", "recorded end of the step's window, which is half open"),
    WORD(steps, tm_step, annotated, &booleans, "whether the trace marks the step"),
};

#define TRACK(member, unit, doc) FIELD(tracks, tm_track, member, #member, unit, doc)
static const tm_record_column track_columns[] = {
    RANK("global rank"),
    WORD(tracks, tm_track, kind, &track_kinds, "GPU stream or CPU thread"),
    TRACK(device, "", "number of the GPU, -1 if unknown or a CPU thread"),
    TRACK(stream, "", "number of the stream, -1 if unknown or a CPU thread"),
    NAME(tracks, tm_track, pid, "id in /names of the process id as written in the trace"),
    NAME(tracks, tm_track, tid, "id in /names of the thread id as written in the trace"),
    NAME(tracks, tm_track, process_name, "id in /names of the process's name"),
    NAME(tracks, tm_track, thread_name, "id in /names of the thread's name"),
    /* This column is not an EVENT, because an empty track may start after the last event, where
     * there is no row. tm_check_tracks checks the column instead. */
    {COLUMN("first", "", "row in /events of the track's first event", TM_I64, NULL, event),
     IN_ARRAY(tracks, tm_track, first)},
    TRACK(count, "", "number of the track's rows in /events"),
};

static const tm_record_column event_columns[] = {
    VALUES(begin_ns, "ns", "recorded start since the epoch; /clock aligns it", NULL),
    VALUES(duration_ns, "ns", "duration, 0 for instants and counters", NULL),
    ARRAY(name, "id in /names of the event's name", TM_U32, field, TM_REFERS_NAME),
    ARRAY(step, "row in /steps, -1 outside all steps", TM_I32, step, TM_REFERS_STEP),
    ARRAY(launch, "row in /events of the call that launched the event, -1 if there is none", TM_I64,
          event, TM_REFERS_LAUNCH),
    VALUES(category, "", "category assigned by the profiler", &categories),
    VALUES(kind, "", "duration, instant or counter", &kinds),
    VALUES(role, "", "role of a GPU event: computation, communication or memory", &roles),
};

#define LAUNCH(member, unit, doc)                                                                  \
    FIELD(attrs[TM_ATTR_LAUNCH], tm_launch_attr, member, #member, unit, doc)
static const tm_record_column launch_columns[] = {
    EVENT(attrs[TM_ATTR_LAUNCH], tm_launch_attr, event, "row in /events of the call"),
    LAUNCH(correlation, "", "correlation id shared with the GPU event, 0 if there is none"),
};

/* Members of the launch shape. In memory, kernels share equal shapes, but a reader first gives each
 * kernel a separate one. */
#define SHAPE(member, name_, unit_, doc_)                                                          \
    {                                                                                              \
        .name = name_, .unit = unit_, .doc = doc_,                                                 \
        .element = ELEMENT_OF(MEMBER(tm_launch_shape, member)), .fill = tm_fill_shape,             \
        .take = tm_take_field, IN_ARRAY(shapes, tm_launch_shape, member)                           \
    }
static const tm_record_column kernel_columns[] = {
    EVENT(attrs[TM_ATTR_KERNEL], tm_kernel_attr, event, "row in /events of the kernel"),
    FIELD(attrs[TM_ATTR_KERNEL], tm_kernel_attr, correlation, "correlation", "",
          "correlation id shared with the launch, 0 if there is none"),
    SHAPE(grid[0], "grid_x", "", "number of blocks of the grid in x, -1 if not recorded"),
    SHAPE(grid[1], "grid_y", "", "number of blocks of the grid in y, -1 if not recorded"),
    SHAPE(grid[2], "grid_z", "", "number of blocks of the grid in z, -1 if not recorded"),
    SHAPE(block[0], "block_x", "", "number of threads of a block in x, -1 if not recorded"),
    SHAPE(block[1], "block_y", "", "number of threads of a block in y, -1 if not recorded"),
    SHAPE(block[2], "block_z", "", "number of threads of a block in z, -1 if not recorded"),
    SHAPE(registers, "registers", "", "registers per thread, -1 if not recorded"),
    SHAPE(shared_memory_bytes, "shared_memory_bytes", "B",
          "shared memory per block, -1 if not recorded"),
    SHAPE(blocks_per_sm, "blocks_per_sm", "", "blocks per multiprocessor, NaN if not recorded"),
    SHAPE(warps_per_sm, "warps_per_sm", "", "warps per multiprocessor, NaN if not recorded"),
    SHAPE(occupancy_pct, "occupancy_pct", "%",
          "achieved occupancy estimated by the profiler, NaN if not recorded"),
};

#define COPY(member, unit, doc) FIELD(attrs[TM_ATTR_COPY], tm_copy_attr, member, #member, unit, doc)
static const tm_record_column copy_columns[] = {
    EVENT(attrs[TM_ATTR_COPY], tm_copy_attr, event, "row in /events of the copy or set"),
    COPY(correlation, "", "correlation id shared with the launch, 0 if there is none"),
    COPY(bytes, "B", "bytes copied or set, -1 if not recorded"),
    COPY(bandwidth_gbps, "GB/s", "bandwidth computed by the profiler, NaN if not recorded"),
};

#define COLLECTIVE(member, unit, doc)                                                              \
    FIELD(attrs[TM_ATTR_COLLECTIVE], tm_collective_attr, member, #member, unit, doc)
#define COLLECTIVE_NAME(member, doc)                                                               \
    NAME(attrs[TM_ATTR_COLLECTIVE], tm_collective_attr, member, doc)
static const tm_record_column collective_columns[] = {
    EVENT(attrs[TM_ATTR_COLLECTIVE], tm_collective_attr, event,
          "row in /events: the kernel, or the CPU operator that issued it"),
    WORD(attrs[TM_ATTR_COLLECTIVE], tm_collective_attr, kind, &collectives, "kind of collective"),
    COLLECTIVE(comms_id, "", "id of the communicator, 0 if not recorded"),
    COLLECTIVE(seq, "",
               "number of the operation in its group, -1 if not recorded, -2 if comms_id is of an "
               "operation that a program runs repeatedly"),
    COLLECTIVE(in_elements, "", "number of input elements, -1 if not recorded"),
    COLLECTIVE(out_elements, "", "number of output elements, -1 if not recorded"),
    COLLECTIVE(group_size, "", "number of ranks in the group, -1 if not recorded"),
    COLLECTIVE(rank_start, "",
               "lowest global rank of a group of ranks at equal distances, -1 if not recorded"),
    COLLECTIVE(rank_stride, "", "distance of these ranks, -1 if not recorded"),
    COLLECTIVE(src_rank, "", "sending rank, -1 if not recorded"),
    COLLECTIVE(dst_rank, "", "receiving rank, -1 if not recorded"),
    COLLECTIVE_NAME(name, "id in /names of the collective's name"),
    COLLECTIVE_NAME(dtype, "id in /names of the element type"),
    COLLECTIVE_NAME(group, "id in /names of the process group's name"),
    COLLECTIVE_NAME(group_description, "id in /names of the process group's description"),
    COLLECTIVE_NAME(group_ranks, "id in /names of the list of the group's ranks"),
    COLLECTIVE_NAME(in_split, "id in /names of the list of input sizes"),
    COLLECTIVE_NAME(out_split, "id in /names of the list of output sizes"),
    COLLECTIVE(first_rank, "", "lowest rank of the matched operation, -1 if not matched"),
    COLLECTIVE(first_event, "",
               "row of the kernel of first_rank in the operation, relative to first_event of that "
               "rank in /ranks; with first_rank it identifies the operation"),
    COLLECTIVE(wait_ns, "ns",
               "time that the rank waited until the operation's last rank arrived, -1 if the "
               "operation has no known wait"),
    {COLUMN("exposed_ns", "ns",
            "time of a kernel during which its rank runs no compute kernel, -1 for an operator",
            TM_I64, NULL, field),
     IN_ARRAY(attrs[TM_ATTR_COLLECTIVE], tm_collective_attr, exposed_ns), .later = true},
};

#define MEMORY(member, unit, doc)                                                                  \
    FIELD(attrs[TM_ATTR_MEMORY], tm_memory_attr, member, #member, unit, doc)
static const tm_record_column memory_columns[] = {
    EVENT(attrs[TM_ATTR_MEMORY], tm_memory_attr, event,
          "row in /events of the allocation or release"),
    MEMORY(address, "", "address of the memory, -1 if not recorded"),
    MEMORY(bytes, "B", "bytes allocated; negative: bytes released"),
    MEMORY(allocated_bytes, "B", "total bytes allocated after the event, -1 if not recorded"),
    MEMORY(reserved_bytes, "B",
           "total reserved after the event; on a TPU the part of allocated_bytes reserved by its "
           "programs; -1 if not recorded"),
    MEMORY(device_type, "", "0 CPU, 1 CUDA, others as numbered by the profiler"),
    MEMORY(device, "", "number of the device, -1 for a CPU"),
};

#define SERIES(member, unit, doc)                                                                  \
    FIELD(attrs[TM_ATTR_COUNTER], tm_counter_attr, member, #member, unit, doc)
static const tm_record_column counter_columns[] = {
    EVENT(attrs[TM_ATTR_COUNTER], tm_counter_attr, event, "row in /events of the counter event"),
    NAME(attrs[TM_ATTR_COUNTER], tm_counter_attr, series, "id in /names of the series' name"),
    SERIES(value, "", "value of the series"),
};

static const tm_record_column shapes_columns[] = {
    EVENT(attrs[TM_ATTR_SHAPES], tm_shapes_attr, event, "row in /events: a CPU operator"),
    NAME(attrs[TM_ATTR_SHAPES], tm_shapes_attr, shapes,
         "id in /names of the operator's input dimensions"),
};

#define WAIT(member, unit, doc) FIELD(attrs[TM_ATTR_WAIT], tm_wait_attr, member, #member, unit, doc)
static const tm_record_column wait_columns[] = {
    EVENT(attrs[TM_ATTR_WAIT], tm_wait_attr, event, "row in /events: the wait"),
    CALL(attrs[TM_ATTR_WAIT], tm_wait_attr, call,
         "row in /events of the call that waits, -1 if not in the trace; cudaEventQuery does "
         "not wait"),
    WORD(attrs[TM_ATTR_WAIT], tm_wait_attr, kind, &waits, "kind of wait"),
    WAIT(stream, "", "number of the waiting stream, -1 for the host"),
    WAIT(on_stream, "",
         "number of the stream that is waited for, -1 for the whole context or if unknown"),
    CALL(attrs[TM_ATTR_WAIT], tm_wait_attr, record,
         "row in /events of the cudaEventRecord that is waited for, -1 if not recorded"),
    WAIT(correlation, "", "correlation id shared with the call, 0 if there is none"),
    WAIT(record_correlation, "",
         "correlation id shared with the cudaEventRecord, 0 if there is none"),
};

#define INPUTS(member, doc) NAME(attrs[TM_ATTR_INPUTS], tm_inputs_attr, member, doc)
static const tm_record_column inputs_columns[] = {
    EVENT(attrs[TM_ATTR_INPUTS], tm_inputs_attr, event, "row in /events: an operator"),
    INPUTS(types, "id in /names of a JSON list: the types of the operator's inputs"),
    INPUTS(concrete, "id in /names of a JSON list: the values of those inputs of the operator that "
                     "are not tensors"),
};

#define OPERATOR(member, doc)                                                                      \
    FIELD(attrs[TM_ATTR_OPERATOR], tm_operator_attr, member, #member, "", doc)
static const tm_record_column operator_columns[] = {
    EVENT(attrs[TM_ATTR_OPERATOR], tm_operator_attr, event, "row in /events: a CPU operator"),
    CALL(attrs[TM_ATTR_OPERATOR], tm_operator_attr, forward,
         "row in /events of the operator whose gradient this one computes, -1 if there is none"),
    OPERATOR(sequence,
             "autograd's sequence number, the same in forward and backward, -1 if not recorded"),
    OPERATOR(thread, "autograd's number of the forward thread, 0 for a forward operator"),
    NAME(attrs[TM_ATTR_OPERATOR], tm_operator_attr, stack,
         "id in /names of the operator's call stack, innermost function first"),
};

#define XLA(member, unit, doc) FIELD(attrs[TM_ATTR_XLA], tm_xla_attr, member, #member, unit, doc)
#define XLA_NAME(member, doc) NAME(attrs[TM_ATTR_XLA], tm_xla_attr, member, doc)
static const tm_record_column xla_columns[] = {
    EVENT(attrs[TM_ATTR_XLA], tm_xla_attr, event, "row in /events: a device event"),
    XLA_NAME(program, "id in /names of the program (module)"),
    XLA_NAME(hlo, "id in /names of the operation in the program"),
    XLA_NAME(category, "id in /names of the compiler's category of the operation"),
    XLA_NAME(origin, "id in /names of the operation's origin in the source"),
    XLA_NAME(shape, "id in /names of the types and shapes of its outputs, or inputs"),
    XLA(flops, "FLOP", "FLOP per run as counted by the compiler, -1 if not recorded"),
    XLA(bytes, "B",
        "bytes read and written per run as counted by the compiler, -1 if not recorded"),
};

static const tm_record_column unified_columns[] = {
    EVENT(attrs[TM_ATTR_UNIFIED], tm_unified_attr, event,
          "row in /events of the migration or page fault"),
    FIELD(attrs[TM_ATTR_UNIFIED], tm_unified_attr, address, "address", "", "virtual address"),
};

static const tm_record_column metadata_columns[] = {
    {COLUMN("bytes", "", "one byte of UTF-8 text", TM_U8, NULL, field), VALUE_OF(metadata)},
};

static const tm_record_column list_columns[] = {
    RANK("global rank"),
    {COLUMN("list", "",
            "id in /names of a list, which /metadata_text refers to as \"@list N\"; N is its index "
            "among the rank's lists, from 0",
            TM_U32, NULL, field),
     VALUE_OF(metadata_lists), .refers = TM_REFERS_NAME},
};

#define LEVEL(member, name, unit, doc) FIELD(levels, tm_level, member, name, unit, doc)
static const tm_record_column level_columns[] = {
    RANK("global rank"),
    LEVEL(exponent, "level", "", "the bucket is 2^level ns wide"),
    WORD(levels, tm_level, lane, &lanes,
         "sub-track: compute kernels; communication, as one of transfer, wait or unmatched; copies "
         "while no compute kernel runs; or operators and calls of the host"),
    LEVEL(begin_ns, "begin_ns", "ns",
          "start of the bucket since the epoch, aligned; a multiple of the bucket's width"),
    LEVEL(busy_ns, "busy_ns", "ns", "time in the bucket covered by the sub-track's intervals"),
    LEVEL(
        events, "events", "",
        "number of events that start in the bucket; for the lane wait, only of those that waited"),
    LEVEL(longest_ns, "longest_ns", "ns",
          "duration of the longest event that starts in the bucket; for the lanes wait and "
          "transfer, of the longest wait or transfer"),
};

#define TABLE(path_, columns_, doc_)                                                               \
    .path = path_, .doc = doc_, .columns = columns_,                                               \
    .n_columns = (int)(sizeof columns_ / sizeof *columns_)
#define ROWS(member) .rows_at = offsetof(tm_timeline, member)
#define EACH_RANK .one_row = true

const tm_record_table tm_record_tables[TM_N_RECORDS] = {
    [TM_RECORD_RANKS] = {TABLE("/ranks", rank_columns, "a rank of the job"), EACH_RANK},
    [TM_RECORD_CLOCK] = {TABLE("/clock", clock_columns, "the clock of a rank"), EACH_RANK},
    [TM_RECORD_SPANS] = {TABLE("/spans", span_columns,
                               "a trace of a rank, or a part of it between profiler pauses"),
                         ROWS(n_spans)},
    [TM_RECORD_STEPS] = {TABLE("/steps", step_columns, "a step of a rank"), ROWS(n_steps)},
    [TM_RECORD_TRACKS] = {TABLE("/tracks", track_columns, "a GPU stream or CPU thread of a rank"),
                          ROWS(n_tracks)},
    [TM_RECORD_EVENTS] = {TABLE("/events", event_columns, "an event, by track, then by start time"),
                          ROWS(n_events)},
    [TM_RECORD_LAUNCHES] = {TABLE("/launches", launch_columns,
                                  "a call of the GPU runtime or driver"),
                            ROWS(n_attrs[TM_ATTR_LAUNCH])},
    [TM_RECORD_KERNELS] = {TABLE("/kernels", kernel_columns, "a kernel"),
                           ROWS(n_attrs[TM_ATTR_KERNEL])},
    [TM_RECORD_COPIES] = {TABLE("/copies", copy_columns, "a memory copy or set"),
                          ROWS(n_attrs[TM_ATTR_COPY])},
    [TM_RECORD_COLLECTIVES] = {TABLE("/collective_events", collective_columns,
                                     "an event of a collective"),
                               ROWS(n_attrs[TM_ATTR_COLLECTIVE])},
    [TM_RECORD_MEMORY] = {TABLE("/memory", memory_columns, "an allocation or a release"),
                          ROWS(n_attrs[TM_ATTR_MEMORY])},
    [TM_RECORD_COUNTERS] = {TABLE("/counters", counter_columns, "a series of a counter event"),
                            ROWS(n_attrs[TM_ATTR_COUNTER])},
    [TM_RECORD_SHAPES] = {TABLE("/shapes", shapes_columns, "an operator with known inputs"),
                          ROWS(n_attrs[TM_ATTR_SHAPES])},
    [TM_RECORD_WAITS] = {TABLE("/waits", wait_columns, "a wait of a stream or of the host"),
                         ROWS(n_attrs[TM_ATTR_WAIT])},
    [TM_RECORD_INPUTS] = {TABLE("/inputs", inputs_columns,
                                "a matrix multiplication, convolution or attention with known "
                                "inputs"),
                          ROWS(n_attrs[TM_ATTR_INPUTS])},
    [TM_RECORD_OPERATORS] = {TABLE("/operators", operator_columns,
                                   "an operator with autograd's number or a call stack"),
                             ROWS(n_attrs[TM_ATTR_OPERATOR])},
    [TM_RECORD_XLA] = {TABLE("/xla", xla_columns,
                             "a device event with compiler information of XLA or TensorFlow"),
                       ROWS(n_attrs[TM_ATTR_XLA])},
    [TM_RECORD_UNIFIED] = {TABLE("/unified", unified_columns,
                                 "a migration or page fault of unified memory with its address"),
                           ROWS(n_attrs[TM_ATTR_UNIFIED])},
    [TM_RECORD_METADATA] = {TABLE("/metadata_text", metadata_columns,
                                  "a byte of the JSON metadata of a rank's trace, without "
                                  "events and lists"),
                            ROWS(n_metadata)},
    [TM_RECORD_METADATA_LISTS] = {TABLE("/metadata_lists", list_columns,
                                        "a list in a rank's /metadata_text"),
                                  ROWS(n_metadata_lists)},
    [TM_RECORD_LEVELS] = {TABLE("/levels", level_columns,
                                "a sub-track of a rank in a time bucket, by level, finest first"),
                          ROWS(n_levels)},
};

/* clang-format on */

size_t tm_element_size(tm_element element) {
    switch (element) {
    case TM_U8:
        return 1;
    case TM_I32:
    case TM_U32:
    case TM_F32:
        return 4;
    default:
        return 8;
    }
}

size_t tm_record_rows(const tm_record_table *table, const tm_timeline *timeline) {
    if (table->one_row)
        return 1;
    size_t rows;
    memcpy(&rows, (const char *)timeline + table->rows_at, sizeof rows);
    return rows;
}
