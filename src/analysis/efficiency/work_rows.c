#include "rows.h"

#include <math.h>
#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "analysis/shared/rank_sums.h"
#include "base/sums.h"
#include "table/levels.h"

/* Maximum number of rows of a level. */
enum { LISTED = 1000 };

/* Added to the number type in the key if flop is only an upper bound. Such work thus has its own
 * rows. */
enum { AT_MOST = 32 };
_Static_assert((int)TM_N_NUMBERS <= (int)AT_MOST,
               "AT_MOST is above all number types, so adding it to one gives no other type");

/* Kinds of rows (levels), in the order of `level_words`. */
enum { BY_KERNEL, BY_OPERATOR, BY_PLACE };

static const char *const level_words[] = {"kernel", "operator", "place"};

enum { P_LEVEL, P_NAME, P_SHAPES, P_NUMBER, P_RANK, P_CALLS, P_TOTAL, P_FLOP, P_BYTES, P_UNKNOWN };

static const tm_column part_columns[] = {
    [P_LEVEL] = {"level", TM_INT, "", "Number of the level."},
    [P_NAME] = {"name", TM_INT, "", "Name id of the kernel, operator or place."},
    [P_SHAPES] = {"shapes", TM_INT, "", "Id of the text of the shapes."},
    [P_NUMBER] = {"number", TM_INT, "",
                  "Number type (tm_number), plus 32 if flop is an upper bound."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_CALLS] = {"calls", TM_INT, "", "Number of calls."},
    [P_TOTAL] = {"total_ns", TM_INT, "ns", "Duration of the kernels that the calls launched."},
    [P_FLOP] = {"flop", TM_INT, "FLOP", "Floating-point operations of the calls."},
    [P_BYTES] = {"bytes", TM_INT, "B", "Size of the inputs and outputs of the calls."},
    [P_UNKNOWN] = {"unknown_calls", TM_INT, "", "Number of calls whose bytes are unknown."},
};

const tm_table_def tm_work_part =
    TM_PART_TABLE("efficiency.work_part", "A row for each rank, level, name, shapes and type.",
                  part_columns, P_RANK);

enum {
    S_LEVEL,
    S_NAME,
    S_SHAPES,
    S_NUMBER,
    S_AT_MOST,
    S_CALLS,
    S_TOTAL,
    S_FLOP,
    S_RATE,
    S_PEAK,
    S_BYTES,
    S_INTENSITY,
    S_BANDWIDTH,
    S_RANKS, /* first column of TM_OVER_RANKS_COLUMNS */
    N_SHOWN = S_RANKS + 4
};

static const tm_column columns[N_SHOWN] = {
    [S_LEVEL] = TM_LEVEL_COLUMN("operator, kernel or place"),
    [S_NAME] = {"name", TM_TEXT, "",
                "Name of the kernel or operator; for XLA, the operation's origin in the source "
                "code. For a place: the innermost function of the user's program, module or "
                "annotation (except steps) around the operators; null if there is none."},
    [S_SHAPES] = {"shapes", TM_TEXT, "",
                  "Dimensions of the operator's inputs, cut at 512 bytes; for XLA, type and "
                  "dimensions of the operation's result. Null for kernels and places."},
    [S_NUMBER] =
        {"type", TM_TEXT, "",
         "Number type of the multiplication's first matrix. FP32 is tf32 or fp32 if kernel names "
         "show which; otherwise it is 'fp32 or tf32'. mixed: XLA, whose profile has no types."},
    [S_AT_MOST] = {"at_most", TM_BOOL, "",
                   "Whether flop, achieved_tflops, peak_pct and flop_per_byte are upper bounds, as "
                   "for attention on packed sequences, whose lengths are not recorded."},
    [S_CALLS] = {"calls", TM_INT, "",
                 "Number of calls that launched kernels directly, not through another operator of "
                 "this table. For a kernel: its number of runs in these calls."},
    [S_TOTAL] = {"total_ns", TM_INT, "ns",
                 "Sum of the durations of the kernels that the calls launched."},
    [S_FLOP] =
        {"flop", TM_REAL, "FLOP",
         "Floating-point operations (integer operations for int8), computed from the inputs. A "
         "multiplication and its addition count as two; attention counts all scores, also masked "
         "scores. If an operator has several multiplying kernels, its operations are divided in "
         "proportion to their durations. For XLA on TPUs: all operations, as the compiler counts "
         "them. For XLA on GPUs: only matrix products, from the shapes in the programs."},
    [S_RATE] = {"achieved_tflops", TM_REAL, "TFLOP/s",
                "Rate while the kernels run: flop / total_ns."},
    [S_PEAK] = {"peak_pct", TM_REAL, "%",
                "Share of the peak rate: 100 achieved_tflops / the peak of the number type. Null "
                "if the peak is unknown, or if ranks have different peaks."},
    [S_BYTES] = {"bytes", TM_REAL, "B",
                 "Size of all inputs and outputs, each counted once per call: the minimum memory "
                 "traffic. Null if unknown for some calls."},
    [S_INTENSITY] =
        {"flop_per_byte", TM_REAL, "FLOP/B",
         "Arithmetic intensity: flop / bytes. An upper bound, because bytes is a minimum."},
    [S_BANDWIDTH] =
        {"bw_gbps", TM_REAL, "GB/s",
         "Memory bandwidth: bytes / total_ns. A lower bound, because bytes is a minimum."},
    [S_RANKS] = TM_OVER_RANKS_COLUMNS("total_ns"),
};

const tm_table_def tm_work_table = {
    .name = "efficiency.work",
    .doc =
        "Matrix multiplications, convolutions and attention with recorded inputs (record_shapes), "
        "over all ranks: a row for each operator, shapes and type; for each kernel that "
        "multiplies; and for each place in the program. These are three levels with the same work; "
        "each has the 1000 rows with the largest total_ns. Operations in fused kernels are not "
        "included. For XLA, the operators are the operations whose FLOP the profile reports.",
    TM_ARRAY(columns, columns),
    .n_keys = S_AT_MOST + 1,
    .top = S_TOTAL,
};

/* Key of a sum. It has no padding, because keys are compared as bytes. */
typedef struct work_key {
    uint32_t level, name, shapes, number;
} work_key;

typedef struct work_sum {
    int64_t calls, total_ns, flop, bytes, unknown;
} work_sum;

static bool add(tm_rank_sums *sums, work_key key, const work_sum *value) {
    work_sum *sum = tm_rank_sums_at(sums, &key);
    if (!sum)
        return false;
    sum->calls += value->calls;
    sum->total_ns = tm_sum(sum->total_ns, value->total_ns);
    sum->flop = tm_sum(sum->flop, value->flop);
    sum->bytes = tm_sum(sum->bytes, value->bytes);
    sum->unknown += value->unknown;
    return true;
}

static void set_cells(const void *of, const void *value, int64_t *cells) {
    const work_key *key = of;
    const work_sum *sum = value;
    cells[P_LEVEL] = key->level;
    cells[P_NAME] = key->name;
    cells[P_SHAPES] = key->shapes;
    cells[P_NUMBER] = key->number;
    cells[P_CALLS] = sum->calls;
    cells[P_TOTAL] = sum->total_ns;
    cells[P_FLOP] = sum->flop;
    cells[P_BYTES] = sum->bytes;
    cells[P_UNKNOWN] = sum->unknown;
}

static uint32_t number_key(const tm_counted_call *own) {
    return own->number + (own->work->at_most ? (uint32_t)AT_MOST : 0);
}

static work_sum sum_of(const tm_counted_call *own) {
    bool known = own->work->bytes >= 0;
    return (work_sum){.calls = 1,
                      .total_ns = own->kernel_ns,
                      .flop = own->work->flop,
                      .bytes = known ? own->work->bytes : 0,
                      .unknown = !known};
}

static uint32_t place_of(const tm_rank_view *view, uint32_t row) {
    uint32_t call = view->places->above[row];
    return call == TM_NO_CALL ? TM_NO_NAME : view->timeline->name[view->places->calls[call].row];
}

static bool add_calls(const tm_rank_view *view, const tm_counted_calls *calls, tm_rank_sums *sums) {
    bool ok = true;
    for (size_t i = 0; i < calls->n && ok; i++) {
        const tm_counted_call *own = &calls->list[i];
        if (own->first == TM_NO_EVENT || (own->number == TM_NUMBER_MIXED && own->work->flop == 0))
            continue;
        work_sum sum = sum_of(own);
        work_key op = {BY_OPERATOR, own->name, own->shapes, number_key(own)};
        work_key place = {BY_PLACE, place_of(view, own->first), TM_NO_NAME, number_key(own)};
        ok = add(sums, op, &sum) && add(sums, place, &sum);
    }
    return ok;
}

static int64_t share(int64_t of, int64_t part_ns, int64_t all_ns) {
    return part_ns == all_ns ? of : llround((double)of * ((double)part_ns / (double)all_ns));
}

static bool add_kernels(const tm_rank_view *view, const tm_counted_calls *calls,
                        tm_rank_sums *sums) {
    const tm_timeline *timeline = view->timeline;
    const tm_kernel_attr *attrs = timeline->attrs[TM_ATTR_KERNEL];
    bool ok = true;
    for (size_t k = 0; k < timeline->n_attrs[TM_ATTR_KERNEL] && calls->n > 0 && ok; k++) {
        uint32_t row = attrs[k].event;
        const tm_counted_call *own = tm_counted_owner(calls, view, row);
        if (!own || timeline->role[row] != TM_ROLE_COMPUTE)
            continue;
        uint8_t work = tm_call_kinds_kernel(view->call_kinds, timeline->name[row])->work;
        if (own->product_ns > 0 && !tm_class_multiplies((tm_class)work))
            continue;
        int64_t all = own->product_ns > 0 ? own->product_ns : own->kernel_ns;
        int64_t duration = timeline->duration_ns[row];
        bool known = own->work->bytes >= 0;
        work_sum sum = {.calls = 1,
                        .total_ns = duration,
                        .flop = share(own->work->flop, duration, all),
                        .bytes = known ? share(own->work->bytes, duration, all) : 0,
                        .unknown = !known};
        work_key key = {BY_KERNEL, timeline->name[row], TM_NO_NAME, number_key(own)};
        ok = add(sums, key, &sum);
    }
    return ok;
}

tm_status tm_work_rows(const tm_rank_view *view, const tm_counted_calls *calls, tm_tables *out,
                       tm_error *err) {
    tm_rank_sums sums = TM_RANK_SUMS(work_key, work_sum);
    bool ok = add_calls(view, calls, &sums) && add_kernels(view, calls, &sums);
    return tm_rank_sums_put(&sums, ok, view->timeline->rank, set_cells,
                            tm_tables_find(out, tm_work_part.name), err);
}

static tm_status set_row(const tm_names *names, const tm_rank_rows *rows, tm_table *table,
                         tm_cell *row, tm_error *err) {
    tm_over_ranks total;
    TM_TRY(tm_over_ranks_column(rows, P_TOTAL, &total, err));
    const tm_cell *key = tm_rank_rows_key(rows);
    int64_t number = key[P_NUMBER].value.i;
    double flop = tm_over_ranks_real_sum(rows, P_FLOP), ns = (double)total.sum;
    double bytes = tm_over_ranks_real_sum(rows, P_BYTES);
    bool known = tm_over_ranks_sum(rows, P_UNKNOWN) == 0;
    tm_cell_set_int(&row[S_CALLS], tm_over_ranks_sum(rows, P_CALLS));
    tm_cell_set_int(&row[S_TOTAL], total.sum);
    tm_cell_set_real(&row[S_FLOP], flop);
    tm_cell_set_bool(&row[S_AT_MOST], number >= AT_MOST);
    /* flop / ns is 10^9 operations/s, and the column is in 10^12 operations/s; null if total_ns is
     * 0 */
    tm_cell_set_real(&row[S_RATE], flop / ns / 1e3);
    if (known) {
        tm_cell_set_real(&row[S_BYTES], bytes);
        tm_cell_set_real(&row[S_INTENSITY], flop / bytes);
        tm_cell_set_real(&row[S_BANDWIDTH], bytes / ns);
    }
    tm_over_ranks_set(&row[S_RANKS], &total);
    TM_TRY(tm_table_set_text(table, &row[S_LEVEL], level_words[key[P_LEVEL].value.i], err));
    TM_TRY(tm_set_named(names, key[P_NAME].value.i, table, &row[S_NAME], err));
    TM_TRY(tm_set_named(names, key[P_SHAPES].value.i, table, &row[S_SHAPES], err));
    return tm_table_set_text(table, &row[S_NUMBER], tm_number_word((tm_number)(number % AT_MOST)),
                             err);
}

tm_status tm_work_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_over_ranks_merge(&tm_work_part, &tm_work_table, names, tables, set_row, err);
}

static void set_peak(const tm_peaks *peaks, const char *type, tm_cell *row) {
    for (int n = 0; n < TM_N_NUMBERS; n++)
        if (strcmp(tm_number_word((tm_number)n), type) == 0 && peaks->tflops[n] > 0.0 &&
            !row[S_RATE].null)
            tm_cell_set_real(&row[S_PEAK], 100.0 * row[S_RATE].value.r / peaks->tflops[n]);
}

void tm_work_order(const tm_peaks *peaks, tm_tables *out) {
    tm_table *table = tm_tables_find(out, tm_work_table.name);
    tm_table_top(table, LISTED);
    for (size_t i = 0; i < table->n_rows; i++) {
        tm_cell *row = tm_table_row(table, i);
        set_peak(peaks, row[S_NUMBER].value.text, row);
    }
}
