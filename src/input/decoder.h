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
     * Decodes directly into @p buffer until it is full or the content ends. It must not be called
     * again after a failure.
     *
     * @param n    number of bytes decoded; it is also set on failure, and the reader gets these
     *             bytes before the error
     * @param err  set without path and offset, which the source adds
     * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
     */
    tm_status (*read)(struct tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                      tm_error *err);
    void (*close)(struct tm_decoder *decoder); /* closes and frees the decoder */
    tm_raw *raw;                               /* borrowed */
    bool cut_short; /* the stream ends before its end mark; set before read fails */
} tm_decoder;

typedef struct tm_encoding {
    const char *name;
    bool (*recognises)(const uint8_t *head, size_t n);
    tm_decoder *(*open)(tm_raw *raw); /* NULL if out of memory */
} tm_encoding;

extern const tm_encoding tm_encoding_plain;
extern const tm_encoding tm_encoding_gzip;
extern const tm_encoding tm_encoding_zstd;

/**
 * Starts a thread that decodes ahead of the reader. @p inner must be unread. Until the result is
 * closed, the caller must use neither @p inner nor its raw file. Closing the result does not close
 * @p inner.
 *
 * @return a decoder that returns the same bytes and the same failures as @p inner; NULL if no
 *         thread can be started
 */
tm_decoder *tm_ahead_open(tm_decoder *inner);

/** Returns how many bytes of the raw file were consumed to decode all blocks that the reader has
 * been given so far. The current block counts as a whole. @p decoder is from tm_ahead_open. */
int64_t tm_ahead_consumed(const tm_decoder *decoder);

/**
 * Makes a source over @p raw, which is copied. The source owns the raw file from then on. If the
 * call fails, the raw file has been closed.
 *
 * @param name  used in place of the path in errors; copied
 */
tm_status tm_source_wrap(tm_raw *raw, const char *name, tm_source **out,
                         tm_error *err) TM_MUST_CHECK;

/** Makes a source of plain bytes from a decoder that has no raw file. The source owns the decoder.
 * If the call fails, the decoder has been closed. */
tm_status tm_source_of_decoder(tm_decoder *decoder, const char *name, tm_source **out,
                               tm_error *err) TM_MUST_CHECK;

#endif
