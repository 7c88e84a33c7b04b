/* The ranks of a document of ROCm's profilers, a process and a GPU each, and reading one of them:
 * the same whatever the document is written in. */
#ifndef TMERGE_ROCPROF_UNITS_H
#define TMERGE_ROCPROF_UNITS_H

#include "rocprof_document.h"
#include "timeline/trace.h"
#include "tmerge/reader.h"

/** Reads a document, as tm_rocprof_document. */
typedef tm_status tm_rocprof_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                                  tm_error *err);

/** As list_units and read_unit of tm_format; @p unit is NULL where the file is one trace. */
tm_status tm_rocprof_list_units(tm_rocprof_read *document, tm_source *source, tm_vec *units,
                                tm_error *err) TM_MUST_CHECK;
tm_status tm_rocprof_read_unit(tm_rocprof_read *document, tm_source *source, const tm_unit *unit,
                               tm_names *names, tm_trace *out, tm_error *err) TM_MUST_CHECK;

#endif
