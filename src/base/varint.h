/* Variable-length integers: seven bits per byte, lowest bits first; the high bit means that more
 * bytes follow. */
#ifndef TMERGE_VARINT_H
#define TMERGE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { TM_VARINT_MAX = 10 };

/** Writes @p value in at most TM_VARINT_MAX bytes; returns the end of the written bytes. */
static inline uint8_t *tm_varint(uint8_t *p, uint64_t value) {
    while (value >= 128) {
        *p++ = (uint8_t)(value | 128);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    return p;
}

/** Reads a value from [p, end); returns the end of the bytes read, or NULL if the number is
 * truncated or invalid. */
static inline const uint8_t *tm_varint_take(const uint8_t *p, const uint8_t *end, uint64_t *value) {
    uint64_t sum = 0;
    for (int shift = 0; p < end && shift < 64; shift += 7) {
        uint64_t seven = *p & 127;
        if (seven << shift >> shift != seven)
            return NULL;
        sum |= seven << shift;
        if (*p++ < 128) {
            *value = sum;
            return p;
        }
    }
    return NULL;
}

/** Maps numbers near zero of either sign to small unsigned numbers. */
static inline uint64_t tm_zigzag(int64_t value) {
    uint64_t twice = (uint64_t)value << 1;
    return value < 0 ? ~twice : twice;
}

static inline int64_t tm_unzigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

#endif
