/* Traces, timelines and tables from a few lines, for the tests of what is made of them. */
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

#include "timeline/build.h"
#include "timeline/trace.h"
#include "tmerge/table.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One event as a reader would have found it. What is not given is 0 or NULL. */
typedef struct event_spec {
    tm_category category; /* decides between a CPU thread and a GPU stream */
    const char *name;
    int64_t begin_ns, duration_ns;
    int64_t correlation;    /* of calls, kernels and copies; 0 for none, as in a trace */
    int where;              /* thread or stream number */
    int device;             /* of a GPU event; a process number on the CPU */
    const char *collective; /* `Collective name` */
    tm_event_kind kind;
} event_spec;

/* What lives as long as a test: the names, and what timelines are built with. */
typedef struct ground {
    tm_names *names;
    tm_build_context context;
    tm_error err;
} ground;

ground open_ground(void);
void close_ground(ground *g);

/* Adds the rows of one rank; names may be added before the next. */
void analyse_timeline(ground *g, const tm_timeline *timeline, tm_tables *tables);

uint32_t name_of(const ground *g, const char *text);

/** Lets a trace say that of itself, as the reader of Kineto does. */
void describe(const ground *g, tm_trace *trace, const char *metadata);
void assert_name(const ground *g, uint32_t id, const char *text);

/* A trace that holds these events in this order; every time is moved by origin_ns. */
tm_trace make_trace(const ground *g, const char *path, const event_spec *events, size_t n,
                    int64_t origin_ns);

/* How kernel i of a trace was launched. */
const tm_launch_shape *shape_at(const tm_trace *trace, size_t i);
void set_shape(tm_trace *trace, size_t i, tm_launch_shape shape);

/* The timeline of one trace that must build. */
tm_timeline build_one(ground *g, int64_t rank, const event_spec *events, size_t n);

/* The first row of this name; the test fails where there is none. */
uint32_t row_named(const ground *g, const tm_timeline *timeline, const char *name);

/* The row as "column=value column=value ...", every column, null where it is null. */
/* "=?" stands for any value. */
void assert_row(const tm_table *table, size_t row, const char *expected);

#endif
