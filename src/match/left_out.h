/* Counts unmatched kernels by group and reason. */
#ifndef TMERGE_LEFT_OUT_H
#define TMERGE_LEFT_OUT_H

#include "timeline/collectives.h"

/**
 * Counts one unmatched kernel under its group and reason.
 * @param left_out    vector of tm_left_out
 * @param group_text  as in tm_comm_record
 * @param group_size  number of ranks of the group; -1 unknown
 * @return            TM_OK; TM_ERR_FAULT
 */
tm_status tm_left_out_add(tm_vec *left_out, const char *group_text, int32_t group_size,
                          tm_unmatched reason, tm_error *err) TM_MUST_CHECK;

#endif
