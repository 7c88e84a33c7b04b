/* The undecoded bytes of a file or of memory, read once and in order. */
#ifndef TMERGE_INPUT_RAW_H
#define TMERGE_INPUT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

enum {
    /* number of bytes at the start of a file from which the encoding is detected */
    TM_RAW_HEAD = 4,
    TM_RAW_PIECE = 256 * 1024, /* maximum size of a piece [B]; larger ones do not make decoders
                                  faster */
};

/** Errors of these functions contain neither path nor offset: the source adds both. */
typedef struct tm_raw {
    int fd;                    /* owned; -1 for memory */
    const uint8_t *bytes;      /* for memory: the remaining bytes, borrowed */
    size_t left;               /* for memory: remaining size [bytes] */
    uint8_t head[TM_RAW_HEAD]; /* for a file: its first bytes, read ahead */
    size_t n_head;
    size_t head_taken;  /* bytes of the head that were already delivered */
    uint8_t *piece;     /* owned, allocated on first use */
    size_t piece_bytes; /* maximum size of a piece of tm_raw_next [B]; a test may lower it before
                           the first call */
    bool ended;         /* the end of the file was reached: it must not be read again, because a
                           terminal would wait for more */
    int64_t size;       /* total bytes, -1 unknown */
    int64_t consumed;   /* bytes delivered; skipped ones do not count */
} tm_raw;

/**
 * Opens a file or a pipe, and reads its head.
 *
 * @return TM_OK; TM_ERR_INPUT if @p path is missing, unreadable, a folder or empty. After a
 *         failure, @p raw must not be closed.
 */
tm_status tm_raw_open(tm_raw *raw, const char *path, tm_error *err) TM_MUST_CHECK;

/** Reads from @p bytes, which must outlive @p raw. */
void tm_raw_open_memory(tm_raw *raw, const void *bytes, size_t size);

void tm_raw_close(tm_raw *raw);

/** Returns the first bytes, at most TM_RAW_HEAD, without consuming them. It must be called before
 * any read. */
const uint8_t *tm_raw_head(const tm_raw *raw, size_t *n);

/** Moves to a byte of the file. TM_ERR_INPUT if it is not seekable. */
tm_status tm_raw_skip(tm_raw *raw, int64_t offset, tm_error *err) TM_MUST_CHECK;

/**
 * Reads directly into @p buffer until it is full or the end is reached.
 *
 * @param n  number of bytes read, also set on failure; with TM_OK, 0 means that the end was reached
 *           (or that @p capacity is 0)
 */
tm_status tm_raw_read(tm_raw *raw, void *buffer, size_t capacity, size_t *n,
                      tm_error *err) TM_MUST_CHECK;

/**
 * Reads the next piece. Bytes in memory are not copied.
 *
 * @param bytes  [n] valid until the next call
 * @param n      0 only at the end
 */
tm_status tm_raw_next(tm_raw *raw, const uint8_t **bytes, size_t *n, tm_error *err) TM_MUST_CHECK;

#endif
