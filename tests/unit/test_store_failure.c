/* Failures while a store is written, and files that are damaged or not a store. */
#include "store_job.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/temp_file.h"
#include "store/chunk_pack.h"

/* Limits files to this many bytes. A write that exceeds them fails as on a full disk. */
static void limit_files(rlim_t limit) {
    struct rlimit limits;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limits), 0);
    limits.rlim_cur = limit;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limits), 0);
}

TEST(a_full_disk_leaves_nothing_past) {
    const char *path = store_path(state);
    tm_error err = {0};
    size_t size = 0;
    assert_ok(store_job_write(path, true, NULL, &err));
    char *whole = store_bytes(path, &size);
    store_put_bytes(path, "older", 5);
    for (size_t limit = 0; limit < size; limit += size / 40) {
        limit_files(limit);
        tm_status status = store_job_write(path, true, NULL, &err);
        limit_files(RLIM_INFINITY);
        assert_int_equal(status, TM_ERR_OUTPUT);
        assert_string_equal(err.path, path);
        assert_string_equal(err.message, "cannot be written: File too large");
        assert_int_equal(store_count_files(*state), 1);
    }
    store_assert_bytes(path, "older", 5);
    assert_ok(store_job_write(path, true, NULL, &err));
    store_assert_bytes(path, whole, size);
    free(whole);
}

TEST(a_store_that_cannot_be_created_says_why) {
    char folder[128], path[160];
    tm_error err = {0};
    snprintf(path, sizeof path, "%s/missing/a.h5", (char *)*state);
    assert_int_equal(store_job_write(path, true, NULL, &err), TM_ERR_OUTPUT);
    assert_string_equal(err.path, path);
    assert_string_equal(err.message, "cannot be written: No such file or directory");
    store_file(state, "a.h5", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(store_job_write(folder, true, NULL, &err), TM_ERR_OUTPUT);
    assert_string_equal(err.message, "cannot be written: Is a directory");
    assert_int_equal(store_count_files(*state), 1);
    assert_int_equal(rmdir(folder), 0);
}

TEST(an_old_temporary_file_is_replaced_not_followed) {
    const char *path = store_path(state);
    char temporary[192], target[128];
    tm_error err = {0};
    store_put_bytes(store_file(state, "target", target), "mine", 4);
    assert_true(tm_temp_file_temporary_path(path, temporary, sizeof temporary));
    assert_int_equal(symlink(target, temporary), 0);
    assert_ok(store_job_write(path, true, NULL, &err));
    store_assert_bytes(target, "mine", 4);
    assert_int_equal(store_count_files(*state), 2);
    assert_true(tm_store_is_store(path));
}

TEST(the_temporary_file_lies_in_the_same_folder) {
    static const char *const cases[][2] = {
        {"a.h5", ".a.h5."},
        {"/x/y.z/a", "/x/y.z/.a."},
        {"../a.h5", "../.a.h5."},
        {"/a", "/.a."},
    };
    char out[80];
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t begin = strlen(cases[i][1]), hash = 8;
        char end[32];
        assert_true(tm_temp_file_temporary_path(cases[i][0], out, strlen(cases[i][0]) + 64));
        assert_memory_equal(out, cases[i][1], begin);
        assert_int_equal(strspn(out + begin, "0123456789abcdef"), hash);
        snprintf(end, sizeof end, "-%ld.tmerge-tmp", (long)getpid());
        assert_string_equal(out + begin + hash, end);
        assert_false(tm_temp_file_temporary_path(cases[i][0], out, strlen(cases[i][1])));
        assert_string_equal(out, "");
    }
}

TEST(a_column_must_get_all_its_rows_and_no_more) {
    const char *path = store_path(state);
    tm_error err = {0};
    const int64_t rows[8] = {0};
    const tm_record_column *column = tm_record_tables[TM_RECORD_EVENTS].columns;
    for (size_t given = 4; given <= 6; given++) {
        tm_store_writer *writer = store_begin(path, true, 2);
        assert_ok(tm_store_put_group(writer, "/events", "doc", &err));
        assert_ok(tm_store_begin_column(writer, "/events", column, 5, &err));
        tm_status status = tm_store_put_rows(writer, rows, given, &err);
        assert_int_equal(status, given > 5 ? TM_ERR_FAULT : TM_OK);
        if (status == TM_OK)
            status = tm_store_end_column(writer, &err);
        assert_int_equal(status, given == 5 ? TM_OK : TM_ERR_FAULT);
        tm_store_abandon(writer);
        assert_int_equal(store_count_files(*state), 0);
    }
}

static void set_version(const char *path, const char *name, int64_t version) {
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &version) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    store_seal(path);
}

TEST(a_newer_major_version_is_refused_and_named) {
    const char *path = store_path(state);
    tm_error err = {0};
    tm_store *store = NULL;
    assert_ok(store_job_write(path, true, NULL, &err));
    set_version(path, "schema_minor", 7);
    assert_ok(tm_store_open(path, &store, &err));
    tm_store_close(store);
    store = NULL;
    set_version(path, "schema_major", 2);
    assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
    assert_null(store);
    assert_string_equal(
        err.message,
        "the store has schema version 2.7, but this tmerge reads only 1.3 and older: use "
        "a newer tmerge");
    assert_true(tm_store_is_store(path));
    set_version(path, "schema_major", 0);
    assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
}

static void expect_no_store(const char *path, const char *message) {
    tm_error err = {0};
    tm_store *store = NULL;
    assert_false(tm_store_is_store(path));
    assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
    assert_string_equal(err.path, path);
    assert_string_equal(err.message, message);
    assert_null(store);
}

TEST(other_files_are_no_stores) {
    char path[128];
    const char *not = "not a tmerge store";
    const char *changed = "not a tmerge store, or changed since it was written";
    expect_no_store(store_file(state, "missing", path),
                    "cannot be read: No such file or directory");
    expect_no_store(*state, not );
    store_put_bytes(store_file(state, "empty", path), "", 0);
    expect_no_store(path, not );
    store_put_bytes(store_file(state, "text", path), "{\"traceEvents\": []}", 19);
    expect_no_store(path, not );
    assert_int_equal(mkfifo(store_file(state, "pipe", path), 0600), 0);
    expect_no_store(path, not );
    hid_t file =
        H5Fcreate(store_file(state, "other.h5", path), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    expect_no_store(path, changed);
    store_seal(path);
    tm_store *store = NULL;
    tm_error err = {0};
    assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, not );
    store_put_bytes(store_file(state, "damaged", path), "\x89HDF\r\n\x1a\nand no more", 19);
    expect_no_store(path, changed);
    store_seal(path);
    assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
    assert_string_equal(err.message, "the store is damaged: HDF5 cannot open it");
}

TEST(a_store_that_was_cut_short_is_refused) {
    const char *path = store_path(state);
    tm_error err = {0};
    size_t size = 0;
    assert_ok(store_job_write(path, true, NULL, &err));
    char *bytes = store_bytes(path, &size);
    for (size_t cut = 48; cut < size; cut += size / 100) { /* 48 bytes contain the expected size */
        tm_store *store = NULL;
        store_put_bytes(path, bytes, cut);
        assert_int_equal(tm_store_open(path, &store, &err), TM_ERR_INPUT);
        uint64_t content; /* size of the content: the second of the last five numbers of the file */
        memcpy(&content, bytes + size - 32, sizeof content);
        assert_string_equal(err.message,
                            cut < content ? "the file is damaged: it was cut short"
                                          : "not a tmerge store, or changed since it was written");
        assert_string_equal(err.path, path);
    }
    free(bytes);
}

/* HDF5 1.10 itself reads past the end of such a chunk. */
TEST(a_chunk_with_too_few_rows_is_refused) {
    const char *path = store_path(state);
    tm_error err = {0};
    int64_t rows[100] = {0};
    size_t size = 0;
    tm_packer *packer = tm_packer_create(true);
    tm_store_writer *writer = store_begin(path, true, 0);
    assert_ok(tm_store_put_group(writer, "/events", "doc", &err));
    assert_ok(tm_store_begin_column(writer, "/events", tm_record_tables[TM_RECORD_EVENTS].columns,
                                    100, &err));
    const void *packed = tm_pack_chunk(packer, (tm_chunk_shape){8, 50}, rows, 50, &size);
    assert_ok(tm_store_put_chunk(writer, packed, size, &err));
    assert_ok(tm_store_end_column(writer, &err));
    assert_ok(tm_store_commit(writer, &err));
    tm_packer_destroy(packer);
    tm_store_column *column = NULL;
    tm_store *store = store_open(path);
    assert_ok(tm_store_open_column(store, "/events/begin_ns", TM_I64, &column, &err));
    assert_int_equal(tm_store_read_rows(column, 0, 1, rows, &err), TM_ERR_INPUT);
    assert_string_equal(err.message,
                        "the store is damaged: column /events/begin_ns cannot be read");
    tm_store_close_column(column);
    tm_store_close(store);
}

TEST(reading_does_not_touch_the_file) {
    const char *path = store_path(state);
    tm_error err = {0};
    struct stat before, after;
    assert_ok(store_job_write(path, true, NULL, &err));
    assert_int_equal(stat(path, &before), 0);
    tm_store *store = store_open(path);
    tm_store_close(store);
    assert_true(tm_store_is_store(path));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(store_count_files(*state), 1);
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
