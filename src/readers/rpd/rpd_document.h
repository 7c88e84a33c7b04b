/* A database of rocmProfileData: calls and operations of one process or more, on one host or
 * several. Private to the rpd reader. */
#ifndef TMERGE_RPD_DOCUMENT_H
#define TMERGE_RPD_DOCUMENT_H

#include "readers/rocpd/rocpd_rows.h"

/** Whether the database at a path is of rocmProfileData. False too where it cannot be read. */
bool tm_rpd_claims(const char *path);

/** As tm_rocprof_document. */
tm_status tm_rpd_document_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                               tm_error *err) TM_MUST_CHECK;

#endif
