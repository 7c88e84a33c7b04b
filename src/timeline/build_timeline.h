/* Builds a rank's timeline from traces in file order. */
#ifndef TMERGE_BUILD_TIMELINE_H
#define TMERGE_BUILD_TIMELINE_H

#include "classify.h"
#include "step_names.h"
#include "trace.h"

typedef struct tm_build_context {
    tm_names *names;           /* the texts of the traces' name ids */
    tm_classifier *classifier; /* decides which kernels communicate */
    bool skip_overlapping;     /* true: leave out a trace that overlaps an earlier trace of its
                                  rank; false: fail in that case */
    /* decides which annotations are steps; NULL: uses the built-in names */
    const tm_step_names *step_names;
} tm_build_context;

/**
 * Joins the traces of one rank (its spans), in the order given.
 *
 * @param traces  [n_traces] at least one; the traces are empty afterwards. `left_out` of a trace is
 *                set to true if it overlaps an earlier trace and was left out
 * @param rank    rank of the traces
 * @param out     set only on TM_OK; destroy with tm_timeline_destroy
 * @return        TM_OK; TM_ERR_INPUT: two traces, which the message names, cover the same time;
 *                TM_ERR_FAULT
 */
tm_status tm_timeline_build(tm_trace *const *traces, size_t n_traces, int64_t rank,
                            const tm_build_context *context, tm_timeline *out,
                            tm_error *err) TM_MUST_CHECK;

/**
 * Gives every event its role, and every communication kernel a row of TM_ATTR_COLLECTIVE.
 * tm_timeline_build calls it. May be called again with another classifier: the result is as if the
 * timeline had been built with that classifier.
 * @param timeline  its attribute rows are sorted by event; nothing else in it depends on the
 *                  classifier
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_timeline_find_roles(tm_timeline *timeline, const tm_names *names,
                                 tm_classifier *classifier, tm_error *err) TM_MUST_CHECK;

/** Returns whether the trace contains an event of a GPU twice, and this is the second one: it has
 * the launch, the name and the times of the previous row. Such an event has no role. Kernels of a
 * graph share a launch, and are never repeated.
 * @param track  track of the row */
bool tm_timeline_is_repeated(const tm_timeline *timeline, const tm_names *names,
                             const tm_track *track, size_t row);

/** Finds the steps, gives every event its step, and splits spans where the profiler paused between
 * steps (pauses.h). tm_timeline_build calls it. May be called again with other step names: the
 * result is as if the timeline had been built with these names.
 * @param step_names  NULL: the built-in names
 * @return            TM_OK; TM_ERR_FAULT */
tm_status tm_timeline_find_steps(tm_timeline *timeline, const tm_names *names,
                                 const tm_step_names *step_names, tm_error *err) TM_MUST_CHECK;

/** Returns whether an event counts for the time that a span covers, i.e. the time in which the
 * program was recorded. Events of the profiler itself, and events of the operating system about
 * threads, do not count: they last from the profiler's start to its end. */
static inline bool tm_span_counts(uint8_t kind, uint8_t category) {
    return kind == TM_DURATION && category != TM_CAT_TRACE && category != TM_CAT_OS_RUNTIME &&
           category != TM_CAT_SYSCALL && category != TM_CAT_ON_CPU;
}

/** Extends a span so that it includes an event. Call it only for events for which tm_span_counts is
 * true. */
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

/** Sets the time range of a span's duration events and that of its GPU events, from the events of a
 * trace. */
void tm_trace_range(const tm_trace *trace, tm_span *out);

#endif
