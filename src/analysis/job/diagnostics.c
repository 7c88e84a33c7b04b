#include "diagnostics.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/vec.h"

enum { RANK, SOURCE, DIAGNOSTIC, CLASS, COUNT, MEANING, N_COLUMNS };

static const tm_column columns[N_COLUMNS] = {
    [RANK] = {"rank", TM_INT, "", "Global rank."},
    [SOURCE] = {"source", TM_TEXT, "",
                "Path of the trace as given; null for traces that were left out of the job."},
    [DIAGNOSTIC] = {"remark", TM_TEXT, "",
                    "What was found: the name of a column of /spans, without its n_."},
    [CLASS] = {"class", TM_TEXT, "",
               "What was done. repaired: malformed text was repaired. skipped: events were "
               "dropped. odd: data was kept, but may make figures wrong. minor: data was kept, and "
               "does not affect the summary."},
    [COUNT] = {"count", TM_INT, "",
               "Number of repaired values or strings; for other classes, number of events."},
    [MEANING] = {"meaning", TM_TEXT, "", "What exactly is counted."},
};

const tm_table_def tm_diagnostic_table = {
    .name = "job.remark",
    .doc = "A row for each trace and kind of repaired, skipped or odd data in it.",
    TM_ARRAY(columns, columns),
    .n_keys = 3,
    .top = COUNT,
    .n_prose = 1,
};

static const char *class_word(tm_diagnostic diagnostic) {
    switch (diagnostic) {
    case TM_DIAGNOSTIC_MINOR:
        return "minor";
    case TM_DIAGNOSTIC_ODD:
        return "odd";
    case TM_DIAGNOSTIC_REPAIRED:
        return "repaired";
    case TM_DIAGNOSTIC_SKIPPED:
        return "skipped";
    default:
        return NULL; /* not reported */
    }
}

/* Adds a row for each count that is reported.
 * @param source  name id of the trace's path; TM_NO_NAME for traces that were left out */
static tm_status add_rows(const tm_rank_view *view, uint32_t source, const int64_t *counts,
                          tm_table *table, tm_error *err) {
    for (int c = 0; c < TM_N_COUNTS; c++) {
        const tm_count_def *def = tm_count_info((tm_count)c);
        const char *class = class_word(def->diagnostic);
        if (!class || counts[c] == 0)
            continue;
        tm_cell *row = tm_table_add_row(table);
        if (!row)
            return tm_fail_memory(err);
        tm_text path = tm_names_text(view->names, source);
        tm_cell_set_int(&row[RANK], view->timeline->rank);
        tm_cell_set_int(&row[COUNT], counts[c]);
        if (source != TM_NO_NAME)
            TM_TRY(tm_table_set_bytes(table, &row[SOURCE], path.bytes, path.size, err));
        TM_TRY(tm_table_set_text(table, &row[DIAGNOSTIC], def->word, err));
        TM_TRY(tm_table_set_text(table, &row[CLASS], class, err));
        TM_TRY(tm_table_set_text(table, &row[MEANING], def->doc, err));
    }
    return TM_OK;
}

/* A rank's count may exceed the sum over its spans, because traces that were left out also
 * count. */
tm_status tm_diagnostic_rows(const tm_rank_view *view, tm_tables *out, tm_error *err) {
    const tm_timeline *timeline = view->timeline;
    tm_table *table = tm_tables_find(out, tm_diagnostic_table.name);
    int64_t rest[TM_N_COUNTS];
    for (int c = 0; c < TM_N_COUNTS; c++)
        rest[c] = timeline->counts[c];
    for (size_t i = 0; i < timeline->n_spans; i++) {
        const tm_span *span = &timeline->spans[i];
        TM_TRY(add_rows(view, span->source, span->counts, table, err));
        for (int c = 0; c < TM_N_COUNTS; c++)
            rest[c] -= span->counts[c];
    }
    return add_rows(view, TM_NO_NAME, rest, table, err);
}

tm_status tm_diagnostic_text(const tm_timeline *timeline, tm_table *table, tm_cell *cell,
                             tm_error *err) {
    tm_vec joined = TM_VEC(char);
    bool ok = true;
    for (int c = 0; c < TM_N_COUNTS && ok; c++) {
        char text[80];
        const tm_count_def *def = tm_count_info((tm_count)c);
        if (!class_word(def->diagnostic) || timeline->counts[c] == 0)
            continue;
        int n = snprintf(text, sizeof text, "%s%" PRId64 " %s", joined.n > 0 ? ", " : "",
                         timeline->counts[c], def->word);
        ok = tm_vec_append(&joined, text, (size_t)n) != NULL;
    }
    tm_status status = !ok ? tm_fail_memory(err)
                       : joined.n == 0
                           ? TM_OK
                           : tm_table_set_bytes(table, cell, joined.data, joined.n, err);
    tm_vec_free(&joined);
    return status;
}
