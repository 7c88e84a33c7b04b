/* tmerge analyze: all results again, from a store alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/agree.h"
#include "mpi/hosts.h"
#include "options.h"
#include "pipeline.h"
#include "tmerge/ncu.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5", "write another store (the store itself)"},
    {"comm-pattern", 0, "REGEX",
     "kernels that communicate, besides the known ones; '' for no others"},
    {"step-pattern", 0, "REGEX", "annotations that are steps; '' for the known names"},
    {"peak", 0, "TYPE=TFLOPS,...",
     "what a device can compute at most, as in bf16=989.4; '' for what is known of it"},
    TM_OPTIONS_CLOCKS,
    {"ncu", 0, "FILE,...", "output of ncu --csv: what it measured of kernels, as kernels.roofline"},
    TM_OPTION_FORCE(""),
    TM_OPTIONS_STORE,
};

/* What was read of the store, on each process. */
typedef struct analyze {
    tm_pipeline_store from;
    tm_ncu *ncu; /* of process 0; owned, NULL without --ncu */
} analyze;

static tm_status read_measurement(tm_ncu *ncu, const char *path, tm_error *err) {
    tm_source *source;
    TM_TRY(tm_source_open(path, &source, err));
    tm_status status = tm_ncu_read(ncu, source, err);
    tm_source_close(source);
    return status;
}

/* @p files with commas between them. */
static tm_status read_measurements(const char *files, tm_ncu **out, tm_error *err) {
    *out = tm_ncu_create();
    if (!*out)
        return tm_fail_memory(err);
    while (*files) {
        const size_t size = strcspn(files, ",");
        char *path = size > 0 ? strndup(files, size) : NULL;
        if (size > 0 && !path)
            return tm_fail_memory(err);
        tm_status status = path ? read_measurement(*out, path, err) : TM_OK;
        free(path);
        TM_TRY(status);
        files += size + (files[size] == ',');
    }
    return TM_OK;
}

static tm_status read_store(tm_pipeline *p, void *context, tm_error *err) {
    analyze *a = context;
    const char *files = tm_argument(p->arguments, "ncu");
    tm_status settings = tm_pipeline_settings(p, &a->from, err);
    if (settings == TM_OK && files && p->self == 0)
        settings = read_measurements(files, &a->ncu, err);
    TM_TRY(tm_mpi_agree(p->comm, settings, err));
    TM_TRY(tm_mpi_same_file(p->comm, a->from.path, err));
    p->ncu = a->ncu;
    TM_TRY(tm_pipeline_check_output(p, err));
    return tm_pipeline_restore(p, &a->from, err);
}

/* Measured kernels that the job does not have: of another program, or another batch size. */
static void warn_unmatched(const tm_pipeline *p, const void *context) {
    const tm_table *rows = tm_tables_find(&p->tables, "kernels.roofline");
    size_t unmatched = 0;
    int64_t launches = 0;
    (void)context;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (tm_table_cell(rows, i, "calls")->null) {
            unmatched++;
            launches += tm_table_cell(rows, i, "launches")->value.i;
        }
    if (unmatched > 0)
        tm_console_warn("--ncu: %zu of %zu measured kernels and shapes (%" PRId64
                        " launch%s) are not in the job; show kernels.roofline has them without "
                        "calls",
                        unmatched, rows->n_rows, launches, launches == 1 ? "" : "es");
}

static tm_status analyze_run(const tm_arguments *arguments, tm_error *err) {
    if (arguments->n_operands != 1)
        return tm_fail(err, TM_ERR_USAGE, NULL, -1, "tmerge analyze needs one store; see --help");
    analyze a = {.from = {.path = arguments->operands[0]}};
    const tm_pipeline_input input = {
        .read = read_store, .warn = warn_unmatched, .context = &a, .has_page = false};
    tm_status status = tm_pipeline_run(arguments, a.from.path, &input, err);
    tm_pipeline_store_close(&a.from);
    tm_ncu_destroy(a.ncu);
    return status;
}

const tm_command tm_command_analyze = {
    .name = "analyze",
    .usage = "STORE [-o FILE.h5] [options]",
    .summary = "Computes all results again from a store, without its traces",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .run = analyze_run,
};
