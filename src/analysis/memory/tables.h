/* The tables of blocks of memory, which analysis `memory` fills and shows. */
#ifndef TMERGE_MEMORY_TABLES_H
#define TMERGE_MEMORY_TABLES_H

#include "blocks.h"

#define TM_DEVICE_DOC "cpu, cuda:0, ...: the device's type and number, as the profiler counts it."

extern const tm_table_def tm_memory_category_def, tm_memory_category_curve_def, tm_memory_live_def;

/** Adds a device's rows by category, and over time. TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_add_categories(const tm_timeline *timeline, const tm_device_levels *d,
                                   const tm_blocks *blocks, tm_tables *out,
                                   tm_error *err) TM_MUST_CHECK;

/** Adds what was allocated when a device had most. TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_add_live(const tm_rank_view *view, const tm_device_levels *d,
                             const tm_scopes *scopes, const tm_blocks *blocks, tm_tables *out,
                             tm_error *err) TM_MUST_CHECK;

#endif
