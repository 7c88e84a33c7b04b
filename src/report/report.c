#include "tmerge/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page_mark.h"
#include "report/json.h"
#include "report/page.h"
#include "report/path.h"
#include "report/timeline.h"
#include "tmerge/analysis.h"

enum {
    INLINE_BYTES = 1 << 16, /* of a table's rows; larger ones are blocks */
    NAME_MAX_BYTES = 120,
    MARK_BYTES = 4096
};

/* The one table that a page may hold a part of. */
static const char PIECES[] = "criticalpath.piece";

/* A page in the making. */
typedef struct writer {
    const tm_tables *tables;
    tm_out json;       /* what stands before the program */
    tm_out *rows;      /* [tables->n_tables] of the large tables, whose rows follow behind it */
    int64_t begin_ns;  /* what the page's times begin at */
    const char *kind;  /* "report" or "diff" */
    const char *title; /* of the page, before "tmerge" */
    const char *version;
    size_t pieces_left_out; /* of the critical path */
} writer;

/* The store's attributes that say how it was made. */
static const char *const text_facts[] = {"command", "align", "comm_pattern", "step_pattern",
                                         "tool_version"};
static const char *const number_facts[] = {"world_size", "wall_uncertainty_ns"};

static void put_string(tm_out *out, const char *text) {
    tm_report_json_string(out, text, strlen(text));
}

static void put_member(tm_out *out, const char *name, const char *value) {
    put_string(out, name);
    tm_out_char(out, ':');
    if (value)
        put_string(out, value);
    else
        tm_out_string(out, "null");
}

static tm_status put_facts(tm_out *out, const tm_store *store, tm_error *err) {
    tm_out_string(out, ",\"facts\":{");
    for (size_t i = 0; store && i < sizeof text_facts / sizeof *text_facts; i++) {
        char *text;
        TM_TRY(tm_store_read_text(store, text_facts[i], &text, err));
        put_member(out, text_facts[i], text);
        tm_out_char(out, ',');
        free(text);
    }
    for (size_t i = 0; store && i < sizeof number_facts / sizeof *number_facts; i++) {
        int64_t value;
        char digits[48];
        TM_TRY(tm_store_read_number(store, number_facts[i], -1, &value, err));
        snprintf(digits, sizeof digits, "\"%s\":%lld,", number_facts[i], (long long)value);
        tm_out_string(out, digits);
    }
    tm_out_string(out, "\"page\":1}");
    return TM_OK;
}

/* The folder that all traces lie in, by which people call a job: "" where they have none in common.
 */
static void common_folder(const tm_table *ranks, char out[NAME_MAX_BYTES + 1]) {
    const char *first = NULL;
    size_t size = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ranks->n_rows; i++) {
        const tm_cell *source = tm_table_cell(ranks, i, "source");
        const char *path = source->null ? "" : source->value.text;
        size_t length = strcspn(path, ",");
        while (length > 0 && path[length - 1] != '/')
            length--;
        if (first && (length != size || memcmp(path, first, size) != 0))
            return;
        first = path;
        size = length;
    }
    while (size > 0 && first[size - 1] == '/')
        size--;
    size_t begin = size;
    while (begin > 0 && first[begin - 1] != '/')
        begin--;
    bool named = size > begin && first[begin] != '.' && size - begin <= NAME_MAX_BYTES;
    if (named)
        snprintf(out, NAME_MAX_BYTES + 1, "%.*s", (int)(size - begin), first + begin);
}

static bool is_shown(const tm_table *table) {
    return !table->def->internal;
}

static void put_left_out(writer *w, const tm_table *table) {
    char member[48];
    if (w->pieces_left_out == 0 || strcmp(table->def->name, PIECES) != 0)
        return;
    snprintf(member, sizeof member, ",\"left_out\":%zu", w->pieces_left_out);
    tm_out_string(&w->json, member);
}

static tm_status put_tables(writer *w, tm_error *err) {
    tm_out_string(&w->json, ",\"tables\":{");
    bool first = true;
    for (size_t t = 0; t < w->tables->n_tables; t++) {
        const tm_table *table = &w->tables->tables[t];
        if (!is_shown(table))
            continue;
        tm_report_json_rows(&w->rows[t], table, w->begin_ns);
        tm_out_string(&w->json, first ? "\n" : ",\n");
        first = false;
        put_string(&w->json, table->def->name);
        tm_out_char(&w->json, ':');
        tm_report_json_def(&w->json, table);
        put_left_out(w, table);
        if (w->rows[t].bytes.n <= INLINE_BYTES) {
            tm_out_string(&w->json, ",\"rows\":");
            tm_out_bytes(&w->json, w->rows[t].bytes.data, w->rows[t].bytes.n);
            tm_vec_free(&w->rows[t].bytes);
        } else {
            tm_out_string(&w->json, ",\"block\":\"table:");
            tm_out_string(&w->json, table->def->name);
            tm_out_char(&w->json, '"');
        }
        tm_out_char(&w->json, '}');
        if (w->rows[t].failed)
            return tm_fail_memory(err);
    }
    tm_out_string(&w->json, "\n}}");
    return TM_OK;
}

static tm_status put_document(writer *w, const tm_store *store, tm_error *err) {
    char digits[32] = "";
    if (w->begin_ns != 0)
        snprintf(digits, sizeof digits, "%lld", (long long)w->begin_ns);
    tm_out_string(&w->json, "{\"tmerge\":1,");
    put_member(&w->json, "kind", w->kind);
    tm_out_char(&w->json, ',');
    put_member(&w->json, "version", w->version);
    tm_out_char(&w->json, ',');
    put_member(&w->json, "name", w->title);
    tm_out_char(&w->json, ',');
    put_member(&w->json, "begin", digits);
    TM_TRY(put_facts(&w->json, store, err));
    TM_TRY(put_tables(w, err));
    return w->json.failed ? tm_fail_memory(err) : TM_OK;
}

static tm_status put_blocks(const writer *w, tm_page *page, tm_error *err) {
    char id[128];
    for (size_t t = 0; t < w->tables->n_tables; t++) {
        if (w->rows[t].bytes.n == 0)
            continue;
        snprintf(id, sizeof id, "table:%s", w->tables->tables[t].def->name);
        TM_TRY(tm_page_put_block(page, id, w->rows[t].bytes.data, w->rows[t].bytes.n, err));
    }
    return TM_OK;
}

static tm_status fill_page(writer *w, const tm_store *store, tm_page *page, tm_error *err) {
    TM_TRY(put_document(w, store, err));
    TM_TRY(tm_page_put_tables(page, w->json.bytes.data, w->json.bytes.n, err));
    TM_TRY(put_blocks(w, page, err));
    return store ? tm_report_timeline(store, w->tables, page, err) : TM_OK;
}

static tm_status write_page(writer *w, const tm_store *store, const char *path, tm_error *err) {
    char title[NAME_MAX_BYTES + 32];
    tm_page *page;
    snprintf(title, sizeof title, "%s%stmerge%s", w->title, *w->title ? " - " : "",
             strcmp(w->kind, "diff") == 0 ? " diff" : "");
    TM_TRY(tm_page_create(path, title, &page, err));
    w->json = TM_OUT();
    w->rows = malloc((w->tables->n_tables + 1) * sizeof *w->rows);
    tm_status status = w->rows ? TM_OK : tm_fail_memory(err);
    for (size_t t = 0; t < w->tables->n_tables && w->rows; t++)
        w->rows[t] = TM_OUT();
    if (status == TM_OK)
        status = fill_page(w, store, page, err);
    for (size_t t = 0; t < w->tables->n_tables && w->rows; t++)
        tm_vec_free(&w->rows[t].bytes);
    free(w->rows);
    tm_vec_free(&w->json.bytes);
    if (status == TM_OK)
        return tm_page_commit(page, err);
    tm_page_abandon(page);
    return status;
}

/* A store that an older tmerge wrote may lack a table, which is empty. */
static tm_status read_tables(const tm_store *store, tm_tables *tables, tm_error *err) {
    for (size_t t = 0; t < tables->n_tables; t++)
        if (is_shown(&tables->tables[t]) && tm_store_has_table(store, tables->tables[t].def->name))
            TM_TRY(tm_store_read_table(store, &tables->tables[t], err));
    return TM_OK;
}

tm_status tm_report_write(const tm_store *store, const char *path, const char *version,
                          tm_error *err) {
    tm_tables tables;
    TM_TRY(tm_analysis_tables(&tables, err));
    size_t left_out = 0;
    tm_status status = read_tables(store, &tables, err);
    if (status == TM_OK)
        status = tm_report_limit_path(tm_tables_find(&tables, PIECES), TM_REPORT_PIECES_MAX,
                                      &left_out, err);
    if (status == TM_OK) {
        char name[NAME_MAX_BYTES + 1];
        const tm_table *job = tm_tables_find(&tables, "job.job");
        common_folder(tm_tables_find(&tables, "job.rank"), name);
        bool known = job->n_rows > 0 && !tm_table_cell(job, 0, "begin_ns")->null;
        writer w = {.tables = &tables,
                    .kind = "report",
                    .title = name,
                    .version = version,
                    .pieces_left_out = left_out,
                    .begin_ns = known ? tm_table_cell(job, 0, "begin_ns")->value.i : 0};
        status = write_page(&w, store, path, err);
    }
    tm_tables_destroy(&tables);
    return status;
}

tm_status tm_report_write_diff(const tm_tables *found, const char *path, const char *version,
                               tm_error *err) {
    writer w = {.tables = found, .kind = "diff", .title = "", .version = version};
    return write_page(&w, NULL, path, err);
}

bool tm_report_is_page(const char *path) {
    char head[MARK_BYTES + 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, MARK_BYTES);
    if (fd >= 0)
        (void)close(fd);
    if (n < 0)
        return false;
    head[n] = '\0';
    return tm_page_mark(head);
}
