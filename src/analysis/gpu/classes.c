/* Analysis `classes`: which kinds of work kernels do. */
#include "tmerge/analysis.h"

#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/over_ranks.h"
#include "base/sums.h"
#include "table/levels.h"
#include "timeline/metadata.h"
#include "timeline/trace.h"

/* Columns with the sums of a class, in the part table and the result. */
enum {
    CALLS,
    TOTAL,
    OPTIMIZER,
    BACKWARD,
    ATTENTION,
    OUTSIDE,
    BITS_8,
    BITS_16,
    TF32,
    BITS_32,
    BITS_64,
    FLASH,
    N_SUMS
};

/* clang-format off: a row for each column */
#define SUM_COLUMNS                                                                                \
    {"calls", TM_INT, "", "Number of the class's kernels that ran."},                              \
        {"total_ns", TM_INT, "ns", "Sum of the durations of the class's kernels."},                \
        {"optimizer_ns", TM_INT, "ns",                                                             \
         "Part of total_ns that was launched while the optimizer's step was open on the "          \
         "launching thread."},                                                                     \
        {"backward_ns", TM_INT, "ns",                                                              \
         "Part of total_ns that was launched within an operator of the backward pass."},           \
        {"attention_ns", TM_INT, "ns",                                                             \
         "Part of total_ns that was launched within an operator whose name shows attention. For "  \
         "eager attention, this is time in the classes matrix multiply and softmax."},             \
        {"outside_ns", TM_INT, "ns",                                                               \
         "Part of total_ns that was launched outside of every operator, or by a call that is not " \
         "in the trace. It is unknown whether this is backward work or attention."},               \
        {"bits8_ns", TM_INT, "ns",                                                                 \
         "Part of total_ns in kernels that multiply 8-bit numbers, by kernel name. Names show "    \
         "number formats only for matrix multiply, convolution and attention; the format of the "  \
         "rest of total_ns is unknown."},                                                          \
        {"bits16_ns", TM_INT, "ns",                                                                \
         "Part of total_ns in kernels that multiply FP16 or BF16, by kernel name."},               \
        {"tf32_ns", TM_INT, "ns",                                                                  \
         "Part of total_ns in kernels that multiply TF32, by kernel name."},                       \
        {"bits32_ns", TM_INT, "ns",                                                                \
         "Part of total_ns in kernels that multiply FP32, by kernel name."},                       \
        {"bits64_ns", TM_INT, "ns",                                                                \
         "Part of total_ns in kernels that multiply FP64, by kernel name."},                       \
    {                                                                                              \
        "flash_ns", TM_INT, "ns",                                                                  \
            "Part of total_ns in attention that runs in one kernel and never writes its scores, "  \
            "by kernel name (flash, fmha, MLA, sage, attn_fwd)."                                   \
    }
/* clang-format on */

enum { W_LEVEL, W_RANK, W_CLASS, W_SUMS, W_SHARE = W_SUMS + N_SUMS, W_SHARE_16, W_SHARE_32 };
enum { W_NAMES = W_SHARE_32 + 1, W_TOP, W_TOP_TIME, W_RANKS, W_SPREAD = W_RANKS + 4, N_COLUMNS };

static const tm_column work_columns[] = {
    TM_LEVEL_COLUMN("class (over all ranks) or rank (a class on one rank)"),
    {"rank", TM_INT, "", "Global rank; null on level class."},
    {"class", TM_TEXT, "",
     "Class of work. A kernel is in the class communication if its name, its metadata or "
     "--comm-pattern shows that it communicates. Otherwise it is in the class whose words are in "
     "its name."},
    SUM_COLUMNS,
    {"share_pct", TM_REAL, "%",
     "Share of the class in the time of all kernels (on level rank: of the rank's kernels): 100 "
     "total_ns / the sum of total_ns over all classes."},
    {"bits16_pct", TM_REAL, "%",
     "Share of time in kernels that multiply 16-bit numbers: 100 bits16_ns / total_ns. Null for "
     "classes whose kernel names do not show number formats."},
    {"bits32_pct", TM_REAL, "%",
     "Share of time in kernels that multiply 32-bit numbers: 100 (bits32_ns + tf32_ns) / total_ns. "
     "Null for classes whose kernel names do not show number formats."},
    {"names", TM_INT, "",
     "Number of different kernel names in the class. This and the columns after it are null on "
     "level rank."},
    {"top_name", TM_TEXT, "", "Kernel name with the largest total time in the class."},
    {"top_name_ns", TM_INT, "ns",
     "Sum of the durations of the kernels named top_name, over all ranks."},
    {"ranks", TM_INT, "", "Number of ranks that run kernels of the class."},
    {"median_rank_ns", TM_INT, "ns",
     "Median of total_ns on a rank, over the ranks that run the class."},
    {"slowest_rank_ns", TM_INT, "ns",
     "Largest total_ns on a rank. For communication, it is on the rank that waits longest."},
    {"slowest_rank", TM_INT, "",
     "Rank with the largest total_ns (slowest_rank_ns); the lowest if there are several."},
    {"spread", TM_REAL, "",
     "How far the slowest rank exceeds the median: slowest_rank_ns / median_rank_ns. 1 if no rank "
     "is slower."},
};
_Static_assert(sizeof work_columns / sizeof *work_columns == N_COLUMNS, "a column for each name");

static const tm_table_def work_def = {
    .name = "classes.work",
    .doc = "A row for each class of kernels over all ranks, with the largest total_ns first, and "
           "for each rank and class of its kernels. Only for GPUs, because classes follow from "
           "names of GPU kernels.",
    TM_ARRAY(columns, work_columns),
    .n_keys = W_CLASS + 1,
    .top = W_SUMS + TOTAL,
};

enum { P_CLASS, P_RANK, P_SUMS };

static const tm_column part_columns[] = {
    {"class", TM_INT, "", "Class of work (tm_class)."},
    {"rank", TM_INT, "", "Global rank."},
    SUM_COLUMNS,
};

static const tm_table_def part_def =
    TM_PART_TABLE("classes.work_part", "A row for each class and rank: its part of classes.work.",
                  part_columns, 1);

static const tm_table_def *const defs[] = {&work_def, &part_def};

/* Sums of a rank's kernels by class. */
typedef struct counting {
    const tm_rank_view *view;
    int64_t sums[TM_N_CLASSES][N_SUMS];
} counting;

/* Returns whether a kernel was launched while the optimizer's step was open on the same thread. */
static bool in_optimizer(const tm_rank_view *view, uint32_t row) {
    const tm_calls *open = view->annotations;
    uint32_t call = open->above[row];
    while (call != TM_NO_CALL &&
           tm_call_kinds_at(view->call_kinds, view->timeline->name[open->calls[call].row]) !=
               TM_CALL_KIND_OPTIMIZER)
        call = open->calls[call].parent;
    return call != TM_NO_CALL;
}

/* Adds a kernel's time to the columns that depend on the operators around its launch. */
static void add_launcher(counting *c, int64_t *sums, uint32_t row) {
    const tm_calls *operators = c->view->operators;
    int64_t duration = c->view->timeline->duration_ns[row];
    uint32_t call = operators->above[row];
    bool backward = false, attention = false;
    if (call == TM_NO_CALL)
        sums[OUTSIDE] = tm_sum(sums[OUTSIDE], duration);
    if (in_optimizer(c->view, row))
        sums[OPTIMIZER] = tm_sum(sums[OPTIMIZER], duration);
    for (; call != TM_NO_CALL; call = operators->calls[call].parent) {
        uint32_t name = c->view->timeline->name[operators->calls[call].row];
        backward = backward || tm_call_kinds_at(c->view->call_kinds, name) == TM_CALL_KIND_BACKWARD;
        attention = attention || tm_call_kinds_attention(c->view->call_kinds, name);
    }
    if (backward)
        sums[BACKWARD] = tm_sum(sums[BACKWARD], duration);
    if (attention)
        sums[ATTENTION] = tm_sum(sums[ATTENTION], duration);
}

static void add_kernel(counting *c, uint32_t row, bool communicates) {
    static const int8_t of_precision[TM_N_PRECISIONS] = {
        [TM_PRECISION_UNKNOWN] = -1, [TM_PRECISION_8] = BITS_8,   [TM_PRECISION_16] = BITS_16,
        [TM_PRECISION_TF32] = TF32,  [TM_PRECISION_32] = BITS_32, [TM_PRECISION_64] = BITS_64,
    };
    const tm_timeline *timeline = c->view->timeline;
    tm_kernel_traits traits = *tm_call_kinds_kernel(c->view->call_kinds, timeline->name[row]);
    int64_t *sums = c->sums[tm_class_of_kernel(traits, communicates)];
    int64_t duration = timeline->duration_ns[row];
    sums[CALLS]++;
    sums[TOTAL] = tm_sum(sums[TOTAL], duration);
    if (!communicates && of_precision[traits.precision] >= 0)
        sums[of_precision[traits.precision]] =
            tm_sum(sums[of_precision[traits.precision]], duration);
    if (!communicates && traits.flash)
        sums[FLASH] = tm_sum(sums[FLASH], duration);
    add_launcher(c, sums, row);
}

static void count_kernels(counting *c) {
    const tm_timeline *timeline = c->view->timeline;
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_KERNEL]; i++) {
        uint8_t role = timeline->role[kernels[i].event];
        if (role == TM_ROLE_COMPUTE || role == TM_ROLE_COMMUNICATION)
            add_kernel(c, kernels[i].event, role == TM_ROLE_COMMUNICATION);
    }
}

static void set_sums(tm_cell *cells, const int64_t *sums) {
    for (int s = 0; s < N_SUMS; s++)
        tm_cell_set_int(&cells[s], sums[s]);
}

/* Sets the columns of a row that follow from its sums. The row is of a class or of a rank's class,
 * depending on @p level. */
static tm_status set_class(tm_table *table, tm_cell *row, const char *level, tm_class work,
                           tm_error *err) {
    const tm_cell *sums = row + W_SUMS;
    int64_t bits_32 = tm_sum(sums[BITS_32].value.i, sums[TF32].value.i);
    if (tm_class_multiplies(work)) {
        tm_cell_set_ratio(&row[W_SHARE_16], 100.0, sums[BITS_16].value.i, sums[TOTAL].value.i);
        tm_cell_set_ratio(&row[W_SHARE_32], 100.0, bits_32, sums[TOTAL].value.i);
    }
    TM_TRY(tm_table_set_text(table, &row[W_LEVEL], level, err));
    return tm_table_set_text(table, &row[W_CLASS], tm_class_word(work), err);
}

static tm_status add_rows(const counting *c, tm_tables *out, tm_error *err) {
    tm_table *part = tm_tables_find(out, part_def.name),
             *ranks = tm_tables_find(out, work_def.name);
    int64_t rank = c->view->timeline->rank, total = 0;
    for (int k = 0; k < TM_N_CLASSES; k++)
        total = tm_sum(total, c->sums[k][TOTAL]);
    for (int k = 0; k < TM_N_CLASSES; k++) {
        if (c->sums[k][CALLS] == 0)
            continue;
        tm_cell *row = tm_table_add_row(part);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[P_CLASS], k);
        tm_cell_set_int(&row[P_RANK], rank);
        set_sums(row + P_SUMS, c->sums[k]);
        row = tm_table_add_row(ranks);
        if (!row)
            return tm_fail_memory(err);
        tm_cell_set_int(&row[W_RANK], rank);
        set_sums(row + W_SUMS, c->sums[k]);
        tm_cell_set_ratio(&row[W_SHARE], 100.0, c->sums[k][TOTAL], total);
        TM_TRY(set_class(ranks, row, "rank", (tm_class)k, err));
    }
    return TM_OK;
}

static tm_status classes_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    counting c = {.view = view};
    if (tm_trace_noted(tm_timeline_metadata(view->timeline), TM_DEVICE_KIND).size > 0)
        return TM_OK; /* the rules for names cover only GPU kernels */
    count_kernels(&c);
    return add_rows(&c, out, err);
}

static tm_status set_merged(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                            tm_cell *row, tm_error *err) {
    const tm_class work = (tm_class)tm_rank_rows_key(rows)[P_CLASS].value.i;
    tm_over_ranks total;
    (void)names;
    TM_TRY(tm_over_ranks_column(rows, P_SUMS + TOTAL, &total, err));
    for (int s = 0; s < N_SUMS; s++)
        tm_cell_set_int(&row[W_SUMS + s], tm_over_ranks_sum(rows, P_SUMS + s));
    tm_over_ranks_set(&row[W_RANKS], &total);
    tm_cell_set_ratio(&row[W_SPREAD], 1.0, total.max, total.median);
    return set_class(table, row, "class", work, err);
}

static tm_status classes_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&part_def, &work_def, names, tables, set_merged, err);
}

/* Sets the number of kernel names of a class, and its top name. Rows of kernels.kernel are sorted
 * by time, so the first name of a class is its top name. */
static tm_status set_names(const tm_table *kernels, tm_table *table, tm_cell *row, tm_error *err) {
    int64_t names = 0;
    for (size_t k = 0; k < kernels->n_rows; k++) {
        const tm_cell *work = tm_table_cell(kernels, k, "class");
        if (work->null || strcmp(work->value.text, row[W_CLASS].value.text) != 0)
            continue;
        if (names++ > 0)
            continue;
        row[W_TOP_TIME] = *tm_table_cell(kernels, k, "total_ns");
        TM_TRY(tm_table_set_text(table, &row[W_TOP], tm_table_cell(kernels, k, "name")->value.text,
                                 err));
    }
    tm_cell_set_int(&row[W_NAMES], names);
    return TM_OK;
}

static tm_status classes_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const tm_table *kernels = tm_tables_find(out, "kernels.kernel");
    tm_table *table = tm_tables_find(out, work_def.name);
    size_t n, n_rows = table->n_rows;
    int64_t total = 0;
    (void)job;
    tm_table_level(table, "class", &n);
    table->n_rows = n; /* rows of level "rank" come last and are left out until the end */
    for (size_t i = 0; i < table->n_rows; i++)
        total = tm_sum(total, tm_table_row(table, i)[W_SUMS + TOTAL].value.i);
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *row = tm_table_row(table, i);
        tm_cell_set_ratio(&row[W_SHARE], 100.0, row[W_SUMS + TOTAL].value.i, total);
        TM_TRY(set_names(kernels, table, row, err));
    }
    tm_table_top(table, SIZE_MAX); /* sorts the largest first */
    table->n_rows = n_rows;
    return TM_OK;
}

const tm_analysis tm_analysis_classes = {
    .name = "classes",
    .summary =
        "what kind of work the kernels do (matrix multiply, attention, ...) and in how many bits",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_ANNOTATIONS,
    .rank = classes_rank,
    .merge = classes_merge,
    .job = classes_job,
};
