/* tmerge diff: compares two jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/command.h"
#include "arguments/options.h"
#include "inputs/diff_inputs.h"
#include "output/console.h"
#include "output/csv_folder.h"
#include "output/output_file.h"
#include "output/store_page.h"
#include "show/diff_text.h"
#include "tmerge/diff.h"
#include "tmerge/report.h"

static const tm_option options[] = {
    {"json", 0, NULL, "one JSON document with all rows of the tables diff.* (see list --doc)"},
    TM_OPTION_CSV_DIR,
    {"top", 0, "N",
     "print only the N kernels and operators that changed most (default: 10; the tables have all)"},
    {"html", 0, "FILE.html", "also write a page that compares the two jobs"},
    {"force", 0, NULL, "overwrite the page even if it is not a page of tmerge"},
    TM_OPTION_COLOR,
};

typedef struct selection {
    bool json;
    const char *folder; /* folder for CSV files; NULL: none */
    int64_t top;        /* -1: not given */
    const char *page;   /* NULL: none */
    tm_colors colors;
} selection;

/* Keeps the first rows of the tables of kernels and operators, which are sorted by their change. */
static void keep_top(tm_tables *found, int64_t top) {
    static const char *const ranked[] = {"diff.kernel", "diff.operator"};
    for (size_t i = 0; i < sizeof ranked / sizeof *ranked; i++) {
        tm_table *table = tm_tables_find(found, ranked[i]);
        if (table->n_rows > (size_t)top)
            table->n_rows = (size_t)top;
    }
}

static tm_status print_found(const selection *s, tm_tables *found, tm_error *err) {
    if (s->top >= 0 && (s->json || s->folder))
        keep_top(found, s->top);
    if (s->folder)
        return tm_diff_inputs_write(found, s->folder, err);
    if (s->json)
        return tm_diff_inputs_print(found, true, err);
    tm_diff_print(found, s->top < 0 ? TM_DIFF_SHOWN : (size_t)s->top, &s->colors);
    if (s->page)
        printf("\nReport in %s: open it in a browser, or send it.\n", s->page);
    return TM_OK;
}

/* Writes the page with all rows, then prints the shortened result. */
static tm_status tell(const selection *s, tm_tables *found, tm_error *err) {
    if (!tm_console_speaks()) /* only one process writes; checked only here, so that earlier
                                 failures occur on all processes */
        return TM_OK;
    if (s->page) {
        tm_output_watch(s->page);
        TM_TRY(tm_report_write_diff(found, s->page, TMERGE_VERSION, err));
    }
    return print_found(s, found, err);
}

static tm_status compare(const tm_arguments *arguments, const selection *s,
                         const tm_tables sides[2], tm_error *err) {
    tm_tables found;
    tm_diff_side given[2];
    for (int side = 0; side < 2; side++)
        given[side] = (tm_diff_side){arguments->operands[side], &sides[side]};
    TM_TRY(tm_diff_compare(given, &found, err));
    tm_status status = tell(s, &found, err);
    tm_tables_destroy(&found);
    return status;
}

static tm_status diff_run(const tm_arguments *arguments, tm_error *err) {
    tm_tables sides[2];
    selection s = {.json = tm_argument(arguments, "json"),
                   .folder = tm_argument(arguments, "csv-dir"),
                   .page = tm_argument(arguments, "html")};
    if (arguments->n_operands != 2)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge diff needs two stores; see --help");
    if (s.json && s.folder)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "--json and --csv-dir exclude each other");
    TM_TRY(tm_count_parse(tm_argument(arguments, "top"), "top", &s.top, err));
    TM_TRY(tm_console_colors(tm_argument(arguments, "color"), 1, &s.colors, err));
    if (s.page)
        TM_TRY(tm_page_check(s.page, tm_argument(arguments, "force") != NULL, err));
    TM_TRY(tm_diff_inputs_read(arguments->operands, sides, err));
    tm_status status = compare(arguments, &s, sides, err);
    tm_diff_inputs_destroy(sides);
    return status;
}

const tm_command tm_command_diff = {
    .name = "diff",
    .usage = "STORE STORE [--json | --csv-dir FOLDER] [--top N] [--html FILE.html]",
    .summary = "Shows what changed between two jobs: before and after a change, or two runs",
    TM_ARRAY(options, options),
    .run = diff_run,
};
