/* tmerge report: the HTML report of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/command.h"
#include "output/console.h"
#include "output/output_file.h"
#include "output/store_page.h"
#include "tmerge/report.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.html", "the page to write (STORE with .html in place of .h5)"},
    {"force", 0, NULL, "overwrite the output even if it is not a page of tmerge"},
};

static tm_status write_report(const char *store_path, const char *path, tm_error *err) {
    tm_store *store;
    TM_TRY(tm_store_open(store_path, &store, err));
    tm_status status = TM_OK;
    if (tm_console_speaks()) { /* only one process writes; checked only here, so that earlier
                                  failures occur on all processes */
        tm_output_watch(path);
        status = tm_report_write(store, path, TMERGE_VERSION, err);
        if (status == TM_OK)
            printf("Report in %s\n", path);
    }
    tm_store_close(store);
    return status;
}

static tm_status report_run(const tm_arguments *arguments, tm_error *err) {
    if (arguments->n_operands != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge report needs one store; see --help");
    const char *store = arguments->operands[0], *chosen = tm_argument(arguments, "output");
    char *path = chosen ? strdup(chosen) : tm_output_beside(store, ".html");
    tm_status status = path ? TM_OK : tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_page_check(path, tm_argument(arguments, "force") != NULL, err);
    if (status == TM_OK)
        status = write_report(store, path, err);
    free(path);
    return status;
}

const tm_command tm_command_report = {
    .name = "report",
    .usage = "STORE [-o FILE.html]",
    .summary = "Writes the report of a store: one HTML file that opens anywhere, offline",
    TM_ARRAY(options, options),
    .run = report_run,
};
