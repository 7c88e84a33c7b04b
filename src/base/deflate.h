/* Bytes packed as zlib packs them, by ISA-L, which is several times as fast. */
#ifndef TMERGE_DEFLATE_H
#define TMERGE_DEFLATE_H

#include <stddef.h>

#include "tmerge/status.h"

/** The same bytes packed in the same order give the same result in every process: what ISA-L finds
 * in its tables decides how it packs, and they are cleared when one of these is made. On other
 * processors it may be another: ISA-L looks at 16 positions at once with AVX-512, at 8 with AVX2,
 * and else at each. */
typedef struct tm_deflate tm_deflate;

/** NULL when memory is out. */
tm_deflate *tm_deflate_create(void);
void tm_deflate_destroy(tm_deflate *d);

/**
 * Packs all bytes at once, and fast: for what is large and is packed in each run.
 * @param out  [room]
 * @return     how many bytes came of it; 0 where they do not fit
 */
size_t tm_deflate_all(tm_deflate *d, const void *bytes, size_t size, void *out, size_t room);

/** Takes the next packed bytes. */
typedef tm_status tm_deflate_sink(void *context, const void *packed, size_t size, tm_error *err);

/** Packs any number of bytes as small as ISA-L can; the sink is given what came of them piece by
 * piece. TM_OK; TM_ERR_FAULT; what the sink returned. */
tm_status tm_deflate_to(tm_deflate *d, const void *bytes, size_t size, tm_deflate_sink *sink,
                        void *context, tm_error *err) TM_MUST_CHECK;

#endif
