/* Runs every analysis, in the order of analyses.def: on a rank, on what a process matched, on rows
 * brought together, on the job. */
#include "analysis/analyses.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/gaps.h"
#include "analysis/shared/host_time.h"
#include "analysis/shared/passes.h"
#include "analysis/shared/words.h"
#include "base/vec.h"

static const tm_analysis *const analyses[] = {
#define TM_ANALYSIS(room, name) &tm_analysis_##name,
#include "analysis/analyses.def"
#undef TM_ANALYSIS
};

enum { N_ANALYSES = sizeof analyses / sizeof *analyses };

const tm_analysis *const *tm_analyses(size_t *n) {
    *n = N_ANALYSES;
    return analyses;
}

tm_status tm_analysis_tables(tm_tables *out, tm_error *err) {
    tm_vec defs = TM_VEC(const tm_table_def *);
    tm_status status = TM_OK;
    for (size_t a = 0; a < N_ANALYSES && status == TM_OK; a++)
        if (!tm_vec_append(&defs, analyses[a]->tables, analyses[a]->n_tables))
            status = tm_fail_memory(err);
    if (status == TM_OK)
        status = tm_tables_create(defs.data, defs.n, out, err);
    tm_vec_free(&defs);
    return status;
}

static tm_status run_rank(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    for (size_t a = 0; a < N_ANALYSES; a++)
        if (analyses[a]->rank)
            TM_TRY(analyses[a]->rank(view, out, err));
    return TM_OK;
}

tm_status tm_analyse_rank(const tm_timeline *timeline, tm_call_kinds *call_kinds, tm_tables *out,
                          tm_error *err) {
    tm_busy busy;
    tm_calls operators = {0}, places = {0}, annotations = {0};
    tm_host_time host = {0};
    tm_gaps gaps = {0};
    tm_passes passes = {0};
    tm_rank_view view = {timeline,   call_kinds->names, &busy, &operators, &host,
                         call_kinds, &places,           &gaps, &passes,    &annotations};
    tm_status status = tm_busy_compute(timeline, &busy, err);
    if (status == TM_OK)
        status = tm_calls_find_operators(timeline, call_kinds, &operators, err);
    if (status == TM_OK)
        status = tm_host_time_find(timeline, call_kinds, &host, err);
    if (status == TM_OK)
        status = tm_calls_find_places(timeline, call_kinds, &places, err);
    if (status == TM_OK)
        status = tm_calls_find_annotations(timeline, call_kinds, &annotations, err);
    if (status == TM_OK)
        status = tm_gaps_find(&view, &gaps, err);
    if (status == TM_OK)
        status = tm_passes_find(&view, &passes, err);
    if (status == TM_OK)
        status = run_rank(&view, out, err);
    tm_passes_free(&passes);
    tm_gaps_free(&gaps);
    tm_host_time_free(&host);
    tm_calls_free(&operators);
    tm_calls_free(&places);
    tm_calls_free(&annotations);
    tm_busy_free(&busy);
    return status;
}

tm_status tm_analyse_collectives(const struct tm_collectives *own, tm_tables *out, tm_error *err) {
    for (size_t a = 0; a < N_ANALYSES; a++)
        if (analyses[a]->collectives)
            TM_TRY(analyses[a]->collectives(own, out, err));
    return TM_OK;
}

tm_status tm_analyse_put_aside(tm_tables *tables, tm_error *err) {
    const size_t many_bytes = 1 << 20; /* of cells */
    for (size_t t = 0; t < tables->n_tables; t++) {
        const tm_table *table = &tables->tables[t];
        if (table->n_rows * (size_t)table->def->n_columns * sizeof(tm_cell) >= many_bytes)
            TM_TRY(tm_table_put_aside(&tables->tables[t], err));
    }
    return TM_OK;
}

/* Sorted, the rows of one key stand together. Merged they are in the tables that are shown, and go
 * no further: there may be ranks x names of them. */
tm_status tm_analyse_merged(const tm_analysis *analysis, const tm_names *names, tm_tables *tables,
                            tm_error *err) {
    tm_status status = TM_OK;
    for (size_t t = 0; t < analysis->n_tables; t++)
        if (analysis->tables[t]->n_merged > 0)
            tm_table_sort(tm_tables_find(tables, analysis->tables[t]->name));
    if (analysis->merge)
        status = analysis->merge(names, tables, err);
    for (size_t t = 0; t < analysis->n_tables; t++)
        if (analysis->tables[t]->n_merged > 0)
            tm_table_clear(tm_tables_find(tables, analysis->tables[t]->name));
    return status;
}

/* What one part asked for rests again before there is much of it: all rows of a job of many ranks
 * are more than all else. */
static tm_status rest(tm_tables *tables, tm_error *err) {
    enum { AWAKE_BYTES = 32 << 20 };
    size_t bytes = 0;
    for (size_t t = 0; t < tables->n_tables; t++)
        bytes +=
            tables->tables[t].capacity * (size_t)tables->tables[t].def->n_columns * sizeof(tm_cell);
    for (size_t t = 0; t < tables->n_tables && bytes > AWAKE_BYTES; t++)
        TM_TRY(tm_table_rest(&tables->tables[t], err));
    return TM_OK;
}

/* Job parts look rows up by halving and go through tables side by side; what they add they keep in
 * order themselves. */
tm_status tm_analyse_job(const tm_job *job, tm_tables *out, tm_error *err) {
    for (size_t t = 0; t < out->n_tables; t++)
        tm_table_sort(&out->tables[t]);
    for (size_t a = 0; a < N_ANALYSES; a++)
        if (analyses[a]->job) {
            TM_TRY(analyses[a]->job(job, out, err));
            TM_TRY(rest(out, err));
        }
    TM_TRY(tm_words_say_all(out, err));
    return tm_tables_whole(out, err);
}
