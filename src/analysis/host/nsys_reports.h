/* Finds the report of nsys stats that has an event, and the event's name there. */
#ifndef TMERGE_NSYS_REPORTS_H
#define TMERGE_NSYS_REPORTS_H

#include "tmerge/analysis.h"

/** Reports of nsys stats, sorted by name. nsys does not have TM_REPORT_LIBRARIES. */
typedef enum tm_report {
    TM_REPORT_API,
    TM_REPORT_KERNELS,
    TM_REPORT_COPY_SIZES, /* values are in bytes; in all other reports they are in ns */
    TM_REPORT_COPY_TIMES,
    TM_REPORT_LIBRARIES,
    TM_REPORT_MPI,
    TM_REPORT_RANGES,
    TM_REPORT_OPENACC,
    TM_REPORT_OPENMP,
    TM_REPORT_OS_RUNTIME,
    TM_REPORT_SYSCALLS,
    /* page faults of unified memory; they have no durations, so they are only counted */
    TM_REPORT_CPU_FAULTS,
    TM_N_REPORTS
} tm_report;

const char *tm_report_word(tm_report report);

/** Returns whether the trace is from a profiler that has such reports. */
bool tm_reports_are_of(const tm_timeline *timeline);

/** An event in a report. The names of copies are from a fixed list, so they do not depend on the
 * profiler. */
typedef struct tm_reported {
    uint32_t report; /* tm_report */
    /* name id; in reports of copies, a number that tm_reported_copy converts to a name */
    uint32_t name;
    int64_t value; /* [ns], or [bytes] in TM_REPORT_COPY_SIZES */
} tm_reported;

/** Receives an event. Returns false to stop the walk. */
typedef bool tm_take_reported(void *context, const tm_reported *reported);

/** Calls @p take for each event of a report, in the order of rows. For copies, then calls @p take
 * again with the sizes of the copies. Returns false if @p take stopped the walk. */
bool tm_reports_walk(const tm_timeline *timeline, const tm_names *names, tm_take_reported *take,
                     void *context);

/** Returns the name of a kind of copy, from its number in tm_reported.name. */
const char *tm_reported_copy(int64_t name);

#endif
