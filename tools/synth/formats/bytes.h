/* A growing buffer, and protocol buffers in it. */
#ifndef TMERGE_SYNTH_BYTES_H
#define TMERGE_SYNTH_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A buffer; empty if all members are 0. The owner frees `data`. */
typedef struct tms_bytes {
    uint8_t *data; /* owned */
    size_t size;
    size_t capacity;
    bool failed; /* memory ran out: appends do nothing */
} tms_bytes;

/* Makes room for @p more bytes. On failure sets `failed`. */
static inline void tms_bytes_reserve(tms_bytes *bytes, size_t more) {
    size_t capacity = bytes->capacity * 2 + more + 256;
    uint8_t *grown = realloc(bytes->data, capacity);

    if (grown == NULL) {
        bytes->failed = true;
        return;
    }
    bytes->data = grown;
    bytes->capacity = capacity;
}

static inline void tms_bytes_put(tms_bytes *bytes, const void *data, size_t size) {
    if (size > bytes->capacity - bytes->size && !bytes->failed) {
        tms_bytes_reserve(bytes, size);
    }
    if (!bytes->failed && size > 0) {
        memcpy(bytes->data + bytes->size, data, size);
        bytes->size += size;
    }
}

/* Encodes a number with seven bits per byte, lowest first. Returns the number of bytes. */
static inline size_t tms_varint(uint8_t field[10], uint64_t value) {
    size_t n = 0;

    for (; value > 127; value >>= 7) {
        field[n++] = (uint8_t)(value | 128);
    }
    field[n++] = (uint8_t)value;
    return n;
}

/* Appends a field with a number (wire type 0). */
static inline void tms_bytes_number(tms_bytes *bytes, unsigned field, uint64_t value) {
    uint8_t both[20];
    size_t n = tms_varint(both, field << 3);

    tms_bytes_put(bytes, both, n + tms_varint(both + n, value));
}

/* Appends a field with bytes, text or a message (wire type 2). */
static inline void tms_bytes_field(tms_bytes *bytes, unsigned field, const void *data,
                                   size_t size) {
    uint8_t both[20];
    size_t n = tms_varint(both, field << 3 | 2);

    tms_bytes_put(bytes, both, n + tms_varint(both + n, size));
    tms_bytes_put(bytes, data, size);
}

static inline void tms_bytes_text(tms_bytes *bytes, unsigned field, const char *text) {
    tms_bytes_field(bytes, field, text, strlen(text));
}

/* Appends a message from another buffer, and empties that buffer. */
static inline void tms_bytes_message(tms_bytes *bytes, unsigned field, tms_bytes *message) {
    tms_bytes_field(bytes, field, message->data, message->size);
    bytes->failed = bytes->failed || message->failed;
    message->size = 0;
}

#endif
