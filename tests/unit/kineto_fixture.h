/* Reads Kineto traces from text in memory and checks the result. */
#ifndef TMERGE_TEST_KINETO_FIXTURE_H
#define TMERGE_TEST_KINETO_FIXTURE_H

#include <stdio.h>

#include "timeline_fixture.h"
#include "tmerge/reader.h"

#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"
/* An operator; `rest` has its times. */
#define OP(rest) "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":2," rest "}"

/* A trace that was read without an error; close_reading frees it. */
typedef struct reading {
    ground ground;
    tm_trace trace;
} reading;

reading read_bytes(const char *bytes, size_t size);
reading read_text(const char *text);
/* Reads a document with these events, in this order; ' stands for the quotes of JSON. */
reading read_events(const char *const *events, size_t n);
#define READ_EVENTS(events) read_events(events, COUNT(events))
void close_reading(reading *r);

/* Return event i of the file, the track of an event, and row i of an attribute table. */
const tm_raw_event *event_at(const reading *r, size_t i);
const tm_track *track_at(const reading *r, size_t event);
void *attr_at(const reading *r, tm_attr attr, size_t i);

/* Asserts counts: pairs of an id and a number, ended by TM_N_COUNTS. Other counts must be 0. */
void assert_counts(const reading *r, const int64_t *pairs);
#define ASSERT_COUNTS(r, ...) assert_counts(r, (const int64_t[]){__VA_ARGS__, TM_N_COUNTS})
#define ASSERT_NOTHING_COUNTED(r) assert_counts(r, (const int64_t[]){TM_N_COUNTS})

#endif
