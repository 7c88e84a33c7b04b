/* Analysis `stacks`: Python call stacks as a tree over all ranks. */
#include "tmerge/analysis.h"

#include <string.h>

#include "call_tree.h"

#define OUTSIDE "(outside of any function)"

static const tm_table_def frame_def = {
    .name = "stacks.frame",
    .doc = "A row for each path of function calls, if the profiler recorded stacks, merged over "
           "ranks, as drawn in flame graphs. Functions are Python's (with_stack=True); if only "
           "operators or runtime calls carry stacks, their durations are the only known host time. "
           "The 10000 nodes with most host_total_ns, one node of all others, and in brackets work "
           "that no function launched: device_self_ns of all rows sums to the time of all streams "
           "of the ranks with stacks.",
    .columns = tm_tree_columns,
    .n_columns = TM_TREE_N,
    .n_keys = 1,
    .top = TM_TREE_HOST_SELF,
};

static const tm_table_def part_def = TM_TREE_PART("stacks.frame_part", TM_TREE_P_N);

static const tm_table_def *const defs[] = {&frame_def, &part_def};

/* Rows are queried in ascending order, as the attributes are sorted. */
static bool bears_stack(void *context, const tm_timeline *timeline, uint32_t row) {
    const tm_operator_attr *told = timeline->attrs[TM_ATTR_OPERATOR];
    size_t *next = context, n = timeline->n_attrs[TM_ATTR_OPERATOR];
    while (*next < n && told[*next].event < row)
        ++*next;
    return *next < n && told[*next].event == row && told[*next].stack != TM_NO_NAME;
}

static bool any_bears_stack(const tm_timeline *timeline) {
    const tm_operator_attr *told = timeline->attrs[TM_ATTR_OPERATOR];
    size_t i = 0, n = timeline->n_attrs[TM_ATTR_OPERATOR];
    while (i < n && told[i].stack == TM_NO_NAME)
        i++;
    return i < n;
}

static tm_status stacks_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *part = tm_tables_find(out, part_def.name);
    tm_calls calls;
    size_t next = 0;
    bool python = memchr(timeline->category, TM_CAT_PYTHON, timeline->n_events) != NULL;
    if (!python && !any_bears_stack(timeline))
        return TM_OK;
    const tm_call_class frames = {TM_CALL_IN(TM_CAT_PYTHON), NULL, NULL};
    const tm_call_class bearers = {UINT32_MAX, bears_stack, &next};
    tm_status status = tm_calls_find(timeline, python ? frames : bearers, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = python ? tm_tree_rows(view, &calls, NULL, part, err)
                        : tm_tree_stack_rows(view, &calls, part, err);
    tm_calls_free(&calls);
    return status;
}

static tm_status stacks_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    return tm_tree_merge(names, tm_tables_find(tables, part_def.name), OUTSIDE,
                         tm_tables_find(tables, frame_def.name), err);
}

static tm_status stacks_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    return tm_tree_number(tm_tables_find(out, frame_def.name), err);
}

const tm_analysis tm_analysis_stacks = {
    .name = "stacks",
    .summary = "call stacks as a tree over all ranks, with the GPU work that they launched",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = stacks_rank,
    .merge = stacks_merge,
    .job = stacks_job,
};
