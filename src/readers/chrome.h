/* Reads traces in the Chrome trace event form. The JSON is an array of events, or an object with
 * metadata and the array traceEvents. Several formats share this reader. */
#ifndef TMERGE_CHROME_H
#define TMERGE_CHROME_H

#include "chrome_event.h"
#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

/* Start times are in [-1e18, 3e18] ns (until the year 2065), durations in [0, TM_DAY_NS] and base
 * times in [0, 3e18], so that no end time and no difference of times overflows int64. */
#define TM_CHROME_TIME_MAX_NS INT64_C(3000000000000000000)
#define TM_CHROME_TIME_MIN_NS (-INT64_C(1000000000000000000))

/** What distinguishes a format of this form from others. */
typedef struct tm_chrome_form {
    const tm_chrome_field *fields; /* args to keep */
    int n_fields;
    bool quoted_times; /* ts and dur may be numbers in quotes */
    bool picoseconds;  /* ts_ns and duration_ns of an event are in picoseconds */

    /** Handles an event. Its texts and the cursor's text are valid until the call returns. Returns
     * false if out of memory. */
    bool (*emit)(void *context, tm_json_cursor *cursor, tm_chrome_event *event);
} tm_chrome_form;

/**
 * Reads a part of a source. The part starts at the current position, which is the start of the
 * source or of an event. It ends at byte @p stop, which is the start of an event, or -1 for the end
 * of the content. Repairs malformed events and counts them.
 *
 * @param context  argument of form->emit
 * @param out      receives the metadata, the position of the part, the counts of its trace, and
 *                 whether the text was truncated; it is also set if TM_ERR_INPUT is returned
 * @return         TM_OK; TM_ERR_INPUT with path and decoded byte offset; TM_ERR_FAULT
 */
tm_status tm_chrome_read_part(tm_source *source, const tm_chrome_form *form, int64_t stop,
                              void *context, tm_part *out, tm_error *err) TM_MUST_CHECK;

/**
 * Interns a string token, after decoding its escapes. Returns TM_NAME_FAILED if out of memory.
 * @param scratch  vector of char, for decoded strings
 */
uint32_t tm_chrome_intern(tm_names *names, tm_vec *scratch, const tm_json_text *text);

/**
 * Adds an operator's attributes, unless all of them are empty. Returns false if out of memory.
 * @param reported  all attributes except the stack
 * @param stack     the stack as profilers write it, with white space after ";"; NULL if there is
 *                  none
 */
bool tm_chrome_operator(tm_trace *trace, tm_names *names, tm_vec *scratch,
                        const tm_operator_attr *reported, const tm_json_text *stack);

/**
 * Records the name of a process or thread. Other metadata events only set the order of display, so
 * they are skipped. Returns false if out of memory.
 * @param labels  vector of tm_label; the name is appended
 * @param name    the field that holds the arg "name"
 */
bool tm_chrome_label(tm_vec *labels, tm_names *names, tm_vec *scratch, const tm_chrome_event *event,
                     unsigned name);

/** Returns why the times of an event are unusable; TM_N_COUNTS if they are usable. */
static inline tm_count tm_chrome_wrong_times(const tm_chrome_event *event, tm_event_kind kind) {
    if (!event->has_ts || event->ts_ns < TM_CHROME_TIME_MIN_NS ||
        event->ts_ns > TM_CHROME_TIME_MAX_NS)
        return TM_COUNT_NO_TIME;
    if (kind != TM_DURATION)
        return TM_N_COUNTS;
    if (!event->has_duration)
        return TM_COUNT_NO_TIME;
    if (event->duration_ns < 0) /* written by old profilers */
        return TM_COUNT_NEGATIVE_DURATION;
    return event->duration_ns > TM_DAY_NS ? TM_COUNT_ABSURD_DURATION : TM_N_COUNTS;
}

#endif
