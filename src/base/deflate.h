/* Compression in zlib's format with ISA-L, which is several times as fast as zlib. */
#ifndef TMERGE_DEFLATE_H
#define TMERGE_DEFLATE_H

#include <stddef.h>

#include "tmerge/status.h"

/** A compressor. Packing the same bytes in the same order gives the same result in every process,
 * because ISA-L's tables start empty. Different processors may give different results: ISA-L looks
 * at 16 positions at once with AVX-512, at 8 with AVX2, otherwise at every position. */
typedef struct tm_deflate tm_deflate;

/** Creates a compressor. NULL when out of memory. */
tm_deflate *tm_deflate_create(void);
void tm_deflate_destroy(tm_deflate *d);

/**
 * Packs all bytes in one call, at a fast level. Suits large data that is packed in every run.
 * @param out  [room]
 * @return     packed size [B]; 0 if it exceeds room
 */
size_t tm_deflate_all(tm_deflate *d, const void *bytes, size_t size, void *out, size_t room);

/** Receives the next packed bytes. */
typedef tm_status tm_deflate_sink(void *context, const void *packed, size_t size, tm_error *err);

/** Packs any number of bytes with ISA-L's best level. Passes the result to the sink piece by piece.
 * Returns TM_OK; TM_ERR_FAULT; the sink's status. */
tm_status tm_deflate_to(tm_deflate *d, const void *bytes, size_t size, tm_deflate_sink *sink,
                        void *context, tm_error *err) TM_MUST_CHECK;

#endif
