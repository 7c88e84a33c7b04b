/* A database of rocmProfileData: calls and operations of one or more processes, on one or more
 * hosts. Private to the rpd reader. */
#ifndef TMERGE_RPD_DOCUMENT_H
#define TMERGE_RPD_DOCUMENT_H

#include "readers/rocpd/rocpd_rows.h"

/** Whether the file at a path is a database of rocmProfileData. Also false if the file cannot be
 * read. */
bool tm_rpd_accepts(const char *path);

/** Implements tm_rocprof_document for rocmProfileData. */
tm_status tm_rpd_document_read(tm_source *source, const tm_rocprof_sink *sink, bool *cut,
                               tm_error *err) TM_MUST_CHECK;

#endif
