/* Chunks are packed as HDF5 packs them, and unpacked with all checks. */
#include "store_job.h"

#include "store/chunk_pack.h"
#include "store/filter.h"

enum { ROWS = 1000 };

/* Makes small numbers with noise, so that the bytes of an element differ. */
static void make_rows(uint64_t rows[ROWS], unsigned seed) {
    uint64_t x = 88172645463325252u + seed;
    for (size_t i = 0; i < ROWS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        rows[i] = 1000 * i + x % 5000 + (x % 11 == 0 ? x : 0);
    }
}

TEST(a_chunk_unpacks_to_its_rows_and_zeros) {
    static const size_t elements[] = {1, 4, 8}, chunks[] = {1, 7, 8, 15, 16, 17, 100, ROWS};
    uint64_t rows[ROWS], scratch[ROWS], out[ROWS];
    tm_packer *packer = tm_packer_create(true);
    for (size_t e = 0; e < 3; e++)
        for (size_t c = 0; c < COUNT(chunks); c++)
            for (size_t missing = 0; missing < 3 && missing < chunks[c]; missing++) {
                size_t size = 0, n = chunks[c] - missing;
                tm_chunk_shape shape = {elements[e], chunks[c]};
                make_rows(rows, (unsigned)c);
                const void *packed = tm_pack_chunk(packer, shape, rows, n, &size);
                assert_non_null(packed);
                assert_true(size <= tm_pack_bound(elements[e] * chunks[c]));
                assert_true(tm_unpack_chunk(packed, size, shape, scratch));
                tm_unpack_rows(scratch, shape, 0, chunks[c], out);
                assert_memory_equal(out, rows, n * elements[e]);
                for (size_t i = n * elements[e]; i < chunks[c] * elements[e]; i++)
                    assert_int_equal(((char *)out)[i], 0);
            }
    tm_packer_destroy(packer);
}

TEST(packing_gives_the_same_bytes_whatever_came_before) {
    uint64_t rows[ROWS], other[ROWS];
    char first[2 * sizeof rows];
    size_t size = 0, again = 0, ignored = 0;
    tm_chunk_shape shape = {8, ROWS};
    tm_packer *packer = tm_packer_create(true);
    make_rows(rows, 1);
    const void *packed = tm_pack_chunk(packer, shape, rows, ROWS, &size);
    memcpy(first, packed, size);
    for (unsigned i = 0; i < 50; i++) {
        make_rows(other, i);
        tm_chunk_shape other_shape = {i % 2 ? 4 : 8, ROWS - i};
        assert_non_null(tm_pack_chunk(packer, other_shape, other, ROWS - i, &ignored));
        packed = tm_pack_chunk(packer, shape, rows, ROWS, &again);
        assert_int_equal(again, size);
        assert_memory_equal(packed, first, size);
    }
    tm_packer_destroy(packer);
}

TEST(plain_chunks_are_the_rows_and_zeros) {
    const uint32_t rows[] = {7, 8, 9}, padded[] = {7, 8, 0};
    size_t size = 0;
    tm_packer *packer = tm_packer_create(false);
    assert_memory_equal(tm_pack_chunk(packer, (tm_chunk_shape){4, 3}, rows, 3, &size), rows, 12);
    assert_int_equal(size, 12);
    assert_memory_equal(tm_pack_chunk(packer, (tm_chunk_shape){4, 3}, rows, 2, &size), padded, 12);
    assert_int_equal(size, 12);
    tm_packer_destroy(packer);
}

TEST(bytes_that_are_no_such_chunk_are_refused) {
    uint64_t rows[ROWS], out[ROWS];
    size_t size = 0;
    tm_packer *packer = tm_packer_create(true);
    make_rows(rows, 3);
    char *packed = malloc(tm_pack_bound(sizeof rows));
    const void *good = tm_pack_chunk(packer, (tm_chunk_shape){8, 100}, rows, 100, &size);
    memcpy(packed, good, size);
    assert_true(tm_unpack_chunk(packed, size, (tm_chunk_shape){8, 100}, out));
    assert_false(tm_unpack_chunk(packed, size, (tm_chunk_shape){8, 101}, out));
    assert_false(tm_unpack_chunk(packed, size, (tm_chunk_shape){8, 99}, out));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(tm_unpack_chunk(packed, cut, (tm_chunk_shape){8, 100}, out));
    packed[0] ^= 1; /* zstd's magic number */
    assert_false(tm_unpack_chunk(packed, size, (tm_chunk_shape){8, 100}, out));
    free(packed);
    tm_packer_destroy(packer);
}

/* Writes rows with H5Dwrite, through shuffle and the filter. Returns the size of a chunk as stored
 * in the file. */
static size_t hdf5_chunk(const char *path, hid_t type, const void *rows, hsize_t at, char *out) {
    hsize_t n = ROWS, chunk = 300, size = 0;
    const unsigned level = TM_STORE_ZSTD_LEVEL;
    uint32_t mask = 1;
    assert_true(H5Zregister(&tm_zstd_filter) >= 0);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &n, NULL), layout = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(layout, 1, &chunk) >= 0 && H5Pset_shuffle(layout) >= 0);
    assert_true(H5Pset_filter(layout, TM_STORE_ZSTD_FILTER, H5Z_FLAG_MANDATORY, 1, &level) >= 0);
    hid_t dataset = H5Dcreate2(file, "a", type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    assert_true(H5Dget_chunk_storage_size(dataset, &at, &size) >= 0);
    assert_true(H5Dread_chunk(dataset, H5P_DEFAULT, &at, &mask, out) >= 0);
    assert_int_equal(mask, 0);
    H5Dclose(dataset);
    H5Pclose(layout);
    H5Sclose(space);
    H5Fclose(file);
    return (size_t)size;
}

TEST(a_chunk_is_what_the_pipeline_of_hdf5_writes) {
    const char *path = store_path(state);
    char expected[8 * ROWS];
    uint64_t rows[ROWS];
    const hid_t types[] = {H5T_STD_U8LE, H5T_STD_U32LE, H5T_STD_I64LE};
    static const size_t elements[] = {1, 4, 8};
    make_rows(rows, 5);
    tm_packer *packer = tm_packer_create(true);
    for (size_t e = 0; e < 3; e++)
        for (size_t at = 0; at < ROWS; at += 300) {
            /* The last chunk has 100 rows of 300. HDF5 also fills the rest with zeros. */
            size_t n = ROWS - at < 300 ? ROWS - at : 300, size = 0;
            size_t wanted = hdf5_chunk(path, types[e], rows, at, expected);
            const void *packed = tm_pack_chunk(packer, (tm_chunk_shape){elements[e], 300},
                                               (const char *)rows + at * elements[e], n, &size);
            assert_int_equal(size, wanted);
            assert_memory_equal(packed, expected, size);
        }
    tm_packer_destroy(packer);
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
