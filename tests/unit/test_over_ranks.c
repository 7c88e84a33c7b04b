/* Rows of all ranks with one key: their sum, minimum, median and maximum, computed by hand. */
#include "rows_fixture.h"

#include "analysis/shared/over_ranks.h"

enum { A, B, RANK, VALUE };

static const tm_column columns[] = {
    {"a", TM_INT, "", "Key."},
    {"b", TM_INT, "", "Key."},
    {"rank", TM_INT, "", "Rank."},
    {"value", TM_INT, "", "Value."},
};
static const tm_table_def def = {
    .name = "x.part", .columns = columns, .n_columns = 4, .n_keys = 3, .top = -1, .n_merged = 2};
static const tm_table_def *const defs[] = {&def};

static tm_table *open_rows(tm_tables *tables, const char *const *rows, size_t n) {
    tm_error err;
    assert_int_equal(tm_tables_create(defs, 1, tables, &err), TM_OK);
    for (size_t i = 0; i < n; i++)
        add_row(tables, def.name, rows[i]);
    tm_table_sort(&tables->tables[0]);
    return &tables->tables[0];
}

TEST(a_key_ends_where_another_begins) {
    static const char *const rows[] = {
        "a=1 b=1 rank=0", "a=1 b=1 rank=9", "a=1 b=2 rank=0",
        "a=2 b=2 rank=0", "a=2 rank=0", /* null is a separate key, after all others */
        "a=2 rank=1",
    };
    static const size_t ends[] = {2, 3, 4, 6};
    tm_tables tables;
    const tm_table *part = open_rows(&tables, rows, 6);
    size_t first = 0;
    for (size_t i = 0; i < 4; i++, first = ends[i - 1])
        assert_int_equal(tm_rank_rows_at(part, first).end, ends[i]);
    tm_tables_destroy(&tables);
}

TEST(columns_are_as_worked_out_by_hand) {
    static const struct {
        const char *rows[4];
        size_t n;
        tm_over_ranks expected; /* ranks, sum, min, median, max, max_rank */
    } cases[] = {
        {{"a=1 b=1 rank=3 value=7"}, 1, {1, 7, 7, 7, 7, 3}},
        /* the middle values 5 and 8 give 6.5, rounded away from zero */
        {{"rank=0 value=8", "rank=1 value=2", "rank=2 value=9", "rank=5 value=5"},
         4,
         {4, 24, 2, 7, 9, 2}},
        {{"rank=0 value=1", "rank=1 value=6", "rank=2 value=6"}, 3, {3, 13, 1, 6, 6, 1}},
        {{"rank=0 value=4", "rank=1", "rank=2 value=3"}, 3, {2, 7, 3, 4, 4, 0}},
        {{"rank=0 value=9223372036854775807", "rank=1 value=1"},
         2,
         {2, INT64_MAX, 1, 4611686018427387904, INT64_MAX, 0}},
        {{"rank=4"}, 1, {0, 0, 0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tm_tables tables;
        tm_error err;
        tm_over_ranks found;
        const tm_rank_rows rows = {open_rows(&tables, cases[i].rows, cases[i].n), 0, cases[i].n};
        assert_int_equal(tm_over_ranks_column(&rows, VALUE, &found, &err), TM_OK);
        assert_memory_equal(&found, &cases[i].expected, sizeof found);
        assert_int_equal(tm_over_ranks_sum(&rows, VALUE), found.sum);
        tm_tables_destroy(&tables);
    }
}

RUN_TESTS()
