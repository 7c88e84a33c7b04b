/* Analysis `modules`: where a model's modules and the user's annotations spend their time. */
#include "tmerge/analysis.h"

#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "analysis/shared/passes.h"
#include "call_tables.h"
#include "call_tree.h"

static const tm_column module_columns[] = {
    {"name", TM_TEXT, "", "Name of the module with the profiler's number: nn.Module: Linear_3."},
    TM_CALL_COLUMNS("module", "modules"),
    TM_CALL_BACKWARD_COLUMNS("module"),
};

static const tm_column annotation_columns[] = {
    {"name", TM_TEXT, "", "Text of the annotation."},
    TM_CALL_COLUMNS("annotation", "annotations"),
};

static const tm_table_def module_part = TM_CALL_PART("modules.module_part", TM_CALL_P_N_PASSES);
static const tm_table_def annotation_part = TM_CALL_PART("modules.annotation_part", TM_CALL_P_N);

static const tm_table_def module_def = {
    .name = "modules.module",
    .doc = "A row for each module over all ranks, if the profiler recorded modules: its forward "
           "calls, and the backward pass for them. Limited to the 1000 modules with the largest "
           "device_self_ns, then host_self_ns; sorted in this order.",
    .columns = module_columns,
    .n_columns = sizeof module_columns / sizeof *module_columns,
    .n_keys = 1,
    .top = 1 + TM_CALL_DEVICE_SELF,
};

static const tm_table_def annotation_def = {
    .name = "modules.annotation",
    .doc = "A row for each annotation of the program or a framework on the CPU, without steps and "
           "without copies of annotations on the GPU. Limited to the 1000 annotations with the "
           "largest device_total_ns, then host_total_ns; sorted in this order.",
    .columns = annotation_columns,
    .n_columns = sizeof annotation_columns / sizeof *annotation_columns,
    .n_keys = 1,
    .top = 1 + TM_CALL_DEVICE_TOTAL,
};

static const tm_table_def tree_def = {
    .name = "modules.tree",
    .doc = "A row for each path of modules, if the profiler recorded modules, merged over ranks. "
           "Backward work counts for the module whose gradient it computes, if autograd's numbers "
           "show it. The table has the 10000 nodes with the largest host_total_ns, one node for "
           "all others, and rows in brackets for work that no module launched. device_self_ns of "
           "all rows adds up to the time of all streams of the ranks with modules.",
    .columns = tm_tree_columns,
    .n_columns = TM_TREE_N_PASSES,
    .n_keys = 1,
    .top = TM_TREE_DEVICE_TOTAL,
};

static const tm_table_def tree_part = TM_TREE_PART("modules.tree_part", TM_TREE_P_N_PASSES);

static const tm_table_def *const defs[] = {&module_def,  &annotation_def,  &tree_def,
                                           &module_part, &annotation_part, &tree_part};

/* PyTorch records modules as Python calls, among other calls. */
static bool is_module(void *context, const tm_timeline *timeline, uint32_t row) {
    return tm_call_kinds_at(context, timeline->name[row]) == TM_CALL_KIND_MODULE;
}

/* Finds the nesting of modules, ignoring other calls between them. */
static tm_status add_modules(const tm_rank_view *view, tm_table *part, tm_table *tree,
                             tm_error *err) {
    const tm_call_class modules = {TM_CALL_IN(TM_CAT_PYTHON), is_module, view->call_kinds};
    tm_calls calls;
    tm_status status = tm_calls_find(view->timeline, modules, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_call_rows(view, &calls, part, NULL, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_tree_rows(view, &calls, view->passes, tree, err);
    tm_calls_free(&calls);
    return status;
}

static tm_status modules_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    /* Most traces have no Python calls, hence no modules to search for. */
    if (memchr(timeline->category, TM_CAT_PYTHON, timeline->n_events))
        TM_TRY(add_modules(view, tm_tables_find(out, module_part.name),
                           tm_tables_find(out, tree_part.name), err));
    return view->annotations->n == 0
               ? TM_OK
               : tm_call_rows(view, view->annotations, tm_tables_find(out, annotation_part.name),
                              NULL, err);
}

static tm_status modules_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_call_merge(names, tm_tables_find(tables, module_part.name),
                         tm_tables_find(tables, module_def.name), err));
    TM_TRY(tm_call_merge(names, tm_tables_find(tables, annotation_part.name),
                         tm_tables_find(tables, annotation_def.name), err));
    return tm_tree_merge(names, tm_tables_find(tables, tree_part.name), "(outside of any module)",
                         tm_tables_find(tables, tree_def.name), err);
}

/* As for operators, each process sent the most expensive rows of its keys. */
static tm_status modules_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_call_order(tm_tables_find(out, module_def.name));
    tm_call_order(tm_tables_find(out, annotation_def.name));
    return tm_tree_number(tm_tables_find(out, tree_def.name), err);
}

const tm_analysis tm_analysis_modules = {
    .name = "modules",
    .summary = "the time spent in a model's modules and in annotations",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .reads = TM_READS_ANNOTATIONS,
    .rank = modules_rank,
    .merge = modules_merge,
    .job = modules_job,
};
