/* Traces of any format from text in memory, and what was read as text, for tables of tests. */
#ifndef TMERGE_TEST_TRACE_TEXT_H
#define TMERGE_TEST_TRACE_TEXT_H

#include "kineto_fixture.h"
#include "readers/formats.h"
#include "readers/json.h"

enum { TRACE_TEXT_MAX = 8192 };

/* Replaces ' by JSON quotes. @p out has TRACE_TEXT_MAX bytes; those after the text are 0. */
size_t quoted_text(const char *text, char *out);

bool sniffs(const tm_format *format, const char *text);

/* Writes a text's units as "process:devices:rank " each, devices in hex. Must succeed. */
void units_text(const tm_format *format, const char *text, char *out, size_t size);

/* Reads a text, or bytes, as a file of this path. If @p unit is NULL, reads all units. After a
 * failure, r->ground.err has the offset. Close the result with close_reading. */
tm_status try_unit(const tm_format *format, const char *bytes, size_t size, const char *path,
                   const tm_unit *unit, reading *r);
reading read_unit_text(const tm_format *format, const char *text, const char *path,
                       const tm_unit *unit);

/* Writes each event as a line: name, category, begin+duration (@begin for an instant), track as
 * pid/tid, and attributes. Unknown attributes are left out. */
void trace_text(const reading *r, char *out, size_t size);
void events_text(const tm_trace *trace, const tm_names *names, char *out, size_t size);
/* Writes only the attributes of an event, each after a blank. */
void attrs_text(const tm_trace *trace, const tm_names *names, size_t event, char *out, size_t size);

/* A text and the offset at which it is malformed. */
typedef struct malformed {
    const char *text;
    int64_t offset;
} malformed;

/* Checks that each of [n] texts fails at its offset: when units are listed, or when it is read. */
void check_malformed(const tm_format *format, const malformed *cases, size_t n);

/* Checks every prefix of a text: it must be an error inside the prefix, or a truncated trace whose
 * events are all in the whole trace. At least one prefix must be a truncated trace. */
void check_truncation(const tm_format *format, const char *text, const tm_unit *unit);

#endif
