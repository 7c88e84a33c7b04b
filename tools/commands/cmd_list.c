/* tmerge list: what there is to read, to compute and to show. */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "command.h"
#include "console.h"
#include "tmerge/analysis.h"
#include "tmerge/diff.h"
#include "tmerge/export.h"
#include "tmerge/reader.h"
#include "tmerge/table.h"

static const tm_option options[] = {
    {"doc", 0, NULL, "every column of every table with type, unit and definition"},
};

/* With what its traces never tell. */
static void print_format(const tm_format *format) {
    printf("  %-12s %s\n", format->name, format->summary);
    if (format->cannot_tell)
        printf("  %-12s %s\n", "", format->cannot_tell);
}

static void print_overview(void) {
    size_t n_formats, n_analyses, n_diffs, n_exports;
    const tm_format *const *formats = tm_formats(&n_formats);
    const tm_analysis *const *analyses = tm_analyses(&n_analyses);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    const tm_export_format *const *exports = tm_export_formats(&n_exports);
    puts("Formats");
    for (size_t i = 0; i < n_formats; i++)
        print_format(formats[i]);
    puts("\nAnalyses and their tables");
    for (size_t i = 0; i < n_analyses; i++) {
        printf("  %-11s %s\n", analyses[i]->name, analyses[i]->summary);
        for (size_t t = 0; t < analyses[i]->n_tables; t++)
            if (!analyses[i]->tables[t]->internal)
                printf("    %-20s %s\n", analyses[i]->tables[t]->name, analyses[i]->tables[t]->doc);
    }
    puts("\nTables of tmerge diff");
    for (size_t i = 0; i < n_diffs; i++)
        printf("    %-20s %s\n", diffs[i]->name, diffs[i]->doc);
    puts("\nFormats of tmerge export");
    for (size_t i = 0; i < n_exports; i++)
        printf("  %-11s %s\n", exports[i]->name, exports[i]->summary);
}

static tm_status print_docs(tm_error *err) {
    size_t n_analyses, n_diffs;
    const tm_analysis *const *analyses = tm_analyses(&n_analyses);
    const tm_table_def *const *diffs = tm_diff_defs(&n_diffs);
    tm_vec defs = TM_VEC(const tm_table_def *);
    bool ok = true;
    for (size_t i = 0; i < n_analyses && ok; i++)
        for (size_t t = 0; t < analyses[i]->n_tables && ok; t++)
            ok = analyses[i]->tables[t]->internal ||
                 tm_vec_append(&defs, &analyses[i]->tables[t], 1) != NULL;
    ok = ok && tm_vec_append(&defs, diffs, n_diffs);
    char *text = NULL;
    tm_status status = ok ? tm_table_defs_text(defs.data, defs.n, &text, err) : tm_fail_memory(err);
    if (status == TM_OK)
        fputs(text, stdout);
    free(text);
    tm_vec_free(&defs);
    return status;
}

static tm_status list_run(const tm_arguments *arguments, tm_error *err) {
    if (arguments->n_operands > 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge list takes no operand, such as '%s'",
                       arguments->operands[0]);
    if (!tm_console_speaks())
        return TM_OK;
    if (tm_argument(arguments, "doc"))
        return print_docs(err);
    print_overview();
    return TM_OK;
}

const tm_command tm_command_list = {
    .name = "list",
    .usage = "[--doc]",
    .summary = "Lists the formats, the analyses and their tables",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = list_run,
};
