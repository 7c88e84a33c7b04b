/* Fails memory requests and system calls one at a time, on every call stack: from traces to a store
 * and its tables, and back. A run with a failure must return a status and say why, or give the
 * results of a run without a failure. It must leak nothing, and leave a whole store or no file. */
#include "store_job.h"

#include "analysis/shared/call_kinds.h"
#include "injector.h"
#include "match/instances.h"
#include "match/loose.h"
#include "match/rank_groups.h"
#include "match/records.h"
#include "replay/whatif/plan.h"
#include "replay/whatif/scenario.h"
#include "replay_fixture.h"
#include "timeline/build_timeline.h"
#include "tmerge/analysis.h"
#include "tmerge/check.h"
#include "tmerge/reader.h"
#include "tmerge/source.h"
#include "waits/blame.h"

enum { RANKS = 4, MORE_THAN_ENOUGH = 20000 };

/* A job of four small traces: two ranks that communicate (plain text), and two compressed ones. */
typedef struct job {
    char paths[RANKS][512];
    char store[160];
    char *good;       /* of a run without a failure: all tables as text, JSON and CSV, */
    size_t good_size; /* and then the bytes of the store */
} job;

typedef struct run {
    const job *job;
    tm_names *names;
    tm_classifier *classifier;
    tm_tables tables;
    tm_timeline timelines[RANKS];
    size_t n;
    tm_collectives collectives;
    tm_vec text; /* of char: the tables, rendered */
    tm_error *err;
} run;

static tm_status append(tm_vec *to, char *text, tm_error *err) {
    bool ok = tm_vec_append(to, text, strlen(text)) != NULL;
    free(text);
    return ok ? TM_OK : tm_fail_memory(err);
}

static tm_status prepare(run *r) {
    r->names = tm_names_create();
    if (!r->names)
        return tm_fail_memory(r->err);
    TM_TRY(tm_classifier_create("my_reduce", &r->classifier, r->err));
    return tm_analysis_tables(&r->tables, r->err);
}

static tm_status read_rank(run *r, int rank) {
    tm_trace trace, *own = &trace;
    const tm_build_context context = {r->names, r->classifier, false, NULL};
    tm_status status = tm_trace_read(&(tm_trace_file){.path = r->job->paths[rank]}, r->names, NULL,
                                     &trace, r->err);
    if (status == TM_OK)
        status = tm_timeline_build(&own, 1, rank, &context, &r->timelines[rank], r->err);
    r->n += status == TM_OK;
    tm_trace_free(&trace);
    return status;
}

static tm_status blame_instance(const run *r, const tm_instance *instance, tm_pair_map *pairs) {
    const tm_comm_record *records = r->collectives.records.data;
    tm_comm_answer answers[2 * RANKS];
    assert_in_range(instance->n, 1, 2 * RANKS);
    return tm_blame_instance(records + instance->first, instance, answers, pairs, r->err);
}

static void take(tm_vec *to, tm_vec *from) {
    tm_vec unused = *to;
    *to = *from;
    *from = unused;
}

/* Does in one process what mpi/match.c does. */
static tm_status match(run *r) {
    tm_match_input input;
    tm_pair_map pairs = {0};
    tm_status status = TM_OK;
    tm_match_input_init(&input);
    for (size_t i = 0; i < r->n && status == TM_OK; i++)
        status = tm_match_add_rank(&r->timelines[i], r->names, RANKS, 0, &input, r->err);
    if (status == TM_OK) {
        tm_match_compare(input.sequences.data, input.sequences.n, input.ends.data, input.ends.n);
        status = tm_match_drop(&input, input.sequences.data, input.sequences.n, r->err);
    }
    if (status == TM_OK)
        status = tm_match_loose(&input.loose, &input.left_out, r->err);
    if (status == TM_OK && !tm_vec_append(&input.records, input.loose.data, input.loose.n))
        status = tm_fail_memory(r->err);
    take(&r->collectives.records, &input.records);
    take(&r->collectives.left_out, &input.left_out);
    tm_match_input_free(&input);
    if (status == TM_OK)
        status = tm_match_instances(&r->collectives, r->err);
    const tm_instance *instances = r->collectives.instances.data;
    for (size_t i = 0; i < r->collectives.instances.n && status == TM_OK; i++)
        status = blame_instance(r, &instances[i], &pairs);
    if (status == TM_OK && !tm_pair_map_drain(&pairs, &r->collectives.pairs))
        status = tm_fail_memory(r->err);
    tm_pair_map_free(&pairs);
    return status;
}

static tm_status analyse_rank(run *r, const tm_timeline *timeline) {
    tm_call_kinds kinds;
    tm_status status = tm_call_kinds_init(&kinds, r->names) ? TM_OK : tm_fail_memory(r->err);
    if (status == TM_OK)
        status = tm_analyse_rank(timeline, &kinds, &r->tables, r->err);
    tm_call_kinds_free(&kinds);
    return status;
}

static tm_status analyse(run *r) {
    const tm_job whole = {
        .n_ranks = RANKS, .world_size = RANKS, .aligned = true, .names = r->names};
    TM_TRY(tm_analyse_collectives(&r->collectives, &r->tables, r->err));
    for (size_t i = 0; i < r->n; i++)
        TM_TRY(analyse_rank(r, &r->timelines[i]));
    size_t n;
    const tm_analysis *const *analyses = tm_analyses(&n);
    for (size_t a = 0; a < n; a++)
        TM_TRY(tm_analyse_merged(analyses[a], r->names, &r->tables, r->err));
    return tm_analyse_job(&whole, &r->tables, r->err);
}

/* Packs and unpacks the tables as if they were sent. */
static tm_status pack_tables(run *r) {
    tm_tables other;
    TM_TRY(tm_analysis_tables(&other, r->err));
    tm_status status = TM_OK;
    for (size_t i = 0; i < r->tables.n_tables && status == TM_OK; i++) {
        void *bytes = NULL;
        size_t size = 0;
        status = tm_table_pack(&r->tables.tables[i], &bytes, &size, r->err);
        if (status == TM_OK)
            status = tm_table_unpack(&other.tables[i], bytes, size, r->err);
        free(bytes);
    }
    tm_tables_destroy(&other);
    return status;
}

static tm_status render(run *r) {
    const tm_table *shown[256];
    size_t n = 0;
    char *text = NULL;
    for (size_t i = 0; i < r->tables.n_tables; i++) {
        assert_in_range(n, 0, 255);
        shown[n] = &r->tables.tables[i];
        TM_TRY(tm_table_text(shown[n++], 80, &text, r->err));
        TM_TRY(append(&r->text, text, r->err));
    }
    TM_TRY(tm_tables_json(shown, n, "x.h5", &text, r->err));
    TM_TRY(append(&r->text, text, r->err));
    for (size_t i = 0; i < n; i++) {
        TM_TRY(tm_table_csv(shown[i], &text, r->err));
        TM_TRY(append(&r->text, text, r->err));
    }
    return pack_tables(r);
}

static tm_status put_all(tm_store_writer *writer, const run *r) {
    TM_TRY(store_put_records(writer, r->timelines, r->n, r->err));
    TM_TRY(tm_store_put_names(writer, r->names, r->err));
    for (size_t i = 0; i < r->tables.n_tables; i++)
        TM_TRY(tm_store_put_table(writer, &r->tables.tables[i], r->err));
    const tm_store_attribute command = {.name = "command", .text = "tmerge"};
    return tm_store_put_attribute(writer, &command, r->err);
}

static tm_status write_store(const run *r) {
    tm_store_writer *writer;
    const tm_store_options options = {.tool_version = "1", .compress = true, .chunk_rows = 16};
    TM_TRY(tm_store_create(r->job->store, &options, &writer, r->err));
    tm_status status = put_all(writer, r);
    if (status == TM_OK)
        return tm_store_commit(writer, r->err);
    tm_store_abandon(writer);
    return status;
}

static tm_status read_columns(const run *r, const tm_store *store) {
    static const char *const paths[] = {"/events/begin_ns", "/events/duration_ns"};
    tm_status status = TM_OK;
    for (size_t i = 0; i < 2 && status == TM_OK; i++) {
        tm_store_column *column;
        TM_TRY(tm_store_open_column(store, paths[i], TM_I64, &column, r->err));
        size_t n = tm_store_column_rows(column);
        for (size_t row = 0; row < n && status == TM_OK; row++) {
            int64_t value;
            status = tm_store_read_rows(column, row, 1, &value, r->err);
        }
        tm_store_close_column(column);
    }
    return status;
}

static tm_status read_all(const run *r, const tm_store *store, tm_tables *tables) {
    tm_names *names = NULL;
    char *command = NULL;
    int64_t number;
    TM_TRY(tm_store_read_names(store, &names, r->err));
    tm_names_destroy(names);
    TM_TRY(tm_store_read_text(store, "command", &command, r->err));
    free(command);
    TM_TRY(tm_store_read_number(store, "ranks", 7, &number, r->err));
    for (size_t i = 0; i < tables->n_tables; i++)
        TM_TRY(tm_store_read_table(store, &tables->tables[i], r->err));
    return read_columns(r, store);
}

static tm_status read_store(const run *r) {
    tm_store *store;
    tm_tables tables;
    TM_TRY(tm_store_open(r->job->store, &store, r->err));
    tm_status status = tm_analysis_tables(&tables, r->err);
    if (status == TM_OK) {
        status = read_all(r, store, &tables);
        tm_tables_destroy(&tables);
    }
    tm_store_close(store);
    return status;
}

static tm_status run_phases(run *r) {
    TM_TRY(prepare(r));
    for (int i = 0; i < RANKS; i++)
        TM_TRY(read_rank(r, i));
    TM_TRY(match(r));
    TM_TRY(analyse(r));
    TM_TRY(render(r));
    TM_TRY(write_store(r));
    return read_store(r);
}

/* Runs the whole job. On TM_OK, the caller owns the rendered tables. */
static tm_status run_job(const job *j, tm_vec *text, tm_error *err) {
    run r = {.job = j, .text = TM_VEC(char), .err = err};
    r.collectives = (tm_collectives){.records = TM_VEC(tm_comm_record),
                                     .instances = TM_VEC(tm_instance),
                                     .values = TM_VEC(tm_instance_value),
                                     .worst = TM_VEC(tm_worst),
                                     .pairs = TM_VEC(tm_pair),
                                     .left_out = TM_VEC(tm_left_out)};
    tm_status status = run_phases(&r);
    for (size_t i = 0; i < r.n; i++)
        tm_timeline_destroy(&r.timelines[i]);
    tm_vec_free(&r.collectives.records);
    tm_vec_free(&r.collectives.instances);
    tm_vec_free(&r.collectives.pairs);
    tm_vec_free(&r.collectives.left_out);
    tm_tables_destroy(&r.tables);
    tm_classifier_destroy(r.classifier);
    tm_names_destroy(r.names);
    if (status == TM_OK)
        *text = r.text;
    else
        tm_vec_free(&r.text);
    return status;
}

/* Two ranks with steps, launches, copies, collectives that are matched in each way, and a value
 * that is repaired. Also a trace in each compression format. */
static int make_job(void **state) {
    static const char *const traces[RANKS] = {"odd_job_rank_0.json", "odd_job_rank_1.json",
                                              "ok_gzip.json.gz", "ok_zstd_frames.json.zst"};
    job *j = calloc(1, sizeof *j);
    if (!j || store_folder(state) != 0)
        return -1;
    for (int i = 0; i < RANKS; i++)
        snprintf(j->paths[i], sizeof j->paths[i], TMERGE_TESTDATA "/%s", traces[i]);
    snprintf(j->store, sizeof j->store, "%s/x.h5", (char *)*state);
    free(*state);
    *state = j;
    return 0;
}

static int remove_job(void **state) {
    job *j = *state;
    *strrchr(j->store, '/') = '\0';
    void *folder = malloc(strlen(j->store) + 1);
    strcpy(folder, j->store);
    free(j->good);
    free(j);
    return store_remove_folder(&folder);
}

/* Returns the result of a run (tables and store), and frees the tables. */
static char *made(const job *j, tm_vec *text, size_t *size) {
    char *store = store_bytes(j->store, size);
    assert_non_null(store);
    char *all = malloc(text->n + *size);
    assert_non_null(all);
    memcpy(all, text->data, text->n);
    memcpy(all + text->n, store, *size);
    *size += text->n;
    free(store);
    tm_vec_free(text);
    return all;
}

static int others_in_folder(const job *j) {
    char folder[160];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(j->store, '/') - j->store), j->store);
    return store_count_files(folder) - (access(j->store, F_OK) == 0);
}

/* Asserts that the results of a run whose failure had no effect are those of a run without one. */
static void same_as_good(const job *j, tm_vec *text) {
    size_t size = 0;
    char *all = made(j, text, &size);
    assert_int_equal(size, j->good_size);
    assert_memory_equal(all, j->good, size);
    free(all);
}

/* Makes the n-th call fail. If n is 0, records the calls and makes the good result. Returns whether
 * a call failed. */
typedef bool attempt(job *j, injection what, int n);

static bool run_everything(job *j, injection what, int n) {
    tm_error err = {0};
    tm_vec text;
    long blocks = live_blocks(), files = live_files();
    unlink(j->store);
    inject(what, n);
    tm_status status = run_job(j, &text, &err);
    bool failed = inject_end();
    if (getenv("TMERGE_INJECTION"))
        printf("%d %d %s: %d %s %s\n", what, n, injected_into(), status, err.path, err.message);
    if (status == TM_OK && n == 0)
        j->good = made(j, &text, &j->good_size);
    else if (status == TM_OK) /* a run can do without unnamed files, spare room and names */
        same_as_good(j, &text);
    else
        assert_true(failed && err.status == status && err.message[0] != '\0');
    if (what == INJECT_MEMORY || what == INJECT_NO_MEMORY)
        assert_true(status == TM_OK || status == TM_ERR_FAULT);
    assert_false(what == INJECT_INTERRUPTION && status != TM_OK);
    if (n > 0 && (live_blocks() != blocks || live_files() != files))
        fail_msg("%ld blocks and %ld files leak when call %d, of %s, fails", live_blocks() - blocks,
                 live_files() - files, n, injected_into());
    assert_int_equal(others_in_folder(j), 0);
    assert_true(access(j->store, F_OK) != 0 || tm_store_is_store(j->store));
    return failed;
}

/* Fails every call that is worth failing. The landing set fails every 10th of them; the first one
 * depends on TMERGE_SEED and the kind of failure. */
static void every_place(job *j, injection what, int at_least, attempt *try) {
    const size_t every = in_full_set() ? 1 : 10, first = (first_of_every(10) + what) % every;
    size_t worth = 0, tried = 0;
    assert_false(try(j, what, 0));
    int n = n_recorded();
    assert_in_range(n, at_least, MORE_THAN_ENOUGH - 1);
    for (int i = 1; i <= n; i++)
        if (is_worth_failing(i) && worth++ % every == first) {
            assert_true(try(j, what, i));
            tried++;
        }
    assert_false(try(j, what, n + 1));
    printf("%zu of %zu of %d calls\n", tried, worth, n);
}

TEST(every_request_for_memory_may_fail) {
    every_place(*state, INJECT_MEMORY, 500, run_everything);
    assert_non_null(strstr(((job *)*state)->good, "allreduce"));
}

TEST(memory_may_be_out_from_any_moment_on) {
    every_place(*state, INJECT_NO_MEMORY, 500, run_everything);
}

TEST(every_call_of_the_system_may_fail) {
    every_place(*state, INJECT_FAILURE, 100, run_everything);
}

TEST(every_call_that_waits_may_be_interrupted) {
    every_place(*state, INJECT_INTERRUPTION, 100, run_everything);
}

static void hear(void *context, const tm_error *fault) {
    fail_msg("call %d for memory fails, of %s, and is reported as: %s", *(int *)context,
             injected_into(), fault->message);
}

static bool check_store(job *j, injection what, int n) {
    tm_error err = {0};
    tm_tables tables;
    tm_store_contents contents;
    assert_ok(tm_analysis_tables(&tables, &err));
    const tm_fault_sink sink = {hear, &n};
    const tm_tables known = {.tables = tables.tables, .n_tables = 1};
    inject(what, n);
    tm_status status = tm_store_check(j->store, &known, &sink, &contents, &err);
    bool failed = inject_end();
    assert_int_equal(status, failed ? TM_ERR_FAULT : TM_OK);
    tm_tables_destroy(&tables);
    return failed;
}

/* If memory runs out, a check says so, and does not report a fault of the store. */
TEST(a_check_tells_lack_of_memory_as_no_fault) {
    assert_false(run_everything(*state, INJECT_NOTHING, 0));
    every_place(*state, INJECT_MEMORY, 100, check_store);
}

/* Makes each request for memory fail in turn. Everything allocated before it must be freed. */
static void at_every_request(tm_status (*once)(const void *), const void *context, int at_least) {
    const long blocks = live_blocks();
    int n = 0;
    for (bool failed = true; failed && n < MORE_THAN_ENOUGH;) {
        inject(INJECT_MEMORY, ++n);
        tm_status status = once(context);
        failed = inject_end();
        assert_int_equal(status, failed ? TM_ERR_FAULT : TM_OK);
        assert_int_equal(live_blocks(), blocks);
    }
    assert_in_range(n, at_least, MORE_THAN_ENOUGH - 1);
}

static tm_status make_plan(const replay_case *c, tm_vec *words, tm_vec *plan, tm_replay *made,
                           tm_fixer *fixer) {
    tm_error err;
    for (size_t r = 0; r < c->n_ranks; r++)
        TM_TRY(tm_reduce(&c->ranks[r].graph, REPLAY_SETS, replay_weigh, &c->ranks[r], words, &err));
    TM_TRY(tm_replay_build(words->data, words->n, made, &err));
    TM_TRY(tm_fixer_open(made, (tm_fix_sets){0, 2}, fixer, &err));
    return tm_fixer_plan(fixer, (tm_fix_sets){1, 3}, plan, &err);
}

static tm_status replay(const void *c) {
    tm_vec words = TM_VEC(int64_t), plan = TM_VEC(tm_planned);
    tm_replay made = {0};
    tm_fixer fixer = {0};
    tm_status status = make_plan(c, &words, &plan, &made, &fixer);
    assert_true(status != TM_OK || plan.n > 0);
    tm_vec_free(&words);
    tm_vec_free(&plan);
    tm_fixer_free(&fixer);
    tm_replay_free(&made);
    return status;
}

TEST(a_replay_may_lack_memory_at_every_request) {
    static const replay_shape shape = {"usual", 3, 80, 30, 10, 5, 1000, 0};
    replay_case c;
    replay_random(&shape, 3, &c);
    at_every_request(replay, &c, 50);
    replay_free(&c);
}

static tm_status add_parts(tm_scenario *scenario, const tm_names *names) {
    tm_error err;
    TM_TRY(tm_scenario_add(scenario, "fix", "rank=0-3+kernel=gemm", &err));
    TM_TRY(tm_scenario_add(scenario, "scale", "host=a+operator=mm:2", &err));
    return tm_scenario_bind(scenario, names, -1, &err);
}

static tm_status ask(const void *names) {
    tm_scenario scenario = TM_SCENARIO();
    tm_status status = add_parts(&scenario, names);
    tm_scenario_free(&scenario);
    return status;
}

TEST(a_scenario_may_lack_memory_at_every_request) {
    tm_names *names = tm_names_create();
    assert_non_null(names);
    at_every_request(ask, names, 8); /* 2 parts, each with a text and 2 rules, and more */
    tm_names_destroy(names);
}

RUN_TESTS_WITH(make_job, remove_job)
