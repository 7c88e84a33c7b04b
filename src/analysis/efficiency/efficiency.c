/* Analysis `efficiency`: how many arithmetic operations devices compute, as a share of their peak
 * rates. */
#include "counted_calls.h"
#include "rows.h"

static const tm_table_def *const defs[] = {
    &tm_efficiency_rank_table,  &tm_efficiency_step_table, &tm_work_table, &tm_work_part,
    &tm_efficiency_number_part,
};

static tm_status efficiency_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    tm_counted_calls calls;
    /* A rank has either XLA's operations or PyTorch's operators with shapes. */
    tm_status status = view->timeline->n_attrs[TM_ATTR_XLA] > 0
                           ? tm_compiled_calls_find(view, &calls, err)
                           : tm_counted_calls_find(view, &calls, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_work_rows(view, &calls, out, err);
    if (status == TM_OK && calls.n > 0)
        status = tm_efficiency_rows(view, &calls, out, err);
    tm_counted_calls_free(&calls);
    return status;
}

static tm_status efficiency_job(const tm_job *job, tm_tables *out, tm_error *err) {
    tm_peaks common;
    TM_TRY(tm_efficiency_complete(job->peaks, out, &common, err));
    tm_work_order(&common, out);
    return TM_OK;
}

const tm_analysis tm_analysis_efficiency = {
    .name = "efficiency",
    .summary = "FLOP of matrix multiplications, convolutions, attention and XLA's operations, and "
               "model FLOP utilisation (MFU)",
    TM_ARRAY(tables, defs),
    .reads = TM_READS_PLACES,
    .rank = efficiency_rank,
    .merge = tm_work_merge,
    .job = efficiency_job,
};
