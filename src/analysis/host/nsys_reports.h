/* Maps events to reports and names of a profiler that sums by name. */
#ifndef TMERGE_NSYS_REPORTS_H
#define TMERGE_NSYS_REPORTS_H

#include "tmerge/analysis.h"

/** In alphabetical order of their words: names of reports of nsys stats, except for
 * TM_REPORT_LIBRARIES. */
typedef enum tm_report {
    TM_REPORT_API,
    TM_REPORT_KERNELS,
    TM_REPORT_COPY_SIZES, /* bytes; all others are times */
    TM_REPORT_COPY_TIMES,
    TM_REPORT_LIBRARIES,
    TM_REPORT_MPI,
    TM_REPORT_RANGES,
    TM_REPORT_OPENACC,
    TM_REPORT_OPENMP,
    TM_REPORT_OS_RUNTIME,
    TM_REPORT_SYSCALLS,
    TM_REPORT_CPU_FAULTS, /* of unified memory; without duration, so only their number is known */
    TM_N_REPORTS
} tm_report;

const char *tm_report_word(tm_report report);

/** Whether the rank's profiler has such reports. */
bool tm_reports_are_of(const tm_timeline *timeline);

/** An event in a report. Copies have the same names for all profilers, taken from a fixed list. */
typedef struct tm_reported {
    uint32_t report; /* tm_report */
    uint32_t name;   /* name id; in reports of copies an index for tm_reported_copy */
    int64_t value;   /* [ns], or bytes */
} tm_reported;

/** Takes one event; false ends the walk. */
typedef bool tm_take_reported(void *context, const tm_reported *reported);

/** Calls @p take for every event in a report in row order, then for the sizes of copies. False if
 * the walk was ended. */
bool tm_reports_walk(const tm_timeline *timeline, const tm_names *names, tm_take_reported *take,
                     void *context);

/** Returns the name of a kind of copy. */
const char *tm_reported_copy(int64_t name);

#endif
