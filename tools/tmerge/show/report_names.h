/* Reports of nsys stats by their names in Nsight Systems, and tmerge's tables for them. */
#ifndef TMERGE_SHOW_REPORT_NAMES_H
#define TMERGE_SHOW_REPORT_NAMES_H

#include "arguments/command.h"

/** Arguments of `tmerge show` with a table and a condition in place of a report's name. */
typedef struct tm_report_arguments {
    tm_arguments arguments;
    char *operands[2], table[64];
    char where[512];
} tm_report_arguments;

/** Copies the arguments. If an operand after the store is a report of nsys stats, replaces it by
 * tmerge's table and a condition. TM_OK; TM_ERR_USAGE if the report is about graphics, or if other
 * names are given, too.
 * @param out borrows from @p arguments and has pointers into itself, so it must not be moved */
tm_status tm_reports_answer(const tm_arguments *arguments, tm_report_arguments *out,
                            tm_error *err) TM_MUST_CHECK;

/** Lines in the help of `tmerge show` about these reports. */
#define TM_REPORTS_HELP                                                                            \
    "Reports of nsys stats can be named, too:\n"                                                   \
    "  cuda_api_sum  cuda_gpu_kern_sum  cuda_gpu_mem_time_sum  nvtx_sum  osrt_sum\n"               \
    "  mpi_event_sum  openmp_sum  openacc_sum  syscall_sum  um_cpu_page_faults_sum:\n"             \
    "    rows of stats.time\n"                                                                     \
    "  cuda_gpu_mem_size_sum: rows of stats.size\n"                                                \
    "  um_total_sum: host.unified_memory, by rank; um_sum: by address too\n"                       \
    "tmerge has no reports of graphics and of Windows (opengl_*, vulkan_*, dx11_*, dx12_*, "       \
    "wddm_*).\n"

#endif
