/* Analysis `stats`: sums of calls, kernels, copies and ranges by name, like those of nsys stats. */
#include "tmerge/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/shared/named.h"
#include "analysis/shared/over_ranks.h"
#include "base/keys.h"
#include "base/median.h"
#include "base/sums.h"
#include "distribution.h"
#include "nsys_reports.h"

/* Maximum number of values that a rank keeps for medians, and maximum number of rows of a report in
 * the table. */
#define ROOM ((size_t)16384)
#define LISTED ((size_t)1000)
#define LISTED_WORD "1000"
#define OTHERS "(all others)"

enum {
    REPORT,
    NAME,
    COUNT,
    TOTAL,
    SHARE,
    MEAN,
    MEDIAN,
    MIN,
    MAX,
    DEVIATION,
    RANKS,
    MAX_RANK_TOTAL,
    MAX_RANK,
    EXACT,
    N_COLUMNS
};

#define COLUMNS(unit, suffix)                                                                      \
    [REPORT] = {"report", TM_TEXT, "", "Name of the nsys stats report."},                          \
    [NAME] = {"name", TM_TEXT, "", "Name of the call, kernel, operation or range."},               \
    [COUNT] = {"count", TM_INT, "", "Number of events with this name, over all ranks."},           \
    [TOTAL] = {"total_" suffix, TM_INT, unit,                                                      \
               "Sum of all values: durations in stats.time, bytes in stats.size."},                \
    [SHARE] = {"share_pct", TM_REAL, "%",                                                          \
               "100 total_" suffix " / the sum over all rows of the report."},                     \
    [MEAN] = {"mean_" suffix, TM_REAL, unit, "total_" suffix " / count."},                         \
    [MEDIAN] = {"median_" suffix, TM_REAL, unit,                                                   \
                "Median value; for an even number of values, the mean of the middle two."},        \
    [MIN] = {"min_" suffix, TM_INT, unit, "Smallest value."},                                      \
    [MAX] = {"max_" suffix, TM_INT, unit, "Largest value."},                                       \
    [DEVIATION] =                                                                                  \
        {"stddev_" suffix, TM_REAL, unit,                                                          \
         "Sample standard deviation of the values (divisor count - 1); 0 for one value."},         \
    [RANKS] = {"ranks", TM_INT, "", "Number of ranks that have an event with this name."},         \
    [MAX_RANK_TOTAL] = {"max_rank_" suffix, TM_INT, unit, "Largest sum of a rank's values."},      \
    [MAX_RANK] = {"max_rank", TM_INT, "",                                                          \
                  "Rank with max_rank_" suffix "; the lowest if there are several."},              \
    [EXACT] = {                                                                                    \
        "median_exact", TM_BOOL, "",                                                               \
        "Whether median_" suffix                                                                   \
        " uses all values. False if a rank has over 16384 distinct values over all names, and "    \
        "many of them under this name; an evenly chosen part of the rank's values is then used."}

static const tm_column time_columns[N_COLUMNS] = {COLUMNS("ns", "ns")};
static const tm_column size_columns[N_COLUMNS] = {COLUMNS("B", "bytes")};

static const tm_table_def time_def = {
    .name = "stats.time",
    .doc = "A row for each nsys stats report and name in it, over all ranks that Nsight Systems "
           "recorded. Reports: cuda_api_sum, cuda_gpu_kern_sum (graphs that were recorded as a "
           "whole count as kernels), cuda_gpu_mem_time_sum, nvtx_sum (push/pop and start/end "
           "ranges of one name share a row; sequence numbers are removed from the names of "
           "emit_nvtx), mpi_event_sum (a call that waits for several requests counts once; nsys "
           "has a row for each request), openacc_sum, openmp_sum, osrt_sum, syscall_sum, "
           "um_cpu_page_faults_sum (by function; times are null) and library (calls of cuDNN and "
           "cuBLAS, which nsys does not list). Each report has the " LISTED_WORD
           " rows with the largest total_ns and one row for the rest, without median, deviation "
           "and figures of ranks.",
    TM_ARRAY(columns, time_columns),
    .n_keys = 2,
    .top = TOTAL,
};

static const tm_table_def size_def = {
    .name = "stats.size",
    .doc = "A row for each kind of copy or set, over all ranks that Nsight Systems recorded, as in "
           "the nsys stats report cuda_gpu_mem_size_sum: the bytes that were copied or set.",
    TM_ARRAY(columns, size_columns),
    .n_keys = 2,
    .top = TOTAL,
};

enum { P_REPORT, P_NAME, P_RANK, P_COUNT, P_TOTAL, P_MIN, P_MAX, P_SQUARES, P_EXACT, N_PART };

static const tm_column part_columns[N_PART] = {
    [P_REPORT] = {"report", TM_INT, "", "Number of the report."},
    [P_NAME] = {"name", TM_INT, "", "Id of the name, or number of the kind of copies."},
    [P_RANK] = {"rank", TM_INT, "", "Global rank."},
    [P_COUNT] = {"count", TM_INT, "", "Number of values."},
    [P_TOTAL] = {"total", TM_INT, "", "Sum of the values."},
    [P_MIN] = {"min", TM_INT, "", "Minimum value."},
    [P_MAX] = {"max", TM_INT, "", "Maximum value."},
    [P_SQUARES] = {"squares", TM_REAL, "", "Sum of squared deviations from the rank's mean."},
    [P_EXACT] = {"exact", TM_INT, "",
                 "1 if stats.value_part has all values of this row, otherwise 0."},
};

static const tm_table_def part_def =
    TM_PART_TABLE("stats.part", "A row for each report, name and rank.", part_columns, 2);

enum { V_REPORT, V_NAME, V_VALUE, V_COUNT, N_VALUE };

static const tm_column value_columns[N_VALUE] = {
    [V_REPORT] = {"report", TM_INT, "", "Number of the report."},
    [V_NAME] = {"name", TM_INT, "", "Id of the name, or number of the kind of copies."},
    [V_VALUE] = {"value", TM_INT, "", "A duration or size that was kept for the job's median."},
    [V_COUNT] = {"count", TM_INT, "", "Number of values that this value represents."},
};

static const tm_table_def value_def = {
    .name = "stats.value_part",
    .doc = "A row for each report, name and kept value of a rank.",
    TM_ARRAY(columns, value_columns),
    .n_keys = N_VALUE,
    .top = -1,
    .internal = true,
    .n_merged = 2,
};

static const tm_table_def *const defs[] = {&time_def, &size_def, &part_def, &value_def};

typedef struct report_key {
    uint32_t report, name;
} report_key;

/* The values of one name. After gather(), they are elements [first, first + n) of
 * account.values. */
typedef struct span {
    size_t first, n;
} span;

typedef struct account {
    tm_keys keys;     /* keys of report_key */
    tm_vec spans;     /* [keys] of span */
    int64_t *values;  /* owned */
    size_t *distinct; /* [keys] number of distinct values; owned */
} account;

static bool count_one(void *context, const tm_reported *reported) {
    account *a = context;
    const report_key key = {reported->report, reported->name};
    span *s = tm_keys_value(&a->keys, &a->spans, &key);
    if (s)
        s->n++;
    return s != NULL;
}

static bool put_one(void *context, const tm_reported *reported) {
    account *a = context;
    const report_key key = {reported->report, reported->name};
    span *s = tm_keys_value(&a->keys, &a->spans, &key);
    if (s)
        a->values[s->first + s->n++] = reported->value;
    return s != NULL;
}

static bool gather(const tm_rank_view *view, account *a) {
    size_t n = 0;
    if (!tm_reports_walk(view->timeline, view->names, count_one, a))
        return false;
    span *spans = a->spans.data;
    for (size_t k = 0; k < a->spans.n; k++) {
        spans[k].first = n;
        n += spans[k].n;
        spans[k].n = 0;
    }
    a->values = malloc((n + 1) * sizeof *a->values);
    a->distinct = malloc((a->spans.n + 1) * sizeof *a->distinct);
    if (!a->values || !a->distinct || !tm_reports_walk(view->timeline, view->names, put_one, a))
        return false;
    for (size_t k = 0; k < a->spans.n; k++) {
        tm_sort_values(a->values + spans[k].first, spans[k].n);
        a->distinct[k] = tm_distinct(a->values + spans[k].first, spans[k].n);
    }
    return true;
}

static bool add_sums(int64_t rank, const account *a, size_t k, bool exact, tm_table *parts) {
    const report_key *key = (const report_key *)a->keys.keys.data + k;
    const span *s = (const span *)a->spans.data + k;
    const tm_distribution d = tm_distribution_of(a->values + s->first, s->n);
    tm_cell *row = tm_table_add_row(parts);
    if (!row)
        return false;
    tm_cell_set_int(&row[P_REPORT], key->report);
    tm_cell_set_int(&row[P_NAME], key->name);
    tm_cell_set_int(&row[P_RANK], rank);
    tm_cell_set_int(&row[P_COUNT], d.n);
    tm_cell_set_int(&row[P_TOTAL], d.sum);
    tm_cell_set_int(&row[P_MIN], d.min);
    tm_cell_set_int(&row[P_MAX], d.max);
    tm_cell_set_real(&row[P_SQUARES], d.squares);
    tm_cell_set_int(&row[P_EXACT], exact);
    return true;
}

static bool add_values(const account *a, size_t k, size_t room, tm_table *values) {
    const report_key *key = (const report_key *)a->keys.keys.data + k;
    const span *s = (const span *)a->spans.data + k;
    size_t at = 0;
    tm_kept kept;
    while (tm_keep_next(a->values + s->first, s->n, a->distinct[k], room, &at, &kept)) {
        tm_cell *row = tm_table_add_row(values);
        if (!row)
            return false;
        tm_cell_set_int(&row[V_REPORT], key->report);
        tm_cell_set_int(&row[V_NAME], key->name);
        tm_cell_set_int(&row[V_VALUE], kept.value);
        tm_cell_set_int(&row[V_COUNT], kept.count);
    }
    return true;
}

static tm_status stats_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    if (!tm_reports_are_of(view->timeline))
        return TM_OK;
    tm_table *parts = tm_tables_find(out, part_def.name);
    tm_table *values = tm_tables_find(out, value_def.name);
    account a = {.keys = TM_KEYS(report_key), .spans = TM_VEC(span)};
    bool ok = gather(view, &a);
    size_t room = ok ? tm_room_for_each(a.distinct, a.spans.n, ROOM) : 0;
    for (size_t k = 0; k < a.spans.n && ok; k++)
        ok = add_sums(view->timeline->rank, &a, k, a.distinct[k] <= room, parts) &&
             add_values(&a, k, room, values);
    tm_keys_free(&a.keys);
    tm_vec_free(&a.spans);
    free(a.values);
    free(a.distinct);
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Returns the value at @p place (from 0) in ascending order. Each row stands for several equal
 * values; rows ascend by value. */
static double value_at(tm_rank_rows values, int64_t place) {
    size_t row = values.first;
    for (; row + 1 < values.end; row++) {
        place -= tm_table_row(values.part, row)[V_COUNT].value.i;
        if (place < 0)
            break;
    }
    return (double)tm_table_row(values.part, row)[V_VALUE].value.i;
}

static double median_of(tm_rank_rows values, int64_t n) {
    return (value_at(values, (n - 1) / 2) + value_at(values, n / 2)) / 2;
}

static tm_distribution join(tm_rank_rows parts, bool *exact) {
    tm_distribution all = {0};
    *exact = true;
    for (size_t r = parts.first; r < parts.end; r++) {
        const tm_cell *row = tm_table_row(parts.part, r);
        const tm_distribution one = {row[P_COUNT].value.i, row[P_TOTAL].value.i, row[P_MIN].value.i,
                                     row[P_MAX].value.i, row[P_SQUARES].value.r};
        tm_distribution_join(&all, &one);
        *exact = *exact && row[P_EXACT].value.i != 0;
    }
    return all;
}

static tm_status set_names(const tm_names *names, const tm_cell *part, tm_table *table,
                           tm_cell *row, tm_error *err) {
    const tm_report report = (tm_report)part[P_REPORT].value.i;
    TM_TRY(tm_table_set_text(table, &row[REPORT], tm_report_word(report), err));
    if (report == TM_REPORT_COPY_TIMES || report == TM_REPORT_COPY_SIZES)
        return tm_table_set_text(table, &row[NAME], tm_reported_copy(part[P_NAME].value.i), err);
    return tm_set_named(names, part[P_NAME].value.i, table, &row[NAME], err);
}

static tm_status add_row(const tm_names *names, tm_rank_rows parts, tm_rank_rows values,
                         tm_table *table, tm_error *err) {
    bool exact;
    tm_over_ranks total;
    const tm_distribution d = join(parts, &exact);
    TM_TRY(tm_over_ranks_column(&parts, P_TOTAL, &total, err));
    tm_cell *row = tm_table_add_row(table);
    if (!row)
        return tm_fail_memory(err);
    tm_cell_set_int(&row[COUNT], d.n);
    tm_cell_set_int(&row[RANKS], total.ranks);
    if (tm_rank_rows_key(&parts)[P_REPORT].value.i == TM_REPORT_CPU_FAULTS)
        return set_names(names, tm_rank_rows_key(&parts), table, row, err);
    tm_cell_set_int(&row[TOTAL], d.sum);
    tm_cell_set_real(&row[MEAN], tm_distribution_mean(&d));
    tm_cell_set_real(&row[MEDIAN], median_of(values, d.n));
    tm_cell_set_int(&row[MIN], d.min);
    tm_cell_set_int(&row[MAX], d.max);
    tm_cell_set_real(&row[DEVIATION], tm_distribution_deviation(&d));
    tm_cell_set_int(&row[MAX_RANK_TOTAL], total.max);
    tm_cell_set_int(&row[MAX_RANK], total.max_rank);
    tm_cell_set_bool(&row[EXACT], exact);
    return set_names(names, tm_rank_rows_key(&parts), table, row, err);
}

/* Both part tables have the same keys in the same order. */
static tm_status stats_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    tm_table *times = tm_tables_find(tables, time_def.name);
    tm_table *sizes = tm_tables_find(tables, size_def.name);
    tm_rank_rows parts = {tm_tables_find(tables, part_def.name), 0, 0},
                 values = {tm_tables_find(tables, value_def.name), 0, 0};
    while (parts.end < parts.part->n_rows) {
        parts = tm_rank_rows_at(parts.part, parts.end);
        values = tm_rank_rows_at(values.part, values.end);
        const int64_t report = tm_rank_rows_key(&parts)[P_REPORT].value.i;
        TM_TRY(add_row(names, parts, values, report == TM_REPORT_COPY_SIZES ? sizes : times, err));
    }
    return TM_OK;
}

/* Sets the shares in rows [first, end), which are all rows of one report. */
static void set_shares(tm_table *table, size_t first, size_t end) {
    int64_t total = 0;
    for (size_t i = first; i < end; i++)
        total = tm_sum(total, tm_table_row(table, i)[TOTAL].value.i);
    for (size_t i = first; i < end; i++) {
        tm_cell *row = tm_table_row(table, i);
        tm_cell_set_ratio(&row[SHARE], 100.0, row[TOTAL].value.i, total);
    }
}

/* Merges rows [first, end) of a long report into row `first`. */
static tm_status put_rest(tm_table *table, size_t first, size_t end, tm_error *err) {
    tm_cell *row = tm_table_row(table, first);
    int64_t total = 0, count = 0, min = INT64_MAX, max = 0;
    double share = 0;
    bool timed = false; /* page faults, for example, have no times */
    for (size_t i = first; i < end; i++) {
        const tm_cell *one = tm_table_row(table, i);
        count += one[COUNT].value.i;
        timed = timed || !one[TOTAL].null;
        total = tm_sum(total, one[TOTAL].value.i);
        min = one[MIN].value.i < min ? one[MIN].value.i : min;
        max = one[MAX].value.i > max ? one[MAX].value.i : max;
        share += one[SHARE].null ? 0 : one[SHARE].value.r;
    }
    for (int c = 0; c < N_COLUMNS; c++)
        row[c].null = c != REPORT;
    tm_cell_set_int(&row[COUNT], count);
    if (timed) {
        tm_cell_set_int(&row[TOTAL], total);
        tm_cell_set_real(&row[SHARE], share);
        tm_cell_set_real(&row[MEAN], (double)total / (double)count);
        tm_cell_set_int(&row[MIN], min);
        tm_cell_set_int(&row[MAX], max);
    }
    return tm_table_set_text(table, &row[NAME], OTHERS, err);
}

static bool same_report(const tm_table *table, size_t a, size_t b) {
    return strcmp(tm_table_row(table, a)[REPORT].value.text,
                  tm_table_row(table, b)[REPORT].value.text) == 0;
}

/* Sorts the rows by report, then by total, largest first. Limits the number of rows of each report.
 */
static tm_status finish(tm_table *table, tm_error *err) {
    size_t kept = 0;
    tm_table_rank(table, COUNT); /* rows without a total stay in the order of their counts */
    tm_table_rank(table, TOTAL);
    tm_table_order(table, REPORT, true);
    for (size_t first = 0, end; first < table->n_rows; first = end) {
        for (end = first; end < table->n_rows && same_report(table, first, end);)
            end++;
        set_shares(table, first, end);
        size_t n = end - first;
        if (n > LISTED + 1) { /* the row for the rest must replace at least two rows */
            TM_TRY(put_rest(table, first + LISTED, end, err));
            n = LISTED + 1;
        }
        memmove(tm_table_row(table, kept), tm_table_row(table, first),
                n * N_COLUMNS * sizeof(tm_cell));
        kept += n;
    }
    table->n_rows = kept;
    return TM_OK;
}

static tm_status stats_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    TM_TRY(finish(tm_tables_find(out, time_def.name), err));
    return finish(tm_tables_find(out, size_def.name), err);
}

const tm_analysis tm_analysis_stats = {
    .name = "stats",
    .summary = "the reports of nsys stats: calls, kernels, copies and ranges by name",
    TM_ARRAY(tables, defs),
    .rank = stats_rank,
    .merge = stats_merge,
    .job = stats_job,
};
