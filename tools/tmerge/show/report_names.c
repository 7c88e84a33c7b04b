#include "report_names.h"

#include <stdio.h>
#include <string.h>

/* The reports of nsys stats for which tmerge has a table: the report's name since version 2022.4,
 * its older name, and the name of tmerge's table. */
static const struct {
    const char *name, *old, *table;
    const char *level; /* level whose rows are the report; NULL: the rows with the report's name in
                          column `report` */
} reports[] = {
    {"cuda_api_sum", "cudaapisum", "stats.time", NULL},
    {"cuda_gpu_kern_sum", "gpukernsum", "stats.time", NULL},
    {"cuda_gpu_mem_time_sum", "gpumemtimesum", "stats.time", NULL},
    {"cuda_gpu_mem_size_sum", "gpumemsizesum", "stats.size", NULL},
    {"nvtx_sum", "nvtxsum", "stats.time", NULL},
    {"mpi_event_sum", "mpieventsum", "stats.time", NULL},
    {"osrt_sum", "osrtsum", "stats.time", NULL},
    {"openmp_sum", "openmpevtsum", "stats.time", NULL},
    {"openacc_sum", "openaccsum", "stats.time", NULL},
    {"syscall_sum", "syscall_sum", "stats.time", NULL},
    {"um_sum", "umsum", "host.unified_memory", "address"},
    {"um_total_sum", "umtotalsum", "host.unified_memory", "rank"},
    {"um_cpu_page_faults_sum", "umcpupagefaultssum", "stats.time", NULL},
    {"opengl_khr_range_sum", "khrdebugsum", NULL, NULL},
    {"opengl_khr_gpu_range_sum", "khrdebuggpusum", NULL, NULL},
    {"vulkan_marker_sum", "vulkanmarkerssum", NULL, NULL},
    {"vulkan_gpu_marker_sum", "vulkangpumarkersum", NULL, NULL},
    {"dx11_pix_sum", "dx11pixsum", NULL, NULL},
    {"dx12_gpu_marker_sum", "dx12gpumarkersum", NULL, NULL},
    {"dx12_pix_sum", "dx12pixsum", NULL, NULL},
    {"wddm_queue_sum", "wddmqueuesdetails", NULL, NULL},
};

enum { N_REPORTS = sizeof reports / sizeof *reports };

/* Returns the index of a report; N_REPORTS if the word is not a report. */
static int report_of(const char *word) {
    int i = 0;
    while (i < N_REPORTS && strcmp(word, reports[i].name) != 0 && strcmp(word, reports[i].old) != 0)
        i++;
    return i;
}

/* Makes --where select the report's rows. If --where is given, rows must meet that condition, too.
 */
static tm_status set_where(int report, tm_report_arguments *out, tm_error *err) {
    const char *level = reports[report].level, *column = level ? "level" : "report";
    const char *value = level ? level : reports[report].name;
    const tm_command *command = out->arguments.command;
    const char *given = tm_argument(&out->arguments, "where");
    if (given && strstr(given, " or "))
        return tm_fail(
            err, TM_ERR_USAGE, NULL, -1,
            "--where with \"or\" works only with a table: name %s instead of the report, and "
            "add '%s = %s' to each alternative",
            out->operands[1], column, value);
    const int n = snprintf(out->where, sizeof out->where, "%s = %s%s%s", column, value,
                           given ? " and " : "", given ? given : "");
    if (n < 0 || (size_t)n >= sizeof out->where)
        return tm_fail(
            err, TM_ERR_USAGE, NULL, -1,
            "--where is too long: a report adds its own condition; name the table instead");
    for (size_t i = 0; i < command->n_options; i++)
        if (strcmp(command->options[i].name, "where") == 0)
            out->arguments.values[i] = out->where;
    return TM_OK;
}

tm_status tm_reports_answer(const tm_arguments *arguments, tm_report_arguments *out,
                            tm_error *err) {
    out->arguments = *arguments;
    for (size_t o = 1; o < arguments->n_operands; o++) {
        const int report = report_of(arguments->operands[o]);
        if (report == N_REPORTS)
            continue;
        const char *name = reports[report].name, *table = reports[report].table;
        if (!table)
            return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                           "%s is a report of nsys stats on graphics, which tmerge does not read",
                           name);
        if (arguments->n_operands > 2)
            return tm_fail(err, TM_ERR_USAGE, NULL, -1,
                           "%s is a report of nsys stats: name only one report, or the table %s, "
                           "which has all of them",
                           name, table);
        (void)snprintf(out->table, sizeof out->table, "%s", table);
        out->operands[0] = arguments->operands[0];
        out->operands[1] = out->table;
        out->arguments.operands = out->operands;
        return set_where(report, out, err);
    }
    return TM_OK;
}
