/* The tables kernels.section and kernels.rule: Nsight Compute's metrics and messages on kernels. */
#ifndef TMERGE_MEASURED_H
#define TMERGE_MEASURED_H

#include "tmerge/ncu.h"
#include "tmerge/table.h"

extern const tm_table_def tm_section_table;
extern const tm_table_def tm_rule_table;

/** A kernel with a name and a shape, as in kernels.roofline. All texts are borrowed. */
typedef struct tm_measured_kernel {
    tm_text name;
    const char *grid, *block; /* "" if unknown */
} tm_measured_kernel;

/**
 * Adds the metrics of sections, as means over a kernel's launches, and the messages of rules.
 * @param kernels    the kernels, by their numbers
 * @param of_launch  for each launch, the number of its kernel
 * @return           TM_OK; TM_ERR_FAULT when out of memory
 */
tm_status tm_measured_rows(const tm_ncu *ncu, const tm_measured_kernel *kernels,
                           const uint32_t *of_launch, tm_tables *tables,
                           tm_error *err) TM_MUST_CHECK;

#endif
