/* Byte sources: the decoded content of a file or of memory, read once from front to back. */
#ifndef TMERGE_SOURCE_H
#define TMERGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

typedef struct tm_source tm_source;

/**
 * Opens a file; plain, gzip and zstd are told by content, not by name. Several gzip members or
 * zstd frames are one stream. The file is read, never mapped.
 *
 * @param path  copied
 * @param out   set only on TM_OK; close it with tm_source_close
 * @return      TM_OK; TM_ERR_INPUT (missing, unreadable, a folder, an empty file); TM_ERR_FAULT
 */
tm_status tm_source_open(const char *path, tm_source **out, tm_error *err) TM_MUST_CHECK;

/**
 * The same over bytes in memory (compressed or not), which must outlive the source.
 *
 * @param name  stands for the path in errors, copied
 */
tm_status tm_source_open_memory(const void *bytes, size_t size, const char *name, tm_source **out,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Makes the next bytes of a source: fills @p buffer, less only where the content ends.
 * @param n  bytes made, set on failure too
 */
typedef tm_status tm_source_make(void *context, void *buffer, size_t capacity, size_t *n,
                                 tm_error *err);

/**
 * A source of bytes that are made while it is read, once and from front to back.
 *
 * @param context  is handed to @p make, and outlives the source
 * @param name     stands for the path in errors, copied
 */
tm_status tm_source_open_made(tm_source_make *make, void *context, const char *name,
                              tm_source **out, tm_error *err) TM_MUST_CHECK;

/** Takes NULL. */
void tm_source_close(tm_source *source);

/**
 * Has what is compressed decoded on a thread of its own while the source is read, from the first
 * read on: for who has a core to spare. What is read is the same, and so is what fails.
 * To be called before anything is read; plain sources have no use for it.
 */
void tm_source_decode_ahead(tm_source *source);

/**
 * Reads decoded bytes.
 *
 * @param buffer  [capacity] filled from its start
 * @param n       bytes delivered; 0 only at the end of the content. Fewer than capacity only where
 *                the content ends or a failure follows
 * @return        TM_OK; TM_ERR_INPUT (read error, damaged stream, checksum, stream cut short,
 *                rubbish behind a stream) with the decoded offset reached; a checksum is known to
 *                be wrong only after all bytes were delivered, so publish nothing before the end.
 *                What was decoded before a failure is delivered first, with TM_OK; the next call
 *                fails, and so does every later one. TM_ERR_FAULT when memory is out
 */
tm_status tm_source_read(tm_source *source, void *buffer, size_t capacity, size_t *n,
                         tm_error *err) TM_MUST_CHECK;

/**
 * Moves a plain source to byte @p offset. Offsets stay those of the whole content; what was passed
 * over does not count as consumed.
 *
 * @return  TM_OK; TM_ERR_INPUT (compressed, a pipe, shorter than that)
 */
tm_status tm_source_skip(tm_source *source, int64_t offset, tm_error *err) TM_MUST_CHECK;

/** Goes back to the start of the content, compressed or not. TM_OK; TM_ERR_INPUT (a pipe);
 * TM_ERR_FAULT. */
tm_status tm_source_rewind(tm_source *source, tm_error *err) TM_MUST_CHECK;

/**
 * True after a read failed because the compressed stream ends before its end mark: all bytes
 * delivered are good as far as they go. False after any other failure, and before one.
 */
bool tm_source_cut_short(const tm_source *source);

/** Told how far a source has come, after each read: for progress. */
typedef struct tm_source_watch {
    void (*moved)(void *context, int64_t consumed_bytes); /* of the file itself, so far */
    void *context;
} tm_source_watch;

/** Sets who is told; a watch without function ends that. */
void tm_source_set_watch(tm_source *source, tm_source_watch watch);

/** Tells the watch, in place of tm_source_read: for a reader that goes to the file itself. */
void tm_source_tell(const tm_source *source, int64_t consumed_bytes);

/** The path or name it was opened with; borrowed. */
const char *tm_source_path(const tm_source *source);

/** How it is encoded: "plain", "gzip" or "zstd". */
const char *tm_source_encoding(const tm_source *source);

/** Decoded bytes delivered or skipped so far: where the next read begins. */
int64_t tm_source_offset(const tm_source *source);

/** Bytes of the file itself consumed so far, for progress; runs ahead of the decoding by a piece.
 */
int64_t tm_source_consumed(const tm_source *source);

/** Size of the file itself in bytes, -1 where it is not known (a pipe). */
int64_t tm_source_size(const tm_source *source);

#endif
