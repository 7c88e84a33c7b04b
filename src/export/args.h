/* Event details in the exports that tmerge reads back: Chrome JSON and Perfetto. */
#ifndef TMERGE_EXPORT_ARGS_H
#define TMERGE_EXPORT_ARGS_H

#include "base/export_notes.h"
#include "export.h"

/** Receives the details of an event. */
typedef struct tm_export_sink {
    void *to; /* passed to each of these functions as the first argument */
    void (*put_int)(void *to, tm_export_note note, int64_t value);
    void (*put_float)(void *to, tm_export_note note, float value); /* value is finite */
    void (*put_triple)(void *to, tm_export_note note, const int32_t triple[3]);
    void (*put_text)(void *to, tm_export_note note, tm_text text);
    /* @p text is a JSON array as it is stored. If the profiler truncated the array, the text ends
     * in dots and is not valid JSON. */
    void (*put_array)(void *to, tm_export_note note, tm_text text);
} tm_export_sink;

/** Passes the recorded details of an event to the sink. */
void tm_export_args(const tm_export_sink *sink, const tm_names *names,
                    const tm_export_event *event);

/** Returns whether the profiler recorded the whole array. */
bool tm_export_is_array(tm_text text);

#endif
