/* Rows with the same key are sent to one process, and all rows to process 0. Run with 1 to 4. */
#include "mpi/gather_tables.h"

#include <unistd.h>

#include "mpi_main.h"

enum { N_KEYS = 21100, KEY = 0, RANK, VALUE, REAL, FLAG };

static const tm_column columns[] = {
    {"key", TM_INT, "", "Key."},      {"rank", TM_INT, "", "Rank."},
    {"value", TM_INT, "", "Value."},  {"real", TM_REAL, "", "A real."},
    {"flag", TM_BOOL, "", "A flag."},
};
static const tm_table_def part_def = {
    .name = "x.part", .columns = columns, .n_columns = 5, .n_keys = 2, .top = -1, .n_merged = 1};
static const tm_table_def other_def = {
    .name = "x.other", .columns = columns, .n_columns = 5, .n_keys = 2, .top = -1};
static const tm_table_def *const defs[] = {&part_def, &other_def};

/* Gives process 0 every key, and process p > 0 the keys that p + 1 does not divide. Every third key
 * has no value. */
static void fill(tm_table *table, int self) {
    tm_error err;
    for (int key = 0; key < N_KEYS; key++) {
        if (self > 0 && key % (self + 1) == 0)
            continue;
        tm_cell *row = tm_table_add_row(table);
        assert_non_null(row);
        tm_cell_set_int(&row[KEY], key);
        tm_cell_set_int(&row[RANK], self);
        if (key % 3 != 0)
            tm_cell_set_int(&row[VALUE], -1000 * self - key);
        tm_cell_set_real(&row[REAL], key / 8.0);
        tm_cell_set_bool(&row[FLAG], key % 2 == 1);
        if (key % 200 == 199) /* the rows of the last 100 keys stay uncompressed */
            assert_int_equal(tm_table_compress(table, &err), TM_OK);
    }
}

static void check_row(const tm_cell *row, int64_t key, int64_t rank) {
    assert_int_equal(row[KEY].value.i, key);
    assert_int_equal(row[RANK].value.i, rank);
    assert_int_equal(row[VALUE].null, key % 3 == 0);
    if (!row[VALUE].null)
        assert_int_equal(row[VALUE].value.i, -1000 * rank - key);
    assert_true(row[REAL].value.r == (double)key / 8.0);
    assert_int_equal(row[FLAG].value.i, key % 2);
}

/* Checks that each key in the table has all of its ranks. Returns the number of keys. */
static int check_keys(const tm_table *table, int n_processes) {
    size_t at = 0;
    int n_keys = 0;
    while (at < table->n_rows) {
        int64_t key = tm_table_row(table, at)[KEY].value.i;
        for (int p = 0; p < n_processes; p++) {
            if (p > 0 && key % (p + 1) == 0)
                continue;
            assert_true(at < table->n_rows);
            check_row(tm_table_row(table, at++), key, p);
        }
        n_keys++;
    }
    return n_keys;
}

static void check_parts(uint64_t n_parts) {
    int self = this_process(), n_processes = all_processes(), n_all = 0;
    tm_tables tables;
    tm_error err;
    assert_int_equal(tm_tables_create(defs, 2, &tables, &err), TM_OK);
    fill(&tables.tables[0], self);
    fill(&tables.tables[1], self);
    int n_keys = 0;
    for (tm_key_part part = {.n = n_parts}; part.number < n_parts; part.number++) {
        assert_int_equal(tm_mpi_join_keys(MPI_COMM_WORLD, part, &tables.tables[0], &err), TM_OK);
        tm_table_sort(&tables.tables[0]);
        int n = check_keys(&tables.tables[0], n_processes);
        assert_true(n > N_KEYS / n_processes / (int)n_parts / 2); /* each part has its share */
        n_keys += n;
        tm_table_clear_rows(&tables.tables[0]);
    }
    MPI_Allreduce(&n_keys, &n_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert_int_equal(n_all, N_KEYS);
    assert_true(n_keys > N_KEYS / n_processes / 2); /* each process has its share of keys */
    tm_tables_destroy(&tables);
}

TEST(rows_of_one_key_come_together) {
    check_parts(1);
    check_parts(3);
}

TEST(all_rows_come_to_process_0) {
    int self = this_process(), n_processes = all_processes();
    tm_tables tables;
    tm_error err;
    assert_int_equal(tm_tables_create(defs, 2, &tables, &err), TM_OK);
    fill(&tables.tables[1], self);
    assert_int_equal(tm_mpi_gather_tables(MPI_COMM_WORLD, &tables, &err), TM_OK);
    assert_int_equal(tables.tables[1].rests, self == 0);
    assert_int_equal(tables.tables[1].n_rows, 0);
    assert_int_equal(check_keys(tm_tables_find(&tables, "x.other"), n_processes),
                     self == 0 ? N_KEYS : 0);
    tm_tables_destroy(&tables);
}

RUN_MPI_TESTS(NULL, NULL)
