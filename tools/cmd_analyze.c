/* tmerge analyze: all results again, from a store alone. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"
#include "mpi/agree.h"
#include "mpi/restore.h"
#include "options.h"
#include "pipeline.h"
#include "tmerge/ncu.h"
#include "tmerge/store.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5", "write another store (the store itself)"},
    {"comm-pattern", 0, "REGEX",
     "kernels that communicate, besides the known ones; '' for no others"},
    {"step-pattern", 0, "REGEX", "annotations that are steps; '' for the known names"},
    TM_OPTIONS_CLOCKS,
    {"ncu", 0, "FILE,...", "output of ncu --csv: what it measured of kernels, as kernels.roofline"},
    TM_OPTION_FORCE(""),
    TM_OPTIONS_STORE,
};

/* What was read of the store, on each process. */
typedef struct analyze {
    const char *path;
    tm_store *store;
    char *command, *align, *comm_pattern, *step_pattern; /* owned; NULL where it has none */
    tm_ncu *ncu; /* of process 0; owned, NULL without --ncu */
} analyze;

/* Takes a pattern of the store. One that nobody typed is no wrong usage. */
static tm_status take_pattern(const analyze *a, const char *name, const char *pattern,
                              const char **out, tm_error *err) {
    regex_t compiled;
    *out = pattern;
    tm_status status = pattern ? tm_pattern_compile(pattern, REG_NOSUB, &compiled, err) : TM_OK;
    if (status == TM_ERR_USAGE)
        return tm_fail(err, TM_ERR_INPUT, a->path, -1,
                       "the store is damaged: its %s is no regular expression", name);
    if (status == TM_OK && pattern)
        regfree(&compiled);
    return status;
}

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

/* What the store was made with counts, where no option says otherwise. */
static tm_status read_settings(tm_pipeline *p, analyze *a, tm_error *err) {
    TM_TRY(tm_store_open(a->path, &a->store, err));
    TM_TRY(tm_store_read_text(a->store, "command", &a->command, err));
    TM_TRY(tm_store_read_text(a->store, "align", &a->align, err));
    TM_TRY(tm_store_read_text(a->store, "comm_pattern", &a->comm_pattern, err));
    TM_TRY(tm_store_read_text(a->store, "step_pattern", &a->step_pattern, err));
    int64_t wall = p->wall_uncertainty_ns;
    TM_TRY(tm_store_read_number(a->store, "wall_uncertainty_ns", wall, &wall, err));
    if (!tm_argument(p->arguments, "wall-uncertainty") && wall > 0)
        p->wall_uncertainty_ns = wall;
    p->command = a->command;
    p->compress = p->compress && tm_store_is_compressed(a->store);
    if (!tm_argument(p->arguments, "comm-pattern"))
        TM_TRY(take_pattern(a, "comm_pattern", a->comm_pattern, &p->comm_pattern, err));
    if (!tm_argument(p->arguments, "step-pattern"))
        TM_TRY(take_pattern(a, "step_pattern", a->step_pattern, &p->step_pattern, err));
    if (!tm_argument(p->arguments, "align") && a->align && !tm_align_parse(a->align, &p->align))
        return tm_fail(err, TM_ERR_INPUT, a->path, -1,
                       "the store was aligned by '%.40s', which this tmerge does not know",
                       a->align);
    return TM_OK;
}

static tm_status read_store(tm_pipeline *p, void *context, tm_error *err) {
    analyze *a = context;
    const char *files = tm_argument(p->arguments, "ncu");
    tm_status settings = read_settings(p, a, err);
    if (settings == TM_OK && files && p->self == 0)
        settings = read_measurements(files, &a->ncu, err);
    TM_TRY(tm_mpi_agree(p->comm, settings, err));
    p->ncu = a->ncu;
    TM_TRY(tm_pipeline_check_output(p, err));
    tm_pipeline_say(p, "reading the store ...");
    tm_table *left_out = tm_tables_find(&p->tables, "job.left_out");
    const tm_load_options patterns = {.comm_pattern = p->comm_pattern,
                                      .step_pattern = p->step_pattern};
    tm_status status = tm_mpi_restore(p->comm, a->store, &patterns, left_out, &p->loaded, err);
    tm_store_close(a->store); /* before another takes its place */
    a->store = NULL;
    return status;
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
    analyze a = {.path = arguments->operands[0]};
    const tm_pipeline_input input = {read_store, warn_unmatched, &a, false};
    tm_status status = tm_pipeline_run(arguments, a.path, &input, err);
    tm_store_close(a.store);
    tm_ncu_destroy(a.ncu);
    free(a.command);
    free(a.align);
    free(a.comm_pattern);
    free(a.step_pattern);
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
