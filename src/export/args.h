/* What is told of an event in the exports that are read back: to Chrome's JSON and to Perfetto. */
#ifndef TMERGE_EXPORT_ARGS_H
#define TMERGE_EXPORT_ARGS_H

#include "base/export_notes.h"
#include "export.h"

/** Where it goes. */
typedef struct tm_export_sink {
    void *to; /* handed to each of: */
    void (*put_int)(void *to, tm_export_note note, int64_t value);
    void (*put_float)(void *to, tm_export_note note, float value); /* finite */
    void (*put_triple)(void *to, tm_export_note note, const int32_t triple[3]);
    void (*put_text)(void *to, tm_export_note note, tm_text text);
    /* An array of JSON, as the store has it: where it was cut short it ends in dots, and is none.
     */
    void (*put_array)(void *to, tm_export_note note, tm_text text);
} tm_export_sink;

/** Puts what the event's trace said of it. */
void tm_export_args(const tm_export_sink *sink, const tm_names *names,
                    const tm_export_event *event);

/** Whether a text that the store has of an array is whole. */
bool tm_export_is_array(tm_text text);

#endif
