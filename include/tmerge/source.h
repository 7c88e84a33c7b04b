/* Byte sources: the decoded content of a file or of memory, read sequentially. */
#ifndef TMERGE_SOURCE_H
#define TMERGE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tmerge/status.h"

typedef struct tm_source tm_source;

/**
 * Opens a file. Detects plain, gzip and zstd by content, not by name. Several gzip members or zstd
 * frames are one stream. The file is read, never mapped.
 * @param path  copied
 * @param out   set only on TM_OK; close it with tm_source_close
 * @return      TM_OK; TM_ERR_INPUT (missing, unreadable, a folder, an empty file); TM_ERR_FAULT
 */
tm_status tm_source_open(const char *path, tm_source **out, tm_error *err) TM_MUST_CHECK;

/**
 * Opens a source over bytes in memory (compressed or not), which must outlive the source.
 * @param name  used as the path in errors, copied
 */
tm_status tm_source_open_memory(const void *bytes, size_t size, const char *name, tm_source **out,
                                tm_error *err) TM_MUST_CHECK;

/**
 * Fills @p buffer with the next bytes of a source. Delivers fewer than @p capacity bytes only at
 * the end of the content.
 * @param n  number of bytes delivered; also set on failure
 */
typedef tm_status tm_source_make(void *context, void *buffer, size_t capacity, size_t *n,
                                 tm_error *err);

/**
 * Opens a source whose bytes @p make produces as they are read, once and sequentially.
 * @param context  passed to @p make; outlives the source
 * @param name     used as the path in errors, copied
 */
tm_status tm_source_open_made(tm_source_make *make, void *context, const char *name,
                              tm_source **out, tm_error *err) TM_MUST_CHECK;

/** Closes a source. NULL is allowed. */
void tm_source_close(tm_source *source);

/** Decodes compressed content on a separate thread, starting with the first read. Use it if a core
 * is free. Content and errors stay the same. Call this function before the first read; it has no
 * effect on plain sources. */
void tm_source_decode_ahead(tm_source *source);

/**
 * Reads decoded bytes.
 * @param buffer  [capacity] filled from its start
 * @param n       number of bytes delivered. It is 0 only at the end of the content, and less than
 *                @p capacity only at the end of the content or before a failure.
 * @return        TM_OK; TM_ERR_INPUT (read error, damaged stream, checksum, stream cut short,
 *                garbage after a stream) with the decoded offset reached. A wrong checksum is
 *                detected only after all bytes were delivered, so results must not be published
 *                before the end. Bytes decoded before a failure are delivered first, with TM_OK;
 *                the next call and all later ones fail. TM_ERR_FAULT when out of memory
 */
tm_status tm_source_read(tm_source *source, void *buffer, size_t capacity, size_t *n,
                         tm_error *err) TM_MUST_CHECK;

/**
 * Moves a plain source to byte @p offset. Offsets in errors still count from the start of the
 * content; skipped bytes do not count as consumed.
 * @return  TM_OK; TM_ERR_INPUT (compressed, a pipe, or shorter than @p offset)
 */
tm_status tm_source_skip(tm_source *source, int64_t offset, tm_error *err) TM_MUST_CHECK;

/** Moves to the start of the content, compressed or not. Returns TM_OK; TM_ERR_INPUT (a pipe);
 * TM_ERR_FAULT. */
tm_status tm_source_rewind(tm_source *source, tm_error *err) TM_MUST_CHECK;

/** Returns true if the last read failed because the compressed stream ends before its end mark; the
 * bytes delivered before are valid. False after any other failure, and before a failure. */
bool tm_source_cut_short(const tm_source *source);

/** Progress callback, called after each read. */
typedef struct tm_source_watch {
    void (*moved)(void *context, int64_t consumed_bytes); /* number of bytes of the file itself that
                                                             were read so far */
    void *context;
} tm_source_watch;

/** Sets the progress callback; a watch without a function removes it. */
void tm_source_set_watch(tm_source *source, tm_source_watch watch);

/** Calls the progress callback, for a reader that reads the file by other means than
 * tm_source_read. */
void tm_source_tell(const tm_source *source, int64_t consumed_bytes);

/** Returns the path or name with which the source was opened; borrowed. */
const char *tm_source_path(const tm_source *source);

/** Returns the encoding: "plain", "gzip" or "zstd". */
const char *tm_source_encoding(const tm_source *source);

/** Returns the offset [B] in the decoded content at which the next read starts. */
int64_t tm_source_offset(const tm_source *source);

/** Returns how many bytes of the file itself were read so far, for progress. The last of these
 * bytes, at most one buffer, may not be decoded yet. */
int64_t tm_source_consumed(const tm_source *source);

/** Returns the size of the file itself in bytes, -1 if unknown (a pipe). */
int64_t tm_source_size(const tm_source *source);

#endif
