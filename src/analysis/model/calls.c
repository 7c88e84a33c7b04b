/* Analysis `calls`: which operators, modules, annotations and functions cost most, on the host and
 * on the GPU. */
#include "tmerge/analysis.h"

#include <string.h>

#include "analysis/shared/call_kinds.h"
#include "call_tables.h"
#include "call_tree.h"

static const tm_table_def *const defs[] = {&tm_call_table, &tm_tree_table, &tm_call_part,
                                           &tm_tree_part};

/* Modules are Python calls with the name of a module. */
static bool is_module(void *context, const tm_timeline *timeline, uint32_t row) {
    return tm_call_kinds_at(context, timeline->name[row]) == TM_CALL_KIND_MODULE;
}

/* Adds the calls of modules. The parent of a module is the innermost module around it. Other calls
 * may be in between. */
static tm_status add_modules(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_call_class modules = {TM_CALL_IN(TM_CAT_PYTHON), is_module, view->call_kinds};
    tm_calls calls;
    tm_status status = tm_calls_find(view->timeline, modules, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_call_rows(view, TM_CALLS_MODULE, &calls, out, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_tree_rows(view, TM_TREE_MODULES, &calls, view->passes, out, err);
    tm_calls_free(&calls);
    return status;
}

/* Rows and attributes both ascend, so each search starts at the previous match. */
static bool bears_stack(void *context, const tm_timeline *timeline, uint32_t row) {
    const tm_operator_attr *reported = timeline->attrs[TM_ATTR_OPERATOR];
    size_t *next = context, n = timeline->n_attrs[TM_ATTR_OPERATOR];
    while (*next < n && reported[*next].event < row)
        ++*next;
    return *next < n && reported[*next].event == row && reported[*next].stack != TM_NO_NAME;
}

static bool any_bears_stack(const tm_timeline *timeline) {
    const tm_operator_attr *reported = timeline->attrs[TM_ATTR_OPERATOR];
    size_t i = 0, n = timeline->n_attrs[TM_ATTR_OPERATOR];
    while (i < n && reported[i].stack == TM_NO_NAME)
        i++;
    return i < n;
}

/* Adds the Python functions. If none were recorded, adds the functions in the stacks of other
 * calls. */
static tm_status add_functions(const tm_rank_view *view, bool python, tm_tables *out,
                               tm_error *err) {
    size_t next = 0;
    tm_calls calls;
    const tm_call_class frames = {TM_CALL_IN(TM_CAT_PYTHON), NULL, NULL};
    const tm_call_class bearers = {UINT32_MAX, bears_stack, &next};
    tm_status status = tm_calls_find(view->timeline, python ? frames : bearers, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = python ? tm_tree_rows(view, TM_TREE_FUNCTIONS, &calls, NULL, out, err)
                        : tm_tree_stack_rows(view, &calls, out, err);
    tm_calls_free(&calls);
    return status;
}

static tm_status calls_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    /* Modules are Python calls, and most traces have no Python calls. */
    const bool python = memchr(timeline->category, TM_CAT_PYTHON, timeline->n_events) != NULL;
    TM_TRY(tm_call_rows(view, TM_CALLS_OPERATOR, view->operators, out, err));
    if (view->operators->n > 0)
        TM_TRY(tm_tree_rows(view, TM_TREE_OPERATORS, view->operators, NULL, out, err));
    if (python)
        TM_TRY(add_modules(view, out, err));
    if (python || any_bears_stack(timeline))
        TM_TRY(add_functions(view, python, out, err));
    return view->annotations->n > 0
               ? tm_call_rows(view, TM_CALLS_ANNOTATION, view->annotations, out, err)
               : TM_OK;
}

static tm_status calls_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_call_merge(names, tables, err));
    return tm_tree_merge(names, tables, err);
}

/* Each process sent its rows with the highest costs. They include all rows that the job keeps. */
static tm_status calls_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_call_order(tm_tables_find(out, tm_call_table.name));
    return tm_tree_number(tm_tables_find(out, tm_tree_table.name), err);
}

const tm_analysis tm_analysis_calls = {
    .name = "calls",
    .summary = "which operators, modules, annotations and Python functions cost most, on the host "
               "and on the GPU",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_ANNOTATIONS,
    .rank = calls_rank,
    .merge = calls_merge,
    .job = calls_job,
};
