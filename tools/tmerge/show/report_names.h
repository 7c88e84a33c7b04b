/* Names of nsys stats reports, known to users of Nsight Systems, and the tables that answer
 * them. */
#ifndef TMERGE_SHOW_REPORT_NAMES_H
#define TMERGE_SHOW_REPORT_NAMES_H

#include "arguments/command.h"

/** Arguments of `tmerge show` in which the name of a report is replaced by a table and a selection
 * of its rows. */
typedef struct tm_report_arguments {
    tm_arguments arguments;
    char *operands[2], table[64];
    char where[512];
} tm_report_arguments;

/** Copies the arguments; if an operand after the store is an nsys stats report, replaces it by its
 * table and rows. TM_OK; TM_ERR_USAGE if the report is about graphics or given with other names.
 * @param out  borrows from @p arguments and points into itself: must not be moved */
tm_status tm_reports_answer(const tm_arguments *arguments, tm_report_arguments *out,
                            tm_error *err) TM_MUST_CHECK;

/** Lines on these reports in the help of `tmerge show`. */
#define TM_REPORTS_HELP                                                                            \
    "Reports of nsys stats can be named, too:\n"                                                   \
    "  cuda_api_sum  cuda_gpu_kern_sum  cuda_gpu_mem_time_sum  nvtx_sum  osrt_sum\n"               \
    "  mpi_event_sum  openmp_sum  openacc_sum  syscall_sum  um_cpu_page_faults_sum:\n"             \
    "    rows of stats.time\n"                                                                     \
    "  cuda_gpu_mem_size_sum: rows of stats.size\n"                                                \
    "  um_total_sum: host.unified_memory, by rank; um_sum: by address too\n"                       \
    "Those of graphics and of Windows (opengl_*, vulkan_*, dx11_*, dx12_*, wddm_*) are missing.\n"

#endif
