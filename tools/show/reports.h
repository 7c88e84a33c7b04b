/* The reports of nsys stats, which users of Nsight Systems know by name: which table answers each.
 */
#ifndef TMERGE_SHOW_REPORTS_H
#define TMERGE_SHOW_REPORTS_H

#include "command.h"

/** What is shown in the place of such a name: the arguments with a table and rows of it. */
typedef struct tm_report_arguments {
    tm_arguments arguments;
    char *operands[2], table[64];
    char where[512];
} tm_report_arguments;

/**
 * Arguments as they are, or where they name a report of nsys stats behind the store, what asks for
 * its rows. TM_OK; TM_ERR_USAGE where the report is of graphics, or stands beside other names.
 * @param out  borrows from @p arguments and refers to itself: it stays where it is
 */
tm_status tm_reports_answer(const tm_arguments *arguments, tm_report_arguments *out,
                            tm_error *err) TM_MUST_CHECK;

/** In the help of `tmerge show`. */
#define TM_REPORTS_HELP                                                                            \
    "Reports of nsys stats are names, too:\n"                                                      \
    "  cuda_api_sum  cuda_gpu_kern_sum  cuda_gpu_mem_time_sum  nvtx_sum  osrt_sum\n"               \
    "  mpi_event_sum  openmp_sum  openacc_sum  syscall_sum  um_cpu_page_faults_sum:\n"             \
    "    rows of stats.time\n"                                                                     \
    "  cuda_gpu_mem_size_sum: rows of stats.size\n"                                                \
    "  um_total_sum: host.unified, by rank; um_sum: host.address, by address too\n"                \
    "Those of graphics and of Windows (opengl_*, vulkan_*, dx11_*, dx12_*, wddm_*) it has not.\n"

#endif
