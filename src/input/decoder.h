/* The one interface behind which every encoding stands, and the seam the tests enter by. */
#ifndef TMERGE_INPUT_DECODER_H
#define TMERGE_INPUT_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/raw.h"
#include "tmerge/source.h"

/** First member of every decoder's own struct. */
typedef struct tm_decoder {
    /**
     * Decodes straight into @p buffer until it is full or the content ends.
     *
     * @param n    bytes decoded, set on failure too: they are delivered before it is reported
     * @param err  filled without path and offset, which the source adds
     * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT; not called again after a failure
     */
    tm_status (*read)(struct tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                      tm_error *err);
    void (*close)(struct tm_decoder *decoder); /* frees the decoder too */
    tm_raw *raw;                               /* borrowed */
    bool cut_short; /* set before failing on a stream that ends before its end mark */
} tm_decoder;

/** One encoding. */
typedef struct tm_encoding {
    const char *name;
    bool (*recognises)(const uint8_t *head, size_t n);
    tm_decoder *(*open)(tm_raw *raw); /* NULL when memory is out */
} tm_encoding;

extern const tm_encoding tm_encoding_plain;
extern const tm_encoding tm_encoding_gzip;
extern const tm_encoding tm_encoding_zstd;

/**
 * Has @p inner, of which nothing was read, decode on a thread of its own, some blocks ahead. Until
 * this one is closed, which closes no other, only this one uses @p inner and its raw file.
 *
 * @return  reads the same bytes and fails in the same places with the same words; NULL where no
 *          thread can be had
 */
tm_decoder *tm_ahead_open(tm_decoder *inner);

/** What was consumed of the raw file for all that was read of such a decoder, and for what is left
 * of a block. */
int64_t tm_ahead_consumed(const tm_decoder *decoder);

/**
 * Makes a source over @p raw, which it copies and owns from then on, also when it fails.
 *
 * @param name  stands for the path in errors, copied
 */
tm_status tm_source_wrap(tm_raw *raw, const char *name, tm_source **out,
                         tm_error *err) TM_MUST_CHECK;

/** Makes a source of the plain bytes that a decoder without a raw file gives. It owns the decoder,
 * also when it fails. */
tm_status tm_source_of_decoder(tm_decoder *decoder, const char *name, tm_source **out,
                               tm_error *err) TM_MUST_CHECK;

#endif
