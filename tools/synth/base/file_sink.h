/* Where output goes: to memory, or to a file (plain, gzip or zstd) that gets its name only when it
 * is complete. */
#ifndef TMERGE_SYNTH_FILE_SINK_H
#define TMERGE_SYNTH_FILE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "error.h"

typedef struct tms_sink tms_sink;

/**
 * Opens a file under a temporary name in the folder of @p path.
 *
 * @param path      final name; copied
 * @param compress  how the bytes are stored
 * @param sink      set only on TMS_OK; end it with tms_sink_commit or tms_sink_abandon
 * @return          TMS_OK; TMS_ERR_OUTPUT with the file and the system's reason; TMS_ERR_FAULT
 */
tms_status tms_sink_open(tms_sink **sink, const char *path, tms_compression compress,
                         tms_error *err);

/* Opens a sink that keeps plain bytes in memory; tms_sink_bytes returns them. */
tms_status tms_sink_open_memory(tms_sink **sink, tms_error *err);

/* Writes bytes. After a failure, ignores them; tms_sink_commit reports the failure. */
void tms_sink_write(tms_sink *sink, const void *data, size_t size);

/* Returns whether a write failed, so that the caller can stop early. */
bool tms_sink_failed(const tms_sink *sink);

/* Returns the content of a memory sink [size bytes], valid until the next call with this sink. */
const char *tms_sink_bytes(const tms_sink *sink, size_t *size);

/** Writes the remaining bytes, gives the file its final name, and frees the sink, also after a
 * failure. After a failure there is no file.
 * @return TMS_OK; TMS_ERR_OUTPUT with the file and the system's reason; TMS_ERR_FAULT */
tms_status tms_sink_commit(tms_sink *sink, tms_error *err);

/* Removes the temporary file and frees the sink. @p sink may be NULL. */
void tms_sink_abandon(tms_sink *sink);

#endif
