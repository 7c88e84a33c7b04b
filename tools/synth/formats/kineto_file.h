/* The files of the format "kineto": one rank's JSON, plain or compressed. */
#ifndef TMERGE_SYNTH_KINETO_FILE_H
#define TMERGE_SYNTH_KINETO_FILE_H

#include "synth/base/sink.h"
#include "writer.h"

/**
 * A writer to a sink that stays the caller's, such as memory; it is ended by abandon.
 *
 * @param plan  kept by reference until then, as is @p sink
 * @param name  that the trace shows as its own; kept by reference
 * @return      TMS_OK; TMS_ERR_FAULT out of memory
 */
tms_status tms_kineto_file_on(tms_writer **writer, const tms_plan *plan, tms_sink *sink,
                              const char *name, tms_error *err);

#endif
