/* Analysis `operators`: which operators cost most, on the host and on the GPU. */
#include "tmerge/analysis.h"

#include "call_tables.h"
#include "call_tree.h"

#define FITS                                                                                       \
    {                                                                                              \
        "tensor_cores_fit", TM_BOOL, "",                                                           \
            "Whether libraries have tensor-core kernels for the operator or for an operator "      \
            "inside it, or whether the operator used such a kernel."                               \
    }

static const tm_column op_columns[] = {
    {"name", TM_TEXT, "", "Name of the operator."},
    TM_CALL_COLUMNS("operator", "operators"),
    FITS,
};

static const tm_column shape_columns[] = {
    {"name", TM_TEXT, "", "Name of the operator."},
    {"shapes", TM_TEXT, "",
     "Dimensions of the operator's inputs as in the trace, cut at 512 bytes."},
    TM_CALL_COLUMNS("operator", "operators"),
    FITS,
};

static const tm_table_def op_part = TM_CALL_PART("operators.op_part", TM_CALL_P_N);
static const tm_table_def shape_part = TM_CALL_PART("operators.shape_part", TM_CALL_P_N);

static const tm_table_def op_def = {
    .name = "operators.op",
    .doc = "A row for each operator over all ranks. Operators of a thread nest by time. Limited to "
           "the 1000 operators with the largest device_self_ns, then host_self_ns; sorted in this "
           "order.",
    .columns = op_columns,
    .n_columns = sizeof op_columns / sizeof *op_columns,
    .n_keys = 1,
    .top = 1 + TM_CALL_DEVICE_SELF,
};

static const tm_table_def shape_def = {
    .name = "operators.shape",
    .doc = "A row for each operator and its input shapes over all ranks, if the profiler recorded "
           "shapes. Limited to the 1000 rows with the largest device_self_ns, then host_self_ns; "
           "sorted in this order.",
    .columns = shape_columns,
    .n_columns = sizeof shape_columns / sizeof *shape_columns,
    .n_keys = 2,
    .top = 2 + TM_CALL_DEVICE_SELF,
};

static const tm_table_def tree_def = {
    .name = "operators.tree",
    .doc = "A row for each path of nested operators, merged over ranks. Backward work is nested in "
           "autograd's nodes on a separate thread. The table has the 10000 nodes with the largest "
           "host_total_ns, one node for all others, and rows in brackets for work that no operator "
           "launched. device_self_ns of all rows adds up to the time of all streams of the ranks "
           "with operators.",
    .columns = tm_tree_columns,
    .n_columns = TM_TREE_N,
    .n_keys = 1,
    .top = TM_TREE_DEVICE_TOTAL,
};

static const tm_table_def tree_part = TM_TREE_PART("operators.tree_part", TM_TREE_P_N);

static const tm_table_def *const defs[] = {&op_def,  &shape_def,  &tree_def,
                                           &op_part, &shape_part, &tree_part};

static tm_status operators_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    TM_TRY(tm_call_rows(view, view->operators, tm_tables_find(out, op_part.name),
                        tm_tables_find(out, shape_part.name), err));
    return view->operators->n == 0 ? TM_OK
                                   : tm_tree_rows(view, view->operators, NULL,
                                                  tm_tables_find(out, tree_part.name), err);
}

static tm_status operators_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_call_merge(names, tm_tables_find(tables, op_part.name),
                         tm_tables_find(tables, op_def.name), err));
    TM_TRY(tm_call_merge(names, tm_tables_find(tables, shape_part.name),
                         tm_tables_find(tables, shape_def.name), err));
    return tm_tree_merge(names, tm_tables_find(tables, tree_part.name), "(outside of any operator)",
                         tm_tables_find(tables, tree_def.name), err);
}

/* Each process sent the most expensive rows of its keys, which include those of the job. */
static tm_status operators_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    tm_call_order(tm_tables_find(out, op_def.name));
    tm_call_order(tm_tables_find(out, shape_def.name));
    return tm_tree_number(tm_tables_find(out, tree_def.name), err);
}

const tm_analysis tm_analysis_operators = {
    .name = "operators",
    .summary = "which operators cost most, on the host and on the GPU",
    .tables = defs,
    .n_tables = sizeof defs / sizeof *defs,
    .rank = operators_rank,
    .merge = operators_merge,
    .job = operators_job,
};
