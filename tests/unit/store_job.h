/* A job of three ranks, whose store can be computed by hand, and helpers to write it. */
#ifndef TMERGE_STORE_JOB_H
#define TMERGE_STORE_JOB_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include <hdf5.h>

#include "store/checksum.h"
#include "tmerge/store.h"

/* Rank 0 has 3 events in 2 steps, rank 1 has no events, rank 4 has 5 events in 1 step. */
typedef struct store_job {
    tm_timeline ranks[3];
    int64_t begin[2][5], duration[2][5];
    uint32_t name[2][5], launch[2][5];
    int32_t step[2][5];
    uint8_t category[2][5], kind[2][5], role[2][5];
    tm_track tracks[2][2];
    tm_step steps[2][2];
    tm_span spans[2][2];
    tm_kernel_attr kernels[2][2];
    tm_launch_shape shapes[2];
    tm_counter_attr counters[1];
    tm_names *names;
} store_job;

static inline void store_job_rank(store_job *job, int at, int64_t rank, size_t n_events) {
    static const int timeline_of[] = {0, 2};
    tm_timeline *t = &job->ranks[timeline_of[at]];
    for (size_t i = 0; i < n_events; i++) {
        job->begin[at][i] = 1700000000000000000 + rank * 1000 + (int64_t)i;
        job->duration[at][i] = 10 * (int64_t)i;
        job->name[at][i] = (uint32_t)i % 3;
        job->launch[at][i] = i == 2 ? 1 : TM_NO_EVENT;
        job->step[at][i] = i == 0 ? TM_NO_STEP : at == 0 && i == 2;
        job->category[at][i] = i == 2 ? TM_CAT_KERNEL : TM_CAT_CPU_OP;
        job->role[at][i] = i == 2 ? TM_ROLE_COMPUTE : TM_ROLE_NONE;
    }
    *t = (tm_timeline){.rank = rank,
                       .world_size = 8,
                       .device = -1,
                       .truncated = at == 1,
                       .n_events = n_events,
                       .begin_ns = job->begin[at],
                       .duration_ns = job->duration[at],
                       .name = job->name[at],
                       .step = job->step[at],
                       .launch = job->launch[at],
                       .category = job->category[at],
                       .kind = job->kind[at],
                       .role = job->role[at],
                       .tracks = job->tracks[at],
                       .n_tracks = 2,
                       .steps = job->steps[at],
                       .n_steps = at == 0 ? 2 : 1,
                       .spans = job->spans[at],
                       .n_spans = at == 0 ? 2 : 1};
    t->counts[TM_COUNT_FLOW] = 100 + rank;
    job->tracks[at][0] = (tm_track){.kind = TM_TRACK_GPU, .stream = 7, .first = 0, .count = 1};
    job->tracks[at][1] = (tm_track){.kind = TM_TRACK_CPU, .device = -1, .stream = -1, .first = 1};
    job->tracks[at][1].count = (uint32_t)n_events - 1;
    job->steps[at][0] = (tm_step){.number = 40, .begin_ns = 1, .end_ns = 2, .annotated = true};
    job->steps[at][1] = (tm_step){.number = 41, .begin_ns = 2, .end_ns = 5, .annotated = true};
    job->spans[at][0] = (tm_span){.begin_ns = 1000, .end_ns = 1500};
    job->spans[at][1] = (tm_span){.begin_ns = 1600, .end_ns = 2001};
    job->kernels[at][0] = (tm_kernel_attr){.correlation = 9, .event = 2};
    job->shapes[at] = (tm_launch_shape){.grid = {1, 2, 3}, .occupancy_pct = 37.5f};
    t->shapes = &job->shapes[at];
    t->n_shapes = 1;
    t->attrs[TM_ATTR_KERNEL] = job->kernels[at];
    t->n_attrs[TM_ATTR_KERNEL] = 1;
}

static inline void store_job_make(store_job *job) {
    memset(job, 0, sizeof *job);
    store_job_rank(job, 0, 0, 3);
    job->ranks[1] = (tm_timeline){.rank = 1, .world_size = -1, .device = -1};
    store_job_rank(job, 1, 4, 5);
    job->counters[0] = (tm_counter_attr){.value = 0.5, .event = 4, .series = 2};
    job->ranks[2].attrs[TM_ATTR_COUNTER] = job->counters;
    job->ranks[2].n_attrs[TM_ATTR_COUNTER] = 1;
    job->names = tm_names_create();
    assert_non_null(job->names);
    assert_int_equal(tm_names_intern_string(job->names, "aten::mm"), 1);
    assert_int_equal(tm_names_intern_string(job->names, "gr\xc3\xb6\xc3\x9f"
                                                        "e"),
                     2);
}

/* Writes a column of a record table for all ranks. */
static inline tm_status store_put_column(tm_store_writer *writer, const tm_timeline *ranks,
                                         size_t n_ranks, const tm_record_table *record,
                                         const tm_record_column *column, tm_error *err) {
    size_t total = 0;
    for (size_t r = 0; r < n_ranks; r++)
        total += tm_record_rows(record, &ranks[r]);
    TM_TRY(tm_store_begin_column(writer, record->path, column, total, err));
    tm_row_base base = {{0}};
    for (size_t r = 0; r < n_ranks; r++) {
        char rows[8 * 256];
        size_t n = tm_record_rows(record, &ranks[r]);
        assert_in_range(n, 0, 256);
        column->fill(column, &ranks[r], &base, 0, n, rows);
        TM_TRY(tm_store_put_rows(writer, rows, n, err));
        for (int t = 0; t < TM_N_RECORDS; t++)
            base.first[t] += (int64_t)tm_record_rows(&tm_record_tables[t], &ranks[r]);
    }
    return tm_store_end_column(writer, err);
}

static inline tm_status store_put_records(tm_store_writer *writer, const tm_timeline *ranks,
                                          size_t n_ranks, tm_error *err) {
    for (int t = 0; t < TM_N_RECORDS; t++) {
        const tm_record_table *record = &tm_record_tables[t];
        TM_TRY(tm_store_put_group(writer, record->path, record->doc, err));
        for (int i = 0; i < record->n_columns; i++)
            TM_TRY(store_put_column(writer, ranks, n_ranks, record, &record->columns[i], err));
    }
    return TM_OK;
}

static inline tm_status store_job_put(tm_store_writer *writer, const store_job *job,
                                      const tm_table *table, tm_error *err) {
    TM_TRY(store_put_records(writer, job->ranks, 3, err));
    TM_TRY(tm_store_put_names(writer, job->names, err));
    if (table)
        TM_TRY(tm_store_put_table(writer, table, err));
    const tm_store_attribute command = {.name = "command", .text = "tmerge a.json"};
    const tm_store_attribute skipped = {.name = "skipped_events", .number = -12};
    TM_TRY(tm_store_put_attribute(writer, &command, err));
    return tm_store_put_attribute(writer, &skipped, err);
}

/* Writes the job in chunks of two rows, so that a chunk may contain rows of two ranks. */
static inline tm_status store_job_write_as(const char *path, bool compress, const store_job *job,
                                           const tm_table *table, tm_error *err) {
    tm_store_writer *writer;
    tm_store_options options = {.tool_version = "0.1.0", .compress = compress, .chunk_rows = 2};
    TM_TRY(tm_store_create(path, &options, &writer, err));
    tm_status status = store_job_put(writer, job, table, err);
    if (status == TM_OK)
        return tm_store_commit(writer, err);
    tm_store_abandon(writer);
    return status;
}

static inline tm_status store_job_write(const char *path, bool compress, const tm_table *table,
                                        tm_error *err) {
    store_job job;
    store_job_make(&job);
    tm_status status = store_job_write_as(path, compress, &job, table, err);
    tm_names_destroy(job.names);
    return status;
}

static inline int store_folder(void **state) {
    char *folder = malloc(64);
    if (!folder)
        return -1;
    snprintf(folder, 64, "/tmp/tmerge-store-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

static inline int store_remove_folder(void **state) {
    DIR *folder = opendir(*state);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", (const char *)*state, entry->d_name);
        unlink(path);
    }
    closedir(folder);
    int failed = rmdir(*state);
    free(*state);
    return failed;
}

static inline int store_count_files(const char *path) {
    int n = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        n += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(folder);
    return n;
}

static inline const char *store_file(void **state, const char *name, char path[128]) {
    snprintf(path, 128, "%s/%s", (const char *)*state, name);
    return path;
}

/* Returns the path of the only store that most tests write. */
static inline const char *store_path(void **state) {
    static char path[128];
    return store_file(state, "a.h5", path);
}

static inline tm_store_writer *store_begin(const char *path, bool compress, size_t chunk_rows) {
    tm_error err = {0};
    tm_store_writer *writer = NULL;
    const tm_store_options options = {
        .tool_version = "0.1.0", .compress = compress, .chunk_rows = chunk_rows};
    if (tm_store_create(path, &options, &writer, &err) != TM_OK)
        fail_msg("%s", err.message);
    return writer;
}

static inline tm_store *store_open(const char *path) {
    tm_error err = {0};
    tm_store *store = NULL;
    if (tm_store_open(path, &store, &err) != TM_OK)
        fail_msg("%s", err.message);
    return store;
}

static inline char *store_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline void store_put_bytes(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Returns the offset of the last byte of a dataset, or of its second chunk if any; -1: no data. */
static inline off_t store_last_byte(const char *path, const char *dataset_path) {
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, dataset_path, H5P_DEFAULT);
    hid_t layout = H5Dget_create_plist(dataset), space = H5Dget_space(dataset);
    haddr_t at = H5Dget_offset(dataset);
    hsize_t size = H5Dget_storage_size(dataset), first, n = 0;
    unsigned mask;
    if (H5Pget_layout(layout) == H5D_CHUNKED && size > 0)
        assert_true(H5Dget_num_chunks(dataset, space, &n) >= 0 &&
                    H5Dget_chunk_info(dataset, space, n > 1, &first, &mask, &at, &size) >= 0);
    H5Sclose(space);
    H5Pclose(layout);
    H5Dclose(dataset);
    H5Fclose(file);
    return size > 0 ? (off_t)(at + size - 1) : -1;
}

static inline void store_assert_bytes(const char *path, const void *expected, size_t size) {
    size_t found;
    char *bytes = store_bytes(path, &found);
    assert_non_null(bytes);
    assert_int_equal(found, size);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

/* Adds the checksums that a change by HDF5 removed, as if all bytes were structure, not data. */
static inline void store_seal(const char *path) {
    int fd = open(path, O_RDWR);
    struct stat status;
    tm_vec none = TM_VEC(tm_extent);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(tm_checksum_write(fd, (uint64_t)status.st_size, &none), 0);
    close(fd);
}

#endif
