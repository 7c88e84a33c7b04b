/* The store's record tables, attributes and names are written and read back. */
#include "store_job.h"

#include "store/filter.h"

static tm_store *open_job(const char *path, bool compress) {
    tm_error err = {0};
    assert_ok(store_job_write(path, compress, NULL, &err));
    return store_open(path);
}

/* Rank 0 has events 0-2, rank 4 has 3-7. On both, event 1 launched event 2. Rank 0 has steps 0 and
 * 1, rank 4 has step 2. Rank 0 has spans 1000-1500 and 1600-2001, so its middle is 1000 + 1001 / 2.
 * Rank 1 has no spans, and rank 4 has 1000-1500. */
TEST(rows_of_every_type_refer_to_rows_of_the_whole_job) {
    const int64_t launch[] = {-1, -1, 1, -1, -1, 4, -1, -1};
    const int64_t begin[] = {1700000000000000000, 1700000000000000001, 1700000000000000002,
                             1700000000000004000, 1700000000000004001, 1700000000000004002,
                             1700000000000004003, 1700000000000004004};
    const int64_t first_event[] = {0, 3, 3}, n_events[] = {3, 0, 5}, rank[] = {0, 1, 4};
    const int64_t tracks_first[] = {0, 1, 3, 4}, tracks_rank[] = {0, 0, 4, 4};
    const int64_t kernel_event[] = {2, 5}, counter_event[] = {7}, flow[] = {100, 0, 104};
    const int64_t middle[] = {1500, 0, 1250};
    const int32_t step[] = {-1, 0, 1, -1, 2, 2, 2, 2}, grid_z[] = {3, 3};
    const uint32_t name[] = {0, 1, 2, 0, 1, 2, 0, 1};
    const uint8_t category[] = {1, 1, 6, 1, 1, 6, 1, 1}, truncated[] = {0, 0, 1};
    const float occupancy[] = {37.5f, 37.5f};
    const double value[] = {0.5};
    const struct {
        const char *path;
        tm_element element;
        const void *rows;
        size_t size;
    } cases[] = {
        {"/events/launch", TM_I64, launch, sizeof launch},
        {"/events/begin_ns", TM_I64, begin, sizeof begin},
        {"/ranks/first_event", TM_I64, first_event, sizeof first_event},
        {"/ranks/n_events", TM_I64, n_events, sizeof n_events},
        {"/ranks/rank", TM_I64, rank, sizeof rank},
        {"/ranks/n_flow", TM_I64, flow, sizeof flow},
        {"/tracks/first", TM_I64, tracks_first, sizeof tracks_first},
        {"/tracks/rank", TM_I64, tracks_rank, sizeof tracks_rank},
        {"/kernels/event", TM_I64, kernel_event, sizeof kernel_event},
        {"/counters/event", TM_I64, counter_event, sizeof counter_event},
        {"/clock/middle_ns", TM_I64, middle, sizeof middle},
        {"/launches/event", TM_I64, "", 0},
        {"/events/step", TM_I32, step, sizeof step},
        {"/kernels/grid_z", TM_I32, grid_z, sizeof grid_z},
        {"/events/name", TM_U32, name, sizeof name},
        {"/events/category", TM_U8, category, sizeof category},
        {"/ranks/truncated", TM_U8, truncated, sizeof truncated},
        {"/kernels/occupancy_pct", TM_F32, occupancy, sizeof occupancy},
        {"/counters/value", TM_F64, value, sizeof value},
    };
    for (int compress = 0; compress < 2; compress++) {
        tm_store *store = open_job(store_path(state), compress == 1);
        for (size_t i = 0; i < COUNT(cases); i++) {
            tm_error err = {0};
            tm_store_column *column = NULL;
            char rows[64];
            const size_t n = cases[i].size / tm_element_size(cases[i].element);
            assert_ok(tm_store_open_column(store, cases[i].path, cases[i].element, &column, &err));
            assert_int_equal(tm_store_column_rows(column), n);
            assert_ok(tm_store_read_rows(column, 0, n, rows, &err));
            if (memcmp(rows, cases[i].rows, cases[i].size) != 0)
                fail_msg("%s", cases[i].path);
            tm_store_close_column(column);
        }
        tm_store_close(store);
    }
}

enum { RANGE_ROWS = 107, RANGE_CHUNK = 50 };

/* A column in zstd chunks, in plain chunks, or without chunks as another program may write it. */
typedef enum range_form { PACKED, PLAIN, UNCHUNKED, N_FORMS } range_form;

static void lay_out_again(const char *path, const tm_record_column *column, const void *rows) {
    hsize_t n = RANGE_ROWS;
    hid_t type = column->element == TM_U8    ? H5T_STD_U8LE
                 : column->element == TM_I32 ? H5T_STD_I32LE
                                             : H5T_STD_I64LE;
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(1, &n, NULL);
    assert_true(H5Ldelete(file, "/a/column", H5P_DEFAULT) >= 0);
    hid_t dataset =
        H5Dcreate2(file, "/a/column", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    store_seal(path);
}

static void write_column(const char *path, tm_element element, range_form form, const void *rows) {
    const tm_record_column column = {.name = "column", .unit = "", .doc = "", .element = element};
    tm_error err = {0};
    tm_store_writer *writer = store_begin(path, form == PACKED, RANGE_CHUNK);
    assert_ok(tm_store_put_group(writer, "/a", "", &err));
    assert_ok(tm_store_begin_column(writer, "/a", &column, RANGE_ROWS, &err));
    assert_ok(tm_store_put_rows(writer, rows, RANGE_ROWS, &err));
    assert_ok(tm_store_end_column(writer, &err));
    assert_ok(tm_store_commit(writer, &err));
    if (form == UNCHUNKED)
        lay_out_again(path, &column, rows);
}

TEST(any_range_of_a_column_can_be_read) {
    static const tm_element elements[] = {TM_U8, TM_I32, TM_I64};
    const char *path = store_path(state);
    char all[RANGE_ROWS * 8], rows[RANGE_ROWS * 8 + 1];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 131 >> 3);
    for (size_t k = 0; k < N_FORMS * COUNT(elements); k++) {
        tm_error err = {0};
        tm_store_column *column = NULL;
        size_t size = tm_element_size(elements[k / N_FORMS]);
        write_column(path, elements[k / N_FORMS], (range_form)(k % N_FORMS), all);
        tm_store *store = store_open(path);
        assert_ok(tm_store_open_column(store, "/a/column", elements[k / N_FORMS], &column, &err));
        for (size_t first = 0; first <= RANGE_ROWS; first++)
            for (size_t n = 0; first + n <= RANGE_ROWS; n++) {
                rows[n * size] = 77; /* nothing may be written after the rows */
                assert_ok(tm_store_read_rows(column, first, n, rows, &err));
                assert_memory_equal(rows, all + first * size, n * size);
                assert_int_equal(rows[n * size], 77);
            }
        assert_int_equal(tm_store_read_rows(column, RANGE_ROWS, 1, rows, &err), TM_ERR_INPUT);
        assert_int_equal(tm_store_read_rows(column, 99, 9, rows, &err), TM_ERR_INPUT);
        assert_int_equal(tm_store_read_rows(column, SIZE_MAX, 2, rows, &err), TM_ERR_INPUT);
        tm_store_close_column(column);
        tm_store_close(store);
    }
}

TEST(a_column_of_another_type_or_name_is_refused) {
    const char *path = store_path(state);
    tm_store *store = open_job(path, true);
    tm_error err = {0};
    tm_store_column *column = NULL;
    assert_int_equal(tm_store_open_column(store, "/events/name", TM_I32, &column, &err),
                     TM_ERR_INPUT);
    assert_string_equal(err.message, "the store's column /events/name has an unexpected type");
    assert_int_equal(tm_store_open_column(store, "/events/nothing", TM_I32, &column, &err),
                     TM_ERR_INPUT);
    assert_string_equal(err.message,
                        "the store has no column /events/nothing: merge its traces again");
    assert_string_equal(err.path, path);
    assert_int_equal(tm_store_open_column(store, "/events", TM_I32, &column, &err), TM_ERR_INPUT);
    assert_null(column);
    tm_store_close(store);
}

TEST(attributes_and_names_are_read_back) {
    const char *path = store_path(state);
    tm_store *store = open_job(path, true);
    tm_error err = {0};
    char *text = NULL;
    int64_t number = 0;
    assert_ok(tm_store_read_text(store, "command", &text, &err));
    assert_string_equal(text, "tmerge a.json");
    free(text);
    assert_ok(tm_store_read_text(store, "tool_version", &text, &err));
    assert_string_equal(text, "0.1.0");
    free(text);
    assert_ok(tm_store_read_text(store, "nothing", &text, &err));
    assert_null(text);
    assert_int_equal(tm_store_read_text(store, "schema_major", &text, &err), TM_ERR_INPUT);
    assert_ok(tm_store_read_number(store, "skipped_events", 0, &number, &err));
    assert_int_equal(number, -12);
    assert_ok(tm_store_read_number(store, "nothing", 5, &number, &err));
    assert_int_equal(number, 5);
    assert_int_equal(tm_store_read_number(store, "command", 0, &number, &err), TM_ERR_INPUT);

    tm_names *names = NULL;
    assert_ok(tm_store_read_names(store, &names, &err));
    assert_int_equal(tm_names_count(names), 3);
    assert_int_equal(tm_names_text(names, 2).size, 7); /* "größe" has two letters of two bytes */
    assert_memory_equal(tm_names_text(names, 1).bytes, "aten::mm", 8);
    tm_names_destroy(names);
    tm_store_close(store);
}

/* Reads only with HDF5, as other programs do. Compressed chunks pass the registered filter and
 * HDF5's own shuffle. */
TEST(hdf5_reads_the_chunks) {
    const int64_t expected[] = {0, 10, 20, 0, 10, 20, 30, 40};
    assert_true(H5Zregister(&tm_zstd_filter) >= 0);
    for (int compress = 0; compress < 2; compress++) {
        const char *path = store_path(state);
        int64_t rows[8];
        uint8_t compute = 0;
        tm_store_close(open_job(path, compress == 1));
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t dataset = H5Dopen2(file, "/events/duration_ns", H5P_DEFAULT);
        hid_t layout = H5Dget_create_plist(dataset);
        assert_int_equal(H5Pget_layout(layout), H5D_CHUNKED);
        assert_int_equal(H5Pget_nfilters(layout), 2 * compress);
        assert_true(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
        assert_memory_equal(rows, expected, sizeof expected);
        H5Pclose(layout);
        H5Dclose(dataset);
        dataset = H5Dopen2(file, "/events/role", H5P_DEFAULT);
        hid_t type = H5Dget_type(dataset);
        assert_int_equal(H5Tget_class(type), H5T_ENUM);
        assert_true(H5Tenum_valueof(type, "compute", &compute) >= 0);
        assert_int_equal(compute, 1);
        H5Tclose(type);
        H5Dclose(dataset);
        H5Fclose(file);
    }
}

static herr_t has_a_time(hid_t file, const char *name, const H5O_info_t *info, void *n) {
    ++*(int *)n;
    return info->atime != 0 || info->mtime != 0 || info->ctime != 0 || info->btime != 0;
}

/* The file must not contain the time of writing, either, which differs from second to second. */
TEST(the_same_job_gives_the_same_file) {
    char a[128], b[128];
    size_t size;
    tm_error err;
    assert_ok(store_job_write(store_file(state, "a.h5", a), true, NULL, &err));
    assert_ok(store_job_write(store_file(state, "b.h5", b), true, NULL, &err));
    char *bytes = store_bytes(a, &size);
    store_assert_bytes(b, bytes, size);
    free(bytes);
    int n = 0;
    hid_t file = H5Fopen(a, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_int_equal(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, has_a_time, &n), 0);
    assert_true(n > 100); /* number of objects */
    H5Fclose(file);
}

TEST(a_row_of_the_schema_is_complete) {
    for (int t = 0; t < TM_N_RECORDS; t++) {
        const tm_record_table *table = &tm_record_tables[t];
        assert_int_equal(table->path[0], '/');
        assert_true(table->doc[0] != '\0' && table->n_columns > 0);
        for (int i = 0; i < table->n_columns; i++) {
            const tm_record_column *column = &table->columns[i];
            assert_true(column->name[0] != '\0' && column->doc[0] != '\0');
            assert_non_null(column->unit);
            assert_non_null(column->fill);
            for (int j = 0; j < i; j++)
                assert_string_not_equal(column->name, table->columns[j].name);
            for (int w = 0; column->words && w < column->words->n; w++)
                assert_non_null(column->words->words[w]);
            if (column->words)
                assert_int_equal(column->element, TM_U8);
        }
    }
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
