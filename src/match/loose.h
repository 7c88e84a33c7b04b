/* Records whose order their ranks do not agree on: aligned by what they are and when they end. */
#ifndef TMERGE_LOOSE_H
#define TMERGE_LOOSE_H

#include "timeline/collectives.h"

/** What tells a kernel that is matched by its order from others: its kind and size, and its
 * operation where it is named. All-to-alls may
 * differ in size from rank to rank. */
uint64_t tm_record_token(const tm_comm_record *record);

/**
 * Gives the kernels of whole groups the key of their operation. Those that belong to none are taken
 * out and counted.
 *
 * @param records   of tm_comm_record, way ORDER; all that any rank has of their groups and lanes,
 *                  in any order
 * @param left_out  of tm_left_out
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_loose(tm_vec *records, tm_vec *left_out, tm_error *err) TM_MUST_CHECK;

#endif
