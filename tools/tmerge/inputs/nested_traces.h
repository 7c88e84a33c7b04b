/* Finds traces deep below a folder that contains none itself. */
#ifndef TMERGE_NESTED_TRACES_H
#define TMERGE_NESTED_TRACES_H

#include "tmerge/status.h"

/** Searches for traces below a folder. Call it if neither the folder nor its direct subfolders have
 * any. Searches a few levels and at most some thousand entries, and follows no links.
 * @return TM_ERR_INPUT if there are traces: the message names their folders; TM_OK if there are
 * none; TM_ERR_FAULT */
tm_status tm_elsewhere_fail(const char *folder, tm_error *err) TM_MUST_CHECK;

#endif
