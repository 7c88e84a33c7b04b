/* Analysis `operators`: which operators cost most, on the host and on the GPU. */
#include "tmerge/analysis.h"

#include "call_tables.h"

#define FITS                                                                                       \
    {                                                                                              \
        "tensor_cores_fit", TM_BOOL, "",                                                           \
            "Libraries have tensor-core kernels for it or for an operator inside it, or it used "  \
            "some."                                                                                \
    }

static const tm_column op_columns[] = {
    {"name", TM_TEXT, "", "Name of the operator."},
    TM_CALL_COLUMNS("operator", "operators"),
    FITS,
};

static const tm_column shape_columns[] = {
    {"name", TM_TEXT, "", "Name of the operator."},
    {"shapes", TM_TEXT, "", "Dimensions of its inputs as the trace has them, cut at 512 bytes."},
    TM_CALL_COLUMNS("operator", "operators"),
    FITS,
};

static const tm_table_def op_part = TM_CALL_PART("operators.op_part");
static const tm_table_def shape_part = TM_CALL_PART("operators.shape_part");

static const tm_table_def op_def = {
    .name = "operators.op",
    .doc = "A row for each operator over all ranks, the 1000 with most device_self_ns, then "
           "host_self_ns, in this order. An operator lies in another of its thread by time.",
    .columns = op_columns,
    .n_columns = sizeof op_columns / sizeof *op_columns,
    .n_keys = 1,
    .top = 1 + TM_CALL_DEVICE_SELF,
};

static const tm_table_def shape_def = {
    .name = "operators.shape",
    .doc = "The same by operator and input shapes, where the profiler recorded shapes.",
    .columns = shape_columns,
    .n_columns = sizeof shape_columns / sizeof *shape_columns,
    .n_keys = 2,
    .top = 2 + TM_CALL_DEVICE_SELF,
};

static const tm_table_def *const defs[] = {&op_def, &shape_def, &op_part, &shape_part};

static tm_status operators_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    /* Twice over the same calls: a call without shapes counts by its name alone. */
    TM_TRY(tm_call_rows(view, view->operators, false, tm_tables_find(out, op_part.name), err));
    return tm_call_rows(view, view->operators, true, tm_tables_find(out, shape_part.name), err);
}

static tm_status operators_merge(const tm_names *names, tm_tables *tables, tm_error *err) {
    TM_TRY(tm_call_merge(names, tm_tables_find(tables, op_part.name),
                         tm_tables_find(tables, op_def.name), err));
    return tm_call_merge(names, tm_tables_find(tables, shape_part.name),
                         tm_tables_find(tables, shape_def.name), err);
}

/* Each process sent the rows of its keys that cost most; the job's are among them. */
static tm_status operators_job(const tm_job *job, tm_tables *out, tm_error *err) {
    (void)job;
    (void)err;
    tm_call_order(tm_tables_find(out, op_def.name));
    tm_call_order(tm_tables_find(out, shape_def.name));
    return TM_OK;
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
