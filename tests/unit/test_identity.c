/* Ranks and hosts from file names, and the assignment of a job's traces to ranks. */
#include "identity/hosts.h"
#include "identity/rank_numbers.h"

#include "tmerge/timeline.h"

TEST(a_file_name_tells_its_rank) {
    /* A path, a blank and its rank; -1: none. Expected ranks are from Python's re with the
     * expression of rank_from_path.h and IGNORECASE. The expression is in a lookahead, so that a
     * match may begin with the byte that ends the previous one. Of rank, worker and tp, the first
     * that occurs counts. */
    static const char *const cases[] = {
        /* names that profilers and users write */
        "rank0__10-116-218-90_3536897.1743427996115775873.pt.trace.json 0",
        "worker7_step_12.1694128201553.pt.trace.json.zst 7", "sampled_rank-1.json.gz 1",
        "rank3-chrome-trace.json.gz 3", "1734567890.12-TP-5.trace.json.gz 5",
        "1734567890-TP-3-DP-0-EP-0.trace.json.gz 3", "profile_rank_12 12", "profile_rank12.json 12",
        "profile_rank-7 7", "myprofile_rank3 3", "node_worker_10_of_rank_x 10", "tp_2 2",
        "3rank4 4", "_rank5 5", ".tp6 6", "-worker8 8", "\xc3\xa9rank3 3",
        /* only the base name counts */
        "/rank9/trace.json -1", "/rank9/rank2.json 2", "rank1/ -1",
        /* case is ignored */
        "RANK4.json 4", "Rank_4.json 4",
        /* at most one separator, then digits */
        "rank.json -1", "rank-.json -1", "rank_x3.json -1", "rank--3.json -1", "rank_-3.json -1",
        "rank 3 -1", "rank3 3", "rank003.json 3", "rank0 0",
        /* the word must be whole, not the end of another */
        "crank3.json -1", "http1.json -1", "Xrank3.json -1", "ranking3 -1", "prank3_rank -1",
        /* the last match of the strongest word */
        "rank1_rank2.json 2", "rank1rank2.json 2", "rank1_worker2_tp3.json 1", "tp1_worker2.json 2",
        "dp0_pp0_tp1_dcp0_ep1_rank3.1.pt.trace.json.gz 3", "dp1_pp2.json -1", "rank7_frank8.json 7",
        "rank7_rank.json 7",
        /* at most 10^9: larger numbers are usually times or process ids */
        "rank1000000000 1000000000", "rank1000000001 -1", "rank1743427996115775873.json -1",
        "rank99999999999999999999999999.json -1", " -1", "json -1"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[80], found[24];
        const char *rank = strrchr(cases[i], ' ') + 1;
        snprintf(path, sizeof path, "%.*s", (int)(rank - 1 - cases[i]), cases[i]);
        snprintf(found, sizeof found, "%lld", (long long)tm_rank_of_path(path));
        if (strcmp(found, rank) != 0)
            fail_msg("%s: found %s", cases[i], found);
    }
}

TEST(the_name_of_a_process_tells_its_rank_where_it_tells_one) {
    static const struct {
        const char *name;
        int rank;
    } cases[] = {{"RANK 3 - GPU", 3},     {"Rank-12-HOST", 12},   {"rank3", 3},
                 {"[Rank 3] python", 3},  {"Rank #3", 3},         {"python (rank: 3 of 8)", 3},
                 {"rank 3: 83", 3},       {"rank", -1},           {"ranking 3", -1},
                 {"rank on 3", -1},       {"[TP03] 83", -1},      {"", -1},
                 {"rank 3, rank 3", 3},   {"rank 3, rank 5", -1}, {"Rank 3 (local rank 1)", -1},
                 {"tp1 rank 12 dp3", 12}, {"rank 1000000001", -1}};
    for (size_t i = 0; i < COUNT(cases); i++)
        if (tm_rank_of_process(cases[i].name, strlen(cases[i].name)) != cases[i].rank)
            fail_msg("%s", cases[i].name);
}

TEST(a_host_is_reported_by_the_profilers_own_form_alone) {
    static const struct {
        const char *path, *host; /* host NULL: the name has none */
    } cases[] = {
        /* real names */
        {"rank0__10-116-218-90_3536897.1743427996115775873.pt.trace.json", "10-116-218-90"},
        {"/t/megatron2/rank1__9c44bd29b3f0_1376.1724066820237002797.pt.trace.json", "9c44bd29b3f0"},
        {"worker0.1623143089861.pt.trace.json.gz", NULL},
        {"worker0_step_12.1694128201545.pt.trace.json", NULL},
        {"worker6_step_12.1694128201553.pt.trace.json.zst", NULL},
        {"rank0-chrome-trace.json.gz", NULL},
        {"sampled_rank-0.json.gz", NULL},
        /* the form HOST_PID.TIME.pt.trace.json */
        {"node7_1234.5678.pt.trace.json", "node7"},
        {"node7_1234.5678.pt.trace.json.gz", "node7"},
        {"my_host_name_77.1.pt.trace.json", "my_host_name"},
        {"gpu-a.example.org_77.1.pt.trace.json", "gpu-a.example.org"},
        {"a/rank3__b_1.2/node7_1234.5678.pt.trace.json", "node7"},
        {"rank12__node7_1234.5678.pt.trace.json", "node7"},
        {"rank12__worker_1234.5678.pt.trace.json", "worker"},
        {"h_1.2.pt.trace.json", "h"},
        /* words that resemble a rank's: a letter precedes them, or no digit follows */
        {"http1_1234.5678.pt.trace.json", "http1"},
        {"crank3_1234.5678.pt.trace.json", "crank3"},
        {"ranking_1234.5678.pt.trace.json", "ranking"},
        {"rank__node7_1234.5678.pt.trace.json", "rank__node7"},
        /* parts of the form are missing */
        {"node7_1234.pt.trace.json", NULL},
        {"node7.5678.pt.trace.json", NULL},
        {"node7_.5678.pt.trace.json", NULL},
        {"node7_1234..pt.trace.json", NULL},
        {"node7-1234.5678.pt.trace.json", NULL},
        {"node7_1234.5678.trace.json", NULL},
        {"node7_1234.5678.json", NULL},
        {"node7_12x4.5678.pt.trace.json", NULL},
        {"_1234.5678.pt.trace.json", NULL},
        {"1234.5678.pt.trace.json", NULL},
        {".5678.pt.trace.json", NULL},
        {"5678.pt.trace.json", NULL},
        {".pt.trace.json", NULL},
        {"node7_1234.5678.pt.trace.json/", NULL},
        {"rank0___1234.5678.pt.trace.json", NULL}, /* nothing after rank0__ is left for a host */
        {"", NULL},
        {"/", NULL},
        /* a rank in the place of the host does not count, because each rank would be a host */
        {"rank3_1234.5678.pt.trace.json", NULL},
        {"Rank3_1234.5678.pt.trace.json", NULL},
        {"RANK-3_1234.5678.pt.trace.json", NULL},
        {"job_rank_3_1234.5678.pt.trace.json", NULL},
        {"profile_rank3_1234.5678.pt.trace.json", NULL},
        {"worker-0_1234.5678.pt.trace.json", NULL},
        {"tp1_1234.5678.pt.trace.json", NULL},
        {"x-TP-1_1234.5678.pt.trace.json", NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char host[64] = "unchanged";
        bool found = tm_host_of_path(cases[i].path, host, sizeof host);
        if (found != (cases[i].host != NULL))
            print_message("the path is %s\n", cases[i].path);
        assert_int_equal(found, cases[i].host != NULL);
        assert_string_equal(host, found ? cases[i].host : "unchanged");
    }
}

TEST(a_host_that_does_not_fit_is_not_cut) {
    static const char path[] = "node7_1234.5678.pt.trace.json";
    char host[8];
    for (size_t size = 0; size <= 6; size++) {
        memset(host, 'x', sizeof host);
        assert_int_equal(tm_host_of_path(path, host, size), size == 6);
        assert_memory_equal(host, size == 6 ? "node7\0xx" : "xxxxxxxx", sizeof host);
    }
}

/* Reads "NAME", "NAME=REPORTED" or "NAME=REPORTED/WORLD", followed by any of: @N (mapped to rank
 * N), - (no device work), ! (bad), * (a copy), + (a later span). */
static tm_trace_rank read_trace(const char *text, size_t size) {
    size_t name = strcspn(text, "=@-!*+ ");
    char *end;
    tm_trace_rank trace = {
        .mapped = -1, .reported = -1, .world_size = -1, .end_ns = 10, .has_device = true};
    trace.label = tm_rank_label_of(text, name);
    for (const char *p = text + name; p < text + size; p = end) {
        int64_t number = strtol(p + 1, &end, 10);
        trace.reported = *p == '=' ? number : trace.reported;
        trace.world_size = *p == '/' ? number : trace.world_size;
        trace.mapped = *p == '@' ? number : trace.mapped;
        trace.has_device = trace.has_device && *p != '-';
        trace.is_bad = trace.is_bad || *p == '!';
        trace.is_copy = trace.is_copy || *p == '*';
        trace.begin_ns += *p == '+' ? 10 : 0;
        trace.end_ns += *p == '+' ? 10 : 0;
    }
    return trace;
}

TEST(a_trace_is_of_one_rank_whatever_the_others_say) {
    /* An answer is a rank (with p if found by its place), h (a helper's trace), c (a copy) or n (no
     * rank is left). Numbers in parentheses: if a trace's process groups count ranks differently,
     * the job's ranks for their ranks 0 and 1. */
    static const struct {
        const char *traces, *answers;
        int world;
    } cases[] = {
        {"rank1=0/2 rank0=1/2", "0 1", 2},
        {"rank1 a=0 tp2", "1 0 2", -1},
        {"a b c", "0p 1p 2p", -1},
        {"a! b c", "0 1p 2p", -1},
        {"rank0! b c", "0 1p 2p", -1},
        /* free ranks are given in order, but none beyond the job's size */
        {"a b=0/4 c d=2/4", "1p 0 3p 2", 4},
        {"a=0/2 b=1/2 c", "0 1 n", 2},
        {"a=0/2 b=1/2 c@5", "0 1 5", 2},
        /* helpers */
        {"api- a=0/2 b=1/2", "h 0 1", 2},
        {"a b loader-", "0p 1p h", -1},
        {"a=0/4- b=1/4 c=2/4 d=3/4", "0 1 2 3", 4},
        {"a- b-", "0p 1p", -1},
        {"a=0/2 b=1/2 worker1- worker2-", "0 1 h h", 2},
        {"rank0 rank0-", "0 h", -1},
        {"rank0=0/2 rank1=1/2 worker990=0/2-", "0 1 h", 2},
        {"rank0 rank0-+", "0 0", -1},
        {"rank0 api-@1", "0 1", -1},
        {"rank0 rank1 worker2- worker12-", "0 1 h h", -1}, /* traces of a data loader, */
        {"worker0 worker1 worker2-", "0 1 2", -1},         /* but not if ranks have such names */
        /* Names tell replicas apart. Ranks in groups are shifted, even those without a trace. */
        {"tp0_dp0=0/2 tp1_dp0=1/2 tp0_dp1=0/2 tp1_dp1=1/2", "0 1 2(2,3) 3(2,3)", 4},
        {"tp1_dp1=1/2 tp0_dp0=0/2 tp0_dp1=0/2", "3(2,3) 0 2(2,3)", 4},
        {"tp0_dp0 tp1_dp0 tp0_dp1 tp1_dp1", "0 1 2 3", -1},
        {"tp0_pp0_dp0=0/4 tp1_pp1_dp0=3/4 tp0_pp1_dp1=2/4 tp1_pp1_dp1=3/4", "0 3 6(4,5) 7(4,5)", 8},
        {"rank0=0/2 rank1=1/2 rank2=0/2 rank3=1/2", "0 1 2(2,3) 3(2,3)", 4},
        {"rank0=0/1 rank1=0/1 rank2=0/1", "0 1(1,2) 2(2,3)", 3},
        {"dp0=0/1 dp1=0/1", "0 1(1,2)", 2},
        {"a=0/2@0 b=1/2@1 c=0/2@2 d=1/2@3", "0 1 2(2,3) 3(2,3)", 4},
        {"a=0/2@2 b=1/2@3", "2(2,3) 3(2,3)", 4},
        {"a=0/2@1 b=1/2@0", "1(1,0) 0(1,0)", 2},
        /* replicas cannot be told apart, so no rank of a group is known */
        {"rank0=0/2 rank1=0/2 rank2=1/2 rank3=1/2", "0(-1,-1) 1(-1,-1) 2(-1,-1) 3(-1,-1)", 4},
        /* all traces state rank 0 of 4, which is wrong for three; the ranks in groups are right */
        {"rank0=0/4 rank1=0/4 rank2=0/4 rank3=0/4", "0 1 2 3", 4},
        /* copies */
        {"a=0/2 b=1/2 c=0@0* d=1@1*", "0 1 c c", 2},
        {"a=0/2 c=0@0* d=1@1*", "0 c 1", 2},
        {"c=0/2@0* d=1/2@1* e=0/2@2* f=1/2@3*", "0 1 2(2,3) 3(2,3)", 4},
        {"tp0_dp0=0/2 tp0_dp1=0/2 c=0/2@0* d=0/2@2*", "0 2(2,3) c c", 4},
        /* no replicas: a rank with several spans, or names that stand for several ranks */
        {"rank0=0/2 rank0=0/2+ rank1=1/2", "0 0 1", 2},
        {"tp0=0/4 tp1=1/4 tp0=2/4 tp1=3/4", "0 1 2 3", 4},
        {"rank0=0/2 rank1=0/2 rank1=1/2", "0 0 1", 2},
        {"rank0=0/2 a=0/2", "0 0", 2},
        {"tp0_dp0=0/4 tp1_dp0=1/4 tp2_dp1=2/4 tp3_dp1=3/4", "0 1 2 3", 4},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tm_trace_rank traces[8];
        tm_vec moves = TM_VEC(tm_rank_move);
        tm_error err;
        char found[128] = "";
        int64_t world;
        size_t n = 0;
        for (const char *p = cases[i].traces; *p; p += strspn(p, " ")) {
            traces[n++] = read_trace(p, strcspn(p, " "));
            p += strcspn(p, " ");
        }
        assert_ok(tm_ranks_decide(traces, n, &moves, &world, &err));
        for (size_t k = 0; k < n; k++) {
            size_t at = strlen(found);
            const tm_trace_rank *c = &traces[k];
            if (c->fate != TM_RANK_KEPT)
                snprintf(found + at, 32, " %c", "khcn"[c->fate]);
            else if (c->replica < 0)
                snprintf(found + at, 32, " %d%s", (int)c->rank, c->by_place ? "p" : "");
            else
                snprintf(found + at, 64, " %d(%d,%d)", (int)c->rank,
                         (int)tm_rank_moved(&moves, c->replica, 0),
                         (int)tm_rank_moved(&moves, c->replica, 1));
        }
        if (strcmp(found + 1, cases[i].answers) != 0 || world != cases[i].world)
            fail_msg("%s: found%s of %d", cases[i].traces, found, (int)world);
        tm_vec_free(&moves);
    }
}

TEST(hosts_that_nobody_tells_follow_from_devices) {
    static const struct {
        int64_t rank, device;
        const char *recorded;
        int32_t expected; /* of the name hostN; -1: recorded */
    } cases[] = {
        {0, 0, NULL, 0},        {1, 1, NULL, 0},
        {2, 3, NULL, 0},                         /* devices need only increase */
        {3, 0, NULL, 1},        {4, 0, NULL, 2}, /* hosts with one device */
        {5, 1, "host3", -1},    {6, 2, NULL, 4}, /* rank 5 is in between, and has the name host3 */
        {8, 3, NULL, 6}, /* rank 7 is missing; ranks 9 and 10 are on host5 */
        {9, 4, "host5", -1},    {10, 4, "host5", -1},
        {12, 0, NULL, 7},       {14, 2, NULL, 7}, /* rank 13 may have device 1 */
        {15, -1, "host07", -1},
    };
    tm_host_rank ranks[COUNT(cases)];
    tm_error err = {0};
    for (size_t i = 0; i < COUNT(cases); i++)
        ranks[i] = (tm_host_rank){cases[i].rank, cases[i].device, cases[i].recorded ? 1 : 0,
                                  tm_host_number_of(cases[i].recorded ? cases[i].recorded : "")};
    assert_int_equal(tm_hosts_infer(ranks, COUNT(cases), &err), TM_OK);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(ranks[i].number, cases[i].expected);
    /* Without any host or device number, only a single rank has a host. */
    tm_host_rank bare[] = {{0, -1, 0, -1}, {1, -1, 0, -1}};
    assert_int_equal(tm_hosts_infer(bare, 2, &err), TM_OK);
    assert_int_equal(bare[1].number, -1);
    assert_int_equal(tm_hosts_infer(bare, 1, &err), TM_OK);
    assert_int_equal(bare[0].number, 0);
}

RUN_TESTS()
