/* Builds small jobs from lists of events and checks the rows of their analysis tables. */
#include "analysis_fixture.h"

#include <stdio.h>

#include "table/levels.h"

small_job open_job(void) {
    small_job j = {.ground = open_ground(), .job = {.world_size = -1}};
    j.job.names = j.ground.names;
    assert_int_equal(tm_analysis_tables(&j.tables, &j.ground.err), TM_OK);
    return j;
}

void close_job(small_job *j) {
    tm_tables_destroy(&j->tables);
    close_ground(&j->ground);
}

void add_traces(small_job *j, int64_t rank, tm_trace *const *traces, size_t n) {
    ground *g = &j->ground;
    tm_timeline timeline;
    assert_int_equal(tm_timeline_build(traces, n, rank, &g->context, &timeline, &g->err), TM_OK);
    analyse_timeline(g, &timeline, &j->tables);
    tm_timeline_destroy(&timeline);
    j->job.n_ranks++;
}

void add_trace(small_job *j, int64_t rank, tm_trace *trace) {
    add_traces(j, rank, &trace, 1);
}

void add_rank(small_job *j, int64_t rank, const event_spec *events, size_t n) {
    tm_trace trace = make_trace(&j->ground, "one.json", events, n, 0);
    add_trace(j, rank, &trace);
}

void finish_job(small_job *j) {
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++)
        assert_int_equal(
            tm_analyse_merged(analyses[a], j->ground.names, &j->tables, &j->ground.err), TM_OK);
    assert_int_equal(tm_analyse_job(&j->job, &j->tables, &j->ground.err), TM_OK);
}

/* Writes "a=1 b=2" for the names "a b" and the values "1 2". */
static void name_values(const char *names, const char *values, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    while (*names && *values && used < size) {
        int name = (int)strcspn(names, " "), value = (int)strcspn(values, " ");
        used += (size_t)snprintf(out + used, size - used, "%s%.*s=%.*s", used ? " " : "", name,
                                 names, value, values);
        names += name + (names[name] == ' ');
        values += value + (values[value] == ' ');
    }
    assert_true(used < size && !*names && !*values);
    for (char *at = out; (at = strchr(at, '~')) != NULL;)
        *at = ' ';
}

/* Returns a table; for a name "TABLE/LEVEL", only the rows of the level. */
static tm_table rows_of(const small_job *j, const char *name) {
    char own[64];
    size_t size = strcspn(name, "/"), end;
    snprintf(own, sizeof own, "%.*s", (int)size, name);
    tm_table table = *tm_tables_find(&j->tables, own);
    if (name[size] == '/') {
        size_t first = tm_table_level(&table, name + size + 1, &end);
        table.cells = tm_table_row(&table, first);
        table.n_rows = end - first;
    }
    return table;
}

/* Writes a row of a level in the form for assert_row. @p row lacks the level, and columns that are
 * null. */
static void complete(const tm_table_def *def, const char *level, const char *row, char *out,
                     size_t size) {
    size_t used = (size_t)snprintf(out, size, "level=%s", level);
    for (int c = 1; c < def->n_columns; c++) {
        char key[64];
        const char *end = NULL;
        size_t n = (size_t)snprintf(key, sizeof key, " %s=", def->columns[c].name) - 2;
        if (strncmp(row, key + 1, n + 1) != 0) {
            used += (size_t)snprintf(out + used, size - used, "%snull", key);
            continue;
        }
        for (int d = c + 1; d < def->n_columns && !end; d++) {
            snprintf(key, sizeof key, " %s=", def->columns[d].name);
            end = strstr(row, key);
        }
        end = end ? end : row + strlen(row);
        used += (size_t)snprintf(out + used, size - used, " %.*s", (int)(end - row), row);
        row = *end ? end + 1 : end;
    }
}

static void check_row(const tm_table *table, size_t row, const char *name, const char *expected) {
    char text[2048];
    const char *level = strchr(name, '/');
    if (level)
        complete(table->def, level + 1, expected, text, sizeof text);
    assert_row(table, row, level ? text : expected);
}

void check_named(const small_job *j, const char *name, const char *const *rows, size_t n) {
    const tm_table table = rows_of(j, name);
    for (size_t i = 1; i < n && i <= table.n_rows; i++) {
        char row[1024];
        name_values(rows[0], rows[i], row, sizeof row);
        check_row(&table, i - 1, name, row);
    }
    assert_int_equal(table.n_rows, n - 1);
}

void check_rows(const small_job *j, const char *name, const char *const *rows, size_t n) {
    const tm_table table = rows_of(j, name);
    for (size_t i = 0; i < n && i < table.n_rows; i++)
        check_row(&table, i, name, rows[i]);
    assert_int_equal(table.n_rows, n);
}
