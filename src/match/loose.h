/* Aligns records of kernels that ranks ran in different orders, by kind, size and end. */
#ifndef TMERGE_LOOSE_H
#define TMERGE_LOOSE_H

#include "timeline/collectives.h"

/** Returns the signature of a kernel that is matched by order. The signature is a hash of the
 * kernel's kind and size, and of the operation if the kernel names it. In an all-to-all, the size
 * may differ between ranks, so it is left out. */
uint64_t tm_record_signature(const tm_comm_record *record);

/**
 * Sets the operation key of each record whose kernel can be aligned. Removes the other records and
 * counts them.
 * @param records   vector of tm_comm_record whose `way` is ORDER: for each group and stream, the
 *                  records of all ranks, in any order
 * @param left_out  vector of tm_left_out; the counts are added here
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_match_loose(tm_vec *records, tm_vec *left_out, tm_error *err) TM_MUST_CHECK;

#endif
