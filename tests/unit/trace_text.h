/* Traces of any format from text in memory, and what was read of them as text: for tables of tests.
 */
#ifndef TMERGE_TEST_TRACE_TEXT_H
#define TMERGE_TEST_TRACE_TEXT_H

#include "kineto_fixture.h"
#include "readers/formats.h"
#include "readers/json.h"

enum { TRACE_TEXT_MAX = 8192 };

/* The text with the quotes of JSON for '; out has TRACE_TEXT_MAX bytes and zeros behind it. */
size_t quoted_text(const char *text, char *out);

/* Whether a format takes a text for its own. */
bool sniffs(const tm_format *format, const char *text);

/* The units of a text as "process:devices:rank " each, devices in hexadecimal. Must succeed. */
void units_text(const tm_format *format, const char *text, char *out, size_t size);

/* Reads a text, or bytes, as a file of this path; @p unit NULL: all. r->ground.err tells where it
 * failed; close_reading. */
tm_status try_unit(const tm_format *format, const char *bytes, size_t size, const char *path,
                   const tm_unit *unit, reading *r);
reading read_unit_text(const tm_format *format, const char *text, const char *path,
                       const tm_unit *unit);

/* Each event as a line: name, category, begin+duration (@begin of an instant), its track as
 * pid/tid, and what its attributes hold; KEY=VALUE of what may be unknown is left out then. */
void trace_text(const reading *r, char *out, size_t size);
void events_text(const tm_trace *trace, const tm_names *names, char *out, size_t size);
/* Only the attributes of an event, a blank before each. */
void attrs_text(const tm_trace *trace, const tm_names *names, size_t event, char *out, size_t size);

/* A text and the byte at which it is malformed. */
typedef struct malformed {
    const char *text;
    int64_t offset;
} malformed;

/* Each of [n] is refused there: where its units are listed or, if they can be, where it is read. */
void check_malformed(const tm_format *format, const malformed *cases, size_t n);

/* Every piece of a text from its start is an error inside it, or a truncated trace with no event
 * that the whole does not have; at least one is that. */
void check_truncation(const tm_format *format, const char *text, const tm_unit *unit);

#endif
