/* tmerge check: says which stores are damaged. */
#include <inttypes.h>
#include <stdio.h>

#include "arguments/command.h"
#include "output/console.h"
#include "tmerge/analysis.h"
#include "tmerge/check.h"

static const tm_option options[] = {
    {"quiet", 'q', NULL, "print nothing about undamaged stores"},
};

/* Remembers the latest fault, and prints the fault before it. main prints the last one. */
static void hear_fault(void *context, const tm_error *fault) {
    tm_error *last = context;
    if (last->status != TM_OK && tm_console_speaks())
        tm_console_error(last);
    *last = *fault;
}

static void print_good(const char *path, const tm_store_contents *found) {
    if (tm_console_speaks())
        printf("%s: good, %" PRId64 " datasets, %" PRId64 " events, %.1f MB\n", path,
               found->n_datasets, found->n_events, (double)found->bytes * 1e-6);
}

/* Checks all stores, even after a damaged one. */
static tm_status check_stores(const tm_arguments *arguments, const tm_tables *known,
                              tm_error *err) {
    tm_error last = {.status = TM_OK};
    const tm_fault_sink sink = {hear_fault, &last};
    for (size_t i = 0; i < arguments->n_operands; i++) {
        tm_store_contents found;
        tm_status status = tm_store_check(arguments->operands[i], known, &sink, &found, err);
        if (status == TM_OK && !tm_argument(arguments, "quiet"))
            print_good(arguments->operands[i], &found);
        if (status != TM_OK && status != TM_ERR_INPUT)
            return status;
    }
    *err = last;
    return last.status;
}

static tm_status check_run(const tm_arguments *arguments, tm_error *err) {
    tm_tables known;
    if (arguments->n_operands == 0)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge check needs a store; see --help");
    TM_TRY(tm_analysis_tables(&known, err));
    tm_status status = check_stores(arguments, &known, err);
    tm_tables_destroy(&known);
    return status;
}

const tm_command tm_command_check = {
    .name = "check",
    .usage = "STORE... [-q]",
    .summary = "Checks whether a store is damaged: checksums, structure, every row",
    TM_ARRAY(options, options),
    .run = check_run,
};
