#include "nsys_reports.h"

#include <string.h>

#include "timeline/metadata.h"
#include "timeline/trace.h"

static const char *const words[TM_N_REPORTS] = {
    [TM_REPORT_API] = "cuda_api_sum",
    [TM_REPORT_KERNELS] = "cuda_gpu_kern_sum",
    [TM_REPORT_COPY_SIZES] = "cuda_gpu_mem_size_sum",
    [TM_REPORT_COPY_TIMES] = "cuda_gpu_mem_time_sum",
    [TM_REPORT_LIBRARIES] = "library",
    [TM_REPORT_MPI] = "mpi_event_sum",
    [TM_REPORT_RANGES] = "nvtx_sum",
    [TM_REPORT_OPENACC] = "openacc_sum",
    [TM_REPORT_OPENMP] = "openmp_sum",
    [TM_REPORT_OS_RUNTIME] = "osrt_sum",
    [TM_REPORT_SYSCALLS] = "syscall_sum",
    [TM_REPORT_CPU_FAULTS] = "um_cpu_page_faults_sum",
};

/* Kinds of copies. `part` occurs in the name that tmerge's readers give a copy. `name` is the name
 * in nsys stats. */
static const struct {
    const char *part, *name;
} copies[] = {
    {"", "[CUDA memset]"}, /* memory sets are found by their category, not by their names */
    {"Unified HtoD", "[CUDA memcpy Unified Host-to-Device]"},
    {"Unified DtoH", "[CUDA memcpy Unified Device-to-Host]"},
    {"Unified DtoD", "[CUDA memcpy Unified Device-to-Device]"},
    {"HtoD", "[CUDA memcpy Host-to-Device]"},
    {"DtoH", "[CUDA memcpy Device-to-Host]"},
    {"DtoD", "[CUDA memcpy Device-to-Device]"},
    {"PtoP", "[CUDA memcpy Peer-to-Peer]"},
    {"HtoH", "[CUDA memcpy Host-to-Host]"},
    {"HtoA", "[CUDA memcpy Host-to-Array]"},
    {"AtoH", "[CUDA memcpy Array-to-Host]"},
    {"AtoA", "[CUDA memcpy Array-to-Array]"},
    {"AtoD", "[CUDA memcpy Array-to-Device]"},
    {"DtoA", "[CUDA memcpy Device-to-Array]"},
    {"", "[CUDA memcpy Unknown]"},
};

enum { N_COPIES = sizeof copies / sizeof *copies };

const char *tm_report_word(tm_report report) {
    return words[report];
}

const char *tm_reported_copy(int64_t name) {
    return copies[name].name;
}

bool tm_reports_are_of(const tm_timeline *timeline) {
    return tm_trace_noted(tm_timeline_metadata(timeline), TM_REPORTED_BY).size > 0;
}

static uint32_t copy_of(const tm_timeline *timeline, const tm_names *names, uint32_t row) {
    const char *name = tm_names_text(names, timeline->name[row]).bytes;
    uint32_t i = timeline->category[row] == TM_CAT_MEMSET ? 0 : 1;
    while (i > 0 && i < N_COPIES - 1 && !strstr(name, copies[i].part))
        i++;
    return i;
}

/* Returns the report that has the events of a category; TM_N_REPORTS if no report has them. */
static tm_report report_of(uint8_t category) {
    switch (category) {
    case TM_CAT_RUNTIME:
    case TM_CAT_DRIVER:
        return TM_REPORT_API;
    case TM_CAT_KERNEL:
        return TM_REPORT_KERNELS;
    case TM_CAT_MEMCPY:
    case TM_CAT_MEMSET:
        return TM_REPORT_COPY_TIMES;
    case TM_CAT_LIBRARY:
        return TM_REPORT_LIBRARIES;
    case TM_CAT_MPI:
        return TM_REPORT_MPI;
    case TM_CAT_USER_ANNOTATION:
    case TM_CAT_CPU_OP:
        return TM_REPORT_RANGES;
    case TM_CAT_OPENACC:
        return TM_REPORT_OPENACC;
    case TM_CAT_OPENMP:
        return TM_REPORT_OPENMP;
    case TM_CAT_OS_RUNTIME:
        return TM_REPORT_OS_RUNTIME;
    case TM_CAT_SYSCALL:
        return TM_REPORT_SYSCALLS;
    case TM_CAT_PAGE_FAULT:
        return TM_REPORT_CPU_FAULTS;
    default:
        return TM_N_REPORTS;
    }
}

bool tm_reports_walk(const tm_timeline *timeline, const tm_names *names, tm_take_reported *take,
                     void *context) {
    for (uint32_t row = 0; row < timeline->n_events; row++) {
        const tm_report report = report_of(timeline->category[row]);
        const tm_event_kind kind = report == TM_REPORT_CPU_FAULTS ? TM_INSTANT : TM_DURATION;
        if (report == TM_N_REPORTS || timeline->kind[row] != kind)
            continue;
        const tm_reported reported = {report,
                                      report == TM_REPORT_COPY_TIMES ? copy_of(timeline, names, row)
                                                                     : timeline->name[row],
                                      timeline->duration_ns[row]};
        if (!take(context, &reported))
            return false;
    }
    const tm_copy_attr *attrs = timeline->attrs[TM_ATTR_COPY];
    for (size_t i = 0; i < timeline->n_attrs[TM_ATTR_COPY]; i++) {
        const tm_reported reported = {TM_REPORT_COPY_SIZES,
                                      copy_of(timeline, names, attrs[i].event), attrs[i].bytes};
        if (attrs[i].bytes >= 0 && !take(context, &reported))
            return false;
    }
    return true;
}
