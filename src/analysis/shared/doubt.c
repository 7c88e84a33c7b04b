#include "doubt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/shown.h"

/* Figures that may be off by more than this [%] support no conclusion. */
static const double DOUBT_PCT = 5.0;
/* Possible errors below this [%] are not shown in the summary. */
static const double REPORTED_PCT = 1.0;

static const tm_table *rows_of(const tm_tables *tables) {
    return tm_tables_find(tables, "job.integrity");
}

static int64_t count(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? 0 : cell->value.i;
}

/* Returns a cell's value; 0 for null, which ranks without GPU events have. */
static double percent(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? 0.0 : cell->value.r;
}

/* Returns by how much the figures of a rank may be off [%]. */
static double moves(const tm_table *table, size_t row) {
    return percent(table, row, "moves_pct");
}

/* Returns whether a column shows much doubt: its mean over the ranks exceeds DOUBT_PCT, or its
 * value exceeds DOUBT_PCT on more than DOUBT_PCT of the ranks. */
static bool is_much(const tm_tables *tables, const char *column) {
    const tm_table *table = rows_of(tables);
    double sum = 0.0, n = 0.0, much = 0.0;
    for (size_t i = 0; i < table->n_rows; i++) {
        sum += percent(table, i, column);
        much += percent(table, i, column) > DOUBT_PCT;
        n += !tm_table_cell(table, i, column)->null;
    }
    return sum > DOUBT_PCT * n || 100.0 * much > DOUBT_PCT * n;
}

static bool is_much_of_rank(const tm_tables *tables, int64_t rank, const char *column) {
    const tm_table *table = rows_of(tables);
    size_t row = tm_table_find_row(table, &rank, 1);
    return row < table->n_rows && percent(table, row, column) > DOUBT_PCT;
}

bool tm_doubt_of_job(const tm_tables *tables) {
    return is_much(tables, "moves_pct");
}

bool tm_doubt_between(const tm_tables *tables) {
    return is_much(tables, "between_pct");
}

bool tm_doubt_between_of_rank(const tm_tables *tables, int64_t rank) {
    return is_much_of_rank(tables, rank, "between_pct");
}

bool tm_doubt_of_rank(const tm_tables *tables, int64_t rank) {
    return is_much_of_rank(tables, rank, "moves_pct");
}

bool tm_doubt_of_any(const tm_tables *tables) {
    const tm_table *table = rows_of(tables);
    for (size_t i = 0; i < table->n_rows; i++)
        if (moves(table, i) > DOUBT_PCT)
            return true;
    return false;
}

static void append(char out[TM_DOUBT_TEXT], const char *text) {
    size_t used = strlen(out);
    snprintf(out + used, TM_DOUBT_TEXT - used, "%s", text);
}

/* Appends "on 2 of 8 ranks, most on rank 3: ". */
static void append_who(const tm_table *table, size_t worst, int64_t n, char out[TM_DOUBT_TEXT]) {
    char text[96];
    int64_t rank = count(table, worst, "rank");
    if (table->n_rows == 1)
        return;
    if (n == 1)
        snprintf(text, sizeof text, "on rank %" PRId64 ", ", rank);
    else
        snprintf(text, sizeof text, "on %" PRId64 " of %zu ranks, most on rank %" PRId64 ": ", n,
                 table->n_rows, rank);
    append(out, text);
}

/* Writes a text such as "240 of 256 launches have no kernel". If all launches without kernels
 * launched graphs, writes "the compute kernels of 240 graph launches were not recorded". */
static void launches_text(const tm_table *table, size_t row, char *out, size_t size) {
    int64_t lost = count(table, row, "launches_lost"), graphs = count(table, row, "graphs_lost");
    if (graphs == lost)
        snprintf(out, size, "the compute kernels of %" PRId64 " graph launch%s were not recorded",
                 graphs, graphs == 1 ? "" : "es");
    else
        snprintf(out, size, "%" PRId64 " of %" PRId64 " launches have no kernel", lost,
                 count(table, row, "launches"));
}

static void append_lost(const tm_table *table, size_t row, char out[TM_DOUBT_TEXT]) {
    char text[256], launches[96], time[32];
    int64_t steps = count(table, row, "steps_lost"), hidden = count(table, row, "hidden_ns");
    launches_text(table, row, launches, sizeof launches);
    if (steps > 0)
        snprintf(text, sizeof text,
                 "kernels of %" PRId64 " of %" PRId64 " steps were not recorded (%s)", steps,
                 count(table, row, "steps"), launches);
    append(out, steps > 0 ? text : launches);
    if (hidden > 0) {
        tm_shown_duration(hidden, time, sizeof time);
        snprintf(text, sizeof text, "; the GPU may have worked unrecorded for up to %s", time);
        append(out, text);
    }
}

static void append_cut(const tm_table *table, size_t row, char out[TM_DOUBT_TEXT]) {
    append(out, "the trace is cut short and lacks about ");
    append(out, tm_shown_percent(moves(table, row), 0).text);
    append(out, " of the launches or device time that whole traces have");
}

static void append_impossible(const tm_table *table, size_t row, char out[TM_DOUBT_TEXT]) {
    char text[320], how[64] = "lasts longer than is possible", more[64] = "";
    /* time in doubt, compute time with the doubtful kernels, compute time without them */
    tm_shown_text times[3];
    int64_t n = count(table, row, "impossible_kernels"), passed = count(table, row, "followers");
    const tm_cell *name = tm_table_cell(table, row, "impossible_kernel");
    tm_shown_durations((const int64_t[]){count(table, row, "impossible_ns"),
                                         count(table, row, "compute_ns"),
                                         count(table, row, "compute_least_ns")},
                       3, times);
    if (n > 1)
        snprintf(more, sizeof more, ", and %" PRId64 " more have impossible ends", n - 1);
    if (passed > 0)
        snprintf(how, sizeof how, "ends after the next %" PRId64 " kernels of its stream", passed);
    snprintf(text, sizeof text, "a kernel (%.80s) %s%s: %s are in doubt",
             name->null ? "" : name->value.text, how, more, times[0].text);
    append(out, text);
    if (count(table, row, "compute_ns") == count(table, row, "compute_least_ns"))
        /* the doubtful kernels do not compute, or other kernels compute at the same time */
        return;
    snprintf(text, sizeof text, " (compute %s with them, %s without)", times[1].text,
             times[2].text);
    append(out, text);
}

static bool is_sampled(const tm_table *table, size_t row) {
    return count(table, row, "sampled") != 0;
}

static size_t worst_of(const tm_table *table) {
    size_t worst = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        worst = moves(table, i) > moves(table, worst) ? i : worst;
    return worst;
}

bool tm_doubt_is_cut(const tm_tables *tables) {
    const tm_table *table = rows_of(tables);
    return table->n_rows > 0 && !tm_table_cell(table, worst_of(table), "cut_pct")->null;
}

bool tm_doubt_text(const tm_tables *tables, char out[TM_DOUBT_TEXT]) {
    const tm_table *table = rows_of(tables);
    const size_t worst = worst_of(table);
    int64_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        n += moves(table, i) >= REPORTED_PCT;
    if (n == 0)
        return false;
    bool lost = count(table, worst, "launches_lost") > 0;
    out[0] = '\0';
    append_who(table, worst, n, out);
    if (is_sampled(table, worst))
        append(out, "most CUDA calls are missing (the numbers of the recorded calls are far "
                    "apart), so the GPU may have worked in every gap");
    else if (!tm_table_cell(table, worst, "cut_pct")->null)
        append_cut(table, worst, out);
    else if (lost)
        append_lost(table, worst, out);
    if (count(table, worst, "impossible_kernels") > 0) {
        append(out, lost ? "; " : "");
        append_impossible(table, worst, out);
    }
    return true;
}

bool tm_doubt_line(const tm_tables *tables, char out[TM_DOUBT_TEXT]) {
    char what[TM_DOUBT_TEXT], end[128] = "shares cover only what was recorded, there is no "
                                         "verdict, and the only advice is on recording";
    bool job = tm_doubt_of_job(tables);
    const tm_table *table = rows_of(tables);
    double most = 0.0;
    if (!tm_doubt_text(tables, what))
        return false;
    for (size_t i = 0; i < table->n_rows; i++)
        most = moves(table, i) > most ? moves(table, i) : most;
    if (job && !tm_doubt_between(tables))
        snprintf(
            end, sizeof end,
            "all statements cover only what was recorded, and the only advice is on recording");
    else if (!job)
        snprintf(end, sizeof end, "%s figures could be off by %s",
                 table->n_rows > 1 ? "a rank's" : "the", tm_shown_percent(most, 0).text);
    snprintf(out, TM_DOUBT_TEXT, "%.500s; %s", what, end);
    out[0] = (char)(out[0] >= 'a' && out[0] <= 'z' ? out[0] - 'a' + 'A' : out[0]);
    return true;
}
