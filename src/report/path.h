/* The critical path in the page: all of it, or of long jobs that of the longest steps. */
#ifndef TMERGE_REPORT_PATH_H
#define TMERGE_REPORT_PATH_H

#include <stddef.h>

#include "tmerge/table.h"

/** Pieces that a page holds: about 20 bytes each. */
enum { TM_REPORT_PIECES_MAX = 16384 };

/**
 * Keeps whole steps of criticalpath.piece, the longest first, while they have at most @p most rows;
 * the longest one at any rate.
 * @param left_out  how many rows went; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_report_limit_path(tm_table *pieces, size_t most, size_t *left_out,
                               tm_error *err) TM_MUST_CHECK;

#endif
