/* Decompression of single zlib or zstd pieces into memory. */
#ifndef TMERGE_INFLATE_H
#define TMERGE_INFLATE_H

#include "vec.h"

typedef enum tm_inflated {
    TM_INFLATED,
    TM_INFLATE_DAMAGED, /* not a piece of this kind, or truncated */
    TM_INFLATE_LARGE,   /* larger than the caller allows */
    TM_INFLATE_NO_MEMORY
} tm_inflated;

/**
 * Unpacks a piece with a zlib header.
 * @param max  maximum unpacked size [B]
 * @param out  vector of uint8_t, overwritten; valid only on TM_INFLATED
 */
tm_inflated tm_inflate(const void *packed, size_t size, size_t max, tm_vec *out);

/** tm_inflate for one zstd frame. */
tm_inflated tm_inflate_zstd(const void *packed, size_t size, size_t max, tm_vec *out);

#endif
