/* Tables of process groups: a job of 8 ranks on 2 hosts, computed by hand. */
#include "analysis/analyses.h"
#include "timeline/collectives.h"
#include "timeline_fixture.h"

/* The collectives that one process knows, and the tables made from them. */
typedef struct bench {
    ground ground;
    tm_collectives own;
    tm_tables tables;
} bench;

enum { RANKS = 8, NO_RANK = -1 };

static bench open_bench(void) {
    bench b = {.ground = open_ground(),
               .own = {.records = TM_VEC(tm_comm_record), .values = TM_VEC(tm_instance_value)}};
    assert_int_equal(tm_analysis_tables(&b.tables, &b.ground.err), TM_OK);
    return b;
}

static void close_bench(bench *b) {
    tm_vec_free(&b->own.records);
    tm_vec_free(&b->own.values);
    tm_tables_destroy(&b->tables);
    close_ground(&b->ground);
}

/* Ranks 0 to 3 are on host a, the others on b. */
static void add_ranks(bench *b, int64_t n) {
    tm_table *ranks = tm_tables_find(&b->tables, "job.rank");
    int rank = tm_table_column(ranks->def, "rank"), host = tm_table_column(ranks->def, "host");
    for (int64_t i = 0; i < n; i++) {
        tm_cell *row = tm_table_add_row(ranks);
        assert_non_null(row);
        tm_cell_set_int(&row[rank], i);
        assert_int_equal(tm_table_set_text(ranks, &row[host], i < 4 ? "a" : "b", &b->ground.err),
                         TM_OK);
    }
}

static bench open_job(void) {
    bench b = open_bench();
    add_ranks(&b, RANKS);
    return b;
}

static void add_communication(bench *b, int64_t rank, int64_t ns) {
    tm_cell *row = tm_table_add_row(tm_tables_find(&b->tables, "groups.rank"));
    assert_non_null(row);
    tm_cell_set_int(&row[0], rank);
    tm_cell_set_int(&row[1], ns);
}

static void finish_process(bench *b) {
    assert_int_equal(tm_analysis_groups.collectives(&b->own, &b->tables, &b->ground.err), TM_OK);
    b->own.records.n = b->own.values.n = 0;
}

/* Does what tm_analyse_merged and tm_analyse_job do for this analysis. */
static void finish_job(bench *b) {
    const tm_job job = {.n_ranks = RANKS};
    for (size_t i = 0; i < b->tables.n_tables; i++)
        tm_table_sort(&b->tables.tables[i]);
    assert_int_equal(tm_analysis_groups.merge(b->ground.names, &b->tables, &b->ground.err), TM_OK);
    for (size_t i = 0; i < b->tables.n_tables; i++)
        tm_table_sort(&b->tables.tables[i]);
    assert_int_equal(tm_analysis_groups.job(&job, &b->tables, &b->ground.err), TM_OK);
}

static void finish(bench *b) {
    finish_process(b);
    finish_job(b);
}

static void check(const bench *b, const char *name, const char *const *rows, size_t n) {
    const tm_table *table = tm_tables_find(&b->tables, name);
    for (size_t i = 0; i < n && i < table->n_rows; i++)
        assert_row(table, i, rows[i]);
    assert_int_equal(table->n_rows, n);
}

static void add_members(bench *b, uint64_t group, const int64_t *ranks, size_t n) {
    for (size_t i = 0; i < n; i++) {
        tm_comm_record record = {.process_group = group, .rank = ranks[i]};
        assert_non_null(tm_vec_append(&b->own.records, &record, 1));
    }
}
#define ADD_MEMBERS(b, group, ...)                                                                 \
    add_members(b, group, (const int64_t[]){__VA_ARGS__},                                          \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* An all-reduce of a group. The kernel of each member waits a little, and then transfers. */
static tm_instance_value allreduce(uint64_t group, const char *text, int32_t n, int64_t bytes,
                                   int64_t time_ns) {
    tm_instance_value value = {.bytes = bytes,
                               .transfer_ns = time_ns,
                               .group_size = n,
                               .kind = TM_COLL_ALLREDUCE,
                               .process_group = group,
                               .process_group_size = n,
                               .from = NO_RANK,
                               .to = NO_RANK,
                               .shortest_ns = time_ns,
                               .comm_ns = n * time_ns + 7,
                               .waited_ns = 7};
    snprintf(value.group_text, sizeof value.group_text, "%s", text);
    return value;
}

static tm_instance_value transfer(uint64_t group, const char *text, int32_t from, int32_t to,
                                  int64_t bytes, int64_t time_ns) {
    tm_instance_value value = allreduce(group, text, 2, bytes, -1);
    value.kind = TM_COLL_SENDRECV;
    value.from = from;
    value.to = to;
    value.shortest_ns = time_ns;
    value.comm_ns = 3 * time_ns;
    value.waited_ns = 0;
    return value;
}

static void add(bench *b, tm_instance_value value, int count) {
    for (int i = 0; i < count; i++)
        assert_non_null(tm_vec_append(&b->own.values, &value, 1));
}

/* Four groups of two ranks, each group on one host. Their medians are 101, 100, 99 and 150 us. The
 * medians of the others are 99, 100, 150 for the first; 99, 101, 150 for the second; 100, 101, 150
 * for the third; 99, 100, 101 for the last. */
static void add_tensor(bench *b) {
    uint32_t description = name_of(&b->ground, "mesh_tp");
    static const int64_t times[4][3] = {{100000, 102000, 101000},
                                        {100000, 100000, 100000},
                                        {130000, 98000, 99000},
                                        {150000, 150000, 150000}};
    static const char *const texts[] = {"t0", "t1", "t2", "t3"};
    for (uint64_t g = 0; g < 4; g++) {
        for (size_t i = 0; i < 3; i++) {
            tm_instance_value value = allreduce(40 - g, texts[g], 2, 1000, times[g][i]);
            value.description = description;
            add(b, value, 1);
        }
        ADD_MEMBERS(b, 40 - g, 2 * (int64_t)g, 2 * (int64_t)g + 1);
    }
}

TEST(a_group_slower_than_its_peers_is_slow) {
    static const char *const links[] = {
        "group=t0 members=0-1 from_rank=null to_rank=null kind=allreduce size_class_bytes=512 "
        "dimension=tensor reach=intra count=3 bytes=1000 median_ns=101000 "
        "busbw_gbps=0.009900990099 times_fit=null peers=3 peers_ns=100000 times_slower=1.01 "
        "slow=false",
        "group=t1 members=2-3 from_rank=null to_rank=null kind=allreduce size_class_bytes=512 "
        "dimension=tensor reach=intra count=3 bytes=1000 median_ns=100000 busbw_gbps=0.01 "
        "times_fit=null peers=3 peers_ns=101000 times_slower=0.9900990099 slow=false",
        "group=t2 members=4-5 from_rank=null to_rank=null kind=allreduce size_class_bytes=512 "
        "dimension=tensor reach=intra count=3 bytes=1000 median_ns=99000 busbw_gbps=0.0101010101 "
        "times_fit=null peers=3 peers_ns=101000 times_slower=0.9801980198 slow=false",
        "group=t3 members=6-7 from_rank=null to_rank=null kind=allreduce size_class_bytes=512 "
        "dimension=tensor reach=intra count=3 bytes=1000 median_ns=150000 "
        "busbw_gbps=0.006666666667 times_fit=null peers=3 peers_ns=100000 times_slower=1.5 "
        "slow=true",
    };
    /* bytes 4 x 3 x 1000; wait 12 x 7 ns; transfer 2 x (303 + 300 + 327 + 450 us) */
    static const char *const dimensions[] = {
        "dimension=tensor reach=intra groups=4 complete=12 bytes=12000 comm_ns=2760084 "
        "comm_share=0.5000152174 wait_ns=84 transfer_ns=2760000 busbw_gbps=null links=4 "
        "slow_links=1"};
    bench b = open_job();
    add_communication(&b, 0, 5000000);
    add_communication(&b, 1, 520000);
    add_tensor(&b);
    finish(&b);
    check(&b, "groups.link", links, COUNT(links));
    check(&b, "groups.dimension", dimensions, COUNT(dimensions));
    close_bench(&b);
}

/* A group takes twice the 10 us of two others. 10 us more may be clock error, 10,001 ns not. */
TEST(small_differences_are_not_slow) {
    for (int64_t more = 0; more < 2; more++) {
        bench b = open_job();
        add(&b, allreduce(1, "dp0", 2, 1000, 10000), 3);
        add(&b, allreduce(2, "dp1", 2, 1000, 20000 + more), 3);
        add(&b, allreduce(3, "dp2", 2, 1000, 10000), 3);
        ADD_MEMBERS(&b, 1, 0, 1);
        ADD_MEMBERS(&b, 2, 2, 3);
        ADD_MEMBERS(&b, 3, 4, 5);
        finish(&b);
        const tm_table *links = tm_tables_find(&b.tables, "groups.link");
        assert_int_equal(links->n_rows, 3);
        assert_int_equal(tm_table_cell(links, 1, "slow")->value.i, more);
        close_bench(&b);
    }
}

/* One group with all states and sizes, a latency of 10 us and 2 bytes/ns. It has 4 ranks, so bytes
 * are moved 1.5 times. 2 MiB take 3145728 / 2 + 10000 = 1582864 ns, 1.98736... GB/s, three times;
 * once they take 1.6 times as long. 4000 bytes take 6000 / 2 + 10000 = 13000 ns, twice. A broadcast
 * has no time, and an incomplete operation does not count. */
TEST(a_group_has_its_sums_and_its_line) {
    /* bytes 4 x 2097152 + 2 x 4000 + 5 = 8396613. Kernels of all-reduces: 4 x (3 x 1582864 +
     * 2532583 + 2 x 13000) + 6 x 7 = 29228742 ns; of the broadcast 400, of the others 50 and 60. */
    static const char *const groups[] = {
        "group=d members=0-6:2 ranks=4 dimension=data description=DATA_PARALLEL_GROUP hosts=2 "
        "reach=inter complete=7 incomplete=1 suspect=1 bytes=8396613 comm_ns=29229252 "
        "comm_share=0.29229252 wait_ns=42 transfer_ns=29228700 busbw_gbps=1.987364676 "
        "latency_ns=10000 fit_busbw_gbps=2 slow_operations=1"};
    bench b = open_job();
    add_communication(&b, 3, 100000000);
    uint32_t description = name_of(&b.ground, "DATA_PARALLEL_GROUP");
    tm_instance_value broadcast = allreduce(9, "d", 4, 5, -1);
    broadcast.kind = TM_COLL_BROADCAST;
    broadcast.comm_ns = 400;
    broadcast.waited_ns = 0;
    broadcast.description = description;
    tm_instance_value incomplete = allreduce(9, "d", 4, 4000, -1);
    incomplete.state = TM_INSTANCE_INCOMPLETE;
    incomplete.comm_ns = 50;
    tm_instance_value suspect = incomplete;
    suspect.state = TM_INSTANCE_SUSPECT;
    suspect.comm_ns = 60;
    add(&b, incomplete, 1);
    add(&b, allreduce(9, "d", 4, 2097152, 1582864), 3);
    add(&b, suspect, 1);
    add(&b, allreduce(9, "d", 4, 2097152, 2532583), 1);
    add(&b, broadcast, 1);
    add(&b, allreduce(9, "d", 4, 4000, 13000), 2);
    ADD_MEMBERS(&b, 9, 6, 0, 2, 0, 4, 6, 6);
    finish(&b);
    check(&b, "groups.group", groups, COUNT(groups));
    close_bench(&b);
}

/* A group without description is a pipeline: transfers in both directions between 0 and 4, and
 * between 4 and 5, i.e. two pairs of three ranks. Another group is a ring of 1, 2, 3. Its third
 * pair is slow, but two operations are too few to say so; three are enough. Both groups have four
 * ranks, one of which never sends. Pairs on one host are not compared with pairs between hosts: the
 * pipeline has two transfers 0-4 and two 4-5. */
TEST(pairs_are_compared_and_tell_a_pipeline) {
    for (int count = 2; count <= 3; count++) {
        bench b = open_job();
        add(&b, transfer(3, "line", 0, 4, 2048, 40000), 3);
        add(&b, transfer(3, "line", 4, 0, 2048, 41000), 3);
        add(&b, transfer(3, "line", 4, 5, 2048, 42000), 3);
        add(&b, transfer(3, "line", 5, 4, 2048, 43000), 3);
        add(&b, transfer(4, "ring", 1, 2, 2048, 20000), 3);
        add(&b, transfer(4, "ring", 2, 3, 2048, 20000), 3);
        add(&b, transfer(4, "ring", 3, 1, 2048, 60000), count);
        ADD_MEMBERS(&b, 3, 0, 4, 5);
        ADD_MEMBERS(&b, 4, 1, 2, 3);
        finish(&b);
        const tm_table *groups = tm_tables_find(&b.tables, "groups.group");
        assert_int_equal(groups->n_rows, 2);
        assert_string_equal(tm_table_cell(groups, 0, "dimension")->value.text, "pipeline");
        assert_string_equal(tm_table_cell(groups, 0, "reach")->value.text, "inter");
        assert_true(tm_table_cell(groups, 0, "transfer_ns")->null);
        assert_true(tm_table_cell(groups, 1, "dimension")->null);
        const tm_table *links = tm_tables_find(&b.tables, "groups.link");
        assert_int_equal(links->n_rows, 3);
        static const char *const quick =
            "group=ring members=1-3 from_rank=1 to_rank=2 kind=sendrecv size_class_bytes=2048 "
            "dimension=null reach=intra count=3 bytes=2048 median_ns=20000 busbw_gbps=0.1024 "
            "times_fit=null peers=2 peers_ns=40000 times_slower=0.5 slow=false";
        static const char *const slow[] = {
            "group=ring members=1-3 from_rank=3 to_rank=1 kind=sendrecv size_class_bytes=2048 "
            "dimension=null reach=intra count=2 bytes=2048 median_ns=60000 "
            "busbw_gbps=0.03413333333 times_fit=null peers=2 peers_ns=20000 times_slower=3 "
            "slow=false",
            "group=ring members=1-3 from_rank=3 to_rank=1 kind=sendrecv size_class_bytes=2048 "
            "dimension=null reach=intra count=3 bytes=2048 median_ns=60000 "
            "busbw_gbps=0.03413333333 times_fit=null peers=2 peers_ns=20000 times_slower=3 "
            "slow=true"};
        assert_row(links, 0, quick);
        assert_row(links, 2, slow[count - 2]);
        close_bench(&b);
    }
}

/* Collectives are on the line 10 us + moved / 2. Transfers are faster, and fitted separately. */
TEST(transfers_beside_collectives_are_not_fitted) {
    bench b = open_job();
    add(&b, transfer(6, "both", 3, 2, 4096, 3000), 3);
    add(&b, transfer(6, "both", 1, 2, 4096, 3000), 3);
    add(&b, transfer(6, "both", 2, 1, 4096, 3000), 3);
    add(&b, allreduce(6, "both", 2, 100000, 60000), 1);
    add(&b, allreduce(6, "both", 2, 1000, 10500), 1);
    ADD_MEMBERS(&b, 6, 1, 2, 3);
    finish(&b);
    const tm_table *groups = tm_tables_find(&b.tables, "groups.group");
    assert_int_equal(tm_table_cell(groups, 0, "latency_ns")->value.i, 10000);
    assert_true(tm_table_cell(groups, 0, "dimension")->null);
    const tm_table *links = tm_tables_find(&b.tables, "groups.link");
    assert_int_equal(links->n_rows, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tm_table_cell(links, i, "from_rank")->value.i, i + 1);
        assert_int_equal(tm_table_cell(links, i, "count")->value.i, 3);
        assert_true(tm_table_cell(links, i, "times_fit")->null);
    }
    close_bench(&b);
}

/* Peers have the same kind, size, number of ranks and `reach`, and a known purpose. */
TEST(only_the_like_is_compared) {
    bench b = open_job();
    add_tensor(&b);
    tm_instance_value *values = b.own.values.data;
    for (size_t i = 0; i < b.own.values.n; i++) {
        if (values[i].process_group == 40)
            values[i].bytes = 1001;
        if (values[i].process_group == 39)
            values[i].kind = TM_COLL_ALLGATHER;
    }
    add(&b, allreduce(1, "0", 2, 1000, 100000), 3);
    add(&b, allreduce(2, "1", 2, 1000, 100000), 3);
    add(&b, allreduce(3, "2", 2, 1000, 100000), 3);
    ADD_MEMBERS(&b, 1, 0, 1);
    ADD_MEMBERS(&b, 2, 2, 3);
    ADD_MEMBERS(&b, 3, 4, 5);
    ADD_MEMBERS(&b, 37, 1); /* three ranks on two hosts */
    finish(&b);
    assert_int_equal(tm_tables_find(&b.tables, "groups.link")->n_rows, 0);
    assert_int_equal(tm_tables_find(&b.tables, "groups.group")->n_rows, 7);
    close_bench(&b);
}

/* Two processes know some ranks of a group each. Both know rank 9, whose host is unknown. */
TEST(members_of_all_processes_are_brought_together) {
    static const char *const groups[] = {
        "group=g members=0-3,5,7-9 ranks=16 dimension=null description=null hosts=null reach=null "
        "complete=1 incomplete=0 suspect=0 bytes=null comm_ns=87 comm_share=null wait_ns=7 "
        "transfer_ns=80 busbw_gbps=null latency_ns=null fit_busbw_gbps=null slow_operations=null"};
    bench b = open_job();
    ADD_MEMBERS(&b, 5, 9, 1, 3, 5);
    finish_process(&b);
    ADD_MEMBERS(&b, 5, 0, 2, 7, 8, 9, 9);
    add(&b, allreduce(5, "g", 16, -1, 5), 1);
    finish(&b);
    check(&b, "groups.group", groups, COUNT(groups));
    close_bench(&b);
}

/* 1, 3 and 5 are a progression that 9 is not part of. 60 single numbers of 5 bytes do not fit. */
TEST(members_are_written_as_progressions) {
    bench b = open_bench();
    ADD_MEMBERS(&b, 1, 1, 3, 5, 9);
    ADD_MEMBERS(&b, 2, 4, 9);
    ADD_MEMBERS(&b, 3, 1023, 0, 256, 512);
    for (int64_t i = 0; i < 60; i++)
        ADD_MEMBERS(&b, 4, 1000 + i * i);
    add(&b, allreduce(1, "a", 4, -1, 5), 1);
    add(&b, allreduce(2, "b", 2, -1, 5), 1);
    add(&b, allreduce(3, "c", 4, -1, 5), 1);
    add(&b, allreduce(4, "d", 60, -1, 5), 1);
    finish(&b);
    const tm_table *groups = tm_tables_find(&b.tables, "groups.group");
    assert_string_equal(tm_table_cell(groups, 0, "members")->value.text, "1-5:2,9");
    assert_string_equal(tm_table_cell(groups, 1, "members")->value.text, "4,9");
    assert_string_equal(tm_table_cell(groups, 2, "members")->value.text, "0-512:256,1023");
    const char *cut = tm_table_cell(groups, 3, "members")->value.text;
    assert_true(strlen(cut) < 256 && strcmp(cut + strlen(cut) - 3, "...") == 0);
    assert_memory_equal(cut, "1000-1001,1004,1009,1016,", 25);
    close_bench(&b);
}

TEST(no_operations_make_no_rows) {
    bench b = open_job();
    finish(&b);
    check(&b, "groups.group", NULL, 0);
    check(&b, "groups.dimension", NULL, 0);
    check(&b, "groups.link", NULL, 0);
    close_bench(&b);
}

RUN_TESTS()
