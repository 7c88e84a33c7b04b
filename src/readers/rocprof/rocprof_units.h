/* Lists and reads the ranks in a document of ROCm's profilers. There is a rank for each process and
 * GPU. This part does not depend on the format of the document. */
#ifndef TMERGE_ROCPROF_UNITS_H
#define TMERGE_ROCPROF_UNITS_H

#include "rocprof_document.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** Reads a document, like tm_rocprof_document. */
typedef tm_status tm_rocprof_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                                  tm_error *err);

/** Implement list_units and read_unit of tm_format. If the file is read as a single trace, @p unit
 * is NULL. */
tm_status tm_rocprof_list_units(tm_rocprof_read *document, tm_source *source, tm_vec *units,
                                tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_unit(tm_rocprof_read *document, tm_source *source, const tm_unit *unit,
                               tm_names *names, tm_trace *out, tm_error *err) TM_MUST_CHECK;

#endif
