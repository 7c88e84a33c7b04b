#include "diff_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary/summary_text.h"
#include "table/alike.h"
#include "table/shown.h"

enum { FIGURES_SHOWN = 12, WORD = 32 };

#define LEAST_WEIGHT 0.1 /* minimum weight of printed changes [%]; --json has all changes */

static const char *text_of(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return cell->null ? "-" : cell->value.text;
}

static bool is_change(const char *verdict) {
    static const char *const words[] = {"same", "unclear", "too few steps"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(verdict, words[i]) == 0)
            return false;
    return true;
}

/* Returns whether a change could not be judged, because A or B has too few steps to distinguish it
 * from chance. */
static bool is_unjudged(const char *verdict) {
    return strcmp(verdict, "too few steps") == 0;
}

/* A group of rows: returns whether a row with this verdict belongs to it. */
typedef bool group(const char *verdict);

/* Formats a figure in its unit. A time is in the unit that suits the range. */
static void show_value(const tm_cell *cell, const char *unit, tm_shown_range range,
                       char out[WORD]) {
    if (cell->null)
        snprintf(out, WORD, "-");
    else if (strcmp(unit, "ns") == 0)
        tm_shown_in(llround(cell->value.r), tm_shown_unit_of(range), out, WORD);
    else if (strcmp(unit, "%") == 0)
        snprintf(out, WORD, "%s", tm_shown_percent(cell->value.r, 1).text);
    else if (strcmp(unit, "B") == 0)
        snprintf(out, WORD, "%.1f MB", cell->value.r * 1e-6);
    else
        snprintf(out, WORD, "%.4g", cell->value.r);
}

/* Returns whether two rows are about the same kind of steps. */
static bool same_kind(const tm_table *table, size_t a, size_t b) {
    return strcmp(text_of(table, a, "kind"), text_of(table, b, "kind")) == 0;
}

/* Returns the step time of A. If the row has a kind of steps, returns the step time of this kind.
 * Returns @p step_ns if none is known. */
static double step_of(const tm_table *table, size_t row, double step_ns) {
    for (size_t i = 0; i < table->n_rows && !tm_table_cell(table, row, "kind")->null; i++)
        if (strcmp(text_of(table, i, "figure"), "overview.step.step_ns") == 0 &&
            same_kind(table, i, row) && !tm_table_cell(table, i, "a")->null)
            return tm_table_cell(table, i, "a")->value.r;
    return step_ns;
}

/* Returns the weight of a figure's change: for a time, in percent of a step; for a share, in
 * percentage points. */
static double weight(const tm_table *table, size_t row, double of_ns) {
    const double step_ns = step_of(table, row, of_ns);
    const tm_cell *change = tm_table_cell(table, row, "change");
    const tm_cell *pct = tm_table_cell(table, row, "change_pct");
    if (change->null) /* the figure exists only in A or only in B; most changes come before it */
        return 2.0 * LEAST_WEIGHT;
    if (strcmp(text_of(table, row, "unit"), "%") == 0)
        return fabs(change->value.r);
    if (strcmp(text_of(table, row, "unit"), "ns") == 0 && step_ns > 0.0)
        return 100.0 * fabs(change->value.r) / step_ns;
    return pct->null ? 100.0 : fabs(pct->value.r);
}

static void print_figure(const tm_table *table, size_t row) {
    const char *unit = text_of(table, row, "unit");
    const tm_cell *pct = tm_table_cell(table, row, "change_pct");
    char a[WORD], b[WORD], change[WORD] = "";
    const tm_cell *cells[] = {tm_table_cell(table, row, "a"), tm_table_cell(table, row, "b")};
    tm_shown_range range = TM_SHOWN_RANGE; /* range of the times */
    for (int i = 0; i < 2; i++)
        tm_shown_widen(&range, cells[i]->null ? 0.0 : cells[i]->value.r);
    show_value(cells[0], unit, range, a);
    show_value(cells[1], unit, range, b);
    const double factor = 1.0 + pct->value.r / 100.0;
    if (!pct->null && pct->value.r >= TM_SHOWN_FACTOR_PCT)
        snprintf(change, sizeof change, "%.*f times", factor < 100.0 ? 1 : 0, factor);
    else if (!pct->null)
        snprintf(change, sizeof change, "%+.1f %%", pct->value.r);
    const char *verdict = text_of(table, row, "verdict");
    const bool of_all = tm_table_cell(table, row, "kind")->null;
    printf("  %-6s %11s  %10s -> %-10s %s%s%s\n", is_unjudged(verdict) ? "" : verdict, change, a, b,
           text_of(table, row, "figure"), of_all ? "" : " of ",
           of_all ? "" : text_of(table, row, "kind"));
}

/* Considers the rows of a group in [first, end). Returns the largest weight that is below @p last;
 * 0 if there is none. */
static double next_weight(const tm_table *table, group *is_of, size_t first, size_t end,
                          double step_ns, double last) {
    double most = 0.0;
    for (size_t i = first; i < end; i++) {
        double w = weight(table, i, step_ns);
        if (is_of(text_of(table, i, "verdict")) && w < last && w > most)
            most = w;
    }
    return most;
}

/* Prints the figures of a group in rows [first, end), the largest weight first. If some are left
 * out, prints their number at the end. */
static void print_figures(const tm_table *table, group *is_of, size_t first, size_t end,
                          double step_ns) {
    double last = HUGE_VAL;
    size_t shown = 0, changed = 0;
    for (size_t i = first; i < end; i++)
        changed += is_of(text_of(table, i, "verdict"));
    while (shown < FIGURES_SHOWN &&
           (last = next_weight(table, is_of, first, end, step_ns, last)) > LEAST_WEIGHT)
        for (size_t i = first; i < end && shown < FIGURES_SHOWN; i++)
            if (is_of(text_of(table, i, "verdict")) && weight(table, i, step_ns) == last) {
                print_figure(table, i);
                shown++;
            }
    if (shown < changed)
        printf("  %s%zu more: --json\n", shown > 0 ? "and " : "", changed - shown);
}

static void print_group(const tm_tables *found, group *is_of, const char *heading, double step_ns,
                        const tm_colors *colors) {
    const tm_table *job = tm_tables_find(found, "diff.job");
    bool any = false;
    for (size_t i = 0; i < job->n_rows; i++)
        any = any || is_of(text_of(job, i, "verdict"));
    if (!any)
        return;
    printf("\n%s%s%s, of a rank in a step (tmerge list --doc defines them)\n", colors->strong,
           heading, colors->off);
    print_figures(job, is_of, 0, job->n_rows, step_ns);
}

static void print_job(const tm_tables *found, double step_ns, const tm_colors *colors) {
    print_group(found, is_change, "Figures of the job", step_ns, colors);
    print_group(found, is_unjudged, "Changed, but too few steps to judge", step_ns, colors);
}

static void print_roles(const tm_tables *found, double step_ns, const tm_colors *colors) {
    const tm_table *ranks = tm_tables_find(found, "diff.rank");
    size_t n = ranks->n_rows;
    if (n == 0 || tm_table_row(ranks, n - 1)[0].value.i ==
                      0) /* a single role means that these rows repeat the job's figures */
        return;
    for (size_t first = 0, i = 0; first < n; first = i) {
        int64_t role = tm_table_row(ranks, first)[0].value.i;
        size_t changed = 0;
        for (; i < n && tm_table_row(ranks, i)[0].value.i == role; i++)
            changed += is_change(text_of(ranks, i, "verdict"));
        if (changed == 0)
            continue;
        printf("\n%sRanks %s%s", colors->strong, text_of(ranks, first, "a_ranks"), colors->off);
        if (strcmp(text_of(ranks, first, "a_ranks"), text_of(ranks, first, "b_ranks")) != 0)
            printf(" (in B %s)", text_of(ranks, first, "b_ranks"));
        puts("");
        print_figures(ranks, is_change, first, i, step_ns);
    }
}

/* Selects the rows of a table of kernels or operators to print: all that changed, those that A and
 * B both have, those that only one of them has, or those that could not be judged. */
typedef enum options { ALL, OF_BOTH, OF_ONE, UNJUDGED } options;

/* The rows of a table of kernels or operators that are printed, and how they are printed. */
typedef struct listing {
    const tm_table *table;
    options rows;
    size_t shown, changed;
    const char *unit;
    double unit_ns;
    int calls_width;
    bool hosts; /* whether a printed row has times only on the host, which its line marks by
                   "(host)" */
    tm_alike names;
} listing;

static bool is_listed(const tm_table *table, size_t row, options rows) {
    const char *verdict = text_of(table, row, "verdict");
    if (rows == UNJUDGED)
        return is_unjudged(verdict) && tm_table_cell(table, row, "change_ns")->value.i != 0;
    bool of_one = strcmp(verdict, "added") == 0 || strcmp(verdict, "removed") == 0;
    return is_change(verdict) && (rows == ALL || of_one == (rows == OF_ONE));
}

static bool has_time(const tm_table *table, size_t row, const char *column) {
    const tm_cell *cell = tm_table_cell(table, row, column);
    return !cell->null && cell->value.i != 0;
}

static bool on_host(const tm_table *table, size_t row) {
    return tm_table_column(table->def, "a_host_ns") >= 0 && !has_time(table, row, "a_ns") &&
           !has_time(table, row, "b_ns");
}

static const tm_cell *time_of(const tm_table *table, size_t row, int side) {
    static const char *const columns[2][2] = {{"a_ns", "b_ns"}, {"a_host_ns", "b_host_ns"}};
    return tm_table_cell(table, row, columns[on_host(table, row)][side]);
}

/* Formats calls per rank, without an exponent. */
static void show_calls(const tm_table *table, size_t row, char out[WORD]) {
    double calls[2] = {tm_table_cell(table, row, "a_calls")->value.r,
                       tm_table_cell(table, row, "b_calls")->value.r};
    int n = 0, sides = fabs(calls[1] - calls[0]) < 0.005 ? 1 : 2;
    for (int side = 0; side < sides; side++)
        n += snprintf(out + n, (size_t)(WORD - n), calls[side] < 999.5 ? "%s%.3g" : "%s%.0f",
                      side ? "->" : "", calls[side]);
}

static listing make_listing(const tm_table *table, options rows, size_t top) {
    static const char *const names[] = {"ns", "us", "ms", "s"};
    listing l = {.table = table, .rows = rows, .calls_width = 9};
    int64_t largest = 0;
    char calls[WORD];
    for (size_t i = 0; i < table->n_rows; i++) {
        if (!is_listed(table, i, rows))
            continue;
        l.changed++;
        for (int side = 0; side < 2 && l.shown < top; side++) {
            const tm_cell *time = time_of(table, i, side);
            if (!time->null && time->value.i > largest)
                largest = time->value.i;
        }
        if (l.shown == top)
            continue;
        l.shown++;
        l.hosts = l.hosts || on_host(table, i);
        show_calls(table, i, calls);
        l.calls_width = (int)fmax(l.calls_width, (double)strlen(calls));
    }
    size_t unit = 0;
    l.unit_ns = 1.0;
    for (; unit < 3 && (double)largest >= 1000.0 * l.unit_ns; unit++)
        l.unit_ns *= 1000.0;
    l.unit = names[unit];
    return l;
}

/* Shortens the names such that different names stay different. Returns false when out of memory;
 * different names may then become equal. */
static bool add_names(listing *l) {
    enum { BEFORE = 43, BEHIND = 7, LEAST = 24 };
    int width = tm_console_width() - BEFORE - l->calls_width - (l->hosts ? BEHIND : 0);
    l->names = tm_alike_begin(width < LEAST             ? LEAST
                              : width < TM_SHOWN_POINTS ? (size_t)width
                                                        : TM_SHOWN_POINTS);
    bool added = true;
    for (size_t i = 0; i < l->table->n_rows && added; i++)
        added = tm_alike_add(&l->names, text_of(l->table, i, "name"));
    tm_alike_end(&l->names);
    return added;
}

static void print_row(const listing *l, size_t row) {
    const tm_cell *times[2] = {time_of(l->table, row, 0), time_of(l->table, row, 1)};
    const char *verdict = text_of(l->table, row, "verdict");
    char name[TM_SHOWN_MAX], counted[WORD], shown[3][WORD] = {"-", "-", ""};
    for (int side = 0; side < 2; side++)
        if (!times[side]->null)
            snprintf(shown[side], WORD, "%.3f", (double)times[side]->value.i / l->unit_ns);
    if (!times[0]->null && !times[1]->null)
        snprintf(shown[2], WORD, "%+.3f",
                 (double)(times[1]->value.i - times[0]->value.i) / l->unit_ns);
    show_calls(l->table, row, counted);
    printf("  %-7.*s %9s %9s %9s %*s  ", is_unjudged(verdict) ? 0 : (int)strcspn(verdict, " "),
           verdict, shown[0], shown[1], shown[2], l->calls_width, counted);
    tm_alike_show(&l->names, text_of(l->table, row, "name"), name);
    printf("%s%s\n", name, on_host(l->table, row) ? " (host)" : "");
}

static void print_names(const tm_table *table, const char *what, options rows, size_t top,
                        const tm_colors *colors) {
    static const char *const of[] = {
        ", of a rank in a step", ", mean time of a call; calls of a rank in the whole recording",
        " of only A or only B, by their time in the whole recording",
        ", changed, but too few steps to judge"};
    listing l = make_listing(table, rows, top);
    if (l.changed == 0)
        return;
    (void)add_names(&l);
    printf("\n%s%s%s%s\n", colors->strong, what, colors->off, of[rows]);
    char a[WORD], b[WORD];
    snprintf(a, sizeof a, "A %s", l.unit);
    snprintf(b, sizeof b, "B %s", l.unit);
    printf("  %-7s %9s %9s %9s %9s  %s\n", "", a, b, rows == OF_ONE ? "" : "change", "calls",
           "name");
    size_t left = l.shown;
    for (size_t i = 0; i < table->n_rows && left > 0; i++)
        if (is_listed(table, i, rows)) {
            print_row(&l, i);
            left--;
        }
    if (l.shown < l.changed)
        printf("  and %zu more: --top %zu\n", l.changed - l.shown, l.changed);
    tm_alike_free(&l.names);
}

/* Prints a table of kernels or operators. If its times are per call, the names that only A or only
 * B has are in a separate list, because no change is known for them. */
static void print_table(const tm_table *table, const char *what, size_t top,
                        const tm_colors *colors) {
    bool by_call = table->n_rows > 0 && strcmp(text_of(table, 0, "per"), "call") == 0;
    print_names(table, what, by_call ? OF_BOTH : ALL, top, colors);
    print_names(table, what, by_call ? OF_ONE : UNJUDGED, top, colors);
}

/* Returns whether a text is the verdict for a kind of steps: "EXTEND: B is 4.8 % slower ...". */
static bool is_of_kind(const tm_tables *found, const char *text) {
    const tm_table *job = tm_tables_find(found, "diff.job");
    const char *colon = strstr(text, ": ");
    for (size_t i = 0; colon && i < job->n_rows; i++) {
        const tm_cell *kind = tm_table_cell(job, i, "kind");
        if (!kind->null && strlen(kind->value.text) == (size_t)(colon - text) &&
            strncmp(kind->value.text, text, (size_t)(colon - text)) == 0)
            return true;
    }
    return false;
}

/* Prints the verdict for each kind of steps. If there is none, prints the first diagnostic. Returns
 * how many it printed. */
static size_t print_verdicts(const tm_tables *found, const tm_colors *colors) {
    const tm_table *diagnostics = tm_tables_find(found, "diff.remark");
    size_t n = 0;
    fputs(colors->strong, stdout);
    while (n < diagnostics->n_rows &&
           (n == 0 || is_of_kind(found, text_of(diagnostics, n, "text"))))
        puts(text_of(diagnostics, n++, "text"));
    fputs(colors->off, stdout);
    return n;
}

void tm_diff_print(const tm_tables *found, size_t top, const tm_colors *colors) {
    const tm_table *diagnostics = tm_tables_find(found, "diff.remark");
    const tm_table *sides = tm_tables_find(found, "diff.side");
    const tm_cell *step = tm_table_cell(sides, 0, "step_ns");
    double step_ns = step->null ? 0.0 : (double)step->value.i;
    const size_t n_verdicts = print_verdicts(found, colors);
    for (size_t i = 0; i < sides->n_rows; i++) {
        printf("  %s: %s, ", text_of(sides, i, "side"), text_of(sides, i, "store"));
        print_counted(number(sides, i, "ranks"), "rank", ", ");
        if (number(sides, i, "steps") == 0)
            puts("no whole step marked");
        else
            print_counted(number(sides, i, "steps"), "step", "\n");
    }
    for (size_t i = n_verdicts; i < diagnostics->n_rows; i++) {
        fputs(colors->warning, stdout);
        tm_console_beside(stdout, "!", 2, text_of(diagnostics, i, "text"));
        fputs(colors->off, stdout);
    }
    print_job(found, step_ns, colors);
    print_table(tm_tables_find(found, "diff.kernel"), "Kernels", top, colors);
    print_table(tm_tables_find(found, "diff.operator"), "Operators", top, colors);
    print_roles(found, step_ns, colors);
}
