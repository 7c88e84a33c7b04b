/* The calls of one class on a rank's threads, as they lie in one another, and what each launched.
 */
#ifndef TMERGE_CALLS_H
#define TMERGE_CALLS_H

#include "tmerge/analysis.h"

/** No call. */
#define TM_NO_CALL UINT32_MAX

/** One call: a duration event of the class on a CPU thread. */
typedef struct tm_call {
    uint32_t row;    /* of the timeline */
    uint32_t parent; /* the call of the class that it lies in directly, or TM_NO_CALL */
    int64_t self_ns; /* its duration without the union of what it holds: calls of the class and,
                      * directly below it, calls of the runtime and driver */
} tm_call;

/**
 * Calls lie in one another by time: of the events of a thread, in order of begin and then the
 * longer first, one lies in the deepest that has begun and ends no sooner than it. Where two cross
 * (rounded times, spans of coroutines) the later does not lie in the earlier, and what comes then
 * is the later's.
 */
typedef struct tm_calls {
    tm_call *calls; /* [n] ascending in row, so that a parent comes before what it holds; owned */
    size_t n;
    uint32_t *above; /* [n_events] for every other event on a thread, the deepest call that is open
                      * when it begins; for a call, its parent; for a GPU event, the deepest call
                      * that launched it: TM_NO_CALL where there is none; owned */
} tm_calls;

/** A class of calls: of the categories whose bits are set, those duration events on threads that
 * it says are of it, all where is_call is NULL. */
typedef struct tm_call_class {
    uint32_t categories; /* TM_CALL_IN(category) | ... */
    bool (*is_call)(void *context, const tm_timeline *timeline, uint32_t row);
    void *context;
} tm_call_class;

#define TM_CALL_IN(category) (UINT32_C(1) << (category))

/**
 * Finds the calls of a class; release them with tm_calls_free whatever comes of it.
 * Four bytes for each event, and 16 for each call; O(n).
 * @return  TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_calls_find(const tm_timeline *timeline, tm_call_class class, tm_calls *out,
                        tm_error *err) TM_MUST_CHECK;
void tm_calls_free(tm_calls *calls);

/** Finds the operators: category cpu_op without the spans that older profilers put there (steps,
 * loading, optimizer). What a rank view has. */
tm_status tm_calls_find_operators(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                  tm_calls *out, tm_error *err) TM_MUST_CHECK;

/** Finds the places in the program that a user knows: functions of its own Python code (neither
 * PyTorch's, nor what is installed, nor built in), modules, annotations but for steps. What a rank
 * view has. */
tm_status tm_calls_find_places(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                               tm_calls *out, tm_error *err) TM_MUST_CHECK;

/** Finds the annotations of the program and of frameworks, but for steps; older profilers write
 * those of frameworks as operators. What a rank view has. */
tm_status tm_calls_find_annotations(const tm_timeline *timeline, struct tm_call_kinds *call_kinds,
                                    tm_calls *out, tm_error *err) TM_MUST_CHECK;

#endif
