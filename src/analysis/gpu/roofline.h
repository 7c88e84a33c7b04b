/* The table kernels.roofline: what Nsight Compute measured of kernels, beside their time here. */
#ifndef TMERGE_ROOFLINE_H
#define TMERGE_ROOFLINE_H

#include "tmerge/ncu.h"
#include "tmerge/table.h"

extern const tm_table_def tm_roofline_table;

/**
 * Adds a row for each kernel name and launch shape of the measurements, with the calls of
 * kernels.launch_shape that have it.
 *
 * @param ncu     NULL for no measurements
 * @param tables  kernels.launch_shape is complete, the largest total_ns first
 * @return        TM_OK; TM_ERR_FAULT where memory is out
 */
tm_status tm_roofline_rows(const tm_ncu *ncu, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
