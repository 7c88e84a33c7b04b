/* Checksums of a store: changed or missing bytes are detected before they are used. */
#include "store_job.h"

#include <errno.h>

#include "table_fixture.h"

enum { FOOTER_BYTES = 40 };

/* Opens a file with this content. Closing removes it. */
static int open_bytes(void **state, const void *bytes, size_t size) {
    char path[128];
    store_put_bytes(store_file(state, "bytes", path), bytes, size);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    return fd;
}

static uint64_t size_of(int fd) {
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return (uint64_t)status.st_size;
}

/* Check value of CRC-64/XZ in the catalogue of parametrised CRC algorithms. */
TEST(the_sum_is_the_one_of_the_catalogue) {
    assert_true(tm_checksum_of("123456789", 9) == 0x995DC9BBDF1939FAu);
    assert_true(tm_checksum_of("", 0) == 0);
}

TEST(what_is_between_the_data_is_structure) {
    int fd = open_bytes(state, "abcdefghij", 10);
    tm_vec extents = TM_VEC(tm_extent);
    tm_error err = {0};
    tm_checksum seal;
    assert_true(tm_checksum_add(&extents, 6, "gh", 2)); /* out of order */
    assert_true(tm_checksum_add(&extents, 1, "bc", 2));
    assert_true(tm_checksum_add(&extents, 3, "d", 1));
    assert_true(tm_checksum_add(&extents, 4, "", 0));
    assert_int_equal(tm_checksum_write(fd, 10, &extents), 0);
    assert_int_equal(size_of(fd), 10 + 3 * sizeof(tm_extent) + FOOTER_BYTES);
    assert_true(tm_checksum_is_there(fd, size_of(fd)));
    assert_ok(tm_checksum_read(fd, size_of(fd), "p", &seal, &err));
    assert_int_equal(seal.content_bytes, 10);
    assert_int_equal(seal.extents.n, 3);
    assert_memory_equal(seal.structure, "aefij", 5);
    const uint64_t before[] = {0, 2, 3, 5};
    assert_memory_equal(seal.data_before, before, sizeof before);
    assert_memory_equal(seal.extents.data, extents.data, 3 * sizeof(tm_extent));
    tm_checksum_free(&seal);
    tm_vec_free(&extents);
    close(fd);
}

TEST(data_is_summed_in_pieces) {
    size_t size = 2 * (size_t)TM_EXTENT_MAX + 5;
    char *bytes = calloc(1, size);
    tm_vec extents = TM_VEC(tm_extent);
    assert_non_null(bytes);
    memcpy(bytes + size - 5, "tail", 5);
    assert_true(tm_checksum_add(&extents, 100, bytes, size));
    const tm_extent *e = extents.data;
    assert_int_equal(extents.n, 3);
    assert_int_equal(e[2].offset, 100 + 2 * TM_EXTENT_MAX);
    assert_int_equal(e[2].size, 5);
    assert_true(e[0].sum == e[1].sum && e[2].sum == tm_checksum_of("tail", 5));
    tm_vec_free(&extents);
    free(bytes);
}

TEST(data_that_overlaps_is_not_sealed) {
    static const uint64_t offsets[] = {1, 2, 3, 9, 11};
    for (size_t i = 0; i < COUNT(offsets); i++) {
        int fd = open_bytes(state, "abcdefghij", 10);
        tm_vec extents = TM_VEC(tm_extent);
        assert_true(tm_checksum_add(&extents, 2, "cd", 2));
        assert_true(tm_checksum_add(&extents, offsets[i], "xx", 2));
        assert_int_equal(tm_checksum_write(fd, 10, &extents), EINVAL);
        assert_int_equal(size_of(fd), 10);
        tm_vec_free(&extents);
        close(fd);
    }
}

/* Tries every byte and every bit of a file with little content. */
TEST(any_other_bit_and_any_other_length_is_refused) {
    char bytes[256] = {0};
    int fd = open_bytes(state, "abcdefghij", 10);
    tm_vec extents = TM_VEC(tm_extent);
    tm_error err = {0};
    tm_checksum seal;
    assert_true(tm_checksum_add(&extents, 2, "cd", 2));
    assert_int_equal(tm_checksum_write(fd, 10, &extents), 0);
    tm_vec_free(&extents);
    size_t size = size_of(fd);
    assert_true(tm_checksum_read_at(fd, 0, bytes, size));
    for (size_t bit = 0; bit < size * 8; bit++) {
        char changed = (char)(bytes[bit / 8] ^ (char)(1 << bit % 8));
        bool data = bit / 8 >= 2 && bit / 8 < 4; /* data is verified when it is read */
        assert_int_equal(pwrite(fd, &changed, 1, (off_t)(bit / 8)), 1);
        tm_status status = tm_checksum_read(fd, size, "p", &seal, &err);
        assert_int_equal(status, data ? TM_OK : TM_ERR_INPUT);
        if (data)
            tm_checksum_free(&seal);
        assert_int_equal(pwrite(fd, &bytes[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(tm_checksum_read(fd, cut, "p", &seal, &err), TM_ERR_INPUT);
    assert_int_equal(pwrite(fd, bytes, 24, (off_t)size), 24);
    for (size_t more = 1; more <= 24; more++)
        assert_int_equal(tm_checksum_read(fd, size + more, "p", &seal, &err), TM_ERR_INPUT);
    close(fd);
}

static void flip(const char *path, off_t at) {
    int fd = open(path, O_RDWR);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Chunks have two rows. Rows 2 and 3 of the column are damaged. */
TEST(a_damaged_chunk_is_an_error_and_no_number) {
    for (int compress = 0; compress < 2; compress++) {
        const char *path = store_path(state);
        int64_t rows[8], kept = 0;
        tm_error err = {0};
        tm_store_column *column = NULL;
        assert_ok(store_job_write(path, compress == 1, NULL, &err));
        flip(path, store_last_byte(path, "/events/duration_ns"));
        tm_store *store = store_open(path);
        assert_ok(tm_store_open_column(store, "/events/duration_ns", TM_I64, &column, &err));
        assert_ok(tm_store_read_rows(column, 1, 1, &kept, &err));
        assert_int_equal(kept, 10);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(tm_store_read_rows(column, 0, 8, rows, &err), TM_ERR_INPUT);
            assert_string_equal(err.message,
                                "the store is damaged: column /events/duration_ns cannot be read");
            assert_int_equal(tm_store_read_rows(column, 2, 1, rows, &err), TM_ERR_INPUT);
        }
        assert_ok(tm_store_read_rows(column, 6, 1, &kept, &err));
        assert_int_equal(kept, 30);
        tm_store_close_column(column);
        tm_store_close(store);
    }
}

/* 30,000 rows exceed one extent, so HDF5 reads parts of it. */
TEST(a_damaged_result_table_is_an_error) {
    const char *path = store_path(state);
    fixture made = make(&sample), read = make(&sample);
    tm_store *store = NULL;
    for (int64_t i = 0; i < 30000; i++)
        add_full(&made, i, i, 0.5, "host with a name");
    assert_ok(store_job_write(path, true, made.table, &made.err));
    assert_ok(tm_store_open(path, &store, &read.err));
    assert_ok(tm_store_read_table(store, read.table, &read.err));
    tm_store_close(store);
    assert_int_equal(read.table->n_rows, 30000);
    for (size_t i = 0; i < 30000; i += 1009)
        assert_int_equal(tm_table_row(read.table, i)[RANK].value.i, i);
    flip(path, store_last_byte(path, "/analysis/test/sample"));
    assert_ok(tm_store_open(path, &store, &read.err));
    assert_int_equal(tm_store_read_table(store, read.table, &read.err), TM_ERR_INPUT);
    assert_string_equal(read.err.message, "the store is damaged: table test.sample cannot be read");
    tm_store_close(store);
    tm_tables_destroy(&made.tables);
    tm_tables_destroy(&read.tables);
}

/* A store with valid checksums that states more rows than the file can hold. */
TEST(rows_that_the_file_cannot_hold_need_no_memory) {
    const hsize_t chunk = 1 << 20, none = 0;
    for (int chunked = 0; chunked < 2; chunked++) {
        const char *path = store_path(state);
        tm_error err = {0};
        tm_store_column *column = NULL;
        hsize_t rows = (hsize_t)1 << (chunked ? 50 : 60), most = H5S_UNLIMITED;
        assert_ok(store_job_write(path, true, NULL, &err));
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t layout = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &none, &most);
        assert_true(H5Ldelete(file, "/names/bytes", H5P_DEFAULT) >= 0);
        if (chunked)
            assert_true(H5Pset_chunk(layout, 1, &chunk) >= 0);
        else /* HDF5 allocates contiguous space at the first write, which never comes */
            assert_true(H5Sset_extent_simple(space, 1, &rows, NULL) >= 0);
        hid_t dataset =
            H5Dcreate2(file, "/names/bytes", H5T_STD_U8LE, space, H5P_DEFAULT, layout, H5P_DEFAULT);
        assert_true(dataset >= 0);
        if (chunked)
            assert_true(H5Dset_extent(dataset, &rows) >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
        H5Pclose(layout);
        H5Fclose(file);
        store_seal(path);
        tm_store *store = store_open(path);
        assert_int_equal(tm_store_open_column(store, "/names/bytes", TM_U8, &column, &err),
                         TM_ERR_INPUT);
        tm_names *names = NULL;
        assert_int_equal(tm_store_read_names(store, &names, &err), TM_ERR_INPUT);
        tm_store_close(store);
    }
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
