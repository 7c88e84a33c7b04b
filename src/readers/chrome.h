/* Traces of the Chrome trace event form: JSON with an array of events, bare or as traceEvents of an
 * object whose other members are metadata. What the formats of this form share. */
#ifndef TMERGE_CHROME_H
#define TMERGE_CHROME_H

#include "chrome_event.h"
#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/source.h"
#include "tmerge/status.h"

/* Begins lie in [-1e18, 3e18] ns (to the year 2065), durations in [0, TM_DAY_NS] and base times in
 * [0, 3e18]: then no end and no distance between two times leaves int64. */
#define TM_CHROME_TIME_MAX_NS INT64_C(3000000000000000000)
#define TM_CHROME_TIME_MIN_NS (-INT64_C(1000000000000000000))

/** What a format of this form has of its own. */
typedef struct tm_chrome_form {
    const tm_chrome_field *fields; /* the args that it keeps */
    int n_fields;
    bool quoted_times; /* ts and dur may stand in strings */
    bool picoseconds;  /* ts_ns and duration_ns of an event are picoseconds */

    /** Takes an event. Its texts, and what the cursor is over, lie there until the call returns.
     * False when memory is out. */
    bool (*emit)(void *context, tm_json_cursor *cursor, tm_chrome_event *event);
} tm_chrome_form;

/**
 * Reads a source from where it stands, its start or an event, to the event that begins at byte
 * @p stop; to the end of the content where that is -1. Malformed events are repaired and counted.
 *
 * @param context  of the form's emit
 * @param out      what the metadata say, where the part lies; counts and truncated of its trace,
 *                 which is truncated where the text ends too early, also with TM_ERR_INPUT
 * @return         TM_OK; TM_ERR_INPUT with path and decoded byte offset; TM_ERR_FAULT
 */
tm_status tm_chrome_read_part(tm_source *source, const tm_chrome_form *form, int64_t stop,
                              void *context, tm_part *out, tm_error *err) TM_MUST_CHECK;

/** Interns a string token, decoding it where it is escaped; TM_NAME_FAILED when memory is out.
 * @param scratch  of char */
uint32_t tm_chrome_intern(tm_names *names, tm_vec *scratch, const tm_json_text *text);

/**
 * Adds what is told of an operator, unless it is nothing. False when memory is out.
 * @param told   all but the stack
 * @param stack  as profilers write it, with white space behind ";", or NULL
 */
bool tm_chrome_operator(tm_trace *trace, tm_names *names, tm_vec *scratch,
                        const tm_operator_attr *told, const tm_json_text *stack);

/** Keeps the names of processes and threads, the only metadata records that say more than an order
 * of display. False when memory is out.
 * @param labels  of tm_label; appended to
 * @param name    the field that holds the arg "name" */
bool tm_chrome_label(tm_vec *labels, tm_names *names, tm_vec *scratch, const tm_chrome_event *event,
                     unsigned name);

/** Why the times of an event cannot be used; TM_N_COUNTS where they can. */
static inline tm_count tm_chrome_wrong_times(const tm_chrome_event *event, tm_event_kind kind) {
    if (!event->has_ts || event->ts_ns < TM_CHROME_TIME_MIN_NS ||
        event->ts_ns > TM_CHROME_TIME_MAX_NS)
        return TM_COUNT_NO_TIME;
    if (kind != TM_DURATION)
        return TM_N_COUNTS;
    if (!event->has_duration)
        return TM_COUNT_NO_TIME;
    if (event->duration_ns < 0) /* old profilers wrote these */
        return TM_COUNT_NEGATIVE_DURATION;
    return event->duration_ns > TM_DAY_NS ? TM_COUNT_ABSURD_DURATION : TM_N_COUNTS;
}

#endif
