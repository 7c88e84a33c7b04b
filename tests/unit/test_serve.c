/* Access control of the server, and numbers in its queries. */
#include "store_job.h"

#include "serve/access.h"
#include "serve/window_trace.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

TEST(only_who_was_reported_the_address_is_let_in) {
    static const struct {
        int status;
        tm_serve_request request;
    } cases[] = {
        {200, {"GET", "/" TOKEN "/", "127.0.0.1:80", 1, NULL}},
        {200, {"HEAD", "/" TOKEN "/", "localhost", 1, "http://localhost"}},
        {200, {"GET", "/" TOKEN "/", "[::1]:1", 1, NULL}},
        {200, {"GET", "/" TOKEN "/", "10.1.2.3:65535", 1, NULL}},
        {421, {"GET", "/" TOKEN "/", "10.1.2.33", 1, NULL}},
        {421, {"GET", "/" TOKEN "/", "10.1.2.3:123456", 1, NULL}},
        {421, {"GET", "/" TOKEN "/", "LOCALHOST.", 1, NULL}},
        {400, {"GET", "/" TOKEN "/", "localhost", 2, NULL}},
        {400, {"GET", "/" TOKEN "/", NULL, 0, NULL}},
        {403, {"GET", "/" TOKEN "/", "localhost:8", 1, "http://localhost:80"}},
        {403, {"GET", "/" TOKEN "/", "localhost:8", 1, ""}},
        {404, {"GET", "", "localhost", 1, NULL}},
        {404, {"GET", "/" TOKEN, "localhost", 1, NULL}},
        {404, {"GET", "/" TOKEN "x/", "localhost", 1, NULL}},
        {404, {"GET", "/1123456789abcdef0123456789abcdef/", "localhost", 1, NULL}},
        {404, {"GET", "/0123456789abcdef0123456789abcdee/", "localhost", 1, NULL}},
        {404, {"GET", "/" TOKEN "//", "localhost", 1, NULL}},
        {404, {"POST", "/", "localhost", 1, NULL}},
        {405, {"POST", "/" TOKEN "/", "localhost", 1, NULL}},
        {405, {"get", "/" TOKEN "/", "localhost", 1, NULL}},
    };
    const tm_serve_access access = {TOKEN, "10.1.2.3"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_serve_route route = TM_N_SERVE_ROUTES;
        assert_int_equal(tm_serve_check(&access, &cases[i].request, &route), cases[i].status);
        assert_true((route == TM_SERVE_PAGE) == (cases[i].status == 200));
    }
}

TEST(numbers_are_digits_below_2_to_the_53) {
    char bad[] = "-1|+1| 1|1 |0x1|1e3|1.|a|\xef\xbc\x99|9007199254740992|00000000000000001|"
                 "99999999999999999999999999999999999999999";
    int64_t value = 7;
    for (const char *text = strtok(bad, "|"); text; text = strtok(NULL, "|"))
        assert_false(tm_serve_number(text, &value));
    assert_false(tm_serve_number("", &value));
    assert_false(tm_serve_number(NULL, &value));
    assert_int_equal(value, 7);
    assert_true(tm_serve_number("9007199254740991", &value));
    assert_true(value == INT64_C(9007199254740991));
    assert_true(tm_serve_number("0", &value));
    assert_int_equal(value, 0);
}

TEST(lists_of_ranks_ascend) {
    static const char *const bad[] = {",", "1,", ",1", "2,1", "1,1", "1,,2", "1;2", "1-2", "1,x"};
    static int64_t ranks[TM_SERVE_RANKS_MAX];
    size_t n;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(tm_serve_numbers(bad[i], ranks, &n));
    assert_false(tm_serve_numbers(NULL, ranks, &n));
    assert_true(tm_serve_numbers("", ranks, &n) && n == 0);
    assert_true(tm_serve_numbers("0,7,1023", ranks, &n) && n == 3);
    assert_true(ranks[0] == 0 && ranks[1] == 7 && ranks[2] == 1023);
    char many[8 * TM_SERVE_RANKS_MAX] = "0";
    for (int i = 1; i < TM_SERVE_RANKS_MAX; i++)
        snprintf(many + strlen(many), 8, ",%d", i);
    assert_true(tm_serve_numbers(many, ranks, &n) && n == TM_SERVE_RANKS_MAX);
    strcat(many, ",9999");
    assert_false(tm_serve_numbers(many, ranks, &n));
}

TEST(ranges_ascend_and_hold_what_is_in_them) {
    static const char *const bad[] = {",",  "1,",   "2,1",   "1-3,3", "3-1", "-1",
                                      "1-", "1--2", "1-2-3", "1-x",   "a",   "1-9007199254740992"};
    static tm_serve_range ranges[TM_SERVE_RANGES_MAX];
    static char many[2 * 5 * (TM_SERVE_RANGES_MAX + 1)];
    size_t n, used = 0;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(tm_serve_ranges(bad[i], ranges, &n));
    assert_false(tm_serve_ranges(NULL, ranges, &n));
    assert_true(tm_serve_ranges("", ranges, &n));
    assert_int_equal(n, 0);
    assert_false(tm_serve_in(ranges, n, 0));
    assert_true(tm_serve_ranges("2,4-6,9-9", ranges, &n));
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(tm_serve_in(ranges, n, i), i == 2 || (i >= 4 && i <= 6) || i == 9);
    for (int i = 0; i <= TM_SERVE_RANGES_MAX; i++)
        used += (size_t)snprintf(many + used, sizeof many - used, "%s%d", i ? "," : "", 2 * i);
    assert_false(tm_serve_ranges(many, ranges, &n));
    *strrchr(many, ',') = '\0';
    assert_true(tm_serve_ranges(many, ranges, &n));
    assert_int_equal(n, TM_SERVE_RANGES_MAX);
}

/* Exports ranks 0 and 4 of a store, in a window that contains all of their events. */
static tm_status hand_on(const char *path, int64_t budget_ns, size_t *size, tm_error *err) {
    static const int64_t ranks[] = {0, 4};
    static const char *const hosts[] = {"", "", ""};
    tm_store *store;
    tm_tiler tiler = {.begin_ns = 1700000000000000000};
    const tm_trace_job job = {hosts, "1", budget_ns};
    const tm_tile_wish wish = {.to = 10000, .ranks = ranks, .n_ranks = 2};
    tm_vec out = TM_VEC(char);
    tm_names *names;
    assert_ok(tm_store_open(path, &store, err));
    assert_ok(tm_store_read_names(store, &names, err));
    tiler.names = names;
    if (tm_serve_events_open(store, names, &tiler.events, err) != TM_OK)
        fail_msg("%s", err->message);
    tm_status status = tm_serve_trace(&tiler, &job, &wish, &out, err);
    *size = out.n;
    tm_vec_free(&out);
    tm_serve_events_close(tiler.events);
    tm_names_destroy(names);
    tm_store_close(store);
    return status;
}

TEST(what_takes_too_long_for_perfetto_is_refused) {
    const char *path = store_path(state);
    size_t size;
    tm_error err = {0};
    store_job job;
    tm_span span = {.begin_ns = 1, .end_ns = 2};
    store_job_make(&job);
    job.ranks[1].spans = &span; /* each rank has a trace */
    job.ranks[1].n_spans = 1;
    assert_ok(store_job_write_as(path, true, &job, NULL, &err));
    tm_names_destroy(job.names);
    assert_ok(hand_on(path, INT64_C(60000000000), &size, &err));
    assert_true(size > 100);
    assert_int_equal(hand_on(path, 0, &size, &err), TM_ERR_USAGE);
    assert_string_equal(err.message, "only 0 of 2 ranks could be written in 0 ms, the limit for "
                                     "one answer: zoom in, or use tmerge export");
}

RUN_TESTS_WITH(store_folder, store_remove_folder)
