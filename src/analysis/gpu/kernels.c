/* Analysis `kernels`: on which kernels GPUs spend their time. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/kernel_traits.h"
#include "analysis/shared/launch_shape.h"
#include "analysis/shared/launched.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/same_kernels.h"
#include "analysis/shared/words.h"
#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "measured.h"
#include "roofline.h"
#include "timeline/comm_kernels.h"

/* Maximum duration of a short kernel [ns]. Profiling guides advise to fuse such kernels. */
#define SHORT_NS 100000

/* Figures of all runs of a kernel. Several tables have these columns at different positions, so the
 * numbers are relative to CALLS. */
enum { CALLS, TOTAL, MEAN, MIN, MAX, BLOCKS, OCCUPANCY, N_CALL_COLUMNS };

#define CALL_COLUMNS                                                                               \
    {"calls", TM_INT, "", "Number of runs, over all ranks."},                                      \
        {"total_ns", TM_INT, "ns", "Sum of the durations of the runs, over all ranks."},           \
        {"mean_ns", TM_INT, "ns", "Mean duration of a run: total_ns / calls."},                    \
        {"min_ns", TM_INT, "ns", "Duration of the shortest run."},                                 \
        {"max_ns", TM_INT, "ns", "Duration of the longest run."},                                  \
        {"blocks_per_sm", TM_REAL, "",                                                             \
         "Thread blocks per multiprocessor: mean over the runs, weighted by duration. Null if "    \
         "not recorded."},                                                                         \
    {                                                                                              \
        "occupancy_pct", TM_REAL, "%",                                                             \
            "Occupancy that the profiler estimated: mean over the runs with a value, weighted by " \
            "duration. Null if no run has a value."                                                \
    }

enum {
    K_NAME,
    K_CALLS,
    K_SHARE = K_CALLS + N_CALL_COLUMNS,
    K_COMMUNICATION,
    K_CLASS,
    K_TENSOR_CORES,
    K_REGISTERS,
    K_SHARED,
    K_SHORT,
    K_SHORT_PCT,
    K_RANKS,
    K_MEDIAN_RANK,
    K_SLOWEST_TIME,
    K_SLOWEST,
    K_SPREAD,
    K_SUSPECT,
    N_KERNEL_COLUMNS
};

static const tm_column kernel_columns[] = {
    {"name", TM_TEXT, "", "Name of the kernel."},
    CALL_COLUMNS,
    {"share_pct", TM_REAL, "%",
     "Share of the kernel in the time of all kernels: 100 total_ns / the sum of total_ns over all "
     "kernels."},
    {"communication", TM_BOOL, "",
     "Whether the kernel communicates, as shown by its name, its metadata or --comm-pattern."},
    {"class", TM_TEXT, "",
     "Class of the kernel's work, as in classes.work: communication, or the class whose words "
     "are in the kernel's name. Null for devices that are not GPUs."},
    {"tensor_cores", TM_BOOL, "",
     "Whether the kernel uses tensor or matrix cores, judged by its name: cuBLAS, cuDNN, CUTLASS, "
     "flash attention, nvjet, wgmma, Tensile's MI and CK's xdl. False for compiled kernels "
     "(Triton), whose names do not show it. Null for devices that are not GPUs."},
    {"registers", TM_INT, "", "Registers per thread; the largest number of any run."},
    {"shared_memory_bytes", TM_INT, "B", "Shared memory per block; the largest size of any run."},
    {"short_calls", TM_INT, "", "Number of runs that took under 100 us."},
    {"short_pct", TM_REAL, "%", "Share of runs that took under 100 us: 100 short_calls / calls."},
    {"ranks", TM_INT, "", "Number of ranks on which the kernel ran."},
    {"median_rank_ns", TM_INT, "ns",
     "Median of the ranks' mean durations of a run, over the ranks on which the kernel ran."},
    {"slowest_rank_ns", TM_INT, "ns",
     "Largest mean duration of a run on a rank. For a communication kernel, it is on the rank that "
     "waits longest."},
    {"slowest_rank", TM_INT, "",
     "Rank with the largest mean duration (slowest_rank_ns); the lowest if there are several."},
    {"spread", TM_REAL, "",
     "How far the slowest rank exceeds the median: slowest_rank_ns / median_rank_ns. 1 if no rank "
     "is slower."},
    {"may_communicate", TM_BOOL, "",
     "Whether the kernel's name has words of communication, but tmerge does not know its library, "
     "so that the kernel counts as computation. If it communicates, use --comm-pattern."},
};

_Static_assert(sizeof kernel_columns / sizeof *kernel_columns == N_KERNEL_COLUMNS,
               "a column for each name");

static const tm_table_def kernel_def = {
    .name = "kernels.kernel",
    .doc = "A row for each kernel name over all ranks, including communication, with the largest "
           "total_ns first.",
    TM_ARRAY(columns, kernel_columns),
    .n_keys = 1,
    .top = K_CALLS + TOTAL,
};

enum { S_NAME, S_GRID, S_BLOCK, S_REGISTERS, S_SHARED, S_CALLS };

static const tm_column shape_columns[] = {
    {"name", TM_TEXT, "", "Name of the kernel."},
    {"grid", TM_TEXT, "", "Number of thread blocks of the launch (x,y,z); null if not recorded."},
    {"block", TM_TEXT, "", "Number of threads per block (x,y,z); null if not recorded."},
    {"registers", TM_INT, "", "Registers per thread."},
    {"shared_memory_bytes", TM_INT, "B", "Shared memory per block."},
    CALL_COLUMNS,
};

static const tm_table_def shape_def = {
    .name = "kernels.launch_shape",
    .doc = "A row for each kernel name and launch shape over all ranks, with the largest total_ns "
           "first.",
    TM_ARRAY(columns, shape_columns),
    .n_keys = 5,
    .top = S_CALLS + TOTAL,
};

/* Columns with the sums of a rank. Reals are added in the order of ranks, for reproducible results.
 */
enum {
    P_CALLS,
    P_TOTAL,
    P_MIN,
    P_MAX,
    P_BLOCKS,
    P_BLOCKS_WEIGHT,
    P_OCCUPANCY,
    P_OCCUPANCY_WEIGHT,
    N_PARTS
};

#define PART_COLUMNS                                                                               \
    {"calls", TM_INT, "", "Number of kernels."},                                                   \
        {"total_ns", TM_INT, "ns", "Sum of the durations of the kernels."},                        \
        {"min_ns", TM_INT, "ns", "Duration of the shortest kernel."},                              \
        {"max_ns", TM_INT, "ns", "Duration of the longest kernel."},                               \
        {"blocks_sum", TM_REAL, "",                                                                \
         "Sum over the kernels of blocks per multiprocessor times duration."},                     \
        {"blocks_weight_ns", TM_INT, "ns",                                                         \
         "Sum of the durations of the kernels that count in blocks_sum."},                         \
        {"occupancy_sum", TM_REAL, "", "Sum over the kernels of occupancy times duration."}, {     \
        "occupancy_weight_ns", TM_INT, "ns",                                                       \
            "Sum of the durations of the kernels that count in occupancy_sum."                     \
    }

enum { KP_NAME, KP_RANK, KP_MEAN, KP_COMMUNICATION, KP_REGISTERS, KP_SHARED, KP_SHORT, KP_PARTS };

static const tm_column kernel_part_columns[] = {
    {"name", TM_INT, "", "Name id of the kernel."},
    {"rank", TM_INT, "", "Global rank."},
    {"mean_ns", TM_INT, "ns", "Mean duration on the rank."},
    {"communication", TM_INT, "", "Number of communication kernels with the name."},
    {"registers", TM_INT, "", "Largest number of registers per thread."},
    {"shared_memory_bytes", TM_INT, "B", "Largest shared memory per block."},
    {"short_calls", TM_INT, "", "Number of runs under 100 us."},
    PART_COLUMNS,
};

/* The merge combines rows with the same name into a row of kernels.kernel. A mean covers only one
 * rank, because some ranks may be slower. */
static const tm_table_def kernel_part_def = TM_PART_TABLE(
    "kernels.kernel_part", "A row for each kernel name and rank: its part of kernels.kernel.",
    kernel_part_columns, 1);

enum { SP_NAME, SP_GRID, SP_BLOCK = SP_GRID + 3, SP_REGISTERS = SP_BLOCK + 3, SP_SHARED, SP_RANK };
enum { SP_COMMUNICATION = SP_RANK + 1, SP_PARTS };

static const tm_column shape_part_columns[] = {
    {"name", TM_INT, "", "Name id of the kernel."},
    {"grid_x", TM_INT, "", "Number of thread blocks in x."},
    {"grid_y", TM_INT, "", "Number of thread blocks in y."},
    {"grid_z", TM_INT, "", "Number of thread blocks in z."},
    {"block_x", TM_INT, "", "Threads per block in x."},
    {"block_y", TM_INT, "", "Threads per block in y."},
    {"block_z", TM_INT, "", "Threads per block in z."},
    {"registers", TM_INT, "", "Registers per thread."},
    {"shared_memory_bytes", TM_INT, "B", "Shared memory per block."},
    {"rank", TM_INT, "", "Global rank."},
    {"communication", TM_INT, "", "Number of communication kernels with the shape."},
    PART_COLUMNS,
};

/* The merge combines rows with the same name, grid, block, registers and shared memory. The value
 * -1 means that a number was not recorded. */
static const tm_table_def shape_part_def = TM_PART_TABLE(
    "kernels.shape_part", "A row for each launch shape and rank: its part of kernels.launch_shape.",
    shape_part_columns, SP_RANK);

static const tm_table_def *const defs[] = {
    &kernel_def,       &shape_def,       &tm_launched_table,     &tm_roofline_table,
    &tm_section_table, &tm_rule_table,   &tm_same_kernels_table, &kernel_part_def,
    &shape_part_def,   &tm_launched_part};

/* Totals of a shape or a name. */
typedef struct tally {
    int64_t calls, total_ns, min_ns, max_ns, shorter, communication;
    int64_t registers, shared_bytes;
    int64_t blocks_weight_ns, occupancy_weight_ns;
    /* Sums of value times duration. Divided by the sums above, they give means weighted by
     * duration, also over several ranks. */
    double blocks, occupancy;
} tally;

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Adds @p t to @p sum, which may be all zeros. */
static void add_tally(tally *sum, const tally *t) {
    /* The zeros of an empty `sum` are no values. They must not become the minimum or replace -1
     * (not recorded). */
    bool first = sum->calls == 0;
    sum->min_ns = first || t->min_ns < sum->min_ns ? t->min_ns : sum->min_ns;
    sum->max_ns = larger(sum->max_ns, t->max_ns);
    sum->registers = first ? t->registers : larger(sum->registers, t->registers);
    sum->shared_bytes = first ? t->shared_bytes : larger(sum->shared_bytes, t->shared_bytes);
    sum->calls += t->calls;
    sum->total_ns = tm_sum(sum->total_ns, t->total_ns);
    sum->shorter += t->shorter;
    sum->communication += t->communication;
    sum->blocks += t->blocks;
    sum->blocks_weight_ns = tm_sum(sum->blocks_weight_ns, t->blocks_weight_ns);
    sum->occupancy += t->occupancy;
    sum->occupancy_weight_ns = tm_sum(sum->occupancy_weight_ns, t->occupancy_weight_ns);
}

static tally tally_of(const tm_timeline *timeline, const tm_kernel_attr *kernel) {
    int64_t duration = timeline->duration_ns[kernel->event];
    const tm_launch_shape *shape = tm_kernel_shape(timeline, kernel);
    tally t = {
        .calls = 1,
        .total_ns = duration,
        .min_ns = duration,
        .max_ns = duration,
        .shorter = duration < SHORT_NS,
        .communication = timeline->role[kernel->event] == TM_ROLE_COMMUNICATION,
        .registers = shape->registers,
        .shared_bytes = shape->shared_memory_bytes,
    };
    if (shape->blocks_per_sm >= 0) { /* false for NaN */
        t.blocks = (double)shape->blocks_per_sm * (double)duration;
        t.blocks_weight_ns = duration;
    }
    if (shape->occupancy_pct >= 0) {
        t.occupancy = (double)shape->occupancy_pct * (double)duration;
        t.occupancy_weight_ns = duration;
    }
    return t;
}

/*
 * Sums the kernels of each name and shape.
 * @param alike  [launch shapes] a number that is the same for shapes with equal grid, block,
 *               registers and shared memory
 */
static bool count_shapes(const tm_timeline *timeline, const uint32_t *alike, tm_keys *keys,
                         tm_vec *tallies) {
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_KERNEL]; i++) {
        const tm_kernel_attr *k = &kernels[i];
        uint8_t role = timeline->role[k->event];
        if (role != TM_ROLE_COMPUTE && role != TM_ROLE_COMMUNICATION)
            continue;
        const tm_named_shape key = {timeline->name[k->event], alike[k->shape]};
        tally one = tally_of(timeline, k), *sum = tm_keys_value(keys, tallies, &key);
        if (!sum)
            return false;
        add_tally(sum, &one);
    }
    return true;
}

static void set_parts(tm_cell *cells, const tally *t) {
    tm_cell_set_int(&cells[P_CALLS], t->calls);
    tm_cell_set_int(&cells[P_TOTAL], t->total_ns);
    tm_cell_set_int(&cells[P_MIN], t->min_ns);
    tm_cell_set_int(&cells[P_MAX], t->max_ns);
    tm_cell_set_real(&cells[P_BLOCKS], t->blocks);
    tm_cell_set_int(&cells[P_BLOCKS_WEIGHT], t->blocks_weight_ns);
    tm_cell_set_real(&cells[P_OCCUPANCY], t->occupancy);
    tm_cell_set_int(&cells[P_OCCUPANCY_WEIGHT], t->occupancy_weight_ns);
}

/* Adds the rows of this rank, in the order in which its shapes appear; the merge sorts them. */
static bool add_shape_parts(const tm_timeline *timeline, const tm_keys *keys, const tm_vec *tallies,
                            tm_table *table) {
    for (size_t i = 0; i < tallies->n; i++) {
        const tm_named_shape *key = (const tm_named_shape *)keys->keys.data + i;
        const tm_launch_shape *shape = &timeline->shapes[key->shape];
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return false;
        tm_cell_set_int(&row[SP_NAME], key->name);
        for (int axis = 0; axis < 3; axis++) {
            tm_cell_set_int(&row[SP_GRID + axis], shape->grid[axis]);
            tm_cell_set_int(&row[SP_BLOCK + axis], shape->block[axis]);
        }
        tm_cell_set_int(&row[SP_REGISTERS], shape->registers);
        tm_cell_set_int(&row[SP_SHARED], shape->shared_memory_bytes);
        tm_cell_set_int(&row[SP_RANK], timeline->rank);
        tm_cell_set_int(&row[SP_COMMUNICATION], ((const tally *)tallies->data)[i].communication);
        set_parts(row + SP_PARTS, (const tally *)tallies->data + i);
    }
    return true;
}

static bool add_kernel_part(int64_t rank, uint32_t name, const tally *t, tm_table *table) {
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return false;
    tm_cell_set_int(&row[KP_NAME], name);
    tm_cell_set_int(&row[KP_RANK], rank);
    tm_cell_set_int(&row[KP_MEAN], tm_round_ratio(t->total_ns, t->calls));
    tm_cell_set_int(&row[KP_COMMUNICATION], t->communication);
    tm_cell_set_known(&row[KP_REGISTERS], t->registers);
    tm_cell_set_known(&row[KP_SHARED], t->shared_bytes);
    tm_cell_set_int(&row[KP_SHORT], t->shorter);
    set_parts(row + KP_PARTS, t);
    return true;
}

/* Adds the rows by name. They are sums over shapes, because there are far fewer shapes than
 * kernels. */
static bool add_kernel_parts(int64_t rank, const tm_keys *shapes, const tm_vec *tallies,
                             tm_table *table) {
    tm_keys names = TM_KEYS(uint32_t);
    tm_vec sums = TM_VEC(tally);
    bool ok = true;
    for (size_t i = 0; ok && i < tallies->n; i++) {
        tally *sum =
            tm_keys_value(&names, &sums, &((const tm_named_shape *)shapes->keys.data)[i].name);
        ok = sum != NULL;
        if (ok)
            add_tally(sum, (const tally *)tallies->data + i);
    }
    for (size_t i = 0; ok && i < sums.n; i++)
        ok = add_kernel_part(rank, ((const uint32_t *)names.keys.data)[i],
                             (const tally *)sums.data + i, table);
    tm_keys_free(&names);
    tm_vec_free(&sums);
    return ok;
}

/* Reads the kernels only once, because both part tables are sums over shapes. */
static tm_status kernels_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_keys keys = TM_KEYS(tm_named_shape);
    tm_vec tallies = TM_VEC(tally);
    uint32_t *alike = tm_launch_shapes_alike(timeline, offsetof(tm_launch_shape, blocks_per_sm));
    bool ok =
        alike && count_shapes(timeline, alike, &keys, &tallies) &&
        add_shape_parts(timeline, &keys, &tallies, tm_tables_find(out, shape_part_def.name)) &&
        add_kernel_parts(timeline->rank, &keys, &tallies,
                         tm_tables_find(out, kernel_part_def.name));
    free(alike);
    tm_keys_free(&keys);
    tm_vec_free(&tallies);
    if (!ok)
        return tm_fail_memory(err);
    return tm_launched_rows(view, out, err);
}

/* Returns the sum over the ranks' rows. The columns with sums start at @p at. */
static tally merge_parts(const tm_rank_rows *rows, int at) {
    tally sum = {0};
    for (size_t r = rows->first; r < rows->end; r++) {
        const tm_cell *cells = tm_table_row(rows->part, r) + at;
        const tally t = {.calls = cells[P_CALLS].value.i,
                         .total_ns = cells[P_TOTAL].value.i,
                         .min_ns = cells[P_MIN].value.i,
                         .max_ns = cells[P_MAX].value.i,
                         .blocks = cells[P_BLOCKS].null ? 0 : cells[P_BLOCKS].value.r,
                         .blocks_weight_ns = cells[P_BLOCKS_WEIGHT].value.i,
                         .occupancy = cells[P_OCCUPANCY].null ? 0 : cells[P_OCCUPANCY].value.r,
                         .occupancy_weight_ns = cells[P_OCCUPANCY_WEIGHT].value.i};
        add_tally(&sum, &t);
    }
    return sum;
}

/* Sets the columns that the tables by name and by shape share. */
static void set_calls(tm_cell *cells, const tally *t) {
    tm_cell_set_int(&cells[CALLS], t->calls);
    tm_cell_set_int(&cells[TOTAL], t->total_ns);
    tm_cell_set_int(&cells[MEAN], tm_round_ratio(t->total_ns, t->calls));
    tm_cell_set_int(&cells[MIN], t->min_ns);
    tm_cell_set_int(&cells[MAX], t->max_ns);
    if (t->blocks_weight_ns > 0)
        tm_cell_set_real(&cells[BLOCKS], t->blocks / (double)t->blocks_weight_ns);
    if (t->occupancy_weight_ns > 0)
        tm_cell_set_real(&cells[OCCUPANCY], t->occupancy / (double)t->occupancy_weight_ns);
}

/* Compares the ranks' means, and sets the maxima of values that may differ between runs. */
static tm_status set_ranks(tm_cell *row, const tm_rank_rows *rows, tm_error *err) {
    tm_over_ranks mean, registers, shared;
    TM_TRY(tm_over_ranks_column(rows, KP_MEAN, &mean, err));
    TM_TRY(tm_over_ranks_column(rows, KP_REGISTERS, &registers, err));
    TM_TRY(tm_over_ranks_column(rows, KP_SHARED, &shared, err));
    if (registers.ranks > 0)
        tm_cell_set_int(&row[K_REGISTERS], registers.max);
    if (shared.ranks > 0)
        tm_cell_set_int(&row[K_SHARED], shared.max);
    tm_over_ranks_set(&row[K_RANKS], &mean);
    tm_cell_set_ratio(&row[K_SPREAD], 1.0, mean.max, mean.median);
    return TM_OK;
}

/* Sets the columns that depend only on the name. */
static tm_status set_named(tm_table *table, tm_cell *row, const tm_kernel_words *words,
                           tm_text name, tm_error *err) {
    tm_kernel_traits traits = tm_kernel_traits_of(words, name.bytes);
    bool communicates = row[K_COMMUNICATION].value.i;
    bool suspect = tm_kernel_kind_of(name.bytes, name.size).class == TM_KERNEL_SUSPECT;
    tm_cell_set_bool(&row[K_TENSOR_CORES], traits.tensor_cores);
    tm_cell_set_bool(&row[K_SUSPECT], !communicates && suspect);
    TM_TRY(tm_table_set_text(table, &row[K_CLASS],
                             tm_class_word(tm_class_of_kernel(traits, communicates)), err));
    return tm_table_set_bytes(table, &row[K_NAME], name.bytes, name.size, err);
}

static tm_status merge_kernels(const tm_names *names, const tm_kernel_words *words,
                               tm_tables *tables, tm_error *err) {
    const tm_table *part = tm_tables_find(tables, kernel_part_def.name);
    tm_table *table = tm_tables_find(tables, kernel_def.name);
    for (tm_rank_rows rows = {part, 0, 0}; rows.end < part->n_rows;) {
        rows = tm_rank_rows_at(part, rows.end);
        tally sum = merge_parts(&rows, KP_PARTS);
        int64_t shorter = tm_over_ranks_sum(&rows, KP_SHORT);
        tm_text name = tm_names_text(names, (uint32_t)tm_rank_rows_key(&rows)[KP_NAME].value.i);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        set_calls(row + K_CALLS, &sum);
        tm_cell_set_bool(&row[K_COMMUNICATION], tm_over_ranks_sum(&rows, KP_COMMUNICATION) > 0);
        tm_cell_set_int(&row[K_SHORT], shorter);
        tm_cell_set_ratio(&row[K_SHORT_PCT], 100.0, shorter, sum.calls);
        TM_TRY(set_ranks(row, &rows, err));
        TM_TRY(set_named(table, row, words, name, err));
    }
    return TM_OK;
}

/* Merges the rows of shapes. All launches of a shape have equal registers and shared memory,
 * because these are keys. */
static tm_status merge_shapes(const tm_names *names, tm_same_kernels *same, tm_tables *tables,
                              tm_error *err) {
    static const tm_same_kernels_columns compared = {SP_RANK, SP_GRID, SP_PARTS + P_CALLS,
                                                     SP_PARTS + P_TOTAL, SP_COMMUNICATION};
    const tm_table *part = tm_tables_find(tables, shape_part_def.name);
    tm_table *table = tm_tables_find(tables, shape_def.name);
    for (tm_rank_rows rows = {part, 0, 0}; rows.end < part->n_rows;) {
        rows = tm_rank_rows_at(part, rows.end);
        tally sum = merge_parts(&rows, SP_PARTS);
        const tm_cell *key = tm_rank_rows_key(&rows);
        tm_text name = tm_names_text(names, (uint32_t)key[SP_NAME].value.i);
        tm_cell *row = tm_table_add_row(table);
        if (!row || !tm_same_kernels_add(same, &rows, &compared))
            return tm_fail_memory(err);
        set_calls(row + S_CALLS, &sum);
        tm_cell_set_known(&row[S_REGISTERS], key[SP_REGISTERS].value.i);
        tm_cell_set_known(&row[S_SHARED], key[SP_SHARED].value.i);
        TM_TRY(tm_set_launch_shape(table, &row[S_GRID], &key[SP_GRID], err));
        TM_TRY(tm_set_launch_shape(table, &row[S_BLOCK], &key[SP_BLOCK], err));
        TM_TRY(tm_table_set_bytes(table, &row[S_NAME], name.bytes, name.size, err));
    }
    return tm_same_kernels_put(same, tm_tables_find(tables, tm_same_kernels_table.name), err);
}

static tm_status kernels_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    tm_kernel_words words;
    tm_status status = tm_kernel_words_init(&words) ? merge_kernels(names, &words, tables, err)
                                                    : tm_fail_memory(err);
    tm_kernel_words_free(&words);
    TM_TRY(status);
    tm_same_kernels same;
    tm_same_kernels_init(&same);
    status = merge_shapes(names, &same, tables, err);
    tm_same_kernels_free(&same);
    TM_TRY(status);
    return tm_launched_merge(names, tables, err);
}

/* Sets shares and sorts. Only the job part has all names. */
static tm_status kernels_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_table *kernels = tm_tables_find(out, kernel_def.name);
    bool of_gpus = strcmp(tm_words_device(out), "GPU") == 0;
    int64_t total = 0;
    for (size_t i = 0; i < kernels->n_rows; i++)
        total = tm_sum(total, tm_table_row(kernels, i)[K_CALLS + TOTAL].value.i);
    for (size_t i = 0; i < kernels->n_rows; i++) {
        tm_cell *row = tm_table_row(kernels, i);
        tm_cell_set_ratio(&row[K_SHARE], 100.0, row[K_CALLS + TOTAL].value.i, total);
        row[K_TENSOR_CORES].null = row[K_TENSOR_CORES].null || !of_gpus;
        row[K_CLASS].null = row[K_CLASS].null || !of_gpus;
    }
    tm_table_top(kernels, SIZE_MAX); /* sorts the largest first */
    tm_table_top(tm_tables_find(out, shape_def.name), SIZE_MAX);
    TM_TRY(tm_launched_order(out, err));
    return tm_roofline_rows(job->ncu, out, err);
}

const tm_analysis tm_analysis_kernels = {
    .name = "kernels",
    .summary = "which kernels take the GPUs' time, how they are launched, which rank is slower",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_PLACES,
    .rank = kernels_rank,
    .merge = kernels_merge,
    .job = kernels_job,
};
