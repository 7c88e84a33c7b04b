/* The common interface of the decoders of all encodings. Tests use it directly. */
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
     * Decodes directly into @p buffer until it is full or the content ends.
     *
     * @param n    bytes decoded; also set on failure: the reader gets them before the error
     * @param err  set without path and offset, which the source adds
     * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. Callers must not call it again after a
     *             failure.
     */
    tm_status (*read)(struct tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                      tm_error *err);
    void (*close)(struct tm_decoder *decoder); /* closes and frees the decoder */
    tm_raw *raw;                               /* borrowed */
    bool cut_short; /* the stream ends before its end mark; set before read fails */
} tm_decoder;

/** One encoding. */
typedef struct tm_encoding {
    const char *name;
    bool (*recognises)(const uint8_t *head, size_t n);
    tm_decoder *(*open)(tm_raw *raw); /* NULL if out of memory */
} tm_encoding;

extern const tm_encoding tm_encoding_plain;
extern const tm_encoding tm_encoding_gzip;
extern const tm_encoding tm_encoding_zstd;

/**
 * Decodes an unread @p inner ahead on its own thread. Until the result is closed, the caller must
 * not use @p inner or its raw file. Closing the result does not close @p inner.
 *
 * @return  a decoder with the same bytes and the same failures; NULL if no thread can be started
 */
tm_decoder *tm_ahead_open(tm_decoder *inner);

/** Returns how many bytes of the raw file a decoder of tm_ahead_open has consumed for the blocks
 * delivered so far, including the whole current block. */
int64_t tm_ahead_consumed(const tm_decoder *decoder);

/**
 * Makes a source over @p raw. Copies @p raw and owns it from then on, also on failure.
 *
 * @param name  used in place of the path in errors, copied
 */
tm_status tm_source_wrap(tm_raw *raw, const char *name, tm_source **out,
                         tm_error *err) TM_MUST_CHECK;

/** Makes a source of the plain bytes from a decoder that has no raw file. Owns the decoder, also on
 * failure. */
tm_status tm_source_of_decoder(tm_decoder *decoder, const char *name, tm_source **out,
                               tm_error *err) TM_MUST_CHECK;

#endif
