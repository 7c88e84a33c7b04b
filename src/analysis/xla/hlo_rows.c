#include "hlo_rows.h"

#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "analysis/shared/xla_ops.h"
#include "base/sums.h"
#include "table/levels.h"

/* Maximum number of operations, categories or programs in the table. */
enum { LISTED = 1000 };

/* The units that a row sums over, in alphabetical order of the words in column `level`. */
typedef enum hlo_level { BY_CATEGORY, BY_OP, BY_PROGRAM, N_LEVELS } hlo_level;

static const char *const level_words[N_LEVELS] = {"category", "op", "program"};

enum {
    P_LEVEL,
    P_PROGRAM,
    P_OP,
    P_CATEGORY,
    P_RANK,
    P_OCCURRENCES,
    P_SELF,
    P_KNOWN,
    P_ASYNC,
    P_FLOP,
    P_BYTES,
    P_ROLE,
    P_ORIGIN,
    P_SHAPE
};

static const tm_column part_columns[] = {
    [P_LEVEL] = {"level", TM_INT, "", "Level of the row (hlo_level)."},
    [P_PROGRAM] = {"program", TM_INT, "", "Id of the program's name."},
    [P_OP] = {"op", TM_INT, "", "Id of the operation's name."},
    [P_CATEGORY] = {"category", TM_INT, "", "Id of the category's name."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_OCCURRENCES] = {"occurrences", TM_INT, "", "Number of runs."},
    [P_SELF] = {"self_ns", TM_INT, "ns", "Sum of the runs' self times."},
    [P_KNOWN] = {"known_ns", TM_INT, "ns",
                 "Part of self_ns in operations whose FLOP and bytes are known."},
    [P_ASYNC] = {"async_ns", TM_INT, "ns",
                 "Time from the start to the end of asynchronous operations."},
    [P_FLOP] = {"flop", TM_INT, "FLOP", "FLOP of the operations whose FLOP are known."},
    [P_BYTES] = {"bytes", TM_INT, "B", "Bytes of the operations whose bytes are known."},
    [P_ROLE] = {"role", TM_INT, "", "Largest role (tm_role) of the runs."},
    [P_ORIGIN] = {"origin", TM_INT, "", "Id of the origin's name."},
    [P_SHAPE] = {"shape", TM_INT, "", "Id of the text of the shape."},
};

const tm_table_def tm_hlo_work_part =
    TM_PART_TABLE("hlo.work_part", "A row for each rank and key.", part_columns, P_RANK);

enum {
    S_LEVEL,
    S_PROGRAM,
    S_OP,
    S_CATEGORY,
    S_ORIGIN,
    S_SHAPE,
    S_OCCURRENCES,
    S_SELF,
    S_SHARE,
    S_ASYNC,
    S_KNOWN,
    S_FLOP,
    S_RATE,
    S_PEAK,
    S_BYTES,
    S_BANDWIDTH,
    S_BANDWIDTH_PEAK,
    S_INTENSITY,
    S_BOUND,
    S_RANKS, /* first column of TM_OVER_RANKS_COLUMNS */
    N_SHOWN = S_RANKS + 4
};

static const tm_column columns[N_SHOWN] = {
    [S_LEVEL] = TM_LEVEL_COLUMN("category, op or program"),
    [S_PROGRAM] = {"program", TM_TEXT, "",
                   "Name of the compiled program (module), with its fingerprint if recorded; null "
                   "for categories."},
    [S_OP] = {"op", TM_TEXT, "",
              "Name of the operation in the program; null for categories and programs."},
    [S_CATEGORY] =
        {"category", TM_TEXT, "",
         "Category that the compiler gave the operation; null for programs. On GPUs, it comes from "
         "the program in the profile, and is null if the profile has none. There, all-reduce-start "
         "counts as all-reduce, because the kernel is the whole operation."},
    [S_ORIGIN] = {"origin", TM_TEXT, "",
                  "Operator in the source code from which the operation comes; null for categories "
                  "and programs."},
    [S_SHAPE] =
        {"shape", TM_TEXT, "",
         "Types and shapes of the operation's results; null for categories and programs. If "
         "several programs have an operation of this name: the results in the first program."},
    [S_OCCURRENCES] = {"occurrences", TM_INT, "", "Number of runs, over all ranks."},
    [S_SELF] =
        {"self_ns", TM_INT, "ns",
         "Duration of the runs, over all ranks, without operations nested in a loop, call or "
         "branch. For operations that wait for a transfer (-done): duration of the wait."},
    [S_SHARE] = {"share_pct", TM_REAL, "%",
                 "Share of the row in the time of all operations: 100 self_ns / the sum of self_ns "
                 "over all operations."},
    [S_ASYNC] = {"async_ns", TM_INT, "ns",
                 "Time from the start to the end of asynchronous operations, in the row of the "
                 "operation that starts them (-start); null for other operations. Not in self_ns, "
                 "because other operations run meanwhile."},
    [S_KNOWN] =
        {"known_pct", TM_REAL, "%",
         "Share of self_ns in operations whose FLOP and bytes are known. If below 100, flop and "
         "bytes are too small. The rates achieved_tflops and bw_gbps count only these operations."},
    [S_FLOP] = {"flop", TM_REAL, "FLOP",
                "FLOP as the compiler counts; the FLOP of a loop, call or branch are in the rows "
                "of the nested operations. On GPUs: FLOP of matrix products, computed from shapes "
                "if the profile has the program (multiply and add count as two). Null for "
                "operations that only wait, or whose FLOP and bytes are unknown; then the columns "
                "derived from flop or bytes are also null."},
    [S_RATE] = {"achieved_tflops", TM_REAL, "TFLOP/s",
                "Rate of the operations whose FLOP and bytes are known: flop / self_ns. Null for "
                "asynchronous operations."},
    [S_PEAK] = {"peak_pct", TM_REAL, "%",
                "Share of the peak compute rate: 100 achieved_tflops / hlo.rank.peak_tflops (16 "
                "bit, so wider types cannot reach 100). Null if ranks have different peaks."},
    [S_BYTES] = {"bytes", TM_REAL, "B",
                 "Bytes read from and written to the device's main memory, as the compiler counts. "
                 "On GPUs: operands and results of matrix products, each once. Bytes of "
                 "asynchronous operations are in the row of their start."},
    [S_BANDWIDTH] = {"bw_gbps", TM_REAL, "GB/s",
                     "Bandwidth of the operations whose FLOP and bytes are known: bytes / self_ns; "
                     "for asynchronous operations, bytes / async_ns."},
    [S_BANDWIDTH_PEAK] =
        {"peak_bw_pct", TM_REAL, "%",
         "Share of the peak bandwidth: 100 bw_gbps / hlo.rank.peak_bw_gbps. Null if ranks have "
         "different peaks, and for copies and communication, because other links limit these."},
    [S_INTENSITY] = {"flop_per_byte", TM_REAL, "FLOP/B", "Arithmetic intensity: flop / bytes."},
    [S_BOUND] = {"bound", TM_TEXT, "",
                 "What limits the operation, by the roofline model: compute if flop_per_byte is at "
                 "least hlo.rank.ridge_flop_per_byte, otherwise memory; communication or copy for "
                 "operations that communicate or copy. Null if FLOP, bytes or peaks are unknown, "
                 "for asynchronous operations and those that only wait, and for programs."},
    [S_RANKS] = TM_OVER_RANKS_COLUMNS("self_ns"),
};

const tm_table_def tm_hlo_work_table = {
    .name = "hlo.work",
    .doc = "Operations (HLO) of programs compiled by XLA, over all ranks: a row for each category, "
           "for each program, and for each operation by program, name and category (the 1000 with "
           "the largest self_ns).",
    TM_ARRAY(columns, columns),
    .n_keys = S_CATEGORY + 1,
    .top = S_SELF,
};

/* Has no padding, because keys are compared as bytes. */
typedef struct hlo_key {
    uint32_t level, program, op, category;
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
    sum->known_ns = tm_sum(sum->known_ns, op->self_ns);
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
    cells[P_LEVEL] = key->level;
    cells[P_PROGRAM] = key->program;
    cells[P_OP] = key->op;
    cells[P_CATEGORY] = key->category;
    cells[P_OCCURRENCES] = sum->occurrences;
    cells[P_SELF] = sum->self_ns;
    cells[P_KNOWN] = sum->known_ns;
    cells[P_ASYNC] = sum->async_ns;
    cells[P_FLOP] = sum->flop;
    cells[P_BYTES] = sum->bytes;
    cells[P_ROLE] = sum->role;
    cells[P_ORIGIN] = sum->origin;
    cells[P_SHAPE] = sum->shape;
}

tm_status tm_hlo_rank_rows(const tm_rank_view *view, const tm_vec *ops, tm_tables *out,
                           tm_hlo_sum *all, tm_error *err) {
    tm_rank_sums sums = TM_RANK_SUMS(hlo_key, tm_hlo_sum);
    tm_hlo_sum total = {0};
    bool ok = true;
    for (size_t i = 0; i < ops->n && ok; i++) {
        const tm_xla_op *op = (const tm_xla_op *)ops->data + i;
        const tm_xla_attr *attr = op->attr;
        /* TensorFlow itself ran this operation, so it is in no compiled program. */
        if (attr->hlo == TM_NO_NAME)
            continue;
        const hlo_key keys[N_LEVELS] = {
            {BY_CATEGORY, TM_NO_NAME, TM_NO_NAME, attr->category},
            {BY_OP, attr->program, attr->hlo, attr->category},
            {BY_PROGRAM, attr->program, TM_NO_NAME, TM_NO_NAME},
        };
        for (int k = 0; k < N_LEVELS && ok; k++)
            ok = add(view->timeline, &sums, keys[k], op);
        count(view->timeline, op, &total);
    }
    TM_TRY(tm_rank_sums_put(&sums, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, tm_hlo_work_part.name), err));
    *all = total;
    return TM_OK;
}

/* Sets FLOP, bytes and rates. Asynchronous work gets no compute rate, because its self time is only
 * part of its time. */
static void set_work(const tm_rank_rows *rows, int64_t known_ns, tm_cell *row) {
    double flop = tm_over_ranks_real_sum(rows, P_FLOP);
    double bytes = tm_over_ranks_real_sum(rows, P_BYTES);
    double self_ns = (double)known_ns;
    bool async = !row[S_ASYNC].null;
    if (flop <= 0.0 && bytes <= 0.0)
        return;
    tm_cell_set_real(&row[S_FLOP], flop);
    tm_cell_set_real(&row[S_BYTES], bytes);
    tm_cell_set_real(&row[S_INTENSITY], flop / bytes);
    if (!async)
        /* converts operations/ns to 10^12 operations/s; 0 / 0 gives null */
        tm_cell_set_real(&row[S_RATE], flop / self_ns / 1e3);
    tm_cell_set_real(&row[S_BANDWIDTH], bytes / (async ? (double)row[S_ASYNC].value.i : self_ns));
}

static tm_status set_sums(const tm_rank_rows *rows, tm_table *table, tm_cell *row, tm_error *err) {
    tm_over_ranks self, role;
    TM_TRY(tm_over_ranks_column(rows, P_SELF, &self, err));
    TM_TRY(tm_over_ranks_column(rows, P_ROLE, &role, err));
    int64_t async_ns = tm_over_ranks_sum(rows, P_ASYNC);
    int64_t known_ns = tm_over_ranks_sum(rows, P_KNOWN);
    bool program = tm_rank_rows_key(rows)[P_LEVEL].value.i == BY_PROGRAM;
    tm_cell_set_int(&row[S_OCCURRENCES], tm_over_ranks_sum(rows, P_OCCURRENCES));
    tm_cell_set_int(&row[S_SELF], self.sum);
    if (async_ns > 0 && !program)
        tm_cell_set_int(&row[S_ASYNC], async_ns);
    tm_cell_set_ratio(&row[S_KNOWN], 100.0, known_ns, self.sum);
    if (known_ns > 0)
        set_work(rows, known_ns, row);
    tm_over_ranks_set(&row[S_RANKS], &self);
    return tm_table_set_text(table, &row[S_BOUND],
                             program                             ? NULL
                             : role.max == TM_ROLE_COMMUNICATION ? "communication"
                             : role.max == TM_ROLE_MEMORY        ? "copy"
                                                                 : NULL,
                             err);
}

/* Sets a row of the result table. Only rows of operations have an origin and a shape. */
static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                         tm_cell *row, tm_error *err) {
    const tm_cell *from = tm_rank_rows_key(rows);
    const int64_t level = from[P_LEVEL].value.i;
    TM_TRY(set_sums(rows, table, row, err));
    TM_TRY(tm_table_set_text(table, &row[S_LEVEL], level_words[level], err));
    TM_TRY(tm_set_named(names, from[P_PROGRAM].value.i, table, &row[S_PROGRAM], err));
    TM_TRY(tm_set_named(names, from[P_OP].value.i, table, &row[S_OP], err));
    TM_TRY(tm_set_named(names, from[P_CATEGORY].value.i, table, &row[S_CATEGORY], err));
    if (level != BY_OP)
        return TM_OK;
    TM_TRY(tm_set_named(names, from[P_ORIGIN].value.i, table, &row[S_ORIGIN], err));
    return tm_set_named(names, from[P_SHAPE].value.i, table, &row[S_SHAPE], err);
}

tm_status tm_hlo_merge_rows(const tm_names *names, tm_tables *all, tm_error *err) {
    return tm_over_ranks_merge(&tm_hlo_work_part, &tm_hlo_work_table, names, all, set_row, err);
}

/* Returns what limits a row: "compute" or "memory"; NULL if FLOP, bytes or peaks are unknown. */
static const char *bound_of(const tm_hlo_peaks *peaks, const tm_cell *row) {
    bool reported = !row[S_FLOP].null && row[S_KNOWN].value.r >= 100.0 && row[S_ASYNC].null;
    if (!reported || peaks->tflops <= 0.0 || peaks->bw_gbps <= 0.0)
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
    return tm_table_set_text(table, &row[S_BOUND],
                             tm_row_has_level(row, "program") ? NULL : bound_of(peaks, row), err);
}

tm_status tm_hlo_complete_rows(const tm_hlo_peaks *peaks, tm_tables *out, tm_error *err) {
    tm_table *table = tm_tables_find(out, tm_hlo_work_table.name);
    int64_t all_ns = 0;
    for (size_t r = 0; r < table->n_rows; r++)
        if (tm_row_has_level(tm_table_row(table, r), "program"))
            all_ns = tm_sum(all_ns, tm_table_row(table, r)[S_SELF].value.i);
    for (size_t r = 0; r < table->n_rows; r++) {
        tm_cell *row = tm_table_row(table, r);
        tm_cell_set_ratio(&row[S_SHARE], 100.0, row[S_SELF].value.i, all_ns);
        TM_TRY(hold_against(peaks, table, row, err));
    }
    tm_table_top(table, LISTED);
    return TM_OK;
}
