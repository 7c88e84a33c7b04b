#include "hlo_rows.h"

#include <math.h>

#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "analysis/shared/xla_ops.h"
#include "base/sums.h"

/* Maximum number of operations shown. */
enum { LISTED = 1000 };

enum {
    P_PROGRAM,
    P_OP,
    P_CATEGORY,
    P_RANK,
    P_OCCURRENCES,
    P_SELF,
    P_TOLD,
    P_ASYNC,
    P_FLOP,
    P_BYTES,
    P_ROLE,
    P_ORIGIN,
    P_SHAPE,
    N_PART
};

static const tm_column part_columns[N_PART] = {
    [P_PROGRAM] = {"program", TM_INT, "", "Id of the name."},
    [P_OP] = {"op", TM_INT, "", "Id of the name."},
    [P_CATEGORY] = {"category", TM_INT, "", "Id of the name."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_OCCURRENCES] = {"occurrences", TM_INT, "", "Number of runs."},
    [P_SELF] = {"self_ns", TM_INT, "ns", "Sum of self times."},
    [P_TOLD] = {"told_ns", TM_INT, "ns",
                "Part of self_ns in operations with known FLOP and bytes."},
    [P_ASYNC] = {"async_ns", TM_INT, "ns", "Time from start to end of asynchronous operations."},
    [P_FLOP] = {"flop", TM_INT, "FLOP", "FLOP, where known."},
    [P_BYTES] = {"bytes", TM_INT, "B", "Bytes, where known."},
    [P_ROLE] = {"role", TM_INT, "", "tm_role: the maximum."},
    [P_ORIGIN] = {"origin", TM_INT, "", "Id of the name."},
    [P_SHAPE] = {"shape", TM_INT, "", "Id of the text."},
};

#define PART(name_)                                                                                \
    {                                                                                              \
        .name = name_, .doc = "A row for each rank and key.", .columns = part_columns,             \
        .n_columns = N_PART, .n_keys = 4, .top = -1, .internal = true, .n_merged = 3               \
    }

const tm_table_def tm_hlo_op_part = PART("hlo.op_part");
const tm_table_def tm_hlo_category_part = PART("hlo.category_part");
const tm_table_def tm_hlo_program_part = PART("hlo.program_part");

/* Columns after the names. */
enum {
    S_OCCURRENCES,
    S_SELF,
    S_SHARE,
    S_ASYNC,
    S_TOLD,
    S_FLOP,
    S_RATE,
    S_PEAK,
    S_BYTES,
    S_BANDWIDTH,
    S_BANDWIDTH_PEAK,
    S_INTENSITY,
    S_BOUND,
    S_RANKS,
    S_MEDIAN_RANK,
    S_MAX_RANK_TIME,
    S_MAX_RANK,
    N_SHOWN
};

#define SHOWN_COLUMNS                                                                              \
    {"occurrences", TM_INT, "", "Number of runs over all ranks."},                                 \
        {"self_ns", TM_INT, "ns",                                                                  \
         "Sum of the durations of the runs, without operations nested in a loop, call or branch. " \
         "For operations that wait for a transfer (-done), the wait."},                            \
        {"share_pct", TM_REAL, "%", "100 self_ns / the self_ns of all operations."},               \
        {"async_ns", TM_INT, "ns",                                                                 \
         "Time from the start to the end of asynchronous operations. They overlap other "          \
         "operations, so this time is not part of self_ns. It counts at the operation that "       \
         "starts them (-start); null for other operations."},                                      \
        {"told_pct", TM_REAL, "%",                                                                 \
         "Percentage of self_ns in operations whose FLOP and bytes are known. If it is under "     \
         "100, flop and bytes are too small, and rates cover only the known operations."},         \
        {"flop", TM_REAL, "FLOP",                                                                  \
         "FLOP as the compiler counts them; the FLOP of a loop, call or branch count at the "      \
         "nested operations. GPU profiles have no such counts; there, FLOP of matrix products "    \
         "are computed from shapes (multiply and add count as two) if the profile has the "        \
         "program. Null if FLOP and bytes are unknown, and for operations that only wait; "        \
         "columns derived from flop or bytes are then null too."},                                 \
        {"achieved_tflops", TM_REAL, "TFLOP/s",                                                    \
         "flop / self_ns of the operations whose FLOP and bytes are known; null for asynchronous " \
         "operations."},                                                                           \
        {"peak_pct", TM_REAL, "%",                                                                 \
         "100 achieved_tflops / hlo.rank.peak_tflops (16 bit); null if ranks have different "      \
         "peaks. Wider types cannot reach 100."},                                                  \
        {"bytes", TM_REAL, "B",                                                                    \
         "Bytes that are read from and written to the device's main memory, as the compiler "      \
         "counts them. For matrix products on GPUs, operands and results count once each. Bytes "  \
         "of asynchronous operations count at their start."},                                      \
        {"bw_gbps", TM_REAL, "GB/s",                                                               \
         "bytes / self_ns of the operations whose FLOP and bytes are known; for asynchronous "     \
         "operations bytes / async_ns."},                                                          \
        {"peak_bw_pct", TM_REAL, "%",                                                              \
         "100 bw_gbps / hlo.rank.peak_bw_gbps; null if ranks have different peaks. Null also for " \
         "copies and communication, which are limited by other links."},                           \
        {"flop_per_byte", TM_REAL, "FLOP/B", "Operational intensity: flop / bytes."},              \
        {"bound", TM_TEXT, "",                                                                     \
         "What limits the operation by the roofline model: compute if flop_per_byte is at least "  \
         "hlo.rank.ridge_flop_per_byte, otherwise memory. communication and copy are named by "    \
         "the kind of operation. Null if FLOP, bytes or peaks are unknown, for operations that "   \
         "only wait, and for programs."},                                                          \
        {"ranks", TM_INT, "", "Number of ranks with this row."},                                   \
        {"median_rank_ns", TM_INT, "ns",                                                           \
         "Median of the ranks' self_ns, over the ranks with this row."},                           \
        {"max_rank_ns", TM_INT, "ns", "Largest self_ns of a rank."}, {                             \
        "max_rank", TM_INT, "", "Rank with max_rank_ns; the lowest if there are several."          \
    }

#define CATEGORY_DOC                                                                               \
    "Category of the operation by the compiler. On GPUs it is taken from the program in the "      \
    "profile, without -start (the kernel is the whole operation); null if the profile has no "     \
    "program."

enum { OP_TEXTS = 5, GROUP_TEXTS = 1 };

static const tm_column op_columns[] = {
    {"program", TM_TEXT, "",
     "Name of the compiled program (module), with its fingerprint if the trace has it."},
    {"op", TM_TEXT, "", "Name of the operation in the program."},
    {"category", TM_TEXT, "", CATEGORY_DOC},
    {"origin", TM_TEXT, "", "Operator in the source code that the operation originates from."},
    {"shape", TM_TEXT, "",
     "Types and shapes of the operation's results. If several programs have operations of this "
     "name, the results of the first."},
    SHOWN_COLUMNS,
};

static const tm_column category_columns[] = {
    {"category", TM_TEXT, "", CATEGORY_DOC},
    SHOWN_COLUMNS,
};

static const tm_column program_columns[] = {
    {"program", TM_TEXT, "",
     "Name of the compiled program (module), with its fingerprint if the trace has it."},
    SHOWN_COLUMNS,
};

#define SHOWN(name_, doc_, columns_, texts, keys)                                                  \
    {                                                                                              \
        .name = name_, .doc = doc_, .columns = columns_, .n_columns = (texts) + N_SHOWN,           \
        .n_keys = (keys), .top = (texts) + S_SELF                                                  \
    }

const tm_table_def tm_hlo_op_table =
    SHOWN("hlo.op",
          "A row for each operation compiled by XLA (HLO), by program, name and category, over all "
          "ranks: the 1000 with the largest self_ns.",
          op_columns, OP_TEXTS, 3);
const tm_table_def tm_hlo_category_table =
    SHOWN("hlo.category",
          "A row for each category of operations compiled by XLA, over all operations and ranks.",
          category_columns, GROUP_TEXTS, 1);
const tm_table_def tm_hlo_program_table =
    SHOWN("hlo.program", "A row for each program compiled by XLA, over all operations and ranks.",
          program_columns, GROUP_TEXTS, 1);

/* Keys without padding. */
typedef struct hlo_key {
    uint32_t program, op, category;
} hlo_key;

static void count(const tm_timeline *timeline, const tm_xla_op *op, tm_hlo_sum *sum) {
    uint32_t row = op->attr->event;
    if (sum->occurrences == 0 && sum->async_ns == 0) {
        sum->origin = op->attr->origin;
        sum->shape = op->attr->shape;
    }
    sum->role = timeline->role[row] > sum->role ? timeline->role[row] : sum->role;
    if (op->part == TM_XLA_ASYNC) {
        sum->async_ns = tm_sum(sum->async_ns, timeline->duration_ns[row]);
        return;
    }
    sum->occurrences++;
    sum->self_ns = tm_sum(sum->self_ns, op->self_ns);
    if (op->flop < 0 || op->bytes < 0)
        return;
    sum->told_ns = tm_sum(sum->told_ns, op->self_ns);
    sum->flop = tm_sum(sum->flop, op->flop);
    sum->bytes = tm_sum(sum->bytes, op->bytes);
}

static bool add(const tm_timeline *timeline, tm_rank_sums *sums, hlo_key key, const tm_xla_op *op) {
    tm_hlo_sum *sum = tm_rank_sums_at(sums, &key);
    if (!sum)
        return false;
    count(timeline, op, sum);
    return true;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const hlo_key *key = of;
    const tm_hlo_sum *sum = value;
    cells[P_PROGRAM] = key->program;
    cells[P_OP] = key->op;
    cells[P_CATEGORY] = key->category;
    cells[P_OCCURRENCES] = sum->occurrences;
    cells[P_SELF] = sum->self_ns;
    cells[P_TOLD] = sum->told_ns;
    cells[P_ASYNC] = sum->async_ns;
    cells[P_FLOP] = sum->flop;
    cells[P_BYTES] = sum->bytes;
    cells[P_ROLE] = sum->role;
    cells[P_ORIGIN] = sum->origin;
    cells[P_SHAPE] = sum->shape;
}

static const tm_table_def *const parts[] = {&tm_hlo_op_part, &tm_hlo_category_part,
                                            &tm_hlo_program_part};
static const tm_table_def *const tables[] = {&tm_hlo_op_table, &tm_hlo_category_table,
                                             &tm_hlo_program_table};
enum { N_TABLES = sizeof tables / sizeof *tables };

tm_status tm_hlo_rank_rows(const tm_rank_view *view, const tm_vec *ops, tm_tables *out,
                           tm_hlo_sum *all, tm_error *err) {
    tm_rank_sums sums[N_TABLES];
    tm_hlo_sum total = {0};
    tm_status status = TM_OK;
    bool ok = true;
    for (int i = 0; i < N_TABLES; i++)
        sums[i] = TM_RANK_SUMS(hlo_key, tm_hlo_sum);
    for (size_t i = 0; i < ops->n && ok; i++) {
        const tm_xla_op *op = (const tm_xla_op *)ops->data + i;
        const tm_xla_attr *attr = op->attr;
        if (attr->hlo == TM_NO_NAME) /* run by TensorFlow itself, not compiled */
            continue;
        const hlo_key keys[N_TABLES] = {{attr->program, attr->hlo, attr->category},
                                        {TM_NO_NAME, TM_NO_NAME, attr->category},
                                        {attr->program, TM_NO_NAME, TM_NO_NAME}};
        for (int k = 0; k < N_TABLES && ok; k++)
            ok = add(view->timeline, &sums[k], keys[k], op);
        count(view->timeline, op, &total);
    }
    for (int i = 0; i < N_TABLES; i++) {
        tm_table *part = tm_tables_find(out, parts[i]->name);
        tm_status put_one =
            tm_rank_sums_put(&sums[i], ok, view->timeline->rank, set_cells, part, err);
        status = status == TM_OK ? put_one : status;
    }
    if (status == TM_OK)
        *all = total;
    return status;
}

/* Sums of FLOP over many ranks exceed int64; rows are ordered by rank. */
static double real_sum(const tm_table *part, size_t first, size_t end, int column) {
    double sum = 0.0;
    for (size_t i = first; i < end; i++)
        sum += (double)tm_table_row(part, i)[column].value.i;
    return sum;
}

static tm_role role_of(const tm_table *part, size_t first, size_t end) {
    int64_t role = 0;
    for (size_t i = first; i < end; i++) {
        int64_t value = tm_table_row(part, i)[P_ROLE].value.i;
        role = value > role ? value : role;
    }
    return (tm_role)role;
}

/* Sets FLOP, bytes and rates; no FLOP rate for asynchronous work, whose self time is partial. */
static void set_work(const tm_table *part, size_t first, size_t end, int64_t told_ns,
                     tm_cell *row) {
    double flop = real_sum(part, first, end, P_FLOP), bytes = real_sum(part, first, end, P_BYTES);
    double self_ns = (double)told_ns;
    bool async = !row[S_ASYNC].null;
    if (flop <= 0.0 && bytes <= 0.0)
        return;
    tm_cell_set_real(&row[S_FLOP], flop);
    tm_cell_set_real(&row[S_BYTES], bytes);
    tm_cell_set_real(&row[S_INTENSITY], flop / bytes);
    if (!async)
        tm_cell_set_real(&row[S_RATE], flop / self_ns / 1e3); /* per nanosecond; 0 / 0 gives null */
    tm_cell_set_real(&row[S_BANDWIDTH], bytes / (async ? (double)row[S_ASYNC].value.i : self_ns));
}

static tm_status set_row(const tm_table *part, size_t first, size_t end, tm_table *table,
                         tm_cell *row, tm_error *err) {
    tm_over_ranks self;
    TM_TRY(tm_over_ranks_column(part, first, end, P_SELF, &self, err));
    int64_t async_ns = tm_over_ranks_sum(part, first, end, P_ASYNC);
    int64_t told_ns = tm_over_ranks_sum(part, first, end, P_TOLD);
    bool program = table->def == &tm_hlo_program_table;
    tm_role role = program ? TM_ROLE_COMPUTE : role_of(part, first, end);
    tm_cell_set_int(&row[S_OCCURRENCES], tm_over_ranks_sum(part, first, end, P_OCCURRENCES));
    tm_cell_set_int(&row[S_SELF], self.sum);
    if (async_ns > 0 && !program)
        tm_cell_set_int(&row[S_ASYNC], async_ns);
    tm_cell_set_ratio(&row[S_TOLD], 100.0, told_ns, self.sum);
    if (told_ns > 0)
        set_work(part, first, end, told_ns, row);
    tm_cell_set_int(&row[S_RANKS], self.ranks);
    tm_cell_set_int(&row[S_MEDIAN_RANK], self.median);
    tm_cell_set_int(&row[S_MAX_RANK_TIME], self.max);
    tm_cell_set_int(&row[S_MAX_RANK], self.max_rank);
    return tm_table_set_text(table, &row[S_BOUND],
                             role == TM_ROLE_COMMUNICATION ? "communication"
                             : role == TM_ROLE_MEMORY      ? "copy"
                                                           : NULL,
                             err);
}

static tm_status merge(const tm_names *names, const tm_table *part, tm_table *table,
                       const int *texts, int n_texts, tm_error *err) {
    for (size_t first = 0, end; first < part->n_rows; first = end) {
        end = tm_over_ranks_end(part, first);
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        for (int k = 0; k < n_texts; k++)
            TM_TRY(tm_set_named(names, tm_table_row(part, first)[texts[k]].value.i, table, &row[k],
                                err));
        TM_TRY(set_row(part, first, end, table, row + n_texts, err));
    }
    return TM_OK;
}

tm_status tm_hlo_merge_rows(const tm_names *names, tm_tables *all, tm_error *err) {
    static const int op[OP_TEXTS] = {P_PROGRAM, P_OP, P_CATEGORY, P_ORIGIN, P_SHAPE};
    static const int category[GROUP_TEXTS] = {P_CATEGORY}, program[GROUP_TEXTS] = {P_PROGRAM};
    static const int *const texts[N_TABLES] = {op, category, program};
    static const int n_texts[N_TABLES] = {OP_TEXTS, GROUP_TEXTS, GROUP_TEXTS};
    for (int i = 0; i < N_TABLES; i++)
        TM_TRY(merge(names, tm_tables_find(all, parts[i]->name),
                     tm_tables_find(all, tables[i]->name), texts[i], n_texts[i], err));
    return TM_OK;
}

/* Returns null unless all FLOP and bytes are known: a part of them could give the wrong bound. */
static const char *bound_of(const tm_hlo_peaks *peaks, const tm_cell *row) {
    bool told = !row[S_FLOP].null && row[S_TOLD].value.r >= 100.0 && row[S_ASYNC].null;
    if (!told || peaks->tflops <= 0.0 || peaks->bw_gbps <= 0.0)
        return NULL;
    double flop = row[S_FLOP].value.r, bytes = row[S_BYTES].value.r;
    return flop * peaks->bw_gbps >= bytes * peaks->tflops * 1e3 ? "compute" : "memory";
}

static tm_status hold_against(const tm_hlo_peaks *peaks, tm_table *table, tm_cell *row,
                              tm_error *err) {
    if (!row[S_BOUND].null)
        return TM_OK;
    if (!row[S_RATE].null && peaks->tflops > 0.0)
        tm_cell_set_real(&row[S_PEAK], 100.0 * row[S_RATE].value.r / peaks->tflops);
    if (!row[S_BANDWIDTH].null && row[S_ASYNC].null && peaks->bw_gbps > 0.0)
        tm_cell_set_real(&row[S_BANDWIDTH_PEAK], 100.0 * row[S_BANDWIDTH].value.r / peaks->bw_gbps);
    bool program = table->def == &tm_hlo_program_table;
    return tm_table_set_text(table, &row[S_BOUND], program ? NULL : bound_of(peaks, row), err);
}

tm_status tm_hlo_complete_rows(const tm_hlo_peaks *peaks, tm_tables *out, tm_error *err) {
    for (int i = 0; i < N_TABLES; i++) {
        tm_table *table = tm_tables_find(out, tables[i]->name);
        int texts = table->def->n_columns - N_SHOWN;
        int64_t all_ns = 0;
        for (size_t r = 0; r < table->n_rows; r++)
            all_ns = tm_sum(all_ns, tm_table_row(table, r)[texts + S_SELF].value.i);
        for (size_t r = 0; r < table->n_rows; r++) {
            tm_cell *row = tm_table_row(table, r) + texts;
            tm_cell_set_ratio(&row[S_SHARE], 100.0, row[S_SELF].value.i, all_ns);
            TM_TRY(hold_against(peaks, table, row, err));
        }
        tm_table_top(table, i == 0 ? LISTED : SIZE_MAX);
    }
    return TM_OK;
}
