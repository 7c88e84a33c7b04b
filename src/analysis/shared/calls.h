/* The calls of one class on a rank's threads: their nesting, and the work that each launched. */
#ifndef TMERGE_CALLS_H
#define TMERGE_CALLS_H

#include "tmerge/analysis.h"

/** No call. */
#define TM_NO_CALL UINT32_MAX

/** One call: a duration event of the class on a CPU thread. */
typedef struct tm_call {
    uint32_t row;    /* timeline row */
    uint32_t parent; /* the innermost call of the class around this one, or TM_NO_CALL */
    int64_t self_ns; /* duration without the time of direct children: calls of the class, runtime
                        and driver calls */
} tm_call;

/**
 * Calls nest by time. Events of a thread are sorted by start, and longer events come first. An
 * event lies in the innermost open call that does not end before the event does. If two calls
 * overlap without nesting (rounding, coroutines), the later one is not in the earlier one, and the
 * next events belong to the later one.
 */
typedef struct tm_calls {
    tm_call *calls; /* [n] sorted by row, so that parents come before children; owned */
    size_t n;
    uint32_t *above; /* [n_events] for a call, its parent; for another event on a thread, the
                        innermost call open at its start; for a GPU event, the innermost call open
                        at its launch; TM_NO_CALL: none; owned */
} tm_calls;

/** A class of calls: the duration events on threads whose category bit is set and for which is_call
 * returns true (all of them if is_call is NULL). */
typedef struct tm_call_class {
    uint32_t categories; /* TM_CALL_IN(category) | ... */
    bool (*is_call)(void *context, const tm_timeline *timeline, uint32_t row);
    void *context;
} tm_call_class;

#define TM_CALL_IN(category) (UINT32_C(1) << (category))

/**
 * Finds the calls of a class in O(n) time. Takes 4 bytes per event and 16 per call. Release them
 * with tm_calls_free, even on failure.
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

/** Finds the code locations that are the user's own: functions of the program's own Python code
 * (not PyTorch, installed packages or builtins), modules, and annotations other than steps. Part of
 * a rank view. */
tm_status tm_calls_find_places(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                               tm_calls *out, tm_error *err) TM_MUST_CHECK;

/** Finds the annotations of the program and of frameworks, except steps. Older profilers record
 * those of frameworks as operators. Part of a rank view. */
tm_status tm_calls_find_annotations(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                    tm_calls *out, tm_error *err) TM_MUST_CHECK;

#endif
