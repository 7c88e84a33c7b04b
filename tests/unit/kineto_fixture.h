/* Kineto traces from text in memory, and what was read of them. */
#ifndef TMERGE_TEST_KINETO_FIXTURE_H
#define TMERGE_TEST_KINETO_FIXTURE_H

#include <stdio.h>

#include "timeline_fixture.h"
#include "tmerge/reader.h"

/* A document of these events. */
#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"
/* An operator; its times are the rest. */
#define OP(rest) "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":2," rest "}"

/* A trace that was read without an error; close_reading frees it. */
typedef struct reading {
    ground ground;
    tm_trace trace;
} reading;

reading read_bytes(const char *bytes, size_t size);
reading read_text(const char *text);
/* A document of these events, in this order; ' stands for the quotes of JSON. */
reading read_events(const char *const *events, size_t n);
#define READ_EVENTS(events) read_events(events, COUNT(events))
void close_reading(reading *r);

/* Event i of the file, the track that it lies on, and row i of an attribute table. */
const tm_raw_event *event_at(const reading *r, size_t i);
const tm_track *track_at(const reading *r, size_t event);
void *attr_at(const reading *r, tm_attr attr, size_t i);

/* All counts but these are 0: pairs of a count and its number, ended by TM_N_COUNTS. */
void assert_counts(const reading *r, const int64_t *pairs);
#define ASSERT_COUNTS(r, ...) assert_counts(r, (const int64_t[]){__VA_ARGS__, TM_N_COUNTS})
#define ASSERT_NOTHING_COUNTED(r) assert_counts(r, (const int64_t[]){TM_N_COUNTS})

#endif
