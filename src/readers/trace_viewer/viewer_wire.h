/* Writes fields of protocol buffers. Private to the reader of the trace viewer's JSON. */
#ifndef TMERGE_VIEWER_WIRE_H
#define TMERGE_VIEWER_WIRE_H

#include <stdint.h>

#include "base/vec.h"

enum { TM_VIEWER_VARINT = 0, TM_VIEWER_FIXED64 = 1, TM_VIEWER_BYTES = 2 };

/** Maximum size of a tag and a number [bytes]. */
enum { TM_VIEWER_FIELD_MAX = 20 };

/** Writes a varint of at most ten bytes; returns its length. */
size_t tm_viewer_put_varint(uint8_t *out, uint64_t value);

/** Append a field to @p out, a vector of uint8_t. tm_viewer_add_varint appends a number.
 * tm_viewer_add_head appends only the tag and length of a text or message. tm_viewer_add_bytes
 * appends a whole text or message. Return false if out of memory. */
bool tm_viewer_add_varint(tm_vec *out, uint32_t field, uint64_t value);
bool tm_viewer_add_head(tm_vec *out, uint32_t field, size_t size);
bool tm_viewer_add_bytes(tm_vec *out, uint32_t field, const void *bytes, size_t size);

#endif
