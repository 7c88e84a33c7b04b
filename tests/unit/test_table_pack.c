/* Rows packed to bytes for other processes, and invalid bytes. */
#include "tmerge/table.h"

#include "base/vec.h"
#include "table_fixture.h"

static void *pack(fixture *f, size_t *size) {
    void *bytes = NULL;
    assert_int_equal(tm_table_pack(f->table, &bytes, size, &f->err), TM_OK);
    return bytes;
}

TEST(packed_rows_unpack_to_the_same_rows) {
    fixture from = make_sample();
    fixture to = make(&sample);
    add_full(&to, 77, 1, 1, "kept");
    size_t size;
    void *bytes = pack(&from, &size);
    assert_int_equal(tm_table_unpack(to.table, bytes, size, &to.err), TM_OK);
    free(bytes);
    assert_int_equal(to.table->n_rows, 4);
    assert_int_equal(tm_table_row(to.table, 0)[RANK].value.i, 77);
    const tm_cell *row = tm_table_row(to.table, 1);
    assert_true(row[RANK].value.i == INT64_MIN && row[COMPUTE].value.i == INT64_MAX);
    assert_true(row[RATIO].value.r == 0.1 && row[PARTIAL].value.i == 1);
    assert_string_equal(row[HOST].value.text, "a,\"b\"\nc");
    tm_tables_destroy(&from.tables); /* the texts are copies */
    assert_string_equal(row[HOST].value.text, "a,\"b\"\nc");
    row = tm_table_row(to.table, 3);
    assert_true(row[RANK].value.i == 2 && !row[RANK].null);
    for (int c = COMPUTE; c < N_SAMPLE; c++)
        assert_true(row[c].null);
    tm_tables_destroy(&to.tables);
}

/* Packs rows twice, then adds one: all come back in the order in which they were added. */
TEST(compressed_rows_come_back_in_order) {
    static const char *const hosts[] = {"a", "b", "a", "long enough to be no neighbour of a"};
    fixture f = make(&sample);
    assert_int_equal(tm_table_take_back(f.table, &f.err), TM_OK); /* nothing is packed yet */
    for (int64_t i = 0; i < 7; i++) {
        add_full(&f, INT64_MAX - i, -i, 0.25 * (double)i, hosts[i % 4]);
        if (i == 2 || i == 5) {
            assert_int_equal(tm_table_compress(f.table, &f.err), TM_OK);
            assert_int_equal(f.table->n_rows, 0);
        }
    }
    assert_int_equal(tm_table_take_back(f.table, &f.err), TM_OK);
    assert_int_equal(f.table->n_rows, 7);
    for (int64_t i = 0; i < 7; i++) {
        const tm_cell *row = tm_table_row(f.table, (size_t)i);
        assert_true(row[RANK].value.i == INT64_MAX - i && row[COMPUTE].value.i == -i);
        assert_true(row[RATIO].value.r == 0.25 * (double)i && row[PARTIAL].value.i == 1);
        assert_string_equal(row[HOST].value.text, hosts[i % 4]);
    }
    assert_int_equal(tm_table_compress(f.table, &f.err), TM_OK);
    tm_tables_destroy(&f.tables); /* this also frees packed rows */
}

/* Many rows are packed, and come back when the table is requested. Few are not packed. */
TEST(rows_rest_until_the_table_is_asked_for) {
    enum { MANY = 20000 };
    fixture f = make(&sample), other = make(&sample);
    add_full(&f, 0, 0, 0.5, "a");
    assert_int_equal(tm_table_rest(f.table, &f.err), TM_OK);
    assert_false(f.table->rests);
    for (int64_t i = 1; i < MANY; i++)
        add_full(&f, i, -i, 0.5, "a");
    assert_int_equal(tm_table_rest(f.table, &f.err), TM_OK);
    assert_true(f.table->rests && f.table->n_rows == 0 && !f.table->cells);
    assert_true(f.table->compressed->n < sizeof(tm_cell) * MANY * N_SAMPLE / 3);
    assert_int_equal(tm_table_copy_resting(f.table, other.table, &f.err), TM_OK);
    assert_true(f.table->rests && other.table->n_rows == MANY);
    assert_ptr_equal(tm_tables_find(&f.tables, sample.name), f.table);
    assert_true(!f.table->rests && f.table->n_rows == MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(tm_table_row(f.table, i)[COMPUTE].value.i, -(int64_t)i);
        assert_int_equal(tm_table_row(other.table, i)[COMPUTE].value.i, -(int64_t)i);
    }
    assert_int_equal(tm_tables_whole(&f.tables, &f.err), TM_OK);
    f.table->lost = true;
    assert_int_equal(tm_tables_whole(&f.tables, &f.err), TM_ERR_FAULT);
    tm_tables_destroy(&f.tables);
    tm_tables_destroy(&other.tables);
}

TEST(an_empty_table_packs_and_unpacks) {
    fixture f = make(&sample);
    size_t size;
    void *bytes = pack(&f, &size);
    assert_int_equal(size, 16);
    assert_int_equal(tm_table_unpack(f.table, bytes, size, &f.err), TM_OK);
    assert_int_equal(f.table->n_rows, 0);
    free(bytes);
    tm_tables_destroy(&f.tables);
}

/* One row {1, 2, 0.5, "ab", true}. Bytes 0 to 15 are the header (signature, row count), 16 the
 * nulls, 17 rank, 18 compute_ns, 19 to 26 ratio, 27 the size of host, 28 and 29 its bytes, 30
 * partial. */
enum { PACKED_SIZE = 31 };

static void expect_refusal(const void *bytes, size_t size, int64_t offset, const char *why) {
    fixture f = make(&sample);
    add_full(&f, 9, 9, 9, "before");
    assert_int_equal(tm_table_unpack(f.table, bytes, size, &f.err), TM_ERR_FAULT);
    assert_int_equal(f.err.offset, offset);
    if (why)
        assert_string_equal(f.err.message, why);
    assert_int_equal(f.table->n_rows, 1); /* no new row is kept */
    tm_tables_destroy(&f.tables);
}

TEST(damaged_bytes_are_refused_where_they_are_damaged) {
    static const struct {
        size_t at, n;
        const char *bytes; /* [n] bytes to write */
        int64_t offset;
        const char *why;
    } cases[] = {
        {0, 1, "\x5A", 0, "packed rows: of another table"},
        {15, 1, "\xFF", 8, "packed rows: more rows than bytes"},
        {8, 1, "\x10", 8, "packed rows: more rows than bytes"}, /* 16 rows in 15 bytes */
        {8, 1, "\x02", PACKED_SIZE, "packed rows: cut short"},
        {8, 1, "\x00", 16, "packed rows: cut short"}, /* fails in the header of the next pack */
        {16, 1, "\x0F", 17, "packed rows: a flag that is neither 0 nor 1"}, /* others are null */
        {17, 11, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 17,
         "packed rows: an int that is cut short or too long"},
        {19, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 19, "packed rows: a real that is not finite"},
        {27, 1, "\xFF", 27, "packed rows: a text that is longer than the remaining bytes"},
        {27, 1, "\x04", 27,
         "packed rows: a text that is longer than the remaining bytes"}, /* only 3 bytes are left */
        {29, 1, "\xC3", 28, "packed rows: a text that is not UTF-8"},
        {28, 1, "\x00", 28, "packed rows: a text that is not UTF-8"},
        {28, 2, "\xEF\xBF", 28, "packed rows: a text that is not UTF-8"}, /* the begin of U+FFFD */
        {30, 1, "\x07", 30, "packed rows: a flag that is neither 0 nor 1"},
    };
    fixture f = make(&sample);
    add_full(&f, 1, 2, 0.5, "ab");
    size_t size;
    void *bytes = pack(&f, &size);
    assert_int_equal(size, PACKED_SIZE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char damaged[PACKED_SIZE];
        memcpy(damaged, bytes, size);
        memcpy(damaged + cases[i].at, cases[i].bytes, cases[i].n);
        expect_refusal(damaged, size, cases[i].offset, cases[i].why);
    }
    free(bytes);
    tm_tables_destroy(&f.tables);
}

TEST(a_damaged_text_as_long_as_its_repair_is_refused) {
    fixture f = make(&sample);
    add_full(&f, 1, 2, 0.5, "abc");
    size_t size;
    void *bytes = pack(&f, &size);
    /* Three of a code point's four bytes are repaired to one U+FFFD, which also has three bytes. */
    memcpy((char *)bytes + 28, "\xF0\x9F\x98", 3);
    expect_refusal(bytes, size, 28, "packed rows: a text that is not UTF-8");
    free(bytes);
    tm_tables_destroy(&f.tables);
}

TEST(bytes_of_any_other_length_are_refused) {
    /* Reading stops at the last piece that begins before the cut. */
    static const size_t pieces[] = {0, 16, 17, 18, 19, 27, 28, 30};
    fixture f = make(&sample);
    add_full(&f, 1, 2, 0.5, "ab");
    size_t size;
    void *bytes = pack(&f, &size);
    for (size_t cut = 1; cut < size; cut++) { /* no bytes at all are an empty pack */
        int64_t offset = 0;
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
            offset = pieces[p] <= cut ? (int64_t)pieces[p] : offset;
        if (cut == 16) /* a row has at least one byte */
            offset = 8;
        if (cut > 27 && cut < 30) /* inside the text, whose size is known */
            offset = 27;
        char *part = malloc(cut + 1); /* exact size, so a sanitizer finds reads past it */
        assert_non_null(part);
        memcpy(part, bytes, cut);
        char *exact = realloc(part, cut ? cut : 1);
        expect_refusal(exact, cut, offset, NULL);
        free(exact);
    }
    char longer[PACKED_SIZE + 1] = {0};
    memcpy(longer, bytes, size);
    expect_refusal(longer, size + 1, PACKED_SIZE, "packed rows: cut short"); /* fails in a header */
    free(bytes);
    tm_tables_destroy(&f.tables);
}

TEST(rows_of_another_definition_are_refused) {
    static const tm_column real_rank[] = {{"rank", TM_REAL, "", ""}};
    static const tm_table_def defs[] = {
        {"test.sample", "", real_rank, 1, 1, 0, false, 0, 0, TM_FORM_TABLE},     /* another type */
        {"test.other", "", sample_columns, 1, 1, 0, false, 0, 0, TM_FORM_TABLE}, /* another table */
        {"test.sample", "", sample_columns, 2, 1, 0, false, 0, 0, TM_FORM_TABLE}, /* more columns */
    };
    static const tm_table_def one = {"test.sample", "", sample_columns, 1, 1, 0, false, 0, 0,
                                     TM_FORM_TABLE};
    for (size_t i = 0; i < sizeof defs / sizeof *defs; i++) {
        fixture from = make(&one);
        fixture to = make(&defs[i]);
        tm_cell_set_int(add(&from), 1);
        size_t size;
        void *bytes = pack(&from, &size);
        assert_int_equal(tm_table_unpack(to.table, bytes, size, &to.err), TM_ERR_FAULT);
        assert_string_equal(to.err.message, "packed rows: of another table");
        free(bytes);
        tm_tables_destroy(&from.tables);
        tm_tables_destroy(&to.tables);
    }
}

RUN_TESTS()
