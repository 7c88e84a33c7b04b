/* Runs all analyses in the order of analyses.def. An analysis has up to four parts: for a rank, for
 * the collectives that a process matched, for merging rows, and for the job. */
#include "analysis/analyses.h"

#include "analysis/shared/busy.h"
#include "analysis/shared/call_kinds.h"
#include "analysis/shared/calls.h"
#include "analysis/shared/gaps.h"
#include "analysis/shared/host_time.h"
#include "analysis/shared/lost.h"
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

/* Inputs that the analyses of a rank share. `work`, `gaps`, `places` and `annotations` exist only
 * while an analysis needs them. */
typedef struct rank_facts {
    tm_busy busy;
    tm_calls operators;
    tm_host_time host;
    tm_passes passes;
    tm_lost lost;
    tm_vec devices;
    tm_host_work work;
    tm_gaps gaps;
    tm_calls places, annotations;
    /* bits of tm_reads: the inputs among `work`, `gaps`, `places` and `annotations` that exist */
    unsigned made;
} rank_facts;

/* Computes the inputs in @p reads that do not exist yet. TM_READS_WORK needs nothing here, because
 * work is computed together with the host's time. */
static tm_status make(const tm_rank_view *view, unsigned reads, rank_facts *facts, tm_error *err) {
    unsigned missing = reads & ~facts->made;
    facts->made |= missing;
    if (missing & TM_READS_GAPS)
        TM_TRY(tm_gaps_find(view, &facts->gaps, err));
    if (missing & TM_READS_PLACES)
        TM_TRY(tm_calls_find_places(view->timeline, view->call_kinds, &facts->places, err));
    return missing & TM_READS_ANNOTATIONS
               ? tm_calls_find_annotations(view->timeline, view->call_kinds, &facts->annotations,
                                           err)
               : TM_OK;
}

/* Frees inputs that no later analysis reads. */
static void leave(unsigned still_read, rank_facts *facts) {
    unsigned spent = facts->made & ~still_read;
    facts->made &= still_read;
    if (spent & TM_READS_WORK)
        tm_host_work_free(&facts->work);
    if (spent & TM_READS_GAPS)
        tm_gaps_free(&facts->gaps);
    if (spent & TM_READS_PLACES)
        tm_calls_free(&facts->places);
    if (spent & TM_READS_ANNOTATIONS)
        tm_calls_free(&facts->annotations);
}

static tm_status run_one(const tm_analysis *analysis, tm_rank_view view, rank_facts *facts,
                         tm_tables *out, tm_error *err) {
    TM_TRY(make(&view, analysis->reads, facts, err));
    view.work = analysis->reads & TM_READS_WORK ? &facts->work : NULL;
    view.gaps = analysis->reads & TM_READS_GAPS ? &facts->gaps : NULL;
    view.places = analysis->reads & TM_READS_PLACES ? &facts->places : NULL;
    view.annotations = analysis->reads & TM_READS_ANNOTATIONS ? &facts->annotations : NULL;
    return analysis->rank(&view, out, err);
}

static tm_status run_rank(const tm_rank_view *view, rank_facts *facts, tm_tables *out,
                          tm_error *err) {
    /* [a]: inputs that analysis number a or any analysis after it reads */
    unsigned reads[N_ANALYSES + 1] = {0};
    for (size_t a = N_ANALYSES; a-- > 0;)
        reads[a] = reads[a + 1] | analyses[a]->reads;
    tm_status status = TM_OK;
    for (size_t a = 0; a < N_ANALYSES && status == TM_OK; a++) {
        /* If only communication was recorded, analyses that read anything else have no result. */
        if (analyses[a]->rank && !(view->busy->comm_alone && analyses[a]->reads))
            status = run_one(analyses[a], *view, facts, out, err);
        leave(reads[a + 1], facts);
    }
    return status;
}

tm_status tm_analyse_rank(const tm_timeline *timeline, tm_call_kinds *call_kinds, tm_tables *out,
                          tm_error *err) {
    rank_facts facts = {.made = TM_READS_WORK, .devices = TM_VEC(tm_device_busy)};
    const tm_rank_view view = {.timeline = timeline,
                               .names = call_kinds->names,
                               .n_names = tm_timeline_n_names(timeline),
                               .busy = &facts.busy,
                               .operators = &facts.operators,
                               .host = &facts.host,
                               .call_kinds = call_kinds,
                               .passes = &facts.passes,
                               .lost = &facts.lost,
                               .devices = &facts.devices};
    tm_status status = tm_busy_compute(timeline, &facts.busy, err);
    if (status == TM_OK)
        status = tm_busy_by_device(timeline, &facts.devices, err);
    if (status == TM_OK)
        status = tm_calls_find_operators(timeline, call_kinds, &facts.operators, err);
    if (status == TM_OK)
        status = tm_host_time_find(timeline, call_kinds, &facts.host, &facts.work, err);
    if (status == TM_OK)
        status = tm_passes_find(&view, &facts.passes, err);
    if (status == TM_OK)
        status = tm_lost_find(&view, &facts.lost, err);
    if (status == TM_OK)
        status = run_rank(&view, &facts, out, err);
    leave(0, &facts);
    tm_lost_free(&facts.lost);
    tm_passes_free(&facts.passes);
    tm_host_time_free(&facts.host);
    tm_calls_free(&facts.operators);
    tm_busy_free_devices(&facts.devices);
    tm_busy_free(&facts.busy);
    return status;
}

tm_status tm_analyse_collectives(const struct tm_collectives *own, tm_tables *out, tm_error *err) {
    for (size_t a = 0; a < N_ANALYSES; a++)
        if (analyses[a]->collectives)
            TM_TRY(analyses[a]->collectives(own, out, err));
    TM_TRY(tm_analyse_compress(out, err));
    for (size_t t = 0; t < out->n_tables; t++)
        tm_table_trim(&out->tables[t]); /* all ranks have added their rows */
    return TM_OK;
}

tm_status tm_analyse_compress(tm_tables *tables, tm_error *err) {
    const size_t many_bytes = 1 << 20; /* size of a table's cells */
    for (size_t t = 0; t < tables->n_tables; t++) {
        const tm_table *table = &tables->tables[t];
        if (table->n_rows * (size_t)table->def->n_columns * sizeof(tm_cell) >= many_bytes)
            TM_TRY(tm_table_compress(&tables->tables[t], err));
    }
    return TM_OK;
}

/* Merges adjacent rows with equal keys into the result tables. Then drops the part tables, which
 * have up to ranks x names rows. */
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
            tm_table_clear_rows(tm_tables_find(tables, analysis->tables[t]->name));
    return status;
}

/* Compresses the tables again if they take more than most_bytes, because job parts decompress the
 * tables that they read. In a large job, these rows would need more memory than everything else. */
static tm_status rest(tm_tables *tables, size_t most_bytes, tm_error *err) {
    size_t bytes = 0;
    for (size_t t = 0; t < tables->n_tables; t++)
        bytes +=
            tables->tables[t].capacity * (size_t)tables->tables[t].def->n_columns * sizeof(tm_cell);
    for (size_t t = 0; t < tables->n_tables && bytes > most_bytes; t++)
        TM_TRY(tm_table_rest(&tables->tables[t], err));
    return TM_OK;
}

/* Sorts all tables first, because job parts need sorted tables. A job part may then reorder the
 * result tables of its own analysis. */
tm_status tm_analyse_job(const tm_job *job, tm_tables *out, tm_error *err) {
    const size_t awake_bytes = 32 << 20, last_bytes = 8 << 20;
    for (size_t t = 0; t < out->n_tables; t++)
        tm_table_sort(&out->tables[t]);
    for (size_t a = 0; a < N_ANALYSES; a++)
        if (analyses[a]->job) {
            TM_TRY(analyses[a]->job(job, out, err));
            TM_TRY(rest(out, awake_bytes, err));
        }
    TM_TRY(tm_words_say_all(out, err));
    TM_TRY(tm_tables_whole(out, err));
    return rest(out, last_bytes, err);
}
