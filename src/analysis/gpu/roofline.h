/* The table kernels.roofline: Nsight Compute's measurements of kernels, and the time of these
 * kernels in the job. */
#ifndef TMERGE_ROOFLINE_H
#define TMERGE_ROOFLINE_H

#include "tmerge/ncu.h"
#include "tmerge/table.h"

extern const tm_table_def tm_roofline_table;

/**
 * Adds a row for each kernel name and launch shape in the measurements. The row also has the
 * kernel's calls in kernels.launch_shape.
 * @param ncu     the measurements; NULL: none
 * @param tables  kernels.launch_shape must be complete, the largest total_ns first
 * @return        TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_roofline_rows(const tm_ncu *ncu, tm_tables *tables, tm_error *err) TM_MUST_CHECK;

#endif
