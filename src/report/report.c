#include "tmerge/report.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page_mark.h"
#include "report/built.h"
#include "report/facts.h"
#include "report/page_file.h"
#include "report/page_json.h"
#include "report/page_selection.h"
#include "report/page_timeline.h"
#include "report/top_rows.h"
#include "tmerge/analysis.h"

enum {
    /* If the rows of a table have at most this size [B], they are in the document of tables.
     * Otherwise, they are packed in a block. */
    INLINE_BYTES = 1 << 16,
    REST_BYTES = 900000, /* room reserved for the timeline [B] */
    TRIES_MOST = 8,
    MARK_BYTES = 4096
};

static const char *const timeline_needs[] = {"job.job", "overlap.step", "stragglers.job",
                                             "stragglers.step"};

typedef struct table_part {
    tm_vec packed; /* vector of unsigned char: rows of a large table, written after the program */
    size_t n_rows;
    size_t size; /* size of the rows in the page [B] */
    size_t most; /* maximum number of rows that the page may have */
} table_part;

typedef struct writer {
    const tm_store *store;        /* the store; NULL: the tables already have their rows */
    const tm_page_source *source; /* timelines; NULL: read them from the store */
    const tm_page_selection *selection;
    const tm_tables *at_hand; /* tables; NULL: read them from the store */
    const tm_tables *tables;
    const tm_out *facts; /* further members of the document, as JSON; NULL: none */
    tm_out json;         /* the document of tables */
    table_part *parts;   /* [tables->n_tables] */
    int64_t begin_ns;    /* subtracted from times since the epoch */
    const char *kind;    /* "report", "diff" or "hang" */
    const char *title;   /* title of the page, without "tmerge" */
    const char *version;
    const char *served; /* name of the store if the page is served; NULL: it is a file */
    tm_vec *memory; /* vector of char: receives the page for a server; NULL: the page is a file */
} writer;

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

static bool is_shown(const tm_table *table) {
    return !table->def->internal;
}

/* Copies rows that are in memory, but not their texts. Makes empty texts null, because reading a
 * store does the same. */
static tm_status take_table(const tm_table *from, tm_table *into, tm_error *err) {
    const size_t width = (size_t)from->def->n_columns;
    if (from->rests)
        TM_TRY(tm_table_copy_resting(from, into, err));
    for (size_t row = 0; row < from->n_rows; row++) {
        tm_cell *cells = tm_table_add_row(into);
        if (!cells)
            return tm_fail_memory(err);
        memcpy(cells, tm_table_row(from, row), width * sizeof *cells);
    }
    for (size_t row = 0; row < into->n_rows; row++)
        for (size_t c = 0; c < width; c++) {
            tm_cell *cell = tm_table_row(into, row) + c;
            if (from->def->columns[c].type == TM_TEXT && !cell->null && !*cell->value.text)
                cell->null = true;
        }
    return TM_OK;
}

/* Reads the rows of a table, and removes rows if there are too many. For a page without a store,
 * does nothing, because the tables already have their rows. */
static tm_status open_table(writer *w, tm_table *table, size_t most, tm_out *all, size_t *left_out,
                            tm_error *err) {
    if (!w->store)
        return TM_OK;
    tm_table_clear(table);
    const tm_table *written = w->at_hand ? tm_tables_look_up(w->at_hand, table->def->name) : NULL;
    TM_TRY(written ? take_table(written, table, err) : tm_page_read_table(w->store, table, err));
    return tm_top_rows_put(table, w->selection, most, all, left_out, err);
}

/* Frees a table's rows, unless the timeline needs them later. */
static void close_table(const writer *w, tm_table *table) {
    bool needed = false;
    for (size_t i = 0; i < sizeof timeline_needs / sizeof *timeline_needs; i++)
        needed = needed || strcmp(table->def->name, timeline_needs[i]) == 0;
    if (w->store && !needed)
        tm_table_clear(table);
}

static void put_left_out(writer *w, size_t left_out, const tm_out *all) {
    char member[48];
    if (left_out == 0)
        return;
    snprintf(member, sizeof member, ",\"left_out\":%zu", left_out);
    tm_out_string(&w->json, member);
    if (all->bytes.n == 0)
        return;
    tm_out_string(&w->json, ",\"all\":");
    tm_out_bytes(&w->json, all->bytes.data, all->bytes.n);
}

/* Writes the rows of a table inline if they are small. Otherwise, writes the name of a block, and
 * packs the rows. The block is written later, after the page's program. */
static tm_status put_rows(writer *w, size_t t, tm_error *err) {
    const tm_table *table = &w->tables->tables[t];
    table_part *part = &w->parts[t];
    tm_out rows = TM_OUT();
    tm_status status = TM_OK;
    tm_report_json_columns(&rows, table, w->begin_ns);
    part->n_rows = table->n_rows;
    part->size = rows.bytes.n;
    part->packed.n = 0;
    if (rows.bytes.n <= INLINE_BYTES) {
        tm_out_string(&w->json, ",\"cells\":");
        tm_out_bytes(&w->json, rows.bytes.data, rows.bytes.n);
    } else {
        tm_out_string(&w->json, ",\"block\":\"table:");
        tm_out_string(&w->json, table->def->name);
        tm_out_char(&w->json, '"');
        status = tm_page_pack(rows.bytes.data, rows.bytes.n, &part->packed, err);
        part->size = tm_page_size_of(&part->packed);
    }
    tm_vec_free(&rows.bytes);
    return status == TM_OK && rows.failed ? tm_fail_memory(err) : status;
}

static tm_status put_table(writer *w, size_t t, tm_error *err) {
    tm_table *table = &w->tables->tables[t];
    tm_out all = TM_OUT();
    size_t left_out = 0;
    tm_status status = open_table(w, table, w->parts[t].most, &all, &left_out, err);
    put_string(&w->json, table->def->name);
    tm_out_char(&w->json, ':');
    tm_report_json_def(&w->json, table);
    put_left_out(w, left_out, &all);
    tm_vec_free(&all.bytes);
    if (status == TM_OK)
        status = put_rows(w, t, err);
    tm_out_char(&w->json, '}');
    close_table(w, table);
    return status;
}

static tm_status put_tables(writer *w, tm_error *err) {
    tm_out_string(&w->json, ",\"tables\":{");
    bool first = true;
    for (size_t t = 0; t < w->tables->n_tables; t++) {
        if (!is_shown(&w->tables->tables[t]))
            continue;
        tm_out_string(&w->json, first ? "\n" : ",\n");
        first = false;
        TM_TRY(put_table(w, t, err));
    }
    tm_out_string(&w->json, "\n}}");
    return TM_OK;
}

static tm_status put_document(writer *w, tm_error *err) {
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
    tm_out_string(&w->json, ",\"facts\":{");
    if (w->facts)
        tm_out_bytes(&w->json, w->facts->bytes.data, w->facts->bytes.n);
    if (w->served) {
        put_member(&w->json, "served", w->served);
        tm_out_char(&w->json, ',');
    }
    tm_out_string(&w->json, "\"page\":1}");
    TM_TRY(put_tables(w, err));
    return w->json.failed ? tm_fail_memory(err) : TM_OK;
}

static size_t size_of(const writer *w) {
    size_t size = w->json.bytes.n;
    for (size_t t = 0; t < w->tables->n_tables; t++)
        size += w->parts[t].packed.n > 0 ? w->parts[t].size : 0;
    return size;
}

/* Returns the maximum size of a table for which all tables fit in @p room. Small tables take
 * less. */
static size_t share_of(const writer *w, size_t room) {
    size_t low = 0, high = room;
    while (low < high) {
        size_t share = high - (high - low) / 2, sum = 0;
        for (size_t t = 0; t < w->tables->n_tables; t++)
            sum += w->parts[t].size < share ? w->parts[t].size : share;
        low = sum <= room ? share : low;
        high = sum <= room ? high : share - 1;
    }
    return low;
}

/* Limits the rows of each table that is larger than its share of @p room. */
static void limit_rows(writer *w, size_t room) {
    size_t rows = 0, size = size_of(w);
    for (size_t t = 0; t < w->tables->n_tables; t++)
        rows += w->parts[t].size;
    size_t others = size - (rows < size ? rows : size);
    size_t share = share_of(w, others < room ? (room - others) / 16 * 15 : 0);
    for (size_t t = 0; t < w->tables->n_tables; t++) {
        table_part *part = &w->parts[t];
        if (part->size > share)
            part->most = (size_t)((double)part->n_rows * (double)share / (double)part->size);
    }
}

/* Writes the document of tables. Shortens tables until it fits in @p room. */
static tm_status fit_document(writer *w, size_t room, tm_error *err) {
    TM_TRY(put_document(w, err));
    for (int i = 0; w->store && size_of(w) > room && i < TRIES_MOST; i++) {
        limit_rows(w, room);
        w->json.bytes.n = 0;
        TM_TRY(put_document(w, err));
    }
    return TM_OK;
}

static tm_status put_blocks(const writer *w, tm_page *page, tm_error *err) {
    char id[128];
    for (size_t t = 0; t < w->tables->n_tables; t++) {
        if (w->parts[t].packed.n == 0)
            continue;
        snprintf(id, sizeof id, "table:%s", w->tables->tables[t].def->name);
        TM_TRY(tm_page_put_packed(page, id, &w->parts[t].packed, err));
    }
    return TM_OK;
}

/* Writes the timeline. Reads all rows of job.rank again for it, because writing the tables may have
 * removed some of them. */
static tm_status put_timeline(writer *w, tm_page *page, tm_error *err) {
    tm_table *ranks = tm_tables_find(w->tables, "job.rank");
    tm_table_clear(ranks);
    TM_TRY(tm_page_read_table(w->store, ranks, err));
    return tm_report_timeline(w->store, w->source, w->tables, w->selection, page, err);
}

static tm_status fill_page(writer *w, tm_page *page, tm_error *err) {
    size_t size = tm_page_bytes(page) + tm_built_page[TM_BUILT_PROGRAM].size + REST_BYTES;
    TM_TRY(fit_document(w, TM_PAGE_BYTES - size, err));
    TM_TRY(tm_page_put_tables(page, w->json.bytes.data, w->json.bytes.n, err));
    TM_TRY(put_blocks(w, page, err));
    return w->store ? put_timeline(w, page, err) : TM_OK;
}

static tm_status write_page(writer *w, const char *path, tm_error *err) {
    char title[TM_PAGE_NAME_MAX + 32];
    tm_page *page;
    snprintf(title, sizeof title, "%s%stmerge%s", w->title, *w->title ? " - " : "",
             strcmp(w->kind, "report") == 0 ? ""
             : strcmp(w->kind, "diff") == 0 ? " diff"
                                            : " hang");
    if (w->memory)
        TM_TRY(tm_page_serve(w->memory, title, &page, err));
    else
        TM_TRY(tm_page_create(path, title, &page, err));
    w->json = TM_OUT();
    w->parts = malloc((w->tables->n_tables + 1) * sizeof *w->parts);
    tm_status status = w->parts ? TM_OK : tm_fail_memory(err);
    for (size_t t = 0; t < w->tables->n_tables && w->parts; t++)
        w->parts[t] = (table_part){.packed = TM_VEC(unsigned char), .most = SIZE_MAX};
    if (status == TM_OK)
        status = fill_page(w, page, err);
    for (size_t t = 0; t < w->tables->n_tables && w->parts; t++)
        tm_vec_free(&w->parts[t].packed);
    free(w->parts);
    tm_vec_free(&w->json.bytes);
    if (status == TM_OK)
        return tm_page_commit(page, err);
    tm_page_abandon(page);
    return status;
}

static tm_status write_report(const tm_page_origin *origin, tm_tables *tables,
                              const tm_page_selection *selection, const char *path, tm_error *err) {
    tm_page_job job;
    tm_status status = tm_page_job_make(origin->store, tables, selection, &job, err);
    if (status == TM_OK) {
        writer w = {.store = origin->store,
                    .source = origin->source,
                    .at_hand = origin->at_hand,
                    .selection = selection,
                    .tables = tables,
                    .kind = "report",
                    .title = job.name,
                    .version = origin->version,
                    .served = origin->served,
                    .memory = origin->memory,
                    .facts = &job.facts,
                    .begin_ns = job.begin_ns};
        status = write_page(&w, path, err);
    }
    tm_page_job_free(&job);
    return status;
}

tm_status tm_report_write_from(const tm_page_origin *origin, const char *path, tm_error *err) {
    tm_tables tables;
    tm_page_selection selection;
    TM_TRY(tm_analysis_tables(&tables, err));
    tm_status status = tm_page_selection_make(origin->store, &tables, &selection, err);
    if (status == TM_OK)
        status = write_report(origin, &tables, &selection, path, err);
    tm_page_selection_free(&selection);
    tm_tables_destroy(&tables);
    return status;
}

/* Returns the earliest time since the epoch in the tables; 0 if they have no such time. */
static int64_t earliest(const tm_tables *tables) {
    int64_t found = 0;
    for (size_t t = 0; t < tables->n_tables; t++) {
        const tm_table *table = &tables->tables[t];
        for (int c = 0; c < table->def->n_columns; c++)
            for (size_t r = 0; tm_column_is_epoch(&table->def->columns[c]) && r < table->n_rows;
                 r++) {
                const tm_cell *cell = tm_table_row(table, r) + c;
                if (!cell->null && (found == 0 || cell->value.i < found))
                    found = cell->value.i;
            }
    }
    return found;
}

/* Makes the tables that an analysis shows, without rows. */
static tm_status make_tables(const char *analysis, tm_tables *out, tm_error *err) {
    size_t n;
    tm_vec defs = TM_VEC(const tm_table_def *);
    const tm_analysis *const *all = tm_analyses(&n);
    bool ok = true;
    for (size_t a = 0; a < n; a++)
        for (size_t t = 0; strcmp(all[a]->name, analysis) == 0 && t < all[a]->n_tables; t++)
            ok = ok && (all[a]->tables[t]->internal || tm_vec_append(&defs, &all[a]->tables[t], 1));
    const tm_status status =
        ok ? tm_tables_create(defs.data, defs.n, out, err) : tm_fail_memory(err);
    tm_vec_free(&defs);
    return status;
}

/* Writes the page of a store that has only the tables of a hang. */
static tm_status write_hang(const tm_store *store, const char *path, const char *version,
                            tm_error *err) {
    tm_tables tables;
    TM_TRY(make_tables("hang", &tables, err));
    tm_status status = TM_OK;
    for (size_t t = 0; t < tables.n_tables && status == TM_OK; t++)
        status = tm_page_read_table(store, &tables.tables[t], err);
    if (status == TM_OK) {
        writer w = {.tables = &tables,
                    .kind = "hang",
                    .title = "",
                    .version = version,
                    .begin_ns = earliest(&tables)};
        status = write_page(&w, path, err);
    }
    tm_tables_destroy(&tables);
    return status;
}

tm_status tm_report_write(const tm_store *store, const char *path, const char *version,
                          tm_error *err) {
    int64_t ranks;
    TM_TRY(tm_store_read_number(store, "ranks", -1, &ranks, err));
    if (ranks == 0)
        return write_hang(store, path, version, err);
    const tm_page_origin origin = {.store = store, .version = version};
    return tm_report_write_from(&origin, path, err);
}

tm_status tm_report_serve(const tm_store *store, const char *name, const char *version, tm_vec *out,
                          tm_error *err) {
    const tm_page_origin origin = {
        .store = store, .version = version, .served = name, .memory = out};
    return tm_report_write_from(&origin, NULL, err);
}

tm_status tm_report_write_diff(const tm_tables *found, const char *path, const char *version,
                               tm_error *err) {
    writer w = {.tables = found, .kind = "diff", .title = "", .version = version};
    return write_page(&w, path, err);
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
