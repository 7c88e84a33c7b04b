/* The files of the format "kineto": the JSON of one rank, plain or compressed. */
#ifndef TMERGE_SYNTH_KINETO_FILE_H
#define TMERGE_SYNTH_KINETO_FILE_H

#include "synth/base/file_sink.h"
#include "writer.h"

/** Makes a writer that writes to a sink of the caller, such as a memory sink. End the writer with
 * abandon. @p plan, @p sink and @p name must outlive it.
 * @param name file name that the trace contains
 * @return      TMS_OK; TMS_ERR_FAULT out of memory */
tms_status tms_kineto_file_on(tms_writer **writer, const tms_plan *plan, tms_sink *sink,
                              const char *name, tms_error *err);

#endif
