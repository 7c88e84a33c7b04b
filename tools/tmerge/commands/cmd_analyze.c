/* tmerge analyze: recomputes all results from a store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/options.h"
#include "mpi/exchange/agree.h"
#include "mpi/exchange/process_hosts.h"
#include "run_job.h"
#include "tmerge/ncu.h"
#include "tmerge/snapshot.h"

static const tm_option options[] = {
    {"output", 'o', "FILE.h5", "the store to write (the store itself)"},
    {"comm-pattern", 0, "REGEX",
     "kernels that communicate, in addition to those tmerge knows; '' for no others"},
    {"step-pattern", 0, "REGEX", "annotations that are steps; '' for the names that tmerge knows"},
    {"peak", 0, "TYPE=TFLOPS,...",
     "peak rates of a device, such as bf16=989.4; '' for the rates that tmerge knows"},
    TM_OPTIONS_RATES("; 0 for none"),
    TM_OPTIONS_CLOCKS,
    {"ncu", 0, "FILE,...",
     "output of ncu --csv, whose measurements of kernels go into kernels.roofline"},
    {"memory-snapshot", 0, "FILE,...",
     "PyTorch's records of memory: snapshots (_dump_snapshot) or exported timelines (.json, "
     ".raw.json.gz)"},
    TM_OPTION_FORCE(""),
    TM_OPTIONS_STORE,
};

/* What `tmerge analyze` reads on each process. */
typedef struct analyze {
    tm_pipeline_store from;
    /* Only on process 0; owned; each is NULL if its option is not given. */
    tm_ncu *ncu;
    tm_snapshots *snapshots;
} analyze;

/* Reads one file of an option, and adds its data to @p into. */
typedef tm_status read_file(void *into, tm_source *source, tm_error *err);

static tm_status read_measurement(void *into, tm_source *source, tm_error *err) {
    return tm_ncu_read(into, source, err);
}

static tm_status read_snapshot(void *into, tm_source *source, tm_error *err) {
    return tm_snapshots_read(into, source, err);
}

static tm_status read_files(const char *files, read_file *read, void *into, tm_error *err) {
    while (*files) {
        const size_t size = strcspn(files, ",");
        char *path = size > 0 ? strndup(files, size) : NULL;
        tm_source *source = NULL;
        if (size > 0 && !path)
            return tm_fail_memory(err);
        tm_status status = path ? tm_source_open(path, &source, err) : TM_OK;
        if (source)
            status = read(into, source, err);
        tm_source_close(source);
        free(path);
        TM_TRY(status);
        files += size + (files[size] == ',');
    }
    return TM_OK;
}

static tm_status read_besides(const tm_arguments *arguments, analyze *a, tm_error *err) {
    const char *ncu = tm_argument(arguments, "ncu");
    const char *snapshots = tm_argument(arguments, "memory-snapshot");
    if (ncu && !(a->ncu = tm_ncu_create()))
        return tm_fail_memory(err);
    if (snapshots && !(a->snapshots = tm_snapshots_create()))
        return tm_fail_memory(err);
    if (ncu)
        TM_TRY(read_files(ncu, read_measurement, a->ncu, err));
    return snapshots ? read_files(snapshots, read_snapshot, a->snapshots, err) : TM_OK;
}

/* Keeps the results of tmerge hang. They cannot be computed again, because they come from dumps,
 * which the store does not contain. */
static tm_status keep_hang(const tm_pipeline *p, const tm_store *from, tm_error *err) {
    static const char *const kept[] = {"hang.job", "hang.collective", "hang.rank", "hang.ras"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept && p->self == 0; i++)
        if (tm_store_has_table(from, kept[i]))
            TM_TRY(tm_store_read_table(from, tm_tables_find(&p->tables, kept[i]), err));
    return TM_OK;
}

static tm_status read_store(tm_pipeline *p, void *context, tm_error *err) {
    analyze *a = context;
    tm_status settings = tm_pipeline_settings(p, &a->from, err);
    if (settings == TM_OK && p->self == 0)
        settings = read_besides(p->arguments, a, err);
    if (settings == TM_OK)
        settings = keep_hang(p, a->from.store, err);
    TM_TRY(tm_mpi_agree(p->comm, settings, err));
    TM_TRY(tm_mpi_same_file(p->comm, a->from.path, err));
    p->ncu = a->ncu;
    p->snapshots = a->snapshots;
    TM_TRY(tm_pipeline_check_output(p, err));
    return tm_pipeline_restore(p, &a->from, err);
}

/* Warns of measured kernels that did not run in the job: their measurements are probably from
 * another program or batch size. */
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
        tm_console_warn(
            "--ncu: %zu of %zu measured kernels and shapes (%" PRId64
            " launch%s) are not in the job; show kernels.roofline lists them without calls",
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
    tm_snapshots_destroy(a.snapshots);
    return status;
}

const tm_command tm_command_analyze = {
    .name = "analyze",
    .usage = "STORE [-o FILE.h5] [options]",
    .summary = "Computes all results again from a store, without its traces",
    TM_ARRAY(options, options),
    .run = analyze_run,
};
