#include "report/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_hosts.h"
#include "report/page_json.h"

/* Attributes of the store that the page shows. They say how the store was made. */
static const char *const text_facts[] = {"command",      "align", "comm_pattern",
                                         "step_pattern", "peak",  "tool_version"};
static const char *const number_facts[] = {"world_size", "wall_uncertainty_ns"};

/* Maximum number of ranges in the list of ranks without a trace. */
enum { MISSING_RUNS = 256 };

static void put_number(tm_out *out, const char *name, int64_t value) {
    char text[80];
    snprintf(text, sizeof text, "\"%s\":%lld,", name, (long long)value);
    tm_out_string(out, text);
}

static void put_real(tm_out *out, const char *name, double value) {
    char text[80];
    snprintf(text, sizeof text, "\"%s\":%.17g,", name, value);
    tm_out_string(out, text);
}

static tm_status put_attributes(const tm_store *store, tm_out *out, int64_t *world, tm_error *err) {
    for (size_t i = 0; i < sizeof text_facts / sizeof *text_facts; i++) {
        char *text;
        TM_TRY(tm_store_read_text(store, text_facts[i], &text, err));
        tm_report_json_string(out, text_facts[i], strlen(text_facts[i]));
        tm_out_char(out, ':');
        if (text)
            tm_report_json_string(out, text, strlen(text));
        else
            tm_out_string(out, "null");
        tm_out_char(out, ',');
        free(text);
    }
    for (size_t i = 0; i < sizeof number_facts / sizeof *number_facts; i++) {
        int64_t value;
        TM_TRY(tm_store_read_number(store, number_facts[i], -1, &value, err));
        put_number(out, number_facts[i], value);
        *world = i == 0 ? value : *world;
    }
    return TM_OK;
}

/* Returns the last part of a path. Returns "" if this part starts with a dot or is too long. */
static void last_part(const char *path, size_t size, char out[TM_PAGE_NAME_MAX + 1]) {
    while (size > 0 && path[size - 1] == '/')
        size--;
    size_t begin = size;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    bool named = size > begin && path[begin] != '.' && size - begin <= TM_PAGE_NAME_MAX;
    if (named)
        snprintf(out, TM_PAGE_NAME_MAX + 1, "%.*s", (int)(size - begin), path + begin);
}

/* Names the job after the folder that contains all traces. If there is a single trace, names it
 * after the file. If the traces are in several folders, the name is "". */
static void job_name(const tm_table *ranks, char out[TM_PAGE_NAME_MAX + 1]) {
    const char *first = NULL;
    size_t size = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *source = tm_table_cell(ranks, i, "source");
        const char *path = source->null ? "" : source->value.text;
        size_t length = strcspn(path, ",");
        if (ranks->n_rows == 1 && path[length] == '\0') {
            last_part(path, length, out);
            return;
        }
        while (length > 0 && path[length - 1] != '/')
            length--;
        if (first && (length != size || memcmp(path, first, size) != 0))
            return;
        first = path;
        size = length;
    }
    last_part(first, size, out);
}

/* Writes the number of ranks without a trace. Also writes the first ranges of these ranks, each as
 * [first, last]. */
static void put_missing(const tm_table *ranks, int64_t world, tm_out *out) {
    int64_t next = 0, n = 0, runs = 0;
    char text[64];
    tm_out_string(out, "\"missing\":[");
    for (size_t row = 0; row <= ranks->n_rows; row++) {
        int64_t rank = row < ranks->n_rows ? tm_table_cell(ranks, row, "rank")->value.i : world;
        if (rank > next) {
            snprintf(text, sizeof text, "%s[%lld,%lld]", runs > 0 ? "," : "", (long long)next,
                     (long long)rank - 1);
            if (runs++ < MISSING_RUNS)
                tm_out_string(out, text);
            n += rank - next;
        }
        next = rank + 1 > next ? rank + 1 : next;
    }
    tm_out_string(out, "],");
    put_number(out, "missing_count", n);
}

static void put_numbers(tm_out *out, const char *name, const tm_vec *numbers) {
    char text[32];
    tm_out_char(out, '"');
    tm_out_string(out, name);
    tm_out_string(out, "\":[");
    for (size_t i = 0; i < numbers->n; i++) {
        snprintf(text, sizeof text, "%s%lld", i > 0 ? "," : "",
                 (long long)((const int64_t *)numbers->data)[i]);
        tm_out_string(out, text);
    }
    tm_out_string(out, "],");
}

/* Writes the kept ranks and steps of tables that have a row for each rank and step. Writes nothing
 * if these tables keep all ranks and steps. */
static void put_kept(const tm_page_selection *selection, tm_out *out) {
    bool ranks = selection->ranks.cells.n < selection->ranks.n;
    bool steps = selection->steps.cells.n < selection->steps.n;
    const tm_step_time *time = &selection->step_time;
    if (!ranks && !steps)
        return;
    put_number(out, "ranks", (int64_t)selection->ranks.n);
    put_number(out, "ranks_kept", (int64_t)selection->ranks.kept.n);
    put_number(out, "steps", (int64_t)selection->steps.n);
    put_number(out, "steps_kept", (int64_t)selection->steps.kept.n);
    put_numbers(out, "cell_ranks", &selection->ranks.cells);
    put_numbers(out, "cell_steps", &selection->steps.cells);
    if (!time->known)
        return;
    put_real(out, "step_median_ns", time->median_ns);
    put_real(out, "step_least_ns", time->least_ns);
    put_real(out, "step_most_ns", time->most_ns);
}

static tm_status put_hosts(const tm_store *store, const tm_tables *tables, const tm_table *ranks,
                           tm_out *out, tm_error *err) {
    tm_table *overlap = tm_tables_find(tables, "overlap.rank");
    tm_table *stragglers = tm_tables_find(tables, "stragglers.rank");
    tm_status status = tm_page_read_table(store, overlap, err);
    if (status == TM_OK)
        status = tm_page_read_table(store, stragglers, err);
    if (status == TM_OK)
        status = tm_page_hosts_put(ranks, overlap, stragglers, out, err);
    tm_table_clear(overlap);
    tm_table_clear(stragglers);
    return status;
}

tm_status tm_page_job_make(const tm_store *store, const tm_tables *tables,
                           const tm_page_selection *selection, tm_page_job *out, tm_error *err) {
    tm_table *job = tm_tables_find(tables, "job.job"), *ranks = tm_tables_find(tables, "job.rank");
    int64_t world = -1;
    *out = (tm_page_job){.facts = TM_OUT()};
    TM_TRY(put_attributes(store, &out->facts, &world, err));
    tm_status status = tm_page_read_table(store, job, err);
    if (status == TM_OK && job->n_rows > 0 && !tm_table_cell(job, 0, "begin_ns")->null)
        out->begin_ns = tm_table_cell(job, 0, "begin_ns")->value.i;
    tm_table_clear(job);
    if (status == TM_OK)
        status = tm_page_read_table(store, ranks, err);
    job_name(ranks, out->name);
    put_kept(selection, &out->facts);
    if (status == TM_OK && tm_page_is_part(&selection->ranks)) {
        put_missing(ranks, world, &out->facts);
        status = put_hosts(store, tables, ranks, &out->facts, err);
    }
    tm_table_clear(ranks);
    return status == TM_OK && out->facts.failed ? tm_fail_memory(err) : status;
}

void tm_page_job_free(tm_page_job *job) {
    tm_vec_free(&job->facts.bytes);
}
