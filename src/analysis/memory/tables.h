/* The tables of analysis `memory` that are defined outside of memory.c. */
#ifndef TMERGE_MEMORY_TABLES_H
#define TMERGE_MEMORY_TABLES_H

#include "analysis/shared/passes.h"
#include "blocks.h"
#include "owners.h"

#define TM_DEVICE_DOC "Type and number of the device as numbered by the profiler: cpu, cuda:0, ..."

extern const tm_table_def tm_memory_category_def, tm_memory_live_def, tm_memory_parameters_def,
    tm_memory_job_def;

/** Adds the contents of PyTorch's memory files; @p snapshots may be NULL. Returns TM_OK;
 * TM_ERR_FAULT. */
struct tm_snapshots;
extern const tm_table_def tm_memory_snapshot_def, tm_memory_site_def, tm_memory_timeline_def;
tm_status tm_memory_add_snapshots(const struct tm_snapshots *snapshots, tm_tables *out,
                                  tm_error *err) TM_MUST_CHECK;

/** Adds the rows of memory.job, from memory.device. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_compare_ranks(tm_tables *tables, tm_error *err) TM_MUST_CHECK;

/** Sets the columns of memory.parameters that need memory.category, for all ranks. */
void tm_memory_split_preexisting(tm_tables *tables);

/** Adds a rank's row of memory.parameters if its backward passes show gradients.
 * @param passes  vector of tm_backward_pass
 * @return        TM_OK; TM_ERR_FAULT */
tm_status tm_memory_add_parameters(const tm_rank_view *view, const tm_vec *passes, tm_tables *out,
                                   tm_error *err) TM_MUST_CHECK;

/** Adds a device's rows of memory.category. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_add_categories(const tm_timeline *timeline, const tm_device_levels *d,
                                   const tm_blocks *blocks, tm_tables *out,
                                   tm_error *err) TM_MUST_CHECK;

/** The data that are needed to find the owner of a block. All pointers are borrowed. */
typedef struct tm_live {
    const tm_rank_view *view;
    const tm_scopes *scopes;
} tm_live;

/** Adds a device's rows of memory.live: the blocks that are allocated at its peak. Returns TM_OK;
 * TM_ERR_FAULT. */
tm_status tm_memory_add_live(const tm_live *live, const tm_device_levels *d,
                             const tm_blocks *blocks, tm_tables *out, tm_error *err) TM_MUST_CHECK;

/** Levels of memory.owner, in alphabetical order of their words: owners are modules or
 * operators. */
typedef enum tm_owner_level {
    TM_OWNERS_MODULE,
    TM_OWNERS_OPERATOR,
    TM_N_OWNER_LEVELS
} tm_owner_level;
extern tm_owner_class *const tm_owner_classes[TM_N_OWNER_LEVELS];

/** The table of owners, and the part table from which it is merged. */
extern const tm_table_def tm_memory_owner_def, tm_memory_owner_part;

/** Adds a rank's rows of a level to the part table. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_add_owners(const tm_timeline *timeline, tm_owner_level level,
                               const tm_owners *owners, tm_table *part,
                               tm_error *err) TM_MUST_CHECK;

/** Merges the part table into memory.owner. Returns TM_OK; TM_ERR_FAULT. */
tm_status tm_memory_merge_owners(const tm_names *names, tm_tables *tables,
                                 tm_error *err) TM_MUST_CHECK;

#endif
