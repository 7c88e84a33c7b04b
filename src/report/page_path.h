/* The critical path in the page. If the path has too many pieces, the page has only its pieces in
 * the longest steps. */
#ifndef TMERGE_REPORT_PAGE_PATH_H
#define TMERGE_REPORT_PAGE_PATH_H

#include <stddef.h>

#include "tmerge/table.h"

/** Maximum number of pieces in a page. A piece takes about 20 bytes. */
enum { TM_REPORT_PIECES_MAX = 16384 };

/**
 * Shortens criticalpath.piece to at most @p most rows. Keeps or removes all pieces of a step
 * together. The longest steps are kept. The longest step of all is always kept, even if it has more
 * rows.
 *
 * @param left_out  number of rows removed; set only on TM_OK
 * @return          TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_report_limit_path(tm_table *pieces, size_t most, size_t *left_out,
                               tm_error *err) TM_MUST_CHECK;

#endif
