/* Traces read by several processes. A trace that is much larger than the others is read in parts,
 * with the same result. Run with 1, 2, 3, 4 and 8 processes. */
#include "mpi/load/load.h"

#include <unistd.h>

#include "base/vec.h"
#include "mpi/exchange/dictionary.h"
#include "mpi/store_write.h"
#include "mpi_main.h"
#include "source_ways.h"
#include "tmerge/analysis.h"

enum { FILES_MAX = 6, N_LARGE = 3000 };

typedef struct job {
    int self, n_processes;
    char folder[64];
    char paths[FILES_MAX][128];
    size_t n;
} job;

typedef struct outcome_of_load {
    tm_status status;
    tm_error err;
    size_t n_in_parts, n_left_out;
} outcome_of_load;

static job open_job(void) {
    job j = {.self = this_process(), .n_processes = all_processes()};
    open_folder(j.folder);
    return j;
}

static void close_job(const job *j) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < j->n && j->self == 0; i++)
        unlink(j->paths[i]);
    if (j->self == 0)
        assert_int_equal(rmdir(j->folder), 0);
}

/* Adds a file. Takes ownership of the content. */
static void add_file(job *j, const char *name, tm_vec content) {
    assert_true(j->n < FILES_MAX);
    char *path = j->paths[j->n++];
    snprintf(path, sizeof j->paths[0], "%s/%s", j->folder, name);
    if (j->self == 0) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(content.data, 1, content.n, file), content.n);
        assert_int_equal(fclose(file), 0);
    }
    tm_vec_free(&content);
}

static TM_PRINTF(2, 3) void put(tm_vec *text, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_non_null(tm_vec_append(text, line, (size_t)size));
}

/* Writes event i: rows of all kinds, texts that look like events, and a number that is not JSON. */
static void put_event(tm_vec *text, int i, int at) {
    switch (i % 6) {
    case 0:
        put(text,
            "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"launch\", \"pid\": 7, "
            "\"tid\": %d, \"ts\": %d, \"dur\": 1, \"args\": {\"correlation\": %d}}",
            i / 1000, at, i + 1);
        break;
    case 1:
        put(text,
            "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"kernel %d\",\"pid\":0,\"tid\":%d,"
            "\"ts\":%d,\"dur\":2,\"args\":{\"correlation\":%d,\"device\":0,\"stream\":%d,"
            "\"grid\":[1,2,%d],\"Collective name\":\"allreduce\",\"dtype\":\"dtype %d\"}}",
            i % 37, 7 + i / 1500, at, i, 7 + i / 1500, i % 5 + 1, i % 11);
        break;
    case 2:
        put(text,
            "{\"ph\":\"X\",\"name\":\"}, {\\\"ph\\\": \\\"X\\\", \\\"ts\\\": 1}, {\",\"pid\":7,"
            "\"tid\":8,\"ts\":%d,\"dur\":1,\"args\":{\"list\":[1,[],{\"a\":\"}, {\"}]}}",
            at);
        break;
    case 3:
        put(text,
            "\n{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"copy\",\"pid\":0,\"tid\":20,"
            "\"ts\":%d,\"dur\":1,\"args\":{\"bytes\":%d,\"memory bandwidth (GB/s)\":inf}}",
            at, i);
        break;
    case 4:
        put(text, "{\"ph\":\"C\",\"name\":\"c\",\"pid\":7,\"ts\":%d,\"args\":{\"x%d\":%d}}", at,
            i % 3, i);
        break;
    default:
        put(text,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":%d,\"ts\":1,"
            "\"args\":{\"name\":\"thread %d\"}}",
            i / 1000, i);
    }
}

/* Makes a trace of n events, the first at time @p at [us]. The rank comes after the events. */
static tm_vec make_trace(int rank, int n, int at) {
    tm_vec text = TM_VEC(char);
    put(&text, "{\"schemaVersion\": 1,\n \"traceEvents\": [\n");
    for (int i = 0; i < n; i++) {
        put(&text, "%s", i > 0 ? "," : "");
        put_event(&text, i, at + 3 * i);
    }
    put(&text,
        "\n], \"baseTimeNanoseconds\": 1700000000000000000, \"distributedInfo\": {\"rank\": %d,"
        " \"world_size\": 4}}\n",
        rank);
    return text;
}

static tm_status write_job(MPI_Comm comm, tm_loaded *loaded, const char *path, tm_error *err) {
    tm_names *names = NULL;
    tm_timeline *timelines[FILES_MAX];
    tm_status status = tm_mpi_unify_names(comm, loaded->names, loaded->timelines,
                                          loaded->n_timelines, &names, err);
    for (size_t i = 0; i < loaded->n_timelines; i++)
        timelines[i] = &loaded->timelines[i];
    const tm_store_plan plan = {
        .path = path,
        .timelines = timelines,
        .n_timelines = loaded->n_timelines,
        .names = names,
        .tool_version = "0.1.0",
    };
    if (status == TM_OK)
        status = tm_mpi_store_write(comm, &plan, err);
    tm_names_destroy(names);
    return status;
}

/* Loads the job. If this succeeds, also writes a store. */
static outcome_of_load load(const job *j, MPI_Comm comm, bool skip_bad, const char *path) {
    outcome_of_load got = {0};
    tm_tables tables;
    tm_loaded loaded = {0};
    tm_input inputs[FILES_MAX];
    for (size_t i = 0; i < j->n; i++)
        inputs[i] = (tm_input){.path = j->paths[i], .mapped_rank = -1};
    assert_int_equal(tm_analysis_tables(&tables, NULL), TM_OK);
    const tm_load_options options = {
        .inputs = inputs, .n_inputs = j->n, .skip_bad = skip_bad, .split_min_bytes = 1};
    tm_table *left_out = tm_tables_find(&tables, "job.left_out");
    got.status = tm_mpi_load(comm, &options, left_out, &loaded, &got.err);
    uint64_t n_left_out = left_out->n_rows;
    MPI_Allreduce(MPI_IN_PLACE, &n_left_out, 1, MPI_UINT64_T, MPI_SUM, comm);
    got.n_left_out = (size_t)n_left_out;
    got.n_in_parts = loaded.n_in_parts;
    if (got.status == TM_OK) {
        assert_int_equal(write_job(comm, &loaded, path, &got.err), TM_OK);
        tm_loaded_free(&loaded);
    }
    tm_tables_destroy(&tables);
    return got;
}

/* Loads the job with all processes and with one process. Checks that the results are equal. */
static outcome_of_load load_both_ways(const job *j, bool skip_bad) {
    char path[80], expected_path[80];
    bool same = true;
    snprintf(path, sizeof path, "%s/all.h5", j->folder);
    snprintf(expected_path, sizeof expected_path, "%s/one.h5", j->folder);
    MPI_Barrier(MPI_COMM_WORLD);
    outcome_of_load got = load(j, MPI_COMM_WORLD, skip_bad, path);
    if (j->self == 0) {
        outcome_of_load expected = load(j, MPI_COMM_SELF, skip_bad, expected_path);
        assert_int_equal(expected.n_in_parts, 0);
        same = got.status == expected.status && got.n_left_out == expected.n_left_out;
        if (same && got.status == TM_OK)
            same =
                same_files(path, expected_path) && unlink(path) == 0 && unlink(expected_path) == 0;
        else if (same)
            same = got.err.offset == expected.err.offset &&
                   strcmp(got.err.path, expected.err.path) == 0 &&
                   strcmp(got.err.message, expected.err.message) == 0;
    }
    assert_on_all(same);
    return got;
}

/* Makes a job with a large trace of rank 2, and with small traces of ranks 0, 1 and 3. */
static job open_uneven_job(tm_vec large) {
    job j = open_job();
    for (int rank = 0; rank < 4; rank++) {
        char name[16];
        snprintf(name, sizeof name, "rank%d.json", rank);
        add_file(&j, name, rank == 2 ? large : make_trace(rank, 12, 1000));
    }
    return j;
}

static const struct {
    const char *what;
    struct {
        const char *name;
        int rank, n_events, at;
    } files[4];
    size_t n_in_parts; /* expected; 1: with two or more processes, 2: with four or more */
} jobs[] = {
    {"one that is much larger",
     {{"0", 0, 12, 1000}, {"1", 1, 12, 1000}, {"2", 2, N_LARGE, 0}, {"3", 3, 12, 1000}},
     1},
    {"one alone", {{"x", 0, N_LARGE, 0}}, 1},
    /* 60 % and 40 % of all bytes. With four processes, both exceed the share of a process. */
    {"several", {{"0", 0, N_LARGE / 2, 0}, {"1", 1, N_LARGE / 3, 0}}, 2},
    /* Rank 1 has three traces, one of them large. In each trace, the rank comes after the
     * events. */
    {"a span of its rank",
     {{"early", 1, 12, 0},
      {"large", 1, N_LARGE, 1000},
      {"late", 1, 12, 1000 + 4 * N_LARGE},
      {"other", 0, 12, 0}},
     1},
};

TEST(large_traces_are_read_in_parts) {
    for (size_t k = 0; k < COUNT(jobs); k++) {
        job j = open_job();
        print_message("%s\n", jobs[k].what);
        for (size_t i = 0; i < COUNT(jobs[k].files) && jobs[k].files[i].name; i++)
            add_file(
                &j, jobs[k].files[i].name,
                make_trace(jobs[k].files[i].rank, jobs[k].files[i].n_events, jobs[k].files[i].at));
        outcome_of_load got = load_both_ways(&j, false);
        assert_int_equal(got.status, TM_OK);
        if (j.n_processes >= 4 || jobs[k].n_in_parts == 1)
            assert_int_equal(got.n_in_parts, j.n_processes > 1 ? jobs[k].n_in_parts : 0);
        close_job(&j);
    }
}

TEST(the_error_in_a_large_trace_is_that_of_reading_it_whole) {
    for (int skip_bad = 0; skip_bad < 2; skip_bad++) {
        tm_vec text = make_trace(2, N_LARGE, 0);
        char *late = (char *)text.data + text.n * 9 / 10, *comma = strstr(late, ",\"ts\":");
        assert_non_null(comma);
        *comma = ' '; /* the expected error is at the key, because the comma before it is missing */
        int64_t offset = comma + 1 - (char *)text.data;
        job j = open_uneven_job(text);
        outcome_of_load got = load_both_ways(&j, skip_bad != 0);
        assert_int_equal(got.n_in_parts, 0);
        if (skip_bad) {
            assert_int_equal(got.status, TM_OK);
            assert_int_equal(got.n_left_out, 1);
        } else {
            assert_int_equal(got.status, TM_ERR_INPUT);
            assert_int_equal(got.err.offset, offset);
            assert_string_equal(got.err.path, j.paths[2]);
        }
        close_job(&j);
    }
}

/* Loads @p large, which it frees, and small traces. Checks that no trace is read in parts. */
static void check_whole(tm_vec large) {
    job j = open_uneven_job(large);
    outcome_of_load got = load_both_ways(&j, false);
    assert_int_equal(got.status, TM_OK);
    assert_int_equal(got.n_in_parts, 0);
    close_job(&j);
}

TEST(a_truncated_large_trace_gives_what_it_holds) {
    tm_vec text = make_trace(2, N_LARGE, 0);
    text.n -= text.n / 20;
    check_whole(text);
}

/* In the middle of the file, all that looks like an event is an argument of a single event. */
TEST(a_trace_cut_at_what_is_no_event_is_read_whole) {
    tm_vec text = TM_VEC(char);
    put(&text, "{\"traceEvents\": [{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},"
               "{\"ph\":\"X\",\"name\":\"b\",\"ts\":2,\"dur\":1,\"args\":{\"list\":[");
    for (int i = 0; i < 2 * N_LARGE; i++)
        put(&text, "{\"ph\":\"X\",\"name\":\"false\",\"ts\":%d,\"dur\":1},", i);
    put(&text, "{}]}},{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1}]}");
    check_whole(text);
}

TEST(a_compressed_trace_is_never_read_in_parts) {
    tm_vec text = make_trace(2, N_LARGE, 0), packed = TM_VEC(uint8_t);
    append_gzip(&packed, all_of(&text));
    tm_vec_free(&text);
    check_whole(packed);
}

/* Most of the parts are smaller than an event: they are empty, or have no start of an event. */
TEST(a_trace_of_a_few_events_can_be_cut_too) {
    for (int n = 1; n < 12; n++) {
        job j = open_job();
        add_file(&j, "x.json", make_trace(0, n, 0));
        assert_int_equal(load_both_ways(&j, false).status, TM_OK);
        close_job(&j);
    }
}

RUN_MPI_TESTS(NULL, NULL)
