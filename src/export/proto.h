/* Writes protocol buffers: varints, fixed64 and bytes. */
#ifndef TMERGE_EXPORT_PROTO_H
#define TMERGE_EXPORT_PROTO_H

#include <stdint.h>
#include <string.h>

#include "base/varint.h"
#include "base/vec.h"

/* A buffer of bytes that grows. After an append has failed, `failed` is set and later appends do
 * nothing. tm_out works in the same way. */
typedef struct tm_proto {
    tm_vec bytes; /* vector of uint8_t */
    bool failed;  /* memory ran out */
} tm_proto;

#define TM_PROTO() ((tm_proto){.bytes = TM_VEC(uint8_t)})

enum { TM_WIRE_VARINT = 0, TM_WIRE_64 = 1, TM_WIRE_BYTES = 2 };

/** Returns room for @p size bytes after the content; NULL when out of memory. */
static inline uint8_t *tm_proto_room(tm_proto *proto, size_t size) {
    if (proto->bytes.cap - proto->bytes.n < size &&
        !tm_vec_reserve(&proto->bytes, proto->bytes.n + size)) {
        proto->failed = true;
        return NULL;
    }
    return (uint8_t *)proto->bytes.data + proto->bytes.n;
}

static inline void tm_proto_grow_to(tm_proto *proto, const uint8_t *end) {
    proto->bytes.n = (size_t)(end - (uint8_t *)proto->bytes.data);
}

/** Writes a uint32, uint64, enum or bool, or the bits of an int64. */
static inline void tm_proto_uint(tm_proto *proto, uint32_t field, uint64_t value) {
    uint8_t *p = tm_proto_room(proto, (size_t)2 * TM_VARINT_MAX);
    if (p)
        tm_proto_grow_to(proto, tm_varint(tm_varint(p, field << 3 | TM_WIRE_VARINT), value));
}

static inline void tm_proto_int(tm_proto *proto, uint32_t field, int64_t value) {
    tm_proto_uint(proto, field, (uint64_t)value);
}

/** Writes a fixed64 field, which is little-endian. */
void tm_proto_fixed64(tm_proto *proto, uint32_t field, uint64_t value);

void tm_proto_double(tm_proto *proto, uint32_t field, double value);

/** Write a string or bytes. */
void tm_proto_bytes(tm_proto *proto, uint32_t field, const void *bytes, size_t size);
void tm_proto_string(tm_proto *proto, uint32_t field, const char *string);

/**
 * Starts a message in a field. Everything that is appended before tm_proto_end is the content of
 * the message.
 * @return the offset of the content
 */
size_t tm_proto_begin(tm_proto *proto, uint32_t field);

/**
 * Ends the message. Inserts the size of its content before the content.
 * @param begin  result of tm_proto_begin
 */
void tm_proto_end(tm_proto *proto, size_t begin);

#endif
