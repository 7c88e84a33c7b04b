/* A small table definition with a column of each type, and helpers to fill it. */
#ifndef TMERGE_TEST_TABLE_FIXTURE_H
#define TMERGE_TEST_TABLE_FIXTURE_H

#include "tmerge/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

enum { RANK, COMPUTE, RATIO, HOST, PARTIAL, N_SAMPLE };

static const tm_column sample_columns[N_SAMPLE] = {
    {"rank", TM_INT, "", "The rank."},
    {"compute_ns", TM_INT, "ns", "Union of the compute kernels."},
    {"ratio", TM_REAL, "", "comm_ns / compute_ns."},
    {"host", TM_TEXT, "", "Where it ran."},
    {"partial", TM_BOOL, "", "Whether the recording began or ended inside."},
};
static const tm_table_def sample = {.name = "test.sample",
                                    .doc = "One row for each rank.",
                                    .columns = sample_columns,
                                    .n_columns = N_SAMPLE,
                                    .n_keys = 1,
                                    .top = COMPUTE};

/* One table with its definition. */
typedef struct fixture {
    tm_tables tables;
    tm_table *table;
    tm_error err;
} fixture;

static inline fixture make(const tm_table_def *def) {
    fixture f = {0};
    assert_int_equal(tm_tables_create(&def, 1, &f.tables, &f.err), TM_OK);
    f.table = &f.tables.tables[0];
    return f;
}

static inline tm_cell *add(fixture *f) {
    tm_cell *row = tm_table_add_row(f->table);
    assert_non_null(row);
    return row;
}

static inline void set_text(fixture *f, tm_cell *cell, const char *text) {
    assert_int_equal(tm_table_set_text(f->table, cell, text, &f->err), TM_OK);
}

static inline void add_full(fixture *f, int64_t rank, int64_t ns, double ratio, const char *host) {
    tm_cell *row = add(f);
    tm_cell_set_int(&row[RANK], rank);
    tm_cell_set_int(&row[COMPUTE], ns);
    tm_cell_set_real(&row[RATIO], ratio);
    set_text(f, &row[HOST], host);
    tm_cell_set_bool(&row[PARTIAL], true);
}

/* Returns a table with three rows: extreme values, values that need quotes, and nulls. */
static inline fixture make_sample(void) {
    fixture f = make(&sample);
    add_full(&f, INT64_MIN, INT64_MAX, 0.1, "a,\"b\"\nc");
    add_full(&f, 1, -1500, 2.0, "");
    tm_cell *row = add(&f);
    tm_cell_set_int(&row[RANK], 2);
    return f;
}

#endif
