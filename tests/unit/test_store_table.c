/* Result tables in the store. */
#include "store_job.h"

#include <math.h>

#include "table_fixture.h"

static const tm_column all_columns[] = {
    {"rank", TM_INT, "", "global rank"},
    {"share_pct", TM_REAL, "%", "100 a / b"},
    {"host", TM_TEXT, "", "host"},
    {"late", TM_BOOL, "", "whether it is late"},
};
static const tm_table_def all_def = {
    .name = "overlap.rank", .doc = "a rank", .columns = all_columns, .n_columns = 4, .n_keys = 1};

/* Columns that a later version might request: one fewer, one more, another order. */
static const tm_column later_columns[] = {
    {"late", TM_BOOL, "", "whether it is late"},
    {"new_ns", TM_INT, "ns", "what older stores do not have"},
    {"rank", TM_INT, "", "global rank"},
};
static const tm_table_def later_def = {
    .name = "overlap.rank", .doc = "a rank", .columns = later_columns, .n_columns = 3, .n_keys = 1};

static const tm_column misfit_columns[] = {{"host", TM_INT, "", "host"}};
static const tm_table_def misfit_def = {.name = "overlap.rank",
                                        .doc = "a rank",
                                        .columns = misfit_columns,
                                        .n_columns = 1,
                                        .n_keys = 1};

static void add_row(tm_table *table, int64_t rank, double share, const char *host, int late) {
    tm_error err;
    tm_cell *cells = tm_table_add_row(table);
    assert_non_null(cells);
    if (rank >= 0)
        tm_cell_set_int(&cells[0], rank);
    tm_cell_set_real(&cells[1], share); /* NaN makes it null */
    assert_ok(tm_table_set_text(table, &cells[2], host, &err));
    if (late >= 0)
        tm_cell_set_bool(&cells[3], late == 1);
}

static tm_store *write_and_open(void **state, const tm_table *table) {
    const char *path = store_path(state);
    tm_error err = {0};
    assert_ok(store_job_write(path, true, table, &err));
    return store_open(path);
}

TEST(a_table_is_read_back_with_its_nulls) {
    tm_error err = {0};
    fixture written = make(&all_def), read = make(&all_def);
    tm_store *empty = write_and_open(state, written.table);
    assert_ok(tm_store_read_table(empty, read.table, &err));
    assert_int_equal(read.table->n_rows, 0);
    tm_store_close(empty);
    add_row(written.table, 3, 12.5, "gr\xc3\xbcn", 1);
    add_row(written.table, -1, (double)NAN, NULL, -1);
    add_row(written.table, INT64_MAX, -0.25, "a-longer-name", 0);
    tm_store *store = write_and_open(state, written.table);
    assert_ok(tm_store_read_table(store, read.table, &err));
    assert_int_equal(read.table->n_rows, 3);
    const tm_cell *row = tm_table_row(read.table, 0);
    assert_int_equal(row[0].value.i, 3);
    assert_true(row[1].value.r > 12.49 && row[1].value.r < 12.51);
    assert_string_equal(row[2].value.text, "gr\xc3\xbcn");
    assert_true(!row[3].null && row[3].value.i == 1);
    row = tm_table_row(read.table, 1);
    for (int i = 0; i < 4; i++)
        assert_true(row[i].null);
    row = tm_table_row(read.table, 2);
    assert_true(row[0].value.i == INT64_MAX);
    assert_string_equal(row[2].value.text, "a-longer-name");
    assert_true(!row[3].null && row[3].value.i == 0);
    tm_store_close(store);
    tm_tables_destroy(&written.tables);
    tm_tables_destroy(&read.tables);
}

typedef struct slices {
    int n;
    int64_t next_rank;
} slices;

static tm_status take_slice(void *context, tm_table *table, tm_error *err) {
    slices *seen = context;
    (void)err;
    /* records of about 900,000 bytes: two fit in a slice of 2 MiB */
    assert_true(table->n_rows > 0 && table->n_rows <= 2);
    for (size_t row = 0; row < table->n_rows; row++, seen->next_rank++) {
        const char *text = tm_table_row(table, row)[2].value.text;
        assert_int_equal(tm_table_row(table, row)[0].value.i, seen->next_rank);
        assert_int_equal(strlen(text), 900000 - seen->next_rank);
        assert_int_equal(text[0], 'a' + seen->next_rank / 2);
    }
    seen->n++;
    tm_table_clear(table);
    return TM_OK;
}

TEST(a_large_table_comes_in_slices) {
    enum { ROWS = 7, BYTES = 900000 };
    tm_error err = {0};
    fixture written = make(&all_def), read = make(&all_def);
    char *text = malloc(BYTES + 1);
    for (int i = 0; i < ROWS; i++) {
        memset(text, 'a' + i / 2, BYTES);
        text[BYTES - i] = '\0';
        add_row(written.table, i, 1.0, text, -1);
    }
    tm_store *store = write_and_open(state, written.table);
    slices seen = {0, 0};
    size_t n_rows = 0;
    assert_ok(tm_store_visit_table(store, read.table, take_slice, &seen, &err));
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.next_rank, ROWS);
    assert_ok(tm_store_verify_table(store, &all_def, &n_rows, &err));
    assert_int_equal(n_rows, ROWS);
    tm_store_close(store);
    free(text);
    tm_tables_destroy(&written.tables);
    tm_tables_destroy(&read.tables);
}

TEST(columns_are_found_by_name) {
    tm_error err = {0};
    fixture written = make(&all_def), read = make(&later_def);
    add_row(written.table, 3, 12.5, "a", 1);
    tm_store *store = write_and_open(state, written.table);
    assert_ok(tm_store_read_table(store, read.table, &err));
    assert_int_equal(read.table->n_rows, 1);
    const tm_cell *row = tm_table_row(read.table, 0);
    assert_true(!row[0].null && row[0].value.i == 1);
    assert_true(row[1].null);
    assert_int_equal(row[2].value.i, 3);
    tm_store_close(store);
    tm_tables_destroy(&written.tables);
    tm_tables_destroy(&read.tables);
}

TEST(a_column_of_an_older_store_is_found_by_its_former_name) {
    const tm_column was = {"mend_ns", TM_INT, "ns", "a."}, now = {"fix_ns", TM_INT, "ns", "a."};
    const tm_table_def was_def = {
        .name = "whatif.job", .doc = "d", .columns = &was, .n_columns = 1};
    const tm_table_def now_def = {
        .name = "whatif.job", .doc = "d", .columns = &now, .n_columns = 1};
    tm_error err = {0};
    fixture written = make(&was_def), read = make(&now_def);
    tm_cell_set_int(tm_table_add_row(written.table), 7);
    tm_store *store = write_and_open(state, written.table);
    assert_ok(tm_store_read_table(store, read.table, &err));
    assert_int_equal(tm_table_row(read.table, 0)[0].value.i, 7);
    tm_store_close(store);
    tm_tables_destroy(&written.tables);
    tm_tables_destroy(&read.tables);
}

TEST(a_table_that_does_not_fit_is_refused) {
    tm_error err = {0};
    tm_table_def unknown_def = misfit_def;
    unknown_def.name = "overlap.step";
    fixture written = make(&all_def), misfit = make(&misfit_def), unknown = make(&unknown_def);
    add_row(written.table, 3, 12.5, "a", 1);
    tm_store *store = write_and_open(state, written.table);
    assert_int_equal(tm_store_read_table(store, misfit.table, &err), TM_ERR_INPUT);
    assert_string_equal(err.message,
                        "the store's table overlap.rank has an unexpected type in column host");
    assert_int_equal(tm_store_read_table(store, unknown.table, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, "the store has no table overlap.step");
    tm_store_close(store);
    tm_tables_destroy(&written.tables);
    tm_tables_destroy(&misfit.tables);
    tm_tables_destroy(&unknown.tables);
}

TEST(tables_are_listed_by_name) {
    const char *path = store_path(state);
    tm_error err = {0};
    const tm_table_def defs[] = {
        {.name = "straggler.job", .doc = "d", .columns = all_columns, .n_columns = 1},
        {.name = "overlap.step", .doc = "d", .columns = all_columns, .n_columns = 1},
        {.name = "overlap.rank", .doc = "d", .columns = all_columns, .n_columns = 1}};
    tm_store_writer *writer = store_begin(path, false, 0);
    for (int i = 0; i < 3; i++) {
        fixture tables = make(&defs[i]);
        assert_ok(tm_store_put_table(writer, tables.table, &err));
        tm_tables_destroy(&tables.tables);
    }
    assert_ok(tm_store_commit(writer, &err));
    tm_store *store = store_open(path);
    size_t n = 0;
    const char *const *names = tm_store_tables(store, &n);
    assert_int_equal(n, 3);
    assert_string_equal(names[0], "overlap.rank");
    assert_string_equal(names[1], "overlap.step");
    assert_string_equal(names[2], "straggler.job");
    assert_true(tm_store_has_table(store, "overlap.step"));
    assert_false(tm_store_has_table(store, "overlap"));
    tm_store_close(store);
}

TEST(a_table_needs_a_name_of_two_parts) {
    const char *path = store_path(state);
    tm_error err = {0};
    static const char *const names[] = {"overlap", ".rank", "overlap.", "../a.b"};
    tm_store_writer *writer = store_begin(path, false, 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        tm_table_def def = all_def;
        def.name = names[i];
        tm_table table = {.def = &def};
        assert_int_equal(tm_store_put_table(writer, &table, &err), TM_ERR_FAULT);
    }
    tm_store_abandon(writer);
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
