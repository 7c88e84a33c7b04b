/* Traces, timelines and tables from a few lines, for tests of analyses. */
#ifndef TMERGE_TEST_TIMELINE_FIXTURE_H
#define TMERGE_TEST_TIMELINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "timeline/build_timeline.h"
#include "timeline/trace.h"
#include "tmerge/table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* An event as a reader returns it. Fields that are not given are 0 or NULL. */
typedef struct event_spec {
    tm_category category; /* decides whether the event is on a CPU thread or on a GPU stream */
    const char *name;
    int64_t begin_ns, duration_ns;
    int64_t correlation;    /* id for calls, kernels and copies; 0: none, as in a trace */
    int where;              /* thread or stream number */
    int device;             /* device of a GPU event; process number on the CPU */
    const char *collective; /* `Collective name` */
    tm_event_kind kind;
} event_spec;

/* State of a test: names, and the context in which timelines are built. */
typedef struct ground {
    tm_names *names;
    tm_build_context context;
    tm_error err;
} ground;

ground open_ground(void);
void close_ground(ground *g);

/* Adds the rows of one rank; names may be added before the next rank. */
void analyse_timeline(ground *g, const tm_timeline *timeline, tm_tables *tables);

uint32_t name_of(const ground *g, const char *text);

/** Sets the metadata of a trace as the Kineto reader does. */
void describe(const ground *g, tm_trace *trace, const char *metadata);
void assert_name(const ground *g, uint32_t id, const char *text);

/* Makes a trace of these events, in this order. Adds origin_ns to all times. */
tm_trace make_trace(const ground *g, const char *path, const event_spec *events, size_t n,
                    int64_t origin_ns);

const tm_launch_shape *shape_at(const tm_trace *trace, size_t i);
void set_shape(tm_trace *trace, size_t i, tm_launch_shape shape);

tm_timeline build_one(ground *g, int64_t rank, const event_spec *events, size_t n);

/* Returns the first row with this name; the test fails if there is none. */
uint32_t row_named(const ground *g, const tm_timeline *timeline, const char *name);

/* Checks all columns of a row. @p expected is "column=value column=value ..."; null is "null", */
/* and "=?" allows any value. */
void assert_row(const tm_table *table, size_t row, const char *expected);

#endif
