/* A store written by several processes. Run with 1, 2, 3 and 4. */
#include "mpi/store_write.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/temp_file.h"
#include "mpi/exchange/agree.h"
#include "mpi_main.h"

/* Number of events of each rank. A chunk of 64 rows may have many ranks, and a rank many chunks. */
static const size_t event_counts[] = {0, 1, 1000, 37, 0, 0, 5000, 3, 64, 63};
enum { N_RANKS = sizeof event_counts / sizeof *event_counts, N_SPREADS = 5, CHUNK_ROWS = 64 };

typedef struct fixture {
    int self, n_processes;
    char folder[64], path[80]; /* path: a store in the folder */
    tm_timeline ranks[N_RANKS];
    tm_names *names;
    tm_tables tables;
} fixture;

static const tm_column columns[] = {{"rank", TM_INT, "", "global rank"},
                                    {"host", TM_TEXT, "", "host"}};
static const tm_table_def def = {
    .name = "overlap.rank", .doc = "a rank", .columns = columns, .n_columns = 2, .n_keys = 1};

static void *filled(size_t n, size_t element, uint64_t seed) {
    unsigned char *bytes = malloc(n * element + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < n * element; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (unsigned char)(i % element < 2 ? seed >> 56 : 0);
    }
    return bytes;
}

static void make_rank(tm_timeline *t, int64_t rank, size_t n) {
    uint64_t seed = (uint64_t)rank * 1000;
    *t = (tm_timeline){.rank = rank * 3, .n_events = n, .n_tracks = n > 0, .n_steps = n / 10};
    t->begin_ns = filled(n, 8, seed);
    t->duration_ns = filled(n, 8, seed + 1);
    t->name = filled(n, 4, seed + 2);
    t->step = filled(n, 4, seed + 3);
    t->launch = filled(n, 4, seed + 4);
    t->category = calloc(n + 1, 1);
    t->kind = calloc(n + 1, 1);
    t->role = filled(n, 1, seed + 5);
    for (size_t i = 0; i < n; i++)
        t->role[i] %= 4;
    t->tracks = calloc(1, sizeof *t->tracks);
    t->steps = calloc(t->n_steps + 1, sizeof *t->steps);
    for (size_t i = 0; i < t->n_steps; i++)
        t->steps[i] = (tm_step){.number = (int64_t)i, .end_ns = rank};
    t->n_attrs[TM_ATTR_KERNEL] = n / 3;
    tm_kernel_attr *kernels = calloc(n / 3 + 1, sizeof *kernels);
    for (size_t i = 0; i < n / 3; i++)
        kernels[i] = (tm_kernel_attr){.event = (uint32_t)i, .correlation = rank, .shape = i % 2};
    t->shapes = calloc(2, sizeof *t->shapes);
    t->shapes[1] = (tm_launch_shape){.grid = {1, 2, 3}};
    t->attrs[TM_ATTR_KERNEL] = kernels;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    tm_error err;
    const tm_table_def *defs[] = {&def};
    f->self = this_process();
    f->n_processes = all_processes();
    open_folder(f->folder);
    snprintf(f->path, sizeof f->path, "%s/a.h5", f->folder);
    for (int i = 0; i < N_RANKS; i++)
        make_rank(&f->ranks[i], i, event_counts[i]);
    f->names = tm_names_create();
    tm_names_intern_string(f->names, "aten::mm");
    if (tm_tables_create(defs, 1, &f->tables, &err) != TM_OK)
        return -1;
    tm_cell *cells = tm_table_add_row(&f->tables.tables[0]);
    tm_cell_set_int(&cells[0], 1);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    for (int i = 0; i < N_RANKS; i++)
        tm_timeline_destroy(&f->ranks[i]);
    tm_names_destroy(f->names);
    tm_tables_destroy(&f->tables);
    int failed = f->self == 0 ? rmdir(f->folder) : 0;
    free(f);
    return failed;
}

static int holder(int spread, int rank, int n_processes) {
    switch (spread) {
    case 0:
        return rank * n_processes / N_RANKS; /* adjacent ranks on each process */
    case 1:
        return rank % n_processes;
    case 2:
        return n_processes - 1 - rank * n_processes / N_RANKS;
    case 3:
        return n_processes - 1; /* process 0 has no ranks, unless it is the only process */
    default:
        return rank * 7 % 5 % n_processes;
    }
}

static tm_status write_store(fixture *f, MPI_Comm comm, int spread, const char *path, bool compress,
                             tm_error *err) {
    int self, n_processes;
    tm_timeline *mine[N_RANKS];
    const tm_store_attribute attributes[] = {{.name = "command", .text = "tmerge x"}};
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    tm_store_plan plan = {
        .path = path, .timelines = mine, .compress = compress, .chunk_rows = CHUNK_ROWS};
    for (int i = 0; i < N_RANKS; i++)
        if (holder(spread, i, n_processes) == self)
            mine[plan.n_timelines++] = &f->ranks[i];
    if (self == 0) { /* only process 0 sets these members */
        plan.names = f->names;
        plan.tables = &f->tables;
        plan.tool_version = "0.1.0";
        plan.attributes = attributes;
        plan.n_attributes = 1;
    }
    return tm_mpi_store_write(comm, &plan, err);
}

TEST(the_file_does_not_depend_on_processes_or_spread) {
    fixture *f = *state;
    char expected[128];
    tm_error err = {0};
    snprintf(expected, sizeof expected, "%s/expected.h5", f->folder);
    for (int compress = 0; compress < 2; compress++) {
        bool good = true;
        if (f->self == 0) {
            good = write_store(f, MPI_COMM_SELF, 0, expected, compress == 1, &err) == TM_OK;
            good = good && tm_store_is_store(expected);
        }
        assert_on_all(good);
        for (int spread = 0; spread < N_SPREADS; spread++) {
            tm_status status = write_store(f, MPI_COMM_WORLD, spread, f->path, compress == 1, &err);
            assert_int_equal(status, TM_OK);
            assert_on_all(f->self != 0 || same_files(f->path, expected));
            if (f->self == 0)
                unlink(f->path);
        }
        if (f->self == 0)
            unlink(expected);
    }
}

TEST(a_job_without_ranks_gives_a_store) {
    fixture *f = *state;
    tm_error err = {0};
    tm_store_plan plan = {.path = f->path, .names = f->names, .tool_version = "0.1.0"};
    assert_int_equal(tm_mpi_store_write(MPI_COMM_WORLD, &plan, &err), TM_OK);
    assert_on_all(f->self != 0 || tm_store_is_store(f->path));
    if (f->self == 0)
        unlink(f->path);
}

static void limit_files(rlim_t limit) {
    struct rlimit limits;
    getrlimit(RLIMIT_FSIZE, &limits);
    limits.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &limits);
}

/* Only process 0 writes to the file, so only its limit matters. */
TEST(a_full_disk_stops_all_processes_alike) {
    fixture *f = *state;
    char temporary[192];
    signal(SIGXFSZ, SIG_IGN);
    assert_true(tm_temp_file_temporary_path(f->path, temporary, sizeof temporary));
    for (rlim_t limit = 0; limit < 150000; limit += 30000) {
        for (int spread = 0; spread < N_SPREADS; spread++) {
            tm_error err = {0};
            if (f->self == 0)
                limit_files(limit);
            tm_status status = write_store(f, MPI_COMM_WORLD, spread, f->path, true, &err);
            if (f->self == 0)
                limit_files(RLIM_INFINITY);
            assert_int_equal(status, TM_ERR_OUTPUT);
            assert_string_equal(err.path, f->path);
            assert_string_equal(err.message, "cannot be written: File too large");
            assert_int_not_equal(access(f->path, F_OK), 0);
            assert_int_not_equal(access(temporary, F_OK), 0);
        }
    }
    tm_error err = {0};
    assert_int_equal(write_store(f, MPI_COMM_WORLD, 1, f->path, true, &err), TM_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (f->self == 0)
        assert_int_equal(unlink(f->path), 0);
}

TEST(a_rank_that_is_held_twice_is_refused_by_all) {
    fixture *f = *state;
    tm_error err = {0};
    tm_timeline *mine[] = {&f->ranks[2], &f->ranks[2]};
    tm_store_plan plan = {.path = f->path,
                          .timelines = mine,
                          .n_timelines = f->n_processes == 1 ? 2 : 1,
                          .names = f->names,
                          .tool_version = "0.1.0"};
    assert_int_equal(tm_mpi_store_write(MPI_COMM_WORLD, &plan, &err), TM_ERR_FAULT);
    assert_string_equal(err.message, "two processes have rank 6");
    assert_int_not_equal(access(f->path, F_OK), 0);
}

TEST(all_agree_on_the_error_of_the_lowest_failing_process) {
    fixture *f = *state;
    tm_error err = {.message = "untouched"};
    assert_int_equal(tm_mpi_agree(MPI_COMM_WORLD, TM_OK, &err), TM_OK);
    assert_string_equal(err.message, "untouched");
    /* process 1 and all higher ones fail, or process 0 if it is the only one */
    int lowest = f->n_processes > 1 ? 1 : 0;
    tm_status status = TM_OK;
    if (f->self >= lowest)
        status = tm_fail(&err, f->self == lowest ? TM_ERR_INPUT : TM_ERR_OUTPUT, "a.json", f->self,
                         "process %d failed", f->self);
    assert_int_equal(tm_mpi_agree(MPI_COMM_WORLD, status, &err), TM_ERR_INPUT);
    assert_int_equal(err.status, TM_ERR_INPUT);
    assert_int_equal(err.offset, lowest);
    assert_string_equal(err.path, "a.json");
    assert_string_equal(err.message, lowest == 1 ? "process 1 failed" : "process 0 failed");
    assert_int_equal(tm_mpi_agree(MPI_COMM_WORLD, status, NULL), TM_ERR_INPUT);
}

RUN_MPI_TESTS(set_up, tear_down)
