/* The calls of a class on a rank's threads: how they nest, and which work they launched. */
#ifndef TMERGE_CALLS_H
#define TMERGE_CALLS_H

#include "tmerge/analysis.h"

/** No call. */
#define TM_NO_CALL UINT32_MAX

/** A call: a duration event of the class on a CPU thread. */
typedef struct tm_call {
    uint32_t row;    /* timeline row */
    uint32_t parent; /* innermost call of the class around this call; TM_NO_CALL: none */
    int64_t self_ns; /* duration without direct children (calls of the class, runtime calls, driver
                        calls) */
} tm_call;

/**
 * Calls nest by time. Events of a thread are sorted by start, longer events first. An event is
 * within the innermost open call that does not end before the event. If two calls overlap without
 * nesting (because of rounding or coroutines), the later call is not within the earlier one. The
 * next events are within the later call.
 */
typedef struct tm_calls {
    tm_call *calls; /* [n] sorted by row, so that parents come before children; owned */
    size_t n;
    /* [n_events] the call around each event; TM_NO_CALL: none; owned. For a call: its parent. For
     * another event on a thread: the innermost call that is open when the event starts. For a GPU
     * event: the innermost call that is open when the event is launched. */
    uint32_t *above;
} tm_calls;

/** A class of calls: duration events on threads whose category is in `categories`, and for which
 * is_call returns true. If is_call is NULL, the category is sufficient. */
typedef struct tm_call_class {
    uint32_t categories; /* TM_CALL_IN(category) | ... */
    bool (*is_call)(void *context, const tm_timeline *timeline, uint32_t row);
    void *context;
} tm_call_class;

#define TM_CALL_IN(category) (UINT32_C(1) << (category))

/**
 * Finds the calls of a class in O(n) time. Takes 4 bytes per event and 16 per call. The caller
 * frees them with tm_calls_free, also on failure.
 *
 * @return  TM_OK; TM_ERR_FAULT if out of memory
 */
tm_status tm_calls_find(const tm_timeline *timeline, tm_call_class class, tm_calls *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_calls_free(tm_calls *calls);

/** Finds the operators: events of category cpu_op except the spans that older profilers put there
 * (steps, data loading, optimizer). Part of a rank view. */
tm_status tm_calls_find_operators(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                  tm_calls *out, tm_error *err) TM_MUST_CHECK;

/** Finds the calls of the user's own code: functions of the user's Python code (not of PyTorch
 * or installed packages, and not builtins), modules, and annotations except steps. Part of a rank
 * view. */
tm_status tm_calls_find_places(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                               tm_calls *out, tm_error *err) TM_MUST_CHECK;

/** Finds the annotations of the user's program and of frameworks, except steps. Older profilers
 * record frameworks' annotations as operators. Part of a rank view. */
tm_status tm_calls_find_annotations(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                    tm_calls *out, tm_error *err) TM_MUST_CHECK;

#endif
