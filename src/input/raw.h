/* The bytes as they lie in the file or in memory, before any decoding; read once, in order. */
#ifndef TMERGE_INPUT_RAW_H
#define TMERGE_INPUT_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

enum {
    TM_RAW_HEAD = 4,           /* bytes kept back to tell the encoding by */
    TM_RAW_PIECE = 256 * 1024, /* decoders gain nothing from larger ones */
};

/** Errors from here name neither path nor offset: the source above adds both. */
typedef struct tm_raw {
    int fd;                    /* owned; -1 over memory */
    const uint8_t *bytes;      /* over memory: what is left, borrowed */
    size_t left;               /* bytes there */
    uint8_t head[TM_RAW_HEAD]; /* of a file: its first bytes, read ahead */
    size_t n_head;
    size_t head_taken;  /* of n_head, handed out already */
    uint8_t *piece;     /* owned, made on first use */
    size_t piece_bytes; /* most that tm_raw_next gives; a test may lower it before the first call */
    bool ended;         /* the file gave its last byte: a terminal would wait for more */
    int64_t size;       /* bytes in all, -1 where unknown */
    int64_t consumed;   /* bytes handed out, not those skipped */
} tm_raw;

/**
 * Opens a file, or a pipe, and reads its head.
 *
 * @return  TM_OK; TM_ERR_INPUT (missing, unreadable, a folder, empty); then nothing is to be closed
 */
tm_status tm_raw_open(tm_raw *raw, const char *path, tm_error *err) TM_MUST_CHECK;

/** Borrows @p bytes for as long as @p raw is used. */
void tm_raw_open_memory(tm_raw *raw, const void *bytes, size_t size);

void tm_raw_close(tm_raw *raw);

/** The first bytes, at most TM_RAW_HEAD, without taking them; asked for before any read. */
const uint8_t *tm_raw_head(const tm_raw *raw, size_t *n);

/** Moves to a byte of the file. TM_ERR_INPUT where that cannot be done. */
tm_status tm_raw_skip(tm_raw *raw, int64_t offset, tm_error *err) TM_MUST_CHECK;

/**
 * Reads straight into @p buffer until it is full or the end is reached.
 *
 * @param n  bytes read, set on failure too; 0 with TM_OK only at the end (or for no capacity)
 */
tm_status tm_raw_read(tm_raw *raw, void *buffer, size_t capacity, size_t *n,
                      tm_error *err) TM_MUST_CHECK;

/**
 * Gives the next piece without the caller having a buffer; memory is not copied.
 *
 * @param bytes  [n] valid until the next call
 * @param n      0 only at the end
 */
tm_status tm_raw_next(tm_raw *raw, const uint8_t **bytes, size_t *n, tm_error *err) TM_MUST_CHECK;

#endif
