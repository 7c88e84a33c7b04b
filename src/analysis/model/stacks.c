/* Analysis `stacks`: call stacks of Python, as a tree over all ranks. */
#include "tmerge/analysis.h"

#include <string.h>

#include "call_tree.h"

static const tm_table_def frame_def = {
    .name = "stacks.frame",
    .doc = "A row for each path of calls of Python functions, where the profiler recorded them "
           "(with_stack=True), merged over ranks: what flame graphs draw. The 10000 nodes with "
           "most host_total_ns.",
    .columns = tm_tree_columns,
    .n_columns = TM_TREE_N,
    .n_keys = 1,
    .top = TM_TREE_HOST_SELF,
};

static const tm_table_def part_def = TM_TREE_PART("stacks.frame_part");

static const tm_table_def *const defs[] = {&frame_def, &part_def};

static bool is_frame(void *context, const tm_timeline *timeline, uint32_t row) {
    (void)context;
    return timeline->category[row] == TM_CAT_PYTHON;
}

static tm_status stacks_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_calls calls;
    if (!memchr(view->timeline->category, TM_CAT_PYTHON, view->timeline->n_events))
        return TM_OK;
    tm_status status = tm_calls_find(view->timeline, is_frame, NULL, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_tree_rows(view, &calls, tm_tables_find(out, part_def.name), err);
    tm_calls_free(&calls);
    return status;
}

static tm_status stacks_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_tree_merge(names, tm_tables_find(tables, part_def.name),
                         tm_tables_find(tables, frame_def.name), err);
}

static tm_status stacks_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_tree_number(tm_tables_find(out, frame_def.name), err);
}

const tm_analysis tm_analysis_stacks = {
    .name = "stacks",
    .summary = "call stacks of Python as a tree over all ranks, with what they launched",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = stacks_rank,
    .merge = stacks_merge,
    .job = stacks_job,
};
