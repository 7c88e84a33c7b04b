/* From traces in file order to a rank's timeline. */
#ifndef TMERGE_BUILD_H
#define TMERGE_BUILD_H

#include "classify.h"
#include "step_names.h"
#include "trace.h"

typedef struct tm_build_context {
    tm_names *names;           /* texts of kernels and annotations */
    tm_classifier *classifier; /* which kernels communicate */
    bool skip_overlapping;     /* leave out a trace that overlaps an earlier one of the rank */
    const tm_step_names *step_names; /* NULL: the known ones */
} tm_build_context;

/**
 * Joins the traces of one rank (its spans), in the order in which they were given.
 *
 * @param traces   [n_traces] at least one; their content is taken over and they are left empty,
 * with left_out true in those that overlap an earlier one, false in all others
 * @param rank     the rank they are of
 * @param out      set only on TM_OK; destroy it with tm_timeline_destroy
 * @return         TM_OK; TM_ERR_INPUT where two traces cover the same time, naming both;
 *                 TM_ERR_FAULT
 */
tm_status tm_timeline_build(tm_trace *const *traces, size_t n_traces, int64_t rank,
                            const tm_build_context *context, tm_timeline *out,
                            tm_error *err) TM_MUST_CHECK;

/**
 * Gives every event its role and every communication kernel a row of TM_ATTR_COLLECTIVE; part of
 * tm_timeline_build. Found again with another classifier, they are what building with that one
 * gives.
 *
 * @param timeline  its attribute rows are sorted by event; nothing else of it depends on the
 *                  classifier
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_roles(tm_timeline *timeline, const tm_names *names,
                                 tm_classifier *classifier, tm_error *err) TM_MUST_CHECK;

/** Finds the steps, gives every event its step and splits spans where the profiler paused between
 * steps (pauses.h); part of tm_timeline_build. Found again by other names, all of that is what
 * building with those gives.
 * @param step_names  NULL: the known ones  @return TM_OK; TM_ERR_FAULT */
tm_status tm_timeline_find_steps(tm_timeline *timeline, const tm_names *names,
                                 const tm_step_names *step_names, tm_error *err) TM_MUST_CHECK;

/** Whether an event is of the time that a span covers: spans are of what the program does. The
 * profiler's own and what the operating system tells of its threads, from its first moment to its
 * last, are beside that. */
static inline bool tm_span_counts(uint8_t kind, uint8_t category) {
    return kind == TM_DURATION && category != TM_CAT_TRACE && category != TM_CAT_OS_RUNTIME &&
           category != TM_CAT_SYSCALL && category != TM_CAT_ON_CPU;
}

/** Adds such an event to the ranges of a span. */
static inline void tm_span_widen(tm_span *out, uint8_t category, int64_t begin_ns, int64_t end_ns) {
    if (out->n_durations == 0 || begin_ns < out->begin_ns)
        out->begin_ns = begin_ns;
    if (out->n_durations++ == 0 || end_ns > out->end_ns)
        out->end_ns = end_ns;
    if (category != TM_CAT_KERNEL && category != TM_CAT_MEMCPY && category != TM_CAT_MEMSET)
        return;
    if (out->n_gpu_events == 0 || begin_ns < out->gpu_begin_ns)
        out->gpu_begin_ns = begin_ns;
    if (out->n_gpu_events++ == 0 || end_ns > out->gpu_end_ns)
        out->gpu_end_ns = end_ns;
}

/** Adds the duration events' range and the GPU events' range of a trace to a span. */
void tm_trace_range(const tm_trace *trace, tm_span *out);

#endif
