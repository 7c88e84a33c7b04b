/* Tables of collectives: bandwidths by the formulas of nccl-tests, size classes, medians. */
#include "analysis/analyses.h"
#include "analysis_fixture.h"
#include "mpi/match.h"
#include "timeline/collectives.h"

#include <math.h>

/* The collectives that one process knows, and the tables made from them. */
typedef struct bench {
    tm_collectives own;
    tm_tables tables;
    tm_error err;
} bench;

static bench open_bench(void) {
    bench b = {.own = {.records = TM_VEC(tm_comm_record),
                       .instances = TM_VEC(tm_instance),
                       .values = TM_VEC(tm_instance_value),
                       .worst = TM_VEC(tm_worst),
                       .exposed = TM_VEC(tm_worst),
                       .pairs = TM_VEC(tm_pair),
                       .left_out = TM_VEC(tm_left_out)}};
    assert_int_equal(tm_analysis_tables(&b.tables, &b.err), TM_OK);
    return b;
}

static void close_bench(bench *b) {
    tm_collectives_free(&b->own);
    tm_tables_destroy(&b->tables);
}

static void finish(bench *b) {
    assert_int_equal(tm_analysis_collectives.collectives(&b->own, &b->tables, &b->err), TM_OK);
    for (size_t i = 0; i < b->tables.n_tables; i++)
        tm_table_sort(&b->tables.tables[i]);
}

static const tm_table *find(const bench *b, const char *name) {
    const tm_table *table = tm_tables_find(&b->tables, name);
    assert_non_null(table);
    return table;
}

static int64_t kind_at(const bench *b, const char *column) {
    return tm_table_cell(find(b, "collectives.kind"), 0, column)->value.i;
}

static void add_value(bench *b, tm_collective_kind kind, int32_t n, int64_t bytes,
                      int64_t transfer_ns) {
    tm_instance_value value = {.group = 5,
                               .bytes = bytes,
                               .transfer_ns = transfer_ns,
                               .skew_ns = transfer_ns < 0 ? -1 : 3,
                               .group_size = n,
                               .kind = (uint8_t)kind,
                               .group_text = "g"};
    assert_non_null(tm_vec_append(&b->own.values, &value, 1));
}

TEST(bandwidths_are_those_of_nccl_tests) {
    /* busbw = algbw x numerator / denominator, algbw = bytes / ns */
    static const struct {
        tm_collective_kind kind;
        int32_t n;
        int64_t numerator, denominator;
    } kinds[] = {
        {TM_COLL_ALLREDUCE, 2, 1, 1},    /* 2 (2 - 1) / 2 */
        {TM_COLL_ALLREDUCE, 8, 7, 4},    /* 14 / 8 */
        {TM_COLL_ALLREDUCE, 64, 63, 32}, /* 126 / 64 */
        {TM_COLL_ALLGATHER, 2, 1, 2},    /* (n - 1) / n */
        {TM_COLL_ALLGATHER, 8, 7, 8},        {TM_COLL_ALLGATHER, 64, 63, 64},
        {TM_COLL_REDUCESCATTER, 2, 1, 2},    {TM_COLL_REDUCESCATTER, 8, 7, 8},
        {TM_COLL_REDUCESCATTER, 64, 63, 64}, {TM_COLL_ALLTOALL, 2, 1, 2},
        {TM_COLL_ALLTOALL, 8, 7, 8},         {TM_COLL_ALLTOALL, 64, 63, 64},
        {TM_COLL_BARRIER, 8, 1, 1},          {TM_COLL_BROADCAST, 8, 1, 1},
        {TM_COLL_REDUCE, 8, 1, 1},           {TM_COLL_SENDRECV, 2, 1, 1},
        {TM_COLL_GATHER, 8, 1, 1},           {TM_COLL_OTHER, 8, 1, 1},
    };
    static const struct {
        int64_t bytes, ns;
        double algbw; /* GB/s: bytes / ns */
    } sizes[] = {{4, 2000, 0.002},
                 {1000000, 3, 1000000.0 / 3.0},
                 {1073741824, 10000000, 107.3741824},
                 {0, 50, 0.0}};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t s = 0; s < COUNT(sizes); s++) {
            bench b = open_bench();
            add_value(&b, kinds[k].kind, kinds[k].n, sizes[s].bytes, sizes[s].ns);
            finish(&b);
            double algbw = tm_table_cell(find(&b, "collectives.kind"), 0, "algbw_gbps")->value.r;
            double busbw = tm_table_cell(find(&b, "collectives.kind"), 0, "busbw_gbps")->value.r;
            double expected =
                sizes[s].algbw * (double)kinds[k].numerator / (double)kinds[k].denominator;
            assert_true(fabs(algbw - sizes[s].algbw) <= 1e-12 * sizes[s].algbw);
            assert_true(fabs(busbw - expected) <= 1e-12 * expected);
            close_bench(&b);
        }
}

TEST(operations_without_times_are_in_no_median) {
    /* If clocks cannot be compared, an operation, the first or another, has no transfer time. Of
     * 10, 30 and 50 ns, the median is 30 and the 95th percentile 50. The skew is 3. */
    for (int first = 0; first < 2; first++) {
        bench b = open_bench();
        for (int64_t ns = 10; ns <= 50; ns += 20) {
            add_value(&b, TM_COLL_ALLREDUCE, 2, 60, first ? -1 : ns);
            add_value(&b, TM_COLL_ALLREDUCE, 2, 60, first ? ns : -1);
        }
        finish(&b);
        assert_int_equal(find(&b, "collectives.kind")->n_rows, 1);
        assert_int_equal(kind_at(&b, "count"), 6);
        assert_int_equal(kind_at(&b, "median_transfer_ns"), 30);
        assert_int_equal(kind_at(&b, "p95_transfer_ns"), 50);
        assert_int_equal(kind_at(&b, "median_skew_ns"), 3);
        close_bench(&b);
    }
}

#define MOST (INT64_C(1) << 62)

TEST(a_size_class_is_the_power_of_two_at_or_below) {
    static const struct {
        int64_t bytes, size_class;
    } cases[] = {{0, 0},           {1, 1},       {2, 2},       {3, 2},       {4, 4},
                 {1023, 512},      {1024, 1024}, {1025, 1024}, {MOST, MOST}, {MOST - 1, MOST / 2},
                 {INT64_MAX, MOST}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        bench b = open_bench();
        add_value(&b, TM_COLL_ALLREDUCE, 2, cases[i].bytes, 5);
        finish(&b);
        assert_int_equal(kind_at(&b, "size_class_bytes"), cases[i].size_class);
        assert_int_equal(kind_at(&b, "bytes"), cases[i].bytes);
        close_bench(&b);
    }
}

/* An operation of @p n ranks in group @p id, which is shown as @p text. @p what is its kind. */
#define VALUE(id, size, transfer, skew, n, what, text)                                             \
    {                                                                                              \
        .group = (id), .bytes = (size), .transfer_ns = (transfer), .skew_ns = (skew),              \
        .group_size = (n), .kind = (what), .group_text = text                                      \
    }
/* Inferred operations on two streams of ranks 0 to 7. The row has the smaller evidence of the two,
 * and says that there may be more ranks if either operation does. */
#define INFERRED(id, transfer, skew, bits, more)                                                   \
    {                                                                                              \
        .group = (id), .bytes = -1, .transfer_ns = (transfer), .skew_ns = (skew), .group_size = 8, \
        .kind = TM_COLL_ALLREDUCE, .group_text = "0-7", .way = TM_MATCH_INFERRED,                  \
        .evidence_bits = (bits), .at_least = (more)                                                \
    }
static const tm_instance_value values[] = {
    /* All-reduces of group a in class 1024. Bytes 1024, 1500, 2000, 2047: the median is (1500 +
     * 2000) / 2. Transfers 0, 10, 20, 1000: the median is 15, the 95th percentile the 4th. Skews 4,
     * 7, 9, 30: the median is 8. Rates without the first: 1500/10 = 150, 2000/20 = 100, 2047/1000 =
     * 2.047: the median is 100; busbw is 100 x 2 x 3 / 4 = 150. */
    VALUE(1, 2000, 20, 4, 4, TM_COLL_ALLREDUCE, "a"),
    VALUE(1, 1024, 0, 9, 4, TM_COLL_ALLREDUCE, "a"),
    VALUE(1, 2047, 1000, 7, 4, TM_COLL_ALLREDUCE, "a"),
    VALUE(1, 1500, 10, 30, 4, TM_COLL_ALLREDUCE, "a"),
    /* another class, at its lower bound; then another group; then another kind */
    VALUE(1, 2048, 2, 1, 4, TM_COLL_ALLREDUCE, "a"),
    VALUE(2, 1024, 4, 2, 2, TM_COLL_ALLREDUCE, "b"),
    VALUE(1, 1024, 8, 0, 4, TM_COLL_ALLGATHER, "a"),
    /* no size, so neither a class nor a rate; of the transfers 1 and 2, the median is 1.5 */
    INFERRED(3, 1, 5, 9, true),
    INFERRED(3, 2, 6, 5, false),
    /* the wait is unknown, so there are only sizes: the median of 10 and 11 */
    VALUE(1, 10, -1, -1, 4, TM_COLL_BROADCAST, "a"),
    VALUE(1, 11, -1, -1, 4, TM_COLL_BROADCAST, "a"),
    /* all members ended before the last began, so there is no rate */
    VALUE(1, 16, 0, 3, 4, TM_COLL_BARRIER, "a"),
    /* incomplete and suspect operations are not shown */
    {.group = 1, .bytes = 16, .group_size = 4, .state = TM_INSTANCE_INCOMPLETE, .group_text = "a"},
    {.group = 9, .bytes = 16, .group_size = 4, .state = TM_INSTANCE_SUSPECT, .group_text = "c"},
};

TEST(classes_have_their_medians) {
    static const char *const rows[] = {
        "kind=allgather group=a ranks=4 size_class_bytes=1024 how=metadata evidence_bits=null "
        "at_least=null count=1 bytes=1024 "
        "median_transfer_ns=8 p95_transfer_ns=8 median_skew_ns=0 algbw_gbps=128 busbw_gbps=96",
        "kind=allreduce group=0-7 ranks=8 size_class_bytes=null how=inferred evidence_bits=5 "
        "at_least=true count=2 bytes=null "
        "median_transfer_ns=2 p95_transfer_ns=2 median_skew_ns=6 algbw_gbps=null busbw_gbps=null",
        "kind=allreduce group=a ranks=4 size_class_bytes=1024 how=metadata evidence_bits=null "
        "at_least=null count=4 bytes=1750 median_transfer_ns=15 p95_transfer_ns=1000 "
        "median_skew_ns=8 algbw_gbps=100 busbw_gbps=150",
        "kind=allreduce group=a ranks=4 size_class_bytes=2048 how=metadata evidence_bits=null "
        "at_least=null count=1 bytes=2048 "
        "median_transfer_ns=2 p95_transfer_ns=2 median_skew_ns=1 algbw_gbps=1024 busbw_gbps=1536",
        "kind=allreduce group=b ranks=2 size_class_bytes=1024 how=metadata evidence_bits=null "
        "at_least=null count=1 bytes=1024 "
        "median_transfer_ns=4 p95_transfer_ns=4 median_skew_ns=2 algbw_gbps=256 busbw_gbps=256",
        "kind=barrier group=a ranks=4 size_class_bytes=16 how=metadata evidence_bits=null "
        "at_least=null count=1 bytes=16 median_transfer_ns=0 "
        "p95_transfer_ns=0 median_skew_ns=3 algbw_gbps=null busbw_gbps=null",
        "kind=broadcast group=a ranks=4 size_class_bytes=8 how=metadata evidence_bits=null "
        "at_least=null count=2 bytes=11 median_transfer_ns=null p95_transfer_ns=null "
        "median_skew_ns=null algbw_gbps=null busbw_gbps=null",
    };
    bench b = open_bench();
    assert_non_null(tm_vec_append(&b.own.values, values, COUNT(values)));
    finish(&b);
    const tm_table *table = find(&b, "collectives.kind");
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_row(table, i, rows[i]);
    assert_int_equal(table->n_rows, COUNT(rows));
    close_bench(&b);
}

TEST(the_95th_percentile_of_many_is_by_nearest_rank) {
    /* transfers are 1 to 40 in some order: p95 is 0.95 x 40 = 38, the median 20.5 */
    bench b = open_bench();
    for (int64_t i = 0; i < 40; i++)
        add_value(&b, TM_COLL_ALLREDUCE, 2, 64, (i * 7) % 40 + 1);
    finish(&b);
    assert_int_equal(kind_at(&b, "p95_transfer_ns"), 38);
    assert_int_equal(kind_at(&b, "median_transfer_ns"), 21);
    assert_int_equal(kind_at(&b, "count"), 40);
    close_bench(&b);
}

static void add_instance(bench *b, const tm_comm_record *members, size_t n, int64_t last_ns) {
    tm_instance instance = {.first = b->own.records.n, .n = n, .last_ns = last_ns, .waits = true};
    assert_non_null(tm_vec_append(&b->own.records, members, n));
    assert_non_null(tm_vec_append(&b->own.instances, &instance, 1));
}

TEST(the_worst_are_shown_with_their_arrivals) {
    /* Place 1: begins are 10, 4, 7, so L is 10 and the skew 6. Ends are 20, 8, 21, so waits are 0,
     * 4 (until the end), 3: 7 in all. The transfer is 11. Place 0: begins 5 and 5 are a tie without
     * metadata. Ends 5 and 3 are not after L, so the transfer is 0. */
    static const tm_comm_record known[] = {
        {.begin_ns = 10,
         .end_ns = 20,
         .rank = 1,
         .bytes = 96,
         .seq = 3,
         .step = 8,
         .kind = TM_COLL_ALLREDUCE,
         .group_text = "dp"},
        {.begin_ns = 4, .end_ns = 8, .rank = 2, .bytes = 97, .seq = 4, .step = 9},
        {.begin_ns = 7, .end_ns = 21, .rank = 6, .bytes = 98, .seq = 5, .step = 10},
    };
    static const tm_comm_record unknown[] = {
        {.begin_ns = 5,
         .end_ns = 5,
         .bytes = -1,
         .seq = -1,
         .step = -1,
         .kind = TM_COLL_ALLTOALL,
         .group_text = "0-1"},
        {.begin_ns = 5, .end_ns = 3, .rank = 1, .bytes = -1, .seq = -1, .step = -1},
    };
    static const char *const worst[] = {
        "instance=0 kind=alltoall group=0-1 seq=null step=null bytes=null begin_ns=5 skew_ns=0 "
        "wait_ns=0 last_rank=null transfer_ns=0",
        "instance=1 kind=allreduce group=dp seq=3 step=8 bytes=96 begin_ns=4 skew_ns=6 wait_ns=7 "
        "last_rank=1 transfer_ns=11",
    };
    static const char *const arrivals[] = {
        "instance=0 rank=0 begin_ns=5 end_ns=5",   "instance=0 rank=1 begin_ns=5 end_ns=3",
        "instance=1 rank=1 begin_ns=10 end_ns=20", "instance=1 rank=2 begin_ns=4 end_ns=8",
        "instance=1 rank=6 begin_ns=7 end_ns=21",
    };
    bench b = open_bench();
    const tm_worst places[] = {{2, 1}, {0, 0}};
    add_instance(&b, unknown, COUNT(unknown), 5);
    add_instance(&b, known, 1, 10); /* this operation is not among the worst */
    add_instance(&b, known, COUNT(known), 10);
    assert_non_null(tm_vec_append(&b.own.worst, places, COUNT(places)));
    finish(&b);
    for (size_t i = 0; i < COUNT(worst); i++)
        assert_row(find(&b, "collectives.worst"), i, worst[i]);
    assert_int_equal(find(&b, "collectives.worst")->n_rows, COUNT(worst));
    for (size_t i = 0; i < COUNT(arrivals); i++)
        assert_row(find(&b, "collectives.arrival"), i, arrivals[i]);
    assert_int_equal(find(&b, "collectives.arrival")->n_rows, COUNT(arrivals));
    close_bench(&b);
}

/* Calls state a rank's input. An all-gather of four ranks has four times the input as output; if
 * not all ranks are known, the output size is unknown. Sizes that kernels state take precedence. */
TEST(sizes_that_calls_tell_are_marked) {
    static const struct {
        tm_comm_record member;
        const char *bytes, *inferred;
    } rows[] = {
        {{.bytes = -1, .call_bytes = 24, .kind = TM_COLL_ALLREDUCE, .group_size = 4}, "24", "true"},
        {{.bytes = -1, .call_bytes = 24, .kind = TM_COLL_ALLGATHER, .group_size = 4}, "96", "true"},
        {{.bytes = -1,
          .call_bytes = 24,
          .kind = TM_COLL_ALLGATHER,
          .group_size = 4,
          .at_least = true},
         "null",
         "null"},
        {{.bytes = 8, .call_bytes = 24, .kind = TM_COLL_ALLREDUCE, .group_size = 4}, "8", "false"},
        {{.bytes = -1, .call_bytes = -1, .kind = TM_COLL_ALLREDUCE, .group_size = 4},
         "null",
         "null"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bench b = open_bench();
        const tm_worst place = {0, 0};
        char expected[256];
        add_instance(&b, &rows[i].member, 1, 10);
        assert_non_null(tm_vec_append(&b.own.exposed, &place, 1));
        finish(&b);
        snprintf(expected, sizeof expected,
                 "instance=0 kind=? group=? seq=? step=? bytes=%s bytes_inferred=%s ranks=1 "
                 "begin_ns=0 exposed_ns=0 longest_exposed_ns=0 longest_rank=0 comm_ns=0 wait_ns=?",
                 rows[i].bytes, rows[i].inferred);
        assert_row(find(&b, "collectives.instance"), 0, expected);
        close_bench(&b);
    }
}

TEST(a_last_place_within_uncertainty_is_tied) {
    /* Each clock is known to 1 ns. Two begins tie unless they differ by more than 2 sqrt(2) ns,
     * rounded to 3. Begins in one domain never tie here, because the domain's spread is 0. */
    static const struct {
        tm_comm_record members[2];
        int64_t last_rank; /* -1: a tie */
    } rows[] = {
        {{{.begin_ns = 10, .rank = 1, .uncertainty_ns = 1},
          {.begin_ns = 7, .rank = 2, .domain = 1, .uncertainty_ns = 1}},
         -1},
        {{{.begin_ns = 6, .rank = 1, .uncertainty_ns = 1},
          {.begin_ns = 10, .rank = 2, .domain = 1, .uncertainty_ns = 1}},
         2},
        {{{.begin_ns = 10, .rank = 1, .uncertainty_ns = 1},
          {.begin_ns = 9, .rank = 2, .uncertainty_ns = 1}},
         1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bench b = open_bench();
        const tm_worst place = {0, 0};
        add_instance(&b, rows[i].members, 2, 10);
        assert_non_null(tm_vec_append(&b.own.worst, &place, 1));
        finish(&b);
        const tm_cell *last = tm_table_cell(find(&b, "collectives.worst"), 0, "last_rank");
        assert_int_equal(last->null ? -1 : last->value.i, rows[i].last_rank);
        close_bench(&b);
    }
}

TEST(no_operations_make_no_rows) {
    bench b = open_bench();
    finish(&b);
    assert_int_equal(find(&b, "collectives.kind")->n_rows, 0);
    assert_int_equal(find(&b, "collectives.worst")->n_rows, 0);
    assert_int_equal(find(&b, "collectives.arrival")->n_rows, 0);
    close_bench(&b);
}

/* There are two processes. The second has one more entry in `left_out` than the first. */
TEST(reasons_of_all_processes_are_added_up) {
    static const tm_left_out left_out[] = {
        {3, 8, TM_UNMATCHED_TOO_FEW, "tp"},    {4, 8, TM_UNMATCHED_AMBIGUOUS, "dp"},
        {5, -1, TM_UNMATCHED_ORDER, ""},       {7, 16, TM_UNMATCHED_AMBIGUOUS, "dp"},
        {1, 8, TM_UNMATCHED_INCOHERENT, "dp"},
    };
    static const char *const rows[] = {
        "group=dp ranks=8 reason=ambiguous count=8",
        "group=dp ranks=8 reason=incoherent count=1",
        "group=dp ranks=16 reason=ambiguous count=14",
        "group=tp ranks=8 reason=too few count=6",
        "group=null ranks=null reason=order unproven count=10",
    };
    const tm_job job = {.n_ranks = 8};
    bench b = open_bench();
    for (size_t process = 0; process < 2; process++) {
        b.own.left_out.n = 0;
        assert_non_null(tm_vec_append(&b.own.left_out, left_out, 4 + process));
        finish(&b);
    }
    assert_int_equal(tm_analysis_collectives.job(&job, &b.tables, &b.err), TM_OK);
    const tm_table *table = find(&b, "collectives.unmatched");
    assert_int_equal(table->n_rows, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_row(table, i, rows[i]);
    close_bench(&b);
}

/* An all-to-all of floats, as one rank records it. */
typedef struct exchange {
    const char *name, *ranks, *in_split, *out_split;
    int64_t in, out;
} exchange;

static void add_exchanges(small_job *j, int64_t rank, const exchange *e, size_t n) {
    event_spec events[16] = {0};
    for (size_t i = 0; i < n; i++)
        events[i] = (event_spec){.category = TM_CAT_KERNEL,
                                 .name = "ncclDevKernel_SendRecv",
                                 .begin_ns = (int64_t)(10 * i),
                                 .duration_ns = 5,
                                 .collective = e[i].name};
    tm_trace trace = make_trace(&j->ground, "one.json", events, n, 0);
    tm_collective_attr *attrs = trace.attrs[TM_ATTR_COLLECTIVE].data;
    for (size_t i = 0; i < n; i++) {
        attrs[i].dtype = name_of(&j->ground, "Float");
        attrs[i].group_ranks = name_of(&j->ground, e[i].ranks);
        attrs[i].in_split = name_of(&j->ground, e[i].in_split);
        attrs[i].out_split = name_of(&j->ground, e[i].out_split);
        attrs[i].in_elements = e[i].in;
        attrs[i].out_elements = e[i].out;
    }
    add_trace(j, rank, &trace);
}

/* Ranks 1 and 3. Split sizes count rows, here of 10 floats: 3 and 1 of them (40 floats in all) are
 * 120 and 40 bytes. Without split sizes, each rank gets half of 8 floats: 16 bytes. So rank 1 sends
 * 136 and 56 bytes, which are 70.8 and 29.2 % of 192; even shares are (160 + 32) / 2 = 96. Rank 3
 * sends 40 + 16 to each. */
TEST(all_to_alls_are_split_over_pairs_of_ranks) {
#define UNKNOWN(split)                                                                             \
    { "all_to_allv", "[1, 3]", split, split, 40, 40 }
    static const exchange first[] = {{"all_to_allv", "[1, 3]", "[3, 1]", "\"[3, 1]\"", 40, 40},
                                     {"all_to_all", "[1, 3]", "[]", NULL, 8, 8},
                                     {"all_to_all", "[1, 3, ...]", "[]", "[]", 8, 8},
                                     {"all_to_all", "[0, 3]", "[]", "[]", 8, 8},
                                     {"allreduce", "[1, 3]", "[]", "[]", 8, 8},
                                     UNKNOWN(NULL),
                                     UNKNOWN("x"),
                                     UNKNOWN("[3, ...]"),
                                     UNKNOWN("[3, 4]"),
                                     UNKNOWN("[4]"),
                                     UNKNOWN("[1, 1, 2]"),
                                     UNKNOWN("[-1, 2]")},
                          second[] = {{"all_to_allv", "[1, 3]", "[1, 1]", "[1, 1]", 20, 20},
                                      {"all_to_allv", "[1, 3]", "[]", "[]", 8, 8},
                                      {"all_to_allv", "[1, 3]", "[0, 0]", "[0, 0]", 0, 0}};
    static const char *const rows[] = {
        ("from_rank to_rank count even_count unknown_count bytes expected_bytes share_pct "
         "times_even"),
        "1 1 2 1 7 136 136 70.83333333 1.416666667",
        "1 3 2 1 7 56 56 29.16666667 0.5833333333",
        "3 1 3 1 0 56 56 50 1",
        "3 3 3 1 0 56 56 50 1",
    };
    small_job j = open_job();
    add_exchanges(&j, 1, first, COUNT(first));
    add_exchanges(&j, 3, second, COUNT(second));
    finish_job(&j);
    CHECK_NAMED(&j, "collectives.pair", rows);
    close_job(&j);
}

RUN_TESTS()
