/* Bytes that zlib or zstd packed as one piece, unpacked into memory. */
#ifndef TMERGE_INFLATE_H
#define TMERGE_INFLATE_H

#include "vec.h"

typedef enum tm_inflated {
    TM_INFLATED,
    TM_INFLATE_DAMAGED, /* no such piece, or cut short */
    TM_INFLATE_LARGE,   /* it would take more than the caller allows */
    TM_INFLATE_NO_MEMORY
} tm_inflated;

/**
 * Unpacks a piece with zlib's header.
 * @param max  bytes that may come of it
 * @param out  of uint8_t, overwritten; content counts only on TM_INFLATED
 */
tm_inflated tm_inflate(const void *packed, size_t size, size_t max, tm_vec *out);

/** The same of one zstd frame. */
tm_inflated tm_inflate_zstd(const void *packed, size_t size, size_t max, tm_vec *out);

#endif
