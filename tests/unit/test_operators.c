/* Operator tables: every cell of a small job, computed by hand. */
#include "analysis_fixture.h"

#include "analysis/model/call_tables.h"
#include "table/levels.h"
#include "timeline/build_timeline.h"

#define OP(name, begin, duration)                                                                  \
    { TM_CAT_CPU_OP, name, begin, duration, 0, 1, 1, NULL, TM_DURATION }
#define CALL(begin, duration, correlation)                                                         \
    { TM_CAT_RUNTIME, "launch", begin, duration, correlation, 1, 1, NULL, TM_DURATION }
#define KERNEL(name, begin, duration, correlation)                                                 \
    { TM_CAT_KERNEL, name, begin, duration, correlation, 7, 0, NULL, TM_DURATION }
#define COPY(begin, duration, correlation)                                                         \
    { TM_CAT_MEMCPY, "Memcpy", begin, duration, correlation, 7, 0, NULL, TM_DURATION }

/* Rank 0, times in ns. A step, which is no operator, holds
 *   linear [0, 100)           launches nothing itself
 *     mm [10, 50)             launches h884 for 40 [20, 30)
 *       copy_ [35, 45)        launches a copy of 7 in [36, 38) and a kernel of 3 in [40, 41)
 *     mm [60, 80)             launches sgemm for 10 in [61, 63)
 *   my [200, 300)             an operator that calls itself
 *     my [210, 250)           launches a kernel of 5 in [220, 225)
 * and one kernel whose launch is unknown. Host times without operators and launches inside: linear
 * 100 - 40 - 20 = 40; mm 40 - 10 - 10 = 20 and 20 - 2 = 18; copy_ 10 - 2 - 1 = 7; my 100 - 40 = 60
 * and 40 - 5 = 35. */
static const event_spec rank_0[] = {
    OP("ProfilerStep#1", 0, 400),
    OP("linear", 0, 100),
    OP("mm", 10, 40),
    CALL(20, 10, 1),
    OP("copy_", 35, 10),
    CALL(36, 2, 2),
    CALL(40, 1, 3),
    OP("mm", 60, 20),
    CALL(61, 2, 4),
    OP("my", 200, 100),
    OP("my", 210, 40),
    CALL(220, 5, 5),
    KERNEL("h884gemm", 500, 40, 1),
    COPY(540, 7, 2),
    KERNEL("cast", 547, 3, 3),
    KERNEL("sgemm", 550, 10, 4),
    KERNEL("x", 560, 5, 5),
    KERNEL("lost", 565, 1, 9),
};

/* Rank 2: one mm [0, 30) launches h884 for 60 in [10, 14). Rank 1 has no operators. */
static const event_spec rank_2[] = {OP("mm", 0, 30), CALL(10, 4, 1), KERNEL("h884gemm", 50, 60, 1)};
static const event_spec rank_1[] = {CALL(10, 4, 1), KERNEL("h884gemm", 50, 60, 1)};

static void add_shapes(const small_job *j, tm_trace *trace, const char *const *shapes, size_t n) {
    for (uint32_t i = 0; i < n; i++) {
        tm_shapes_attr attr = {.event = i};
        if (!shapes[i])
            continue;
        attr.shapes = name_of(&j->ground, shapes[i]);
        assert_non_null(tm_vec_append(&trace->attrs[TM_ATTR_SHAPES], &attr, 1));
    }
}

static void make_job(small_job *j) {
    static const char *const shapes_0[] = {
        [2] = "[8]", [4] = "[8]", [7] = "[16]", [9] = "[1]", [10] = "[2]"};
    static const char *const shapes_2[] = {"[8]"};
    tm_trace zero = make_trace(&j->ground, "0.json", rank_0, COUNT(rank_0), 0);
    tm_trace two = make_trace(&j->ground, "2.json", rank_2, COUNT(rank_2), 0);
    add_shapes(j, &zero, shapes_0, COUNT(shapes_0));
    add_shapes(j, &two, shapes_2, COUNT(shapes_2));
    add_trace(j, 2, &two); /* processes finish in any order */
    add_trace(j, 0, &zero);
    add_rank(j, 1, rank_1, COUNT(rank_1));
    finish_job(j);
}

/* mm on both ranks: device self 40 + 10 + 60 = 110 ns, total 110 + copy_'s 7 + 3 = 120. On tensor
 * cores are 100 of the 110 ns in its own kernels, and 100 of 113 with copy_'s kernel. On rank 0, mm
 * has 50 ns on the device and 20 + 18 = 38 of its own on the host; on rank 2, 60 and 30 - 4 = 26.
 * linear: total 60; 60 - 7 = 53 ns are in kernels, 40 of these on tensor cores. my: its total
 * counts once: 5 ns on the device, 100 on the host. */
TEST(operators_are_as_worked_out_by_hand) {
    static const char *const rows[] = {
        ("name calls device_self_ns device_total_ns host_self_ns host_total_ns tensor_self_pct "
         "tensor_total_pct ranks device_min_ns device_median_ns device_max_ns device_max_rank "
         "host_min_ns host_median_ns host_max_ns host_max_rank tensor_cores_fit"),
        "mm 3 110 120 64 90 90.90909091 88.49557522 2 50 55 60 2 26 32 38 0 true",
        "copy_ 1 10 10 7 10 0 0 1 10 10 10 0 7 7 7 0 false",
        "my 2 5 5 95 100 0 0 1 5 5 5 0 95 95 95 0 false",
        "linear 1 0 60 40 100 null 75.47169811 1 0 0 0 0 40 40 40 0 true",
    };
    small_job j = open_job();
    make_job(&j);
    CHECK_NAMED(&j, "calls.call/operator", rows);
    close_job(&j);
}

/* mm [8] is on both ranks, mm [16] on rank 0. my [1] contains my [2], which is another key.
 * linear's shapes are unknown. */
TEST(shapes_are_as_worked_out_by_hand) {
    static const struct {
        const char *name, *shapes;
        int64_t calls, device_self, device_total, host_self, host_total;
    } expected[] = {
        {"mm", "[8]", 2, 100, 110, 46, 70}, {"mm", "[16]", 1, 10, 10, 18, 20},
        {"copy_", "[8]", 1, 10, 10, 7, 10}, {"my", "[2]", 1, 5, 5, 35, 40},
        {"my", "[1]", 1, 0, 5, 60, 100},
    };
    small_job j = open_job();
    make_job(&j);
    tm_table *table = tm_tables_find(&j.tables, "calls.call");
    tm_table_keep_level(table, "shape");
    assert_int_equal(table->n_rows, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_string_equal(tm_table_cell(table, i, "name")->value.text, expected[i].name);
        assert_string_equal(tm_table_cell(table, i, "shapes")->value.text, expected[i].shapes);
        assert_int_equal(tm_table_cell(table, i, "calls")->value.i, expected[i].calls);
        assert_int_equal(tm_table_cell(table, i, "device_self_ns")->value.i,
                         expected[i].device_self);
        assert_int_equal(tm_table_cell(table, i, "device_total_ns")->value.i,
                         expected[i].device_total);
        assert_int_equal(tm_table_cell(table, i, "host_self_ns")->value.i, expected[i].host_self);
        assert_int_equal(tm_table_cell(table, i, "host_total_ns")->value.i, expected[i].host_total);
    }
    close_job(&j);
}

/* The names of an operator and of the operators in it show whether it could use tensor cores. */
TEST(an_operator_fits_tensor_cores_where_one_inside_it_does) {
    static const event_spec events[] = {OP("outer", 0, 100), OP("middle", 10, 50),
                                        OP("aten::mm", 20, 10), OP("aten::add", 70, 10)};
    static const struct {
        const char *name;
        bool fits;
    } expected[] = {{"outer", true}, {"middle", true}, {"aten::add", false}, {"aten::mm", true}};
    small_job j = open_job();
    add_rank(&j, 0, events, COUNT(events));
    finish_job(&j);
    const tm_table *table = tm_tables_find(&j.tables, "calls.call");
    assert_int_equal(table->n_rows, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++)
        for (size_t row = 0; row < table->n_rows; row++)
            if (!strcmp(tm_table_cell(table, row, "name")->value.text, expected[i].name))
                assert_int_equal(tm_table_cell(table, row, "tensor_cores_fit")->value.i,
                                 expected[i].fits);
    close_job(&j);
}

/* There are 1200 names: op 0 takes 1 ns and so on. The longest 1000 are kept, longest first. */
TEST(the_thousand_that_cost_most_are_kept) {
    enum { N = 1200 };
    static event_spec events[N];
    static char names[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "op %d", i);
        events[i] = (event_spec)OP(names[i], (int64_t)i * 10000, i + 1);
    }
    small_job j = open_job();
    add_rank(&j, 0, events, N);
    finish_job(&j);
    const tm_table *table = tm_tables_find(&j.tables, "calls.call");
    assert_int_equal(table->n_rows, TM_CALL_ROWS);
    for (int i = 0; i < TM_CALL_ROWS; i++)
        assert_int_equal(tm_table_cell(table, (size_t)i, "host_self_ns")->value.i, N - i);
    close_job(&j);
}

/* h884gemm has 100 of the 110 ns that mm launched, and mm launched 100 of the 160 ns of h884gemm.
 * All rows add up to 66 ns on rank 0 and 60 each on ranks 1 and 2: 186. */
TEST(what_launched_what) {
    static const char *const operators[] = {
        ("kernel operator inside calls total_ns mean_ns share_pct ranks median_rank_ns max_rank_ns "
         "max_rank"),
        "h884gemm mm null 2 100 50 90.90909091 2 50 60 2",
        "h884gemm (outside~of~any~operator) null 1 60 60 100 1 60 60 1",
        "sgemm mm null 1 10 10 9.090909091 1 10 10 0",
        "Memcpy copy_ null 1 7 7 70 1 7 7 0",
        "x my null 1 5 5 100 1 5 5 0",
        "cast copy_ null 1 3 3 30 1 3 3 0",
        "lost (launch~not~recorded) null 1 1 1 100 1 1 1 0",
    };
    static const char *const kernels[] = {
        ("kernel operator inside calls total_ns mean_ns share_pct ranks median_rank_ns max_rank_ns "
         "max_rank"),
        "h884gemm mm null 2 100 50 62.5 2 50 60 2",
        "h884gemm (outside~of~any~operator) null 1 60 60 37.5 1 60 60 1",
        "sgemm mm null 1 10 10 100 1 10 10 0",
        "Memcpy copy_ null 1 7 7 100 1 7 7 0",
        "x my null 1 5 5 100 1 5 5 0",
        "cast copy_ null 1 3 3 100 1 3 3 0",
        "lost (launch~not~recorded) null 1 1 1 100 1 1 1 0",
    };
    small_job j = open_job();
    make_job(&j);
    CHECK_NAMED(&j, "kernels.launched/operator", operators);
    CHECK_NAMED(&j, "kernels.launched/kernel", kernels);
    close_job(&j);
}

RUN_TESTS()
