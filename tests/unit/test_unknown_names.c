/* In a build without asserts, an unknown name of a table or column reads and writes nothing. */
#include "table_fixture.h"

TEST(an_unknown_table_is_empty_and_stays_so) {
    fixture f = make_sample();
    tm_table *none = tm_tables_find(&f.tables, "test.sampel");
    assert_ptr_not_equal(none, f.table);
    assert_int_equal(none->n_rows, 0);
    assert_null(tm_table_add_row(none));
    assert_int_equal(none->n_rows, 0);
    assert_true(tm_table_cell(none, 0, "rank")->null);
    tm_tables_destroy(&f.tables);
}

TEST(an_unknown_column_has_no_value_in_any_row) {
    fixture f = make_sample();
    for (size_t i = 0; i < f.table->n_rows; i++) {
        const tm_cell *cell = tm_table_cell(f.table, i, "hos");
        assert_true(cell->null);
        assert_int_equal(cell->value.i, 0);
    }
    assert_string_equal(tm_column_of(&sample, "hos")->name, "");
    tm_tables_destroy(&f.tables);
}

RUN_TESTS()
