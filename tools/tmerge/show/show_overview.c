#include "show_overview.h"

#include <stdio.h>
#include <string.h>

#include "summary/summary.h"
#include "tmerge/analysis.h"

enum { ADVICE_SHOWN = 3, NAME_WIDTH = 13, TABLES_WIDTH = 58, LINE_MAX = 256 };

static const char *const needed[] = {
    "job.job",         "job.rank",     "job.differs",   "overview.job",          "overlap.kind",
    "stragglers.job",  "whatif.job",   "clock.check",   "collectives.unmatched", "overlap.rank",
    "stragglers.rank", "advice.item",  "imbalance.job", "whatif.split",          "steps.kind",
    "clock.rank",      "job.integrity"};

static size_t rows_of(const tm_tables *tables, const char *table) {
    return tm_tables_find(tables, table)->n_rows;
}

static tm_status read_needed(const tm_store *store, const tm_tables *tables, tm_error *err) {
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (tm_store_has_table(store, needed[i]))
            TM_TRY(tm_store_read_table(store, tm_tables_find(tables, needed[i]), err));
    return TM_OK;
}

/* Prints the ranks. Does nothing if the store lacks the tables, as an older store may. */
static tm_status print_ranks(const tm_tables *tables, const tm_colors *colors, tm_error *err) {
    size_t n = rows_of(tables, "overlap.rank");
    if (!tm_summary_has_ranks(tables) || rows_of(tables, "stragglers.rank") != n)
        return TM_OK;
    TM_TRY(tm_summary_ranks(tables, colors, err));
    puts("");
    if (rows_of(tables, "clock.check") > 0) {
        tm_summary_figures(tables);
        tm_summary_state(tables);
        puts("");
    }
    return TM_OK;
}

static void print_advice(const tm_tables *tables, const tm_colors *colors) {
    const tm_table *items = tm_tables_find(tables, "advice.item");
    if (items->n_rows == 0)
        return;
    printf("%sWhat to do%s (advice says why", colors->strong, colors->off);
    if (items->n_rows > ADVICE_SHOWN)
        printf(", and %zu more", items->n_rows - ADVICE_SHOWN);
    puts(")");
    for (size_t i = 0; i < items->n_rows && i < ADVICE_SHOWN; i++) {
        char text[1024], saving[128];
        const tm_cell *what = tm_table_cell(items, i, "text");
        tm_summary_saving(tables, i, saving, sizeof saving);
        snprintf(text, sizeof text, "%zu. %.800s%s", i + 1, what->null ? "" : what->value.text,
                 saving);
        tm_console_wrap(text, 0, tm_console_width());
    }
    puts("");
}

/* Prints a list of tables. Wraps it only after commas, so that a name stays with its number. */
static void wrap_tables(const char *text, int width) {
    enum { MARGIN = NAME_WIDTH + 2 };
    int column = MARGIN;
    while (*text) {
        const char *end = strstr(text, ", ");
        int size = end ? (int)(end - text) + 1 : (int)strlen(text);
        if (column > MARGIN && column + 1 + size > width) {
            printf("\n%*s", MARGIN, "");
            column = MARGIN;
        }
        column += printf("%s%.*s", column > MARGIN ? " " : "", size, text);
        text = end ? end + 2 : text + size;
    }
    puts("");
}

/* Prints an analysis with its tables and, if the terminal is wide, its summary. */
static void print_line(const tm_analysis *analysis, const char *text) {
    enum { WIDE = 150 };
    int width = tm_console_width(), beside = 2 + NAME_WIDTH + TABLES_WIDTH;
    bool fits = strlen(text) < TABLES_WIDTH && beside + (int)strlen(analysis->summary) <= width;
    printf("  %-*s", NAME_WIDTH, analysis->name);
    if (width >= WIDE && fits)
        printf("%-*s%s\n", TABLES_WIDTH, text, analysis->summary);
    else
        wrap_tables(text, width);
}

/* Prints an analysis's tables that have rows, each with its number of rows. Appends the other
 * tables to @p empty. */
static tm_status print_analysis(const tm_store *store, const tm_analysis *analysis, char *empty,
                                size_t room, tm_error *err) {
    char text[LINE_MAX * 2] = "";
    for (size_t t = 0; t < analysis->n_tables; t++) {
        const tm_table_def *def = analysis->tables[t];
        size_t n = 0, used = strlen(text), reported = strlen(empty);
        if (def->internal || !tm_store_has_table(store, def->name))
            continue;
        TM_TRY(tm_store_table_rows(store, def->name, &n, err));
        if (n == 0)
            snprintf(empty + reported, room - reported, "%s%s", reported > 0 ? ", " : "",
                     def->name);
        else
            snprintf(text + used, sizeof text - used, "%s%s %zu", used > 0 ? ", " : "",
                     def->name + strlen(analysis->name) + 1, n);
    }
    if (*text != '\0')
        print_line(analysis, text);
    return TM_OK;
}

static tm_status print_list(const tm_store *store, const tm_colors *colors, tm_error *err) {
    char empty[LINE_MAX * 8] = "";
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    printf("%sTables%s and their number of rows\n", colors->strong, colors->off);
    for (size_t i = 0; i < n; i++)
        TM_TRY(print_analysis(store, analyses[i], empty, sizeof empty, err));
    if (*empty) {
        char text[sizeof empty + 32];
        snprintf(text, sizeof text, "without rows: %s", empty);
        tm_console_wrap(text, 0, tm_console_width());
    }
    puts("");
    return TM_OK;
}

static void print_next(const char *path, const tm_colors *colors) {
    static const struct {
        const char *command, *what; /* command: words after `tmerge show STORE`, or after `tmerge`
                                       if of_store is false */
        bool of_store;
    } lines[] = {
        {"overlap.rank", "a table; overlap: all of that analysis", true},
        {"kernels.kernel --top 10 --columns name,calls,total_ns", "some rows and columns", true},
        {"overlap.step --where \"rank = 0\" --sort -idle_ns", "the largest first", true},
        {"--all", "every table; --json, --csv-dir: for programs", true},
        {"list overlap", "definitions of all columns", false},
    };
    size_t width = (size_t)tm_console_width();
    printf("%sNext%s\n", colors->strong, colors->off);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[2 * TM_PATH_MAX];
        snprintf(text, sizeof text, "  tmerge %s%s%s%s", lines[i].of_store ? "show " : "",
                 lines[i].of_store ? path : "", lines[i].of_store ? " " : "", lines[i].command);
        bool fits = strlen(text) + strlen(lines[i].what) + 4 <= width;
        printf("%s%s%s\n", text, fits ? "  # " : "", fits ? lines[i].what : "");
    }
}

/* Returns whether the store has a verdict. Verdicts in old stores are not sentences and do not
 * count. */
static bool has_verdict(const tm_tables *tables) {
    const tm_table *job = tm_tables_find(tables, "stragglers.job");
    return job->n_rows > 0 && !tm_table_cell(job, 0, "headline")->null;
}

tm_status tm_overview_print(const tm_store *store, tm_tables *tables, const char *path,
                            const tm_colors *colors, tm_error *err) {
    TM_TRY(read_needed(store, tables, err));
    if (rows_of(tables, "job.job") > 0 && has_verdict(tables))
        tm_summary_job(tables, 0, colors);
    TM_TRY(print_ranks(tables, colors, err));
    print_advice(tables, colors);
    TM_TRY(print_list(store, colors, err));
    print_next(path, colors);
    return TM_OK;
}
