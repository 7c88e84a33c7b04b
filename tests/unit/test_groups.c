/* Process groups: their ranks, their text, and an id that is equal on all ranks. */
#include "match/rank_groups.h"

#include <inttypes.h>

#include "comm_fixture.h"
#include "timeline/metadata.h"

enum { MANY = 32 };

static tm_group_finder *enter(ground *g, const tm_timeline *timeline) {
    tm_group_finder *finder;
    assert_int_equal(tm_group_finder_create(g->names, 1000, &finder, &g->err), TM_OK);
    assert_int_equal(tm_group_finder_enter(finder, timeline, &g->err), TM_OK);
    return finder;
}

/* Returns a kernel's group, as seen by a rank with this pg_config. */
static tm_group group_in(ground *g, const char *metadata, const comm_spec *kernel) {
    tm_timeline timeline = build_comm(g, 0, kernel, 1, NULL, 0);
    tm_vec own = TM_VEC(char), lists = TM_VEC(uint32_t);
    tm_group group;
    metadata = metadata ? metadata : "";
    assert_true(tm_metadata_cut(metadata, strlen(metadata), g->names, &own, &lists));
    assert_non_null(tm_vec_append(&own, "", 1));
    timeline.metadata = own.data;
    timeline.n_metadata = own.n - 1;
    timeline.metadata_lists = lists.data;
    timeline.n_metadata_lists = lists.n;
    tm_group_finder *finder = enter(g, &timeline);
    const tm_collective_attr *attr = collective_at(&timeline, kernel->begin_ns, kernel->stream);
    assert_int_equal(tm_group_find(finder, attr, &group, &g->err), TM_OK);
    tm_group_finder_destroy(finder);
    tm_timeline_destroy(&timeline);
    return group;
}

static tm_group group_of(ground *g, const char *name, const char *ranks, int32_t size) {
    const comm_spec kernel = {.name = "allreduce", .group = name, .ranks = ranks, .size = size};
    return group_in(g, NULL, &kernel);
}

TEST(a_group_is_known_where_its_ranks_are_and_this_one_is_among_them) {
    static const struct {
        const char *ranks;
        int32_t size;
        bool known;
    } cases[] = {
        {"[0, 1]", 2, true}, {"[1, 2]", 2, false}, /* the kernel is on rank 0 */
        {"", 2, false},      {"[0, 1, ...", 32, false}, {"[0, 1, ...", 1000, true},
        {"", 1000, true}, /* as large as the job, so it has all ranks */
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(group_of(&g, "g", cases[i].ranks, cases[i].size).known, cases[i].known);
    close_ground(&g);
}

TEST(a_group_is_its_name_and_its_sorted_ranks) {
    static const struct {
        const char *name, *ranks;
        int32_t size, n_ranks;
        const char *text;
        int same; /* groups with the same number must have the same id, and others another id */
    } cases[] = {
        {"0", "[0, 1, 2, 3]", 4, 4, "0", 0},
        {"0", "[3, 1, 0, 2]", 4, 4, "0", 0},
        {"0", "[0,1,2,3]", 4, 4, "0", 0},
        {"0", "[0, 1, 2, 3]", 9, 4, "0", 0},    /* the list counts, not the size */
        {"0", "[0, 1, 2, 3, ?]", 5, 5, "0", 0}, /* one rank has no trace */
        {"0", "[0, 1, 2, 4]", 4, 4, "0", 1},
        {"0", "[0, 1, 2]", 4, 3, "0", 2},
        {"1", "[0, 1, 2, 3]", 4, 4, "1", 3},
        {"", "[0, 1, 2, 3]", 4, 4, "0-3", 4},
        {"", "[0, 1, 2, 3, 4, 5, 6, 7]", 8, 8, "0-7", 5},
        {"", "[4, 0, 2]", 3, 3, "0,2,4", 6},
        {"", "[8, 10, 11, 0, 1, 2, 3]", 7, 7, "0-3,8,10-11", 7},
        {"", "[5]", 1, 1, "5", 8},
        {"", "[100, 99]", 2, 2, "99-100", 9},
    };
    ground g = open_ground();
    uint64_t ids[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_group group = group_of(&g, cases[i].name, cases[i].ranks, cases[i].size);
        assert_int_equal(group.n_ranks, cases[i].n_ranks);
        assert_string_equal(group.text, cases[i].text);
        ids[i] = group.id;
    }
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(ids[i] == ids[k], cases[i].same == cases[k].same);
    close_ground(&g);
}

TEST(what_is_no_list_leaves_name_and_size) {
    static const char *const lists[] = {
        "",
        "[",
        "[]",
        "[0, 1",
        "[0; 1]",
        "[a]",
        "0, 1",
        "[0, 1,]",
        "[,]",
        "[0, -1]",
        "[0, 1, ..., 29, ...]",
        "[0, 1, ...",
    };
    ground g = open_ground();
    tm_group four = group_of(&g, "tp", lists[0], 4);
    for (size_t i = 0; i < COUNT(lists); i++) {
        tm_group group = group_of(&g, "tp", lists[i], 4);
        assert_int_equal(group.n_ranks, 4);
        assert_string_equal(group.text, "tp");
        assert_true(group.id == four.id);
    }
    assert_true(group_of(&g, "tp", "", 5).id != four.id);
    assert_true(group_of(&g, "dp", "", 4).id != four.id);
    assert_true(group_of(&g, "tp", "[0, 1, 2, 3]", 4).id != four.id);
    assert_string_equal(group_of(&g, "", "", 4).text, "");
    close_ground(&g);
}

/* Prints "[0, s, 2s, ...]" with MANY ranks. */
static void print_list(int stride, char *out, size_t size) {
    size_t used = 0;
    for (int i = 0; i < MANY; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%d", i ? ", " : "[", i * stride);
    snprintf(out + used, size - used, "]");
}

TEST(a_list_that_was_cut_is_looked_up_in_the_configuration) {
    char list[256], odd[256], metadata[4096];
    print_list(1, list, sizeof list);
    print_list(2, odd, sizeof odd);
    snprintf(metadata, sizeof metadata,
             "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3, \"pg_config\": "
             "[{\"pg_name\": \"list\", \"pg_desc\": \"x\", \"ranks\": %s},{\"pg_desc\": "
             "\"nameless\", \"ranks\": [7]},{\"pg_name\": 5, \"ranks\": [7]},{\"pg_name\": "
             "\"text\", \"ranks\": \"%s\"},{\"pg_name\": \"cut\", \"ranks\": \"[0, 1, ..., 29, "
             "...]\"},{\"pg_name\": \"empty\", \"ranks\": []},{\"pg_name\": "
             "\"none\"},{\"pg_name\": \"listed\", \"ranks\": %s}]}}",
             list, odd, odd);
    const struct {
        const char *name, *ranks; /* group that must be found; ranks NULL: only by name and size */
    } cases[] = {{"list", list}, {"text", odd}, {"cut", NULL}, {"empty", NULL},
                 {"none", NULL}, {"lis", NULL}, {"", NULL}};
    ground g = open_ground(), other = open_ground(); /* with other ids for the same texts */
    name_of(&other, "something else");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const comm_spec kernel = {.name = "allreduce",
                                  .group = cases[i].name,
                                  .ranks = "[0, 1, ..., 29, ...]",
                                  .size = MANY};
        tm_group found = group_in(&g, metadata, &kernel);
        tm_group same = group_of(&other, cases[i].name, cases[i].ranks, MANY);
        assert_true(found.id == same.id);
        assert_int_equal(found.n_ranks, MANY);
        assert_string_equal(found.text, cases[i].name);
    }
    close_ground(&g);
    close_ground(&other);
}

TEST(metadata_that_say_nothing_are_passed_over) {
    static const char *const metadata[] = {"",
                                           "{",
                                           "[]",
                                           "{}",
                                           "{\"distributedInfo\": 1}",
                                           "{\"distributedInfo\": {}}",
                                           "{\"distributedInfo\": {\"pg_config\": 3}}",
                                           "{\"distributedInfo\": {\"pg_config\": [3]}}"};
    const comm_spec kernel = {.name = "allreduce", .group = "g", .ranks = "[0, ...", .size = 2};
    ground g = open_ground();
    tm_group expected = group_of(&g, "g", NULL, 2);
    for (size_t i = 0; i < COUNT(metadata); i++)
        assert_true(group_in(&g, metadata[i], &kernel).id == expected.id);
    close_ground(&g);
}

/* Operators on CPU threads 1 and 2. The call that launches the kernel is on thread 2. */
typedef struct operator_case {
    event_spec operators[3];
    int32_t start[3], stride[3];
    const char *ranks; /* ranks of the kernel's group; NULL: unknown */
} operator_case;

#define OPERATOR(begin, duration, thread)                                                          \
    { TM_CAT_CPU_OP, "record_param_comms", begin, duration, 0, thread, 1, "allreduce", TM_DURATION }

static void set_operators(tm_timeline *timeline, const operator_case *c) {
    for (size_t i = 0; i < COUNT(c->operators) && c->operators[i].name; i++) {
        tm_collective_attr *attr = collective_at(timeline, c->operators[i].begin_ns, -1);
        attr->rank_start = c->start[i];
        attr->rank_stride = c->stride[i];
    }
}

static tm_group group_asked_by(ground *g, const operator_case *c) {
    const comm_spec kernel = {.name = "allreduce",
                              .begin_ns = 500,
                              .duration_ns = 10,
                              .correlation = 9,
                              .group = "g",
                              .size = 3};
    event_spec others[COUNT(c->operators) + 1];
    size_t n = 0;
    for (; n < COUNT(c->operators) && c->operators[n].name; n++)
        others[n] = c->operators[n];
    others[n] = (event_spec){TM_CAT_RUNTIME, "cudaLaunchKernel", 50, 5, 9, 2, 1, NULL, TM_DURATION};
    tm_timeline timeline = build_comm(g, 0, &kernel, 1, others, n + 1);
    tm_group group;
    set_operators(&timeline, c);
    tm_group_finder *finder = enter(g, &timeline);
    assert_int_equal(tm_group_find(finder, collective_at(&timeline, 500, 0), &group, &g->err),
                     TM_OK);
    tm_group_finder_destroy(finder);
    tm_timeline_destroy(&timeline);
    return group;
}

TEST(start_and_stride_come_from_the_operator_around_the_launch) {
    static const operator_case cases[] = {
        /* the launch is at 50 */
        {{OPERATOR(0, 100, 2)}, {1}, {2}, "[1, 3, 5]"},
        {{OPERATOR(0, 50, 2)}, {0}, {1}, "[0, 1, 2]"},
        {{OPERATOR(0, 49, 2)}, {0}, {1}, NULL},   /* already ended */
        {{OPERATOR(51, 100, 2)}, {0}, {1}, NULL}, /* not yet begun */
        /* the innermost operator counts */
        {{OPERATOR(0, 100, 2), OPERATOR(40, 20, 2)}, {0, 4}, {1, 8}, "[4, 12, 20]"},
        /* an operator that ended before the launch, inside the one that contains the launch */
        {{OPERATOR(0, 100, 2), OPERATOR(10, 20, 2)}, {3, 0}, {3, 1}, "[3, 6, 9]"},
        /* the operator is on another thread; then the launch's thread has one, too */
        {{OPERATOR(0, 100, 1)}, {1}, {2}, NULL},
        {{OPERATOR(5, 90, 1), OPERATOR(0, 100, 2)}, {1, 2}, {1, 1}, "[2, 3, 4]"},
        /* the start is missing, or the stride is impossible */
        {{OPERATOR(0, 100, 2)}, {-1}, {2}, NULL},
        {{OPERATOR(0, 100, 2)}, {1}, {0}, NULL},
        {{OPERATOR(0, 100, 2)}, {1}, {-1}, NULL},
    };
    ground g = open_ground();
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_group found = group_asked_by(&g, &cases[i]);
        assert_true(found.id == group_of(&g, "g", cases[i].ranks, 3).id);
        assert_int_equal(found.n_ranks, 3);
    }
    close_ground(&g);
}

TEST(every_kernel_of_a_rank_gets_its_own_group) {
    static const struct {
        const char *name, *ranks;
        int32_t size;
    } cases[] = {
        {"a", "[0, 1]", 2}, {"b", "[0, 1]", 2}, {"a", "[0, 2]", 2}, {"c", "", 2},
        {"c", "", 3},       {"a", "[0, 1]", 2}, {"c", "", 2},
    };
    comm_spec kernels[COUNT(cases)];
    for (size_t i = 0; i < COUNT(cases); i++)
        kernels[i] = (comm_spec){.name = "allreduce",
                                 .begin_ns = (int64_t)i * 10,
                                 .group = cases[i].name,
                                 .ranks = cases[i].ranks,
                                 .size = cases[i].size};
    ground g = open_ground();
    tm_timeline timeline = build_comm(&g, 0, kernels, COUNT(kernels), NULL, 0);
    tm_group_finder *finder = enter(&g, &timeline);
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_group found, alone = group_of(&g, cases[i].name, cases[i].ranks, cases[i].size);
        const tm_collective_attr *attr = collective_at(&timeline, (int64_t)i * 10, 0);
        assert_int_equal(tm_group_find(finder, attr, &found, &g.err), TM_OK);
        assert_true(found.id == alone.id);
        assert_string_equal(found.text, alone.text);
        assert_int_equal(found.n_ranks, alone.n_ranks);
    }
    tm_group_finder_destroy(finder);
    tm_timeline_destroy(&timeline);
    close_ground(&g);
}

TEST(long_texts_are_cut) {
    char list[512], name[80];
    ground g = open_ground();
    /* 0,2,4,6,8 takes 9 bytes, and every number from 10 on 3 more. 4 of 64 bytes are reserved for
     * the dots, so 16 of these numbers fit, 10 to 40: 9 + 48 + 3 = 60 bytes. */
    print_list(2, list, sizeof list);
    assert_string_equal(group_of(&g, "", list, MANY).text,
                        "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40...");
    /* 63 bytes fit, and the 63rd is the first byte of a character of two bytes */
    memset(name, 'a', sizeof name);
    memcpy(name + 62, "\xC3\xA9", 2);
    name[70] = '\0';
    tm_group group = group_of(&g, name, "[0]", 1);
    assert_int_equal(strlen(group.text), 62);
    assert_memory_equal(group.text, name, 62);
    memcpy(name + 61, "\xC3\xA9", 2);
    name[63] = 'b';
    group = group_of(&g, name, "[0]", 1);
    assert_int_equal(strlen(group.text), 63);
    assert_memory_equal(group.text, name, 63);
    name[63] = '\0';
    assert_string_equal(group_of(&g, name, "[0]", 1).text, name);
    close_ground(&g);
}

TEST(ranks_without_a_name_are_a_group) {
    static const int64_t ranks[] = {0, 1, 2, 5};
    assert_string_equal(tm_group_of_ranks(ranks, 1).text, "0");
    assert_string_equal(tm_group_of_ranks(ranks, 4).text, "0-2,5");
    assert_int_equal(tm_group_of_ranks(ranks, 4).n_ranks, 4);
    assert_true(tm_group_of_ranks(ranks, 4).id == tm_group_of_ranks(ranks, 4).id);
    assert_true(tm_group_of_ranks(ranks, 4).id != tm_group_of_ranks(ranks, 3).id);
}

TEST(no_finder_is_destroyed_without_harm) {
    tm_group_finder_destroy(NULL);
}

RUN_TESTS()
