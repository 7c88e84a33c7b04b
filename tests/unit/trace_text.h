/* Traces of any format from text in memory, and text of what was read, for tables of tests. */
#ifndef TMERGE_TEST_TRACE_TEXT_H
#define TMERGE_TEST_TRACE_TEXT_H

#include "kineto_fixture.h"
#include "readers/formats.h"
#include "readers/json.h"

enum { TRACE_TEXT_MAX = 8192 };

/* Replaces ' by JSON quotes; out has TRACE_TEXT_MAX bytes, zeros after the text. */
size_t quoted_text(const char *text, char *out);

/* Whether a format recognizes a text. */
bool sniffs(const tm_format *format, const char *text);

/* Writes the units of a text as "process:devices:rank " each, devices in hex. Must succeed. */
void units_text(const tm_format *format, const char *text, char *out, size_t size);

/* Reads a text, or bytes, as a file of this path; @p unit NULL: all. On failure r->ground.err has
 * the offset; close with close_reading. */
tm_status try_unit(const tm_format *format, const char *bytes, size_t size, const char *path,
                   const tm_unit *unit, reading *r);
reading read_unit_text(const tm_format *format, const char *text, const char *path,
                       const tm_unit *unit);

/* Writes each event as a line: name, category, begin+duration (@begin of an instant), its track as
 * pid/tid, and its attributes; KEY=VALUE is left out if the value is unknown. */
void trace_text(const reading *r, char *out, size_t size);
void events_text(const tm_trace *trace, const tm_names *names, char *out, size_t size);
/* Writes only the attributes of an event, each after a blank. */
void attrs_text(const tm_trace *trace, const tm_names *names, size_t event, char *out, size_t size);

/* A text and the offset at which it is malformed. */
typedef struct malformed {
    const char *text;
    int64_t offset;
} malformed;

/* Checks that each of [n] fails at its offset: in listing units, else in reading. */
void check_malformed(const tm_format *format, const malformed *cases, size_t n);

/* Checks every prefix of a text: it is an error inside the prefix, or a truncated trace with only
 * events that the whole has; at least one is a truncated trace. */
void check_truncation(const tm_format *format, const char *text, const tm_unit *unit);

#endif
