/* Where output bytes go: a file (plain, gzip or zstd) that appears only when complete, or memory.
 */
#ifndef TMERGE_SYNTH_SINK_H
#define TMERGE_SYNTH_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "error.h"

typedef struct tms_sink tms_sink;

/**
 * Opens a file under a temporary name beside @p path.
 *
 * @param path      final name; copied
 * @param compress  how the bytes are stored
 * @param sink      set only on TMS_OK; end it with tms_sink_commit or tms_sink_abandon
 * @return          TMS_OK; TMS_ERR_OUTPUT with the file and the system's reason; TMS_ERR_FAULT
 */
tms_status tms_sink_open(tms_sink **sink, const char *path, tms_compression compress,
                         tms_error *err);

/* Opens a sink that keeps the plain bytes in memory; they are read with tms_sink_bytes. */
tms_status tms_sink_open_memory(tms_sink **sink, tms_error *err);

/* Takes bytes. The first failure is remembered and the rest ignored until tms_sink_commit. */
void tms_sink_write(tms_sink *sink, const void *data, size_t size);

/* Whether something could not be written: the rest may be saved the trouble. */
bool tms_sink_failed(const tms_sink *sink);

/* What a memory sink holds [size bytes]; valid until the next call on the sink. */
const char *tms_sink_bytes(const tms_sink *sink, size_t *size);

/**
 * Writes what is left, gives the file its final name, and frees the sink in any case; when it
 * fails no file is left behind.
 *
 * @return  TMS_OK; TMS_ERR_OUTPUT with the file and the system's reason; TMS_ERR_FAULT
 */
tms_status tms_sink_commit(tms_sink *sink, tms_error *err);

/* Removes the temporary file and frees the sink; NULL is fine. */
void tms_sink_abandon(tms_sink *sink);

#endif
