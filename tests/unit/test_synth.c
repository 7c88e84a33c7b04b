/* Job generator: its simulation follows the rules that tmerge's analyses assume. */
#include "synth_jobs.h"

#include "synth/sim/injected_faults.h"
#include "synth/truth/true_blame.h"

static tms_config small_job(void) {
    tms_config config;
    tms_config_init(&config);
    config.ranks = 4;
    config.host_ranks = 2;
    config.steps = 3;
    return config;
}

static int64_t n_parts(const tms_config *config) {
    return config->steps * config->buckets * config->ranks;
}

TEST(ends_differ_by_no_more_than_the_end_jitter) {
    tms_config config = small_job();
    bool differ = false;
    config.end_jitter_ns = 300;
    tms_plan plan = plan_of(&config);
    for (int64_t i = 0; i < n_parts(&config); i++) {
        int64_t first = i - i % config.ranks;
        int64_t lag = plan.end_ns[i] - plan.end_ns[first];
        assert_in_range(lag + 300, 0, 600);
        differ = differ || lag != 0;
    }
    assert_true(differ);
    tms_plan_free(&plan);
}

TEST(wait_and_transfer_add_up_to_the_kernel) {
    tms_config config = small_job();
    config.jitter_ppm = 0;
    tms_plan plan = plan_of(&config);
    for (int64_t i = 0; i < n_parts(&config); i++) {
        int64_t first = i - i % config.ranks;
        int64_t last = first + tms_blame_last(plan.begin_ns + first, config.ranks);
        tms_split split = tms_blame_split(plan.begin_ns[i], plan.end_ns[i], plan.begin_ns[last]);
        assert_int_equal(split.wait_ns + split.transfer_ns, plan.end_ns[i] - plan.begin_ns[i]);
        /* Without jitter, a transfer takes exactly bytes / bandwidth. */
        assert_int_equal(split.transfer_ns, tms_config_transfer_ns(&config));
        assert_true(split.wait_ns >= 0);
    }
    tms_plan_free(&plan);
}

TEST(wait_ends_with_the_kernel_where_clocks_disagree) {
    /* A kernel runs from 10 to 40. The last rank arrives at 25; at 10; or at 60, after the end. */
    static const struct {
        int64_t last, wait, transfer;
    } cases[] = {{25, 15, 15}, {10, 0, 30}, {60, 30, 0}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_split split = tms_blame_split(10, 40, cases[i].last);
        assert_int_equal(split.wait_ns, cases[i].wait);
        assert_int_equal(split.transfer_ns, cases[i].transfer);
    }
}

TEST(transfer_time_follows_bytes_ranks_and_bandwidth) {
    tms_config config = small_job();
    /* 8e6 B * 2 * 3/4 = 12e6 B take 1.2 ms at 10 GB/s, plus 5 us of latency. */
    config.bucket_bytes = 8000000;
    config.bandwidth_mbps = 10000;
    config.latency_ns = 5000;
    assert_int_equal(tms_config_transfer_ns(&config), 1205000);
    /* A single rank sends nothing. */
    config.ranks = 1;
    assert_int_equal(tms_config_transfer_ns(&config), 5000);
}

TEST(tally_agrees_with_a_job_worked_out_by_hand) {
    /* Step 7 is [0, 100), step 8 is annotated [90, 200).
     *   compute [10, 40) [30, 50)          union [10, 50): 40
     *   comm    [20, 70) and [120, 130)    60; under compute [20, 50): 30
     *   memory  [60, 80), [125, 135)       30; exposed in [70, 80) and [130, 135): 15
     * The second all-reduce was launched at 95, inside both steps, and counts for step 8. The copy
     * [60, 80) was launched at 5, and one of no length at 150 only extends the window.
     * Window [10, 150) = 140; busy [10, 80) + [120, 135) = 85. */
    static const struct {
        tms_work work;
        int64_t launch_ns, begin_ns, end_ns;
    } works[] = {{TMS_WORK_MEMORY, 5, 60, 80},   {TMS_WORK_COMPUTE, 6, 30, 50},
                 {TMS_WORK_COMPUTE, 7, 10, 40},  {TMS_WORK_COMM, 8, 20, 70},
                 {TMS_WORK_COMM, 95, 120, 130},  {TMS_WORK_MEMORY, 96, 125, 135},
                 {TMS_WORK_MEMORY, 97, 150, 150}};
    static const tms_times expected = {
        .window_ns = 140,
        .work_ns = {[TMS_WORK_COMPUTE] = 40, [TMS_WORK_COMM] = 60, [TMS_WORK_MEMORY] = 30},
        .overlap_ns = 30,
        .exposed_comm_ns = 30,
        .exposed_memory_ns = 15,
        .busy_ns = 85,
        .idle_ns = 55};
    tms_tally tally;
    tms_error err;
    tms_tally_init(&tally);
    assert_ok(tms_tally_add_step(&tally, 7, 0, 100, &err));
    for (size_t i = 0; i < COUNT(works); i++) {
        if (i == 4)
            assert_ok(tms_tally_add_step(&tally, 8, 90, 200, &err));
        assert_ok(tms_tally_add_work(&tally, works[i].work, works[i].launch_ns, works[i].begin_ns,
                                     works[i].end_ns, &err));
    }
    tms_tally_finish(&tally);
    assert_memory_equal(&tally.total, &expected, sizeof expected);
    /* Step 8 begins at the end of step 7, at 100. */
    assert_int_equal(tally.steps[1].begin_ns, 100);
    assert_int_equal(tally.steps[1].end_ns, 200);
    assert_int_equal(tally.steps[1].times.exposed_comm_ns, 10);
    assert_int_equal(tally.steps[1].times.idle_ns, 85);
    tms_tally_free(&tally);
}

TEST(step_lasts_until_the_work_that_it_launched_ends) {
    tms_tally tally;
    tms_error err;
    /* Step 1 is annotated as [0, 50), and its kernel runs in [40, 120). Step 2 is annotated as [60,
     * 110) and launches nothing, so it begins and ends at 120. */
    tms_tally_init(&tally);
    assert_ok(tms_tally_add_step(&tally, 1, 0, 50, &err));
    assert_ok(tms_tally_add_step(&tally, 2, 60, 110, &err));
    assert_ok(tms_tally_add_work(&tally, TMS_WORK_COMPUTE, 49, 40, 120, &err));
    tms_tally_finish(&tally);
    assert_int_equal(tally.steps[0].end_ns, 120);
    assert_int_equal(tally.steps[0].times.idle_ns, 40);
    assert_int_equal(tally.steps[1].begin_ns, 120);
    assert_int_equal(tally.steps[1].times.window_ns, 0);
    tms_tally_free(&tally);
}

TEST(trace_says_whose_it_is_and_holds_each_step) {
    tms_config config = small_job();
    recording r = record_of(&config, 3);
    assert_int_equal(occurrences(r.text, "\"cat\": \"kernel\", \"name\": \"nccl"),
                     config.steps * config.buckets);
    assert_int_equal(occurrences(r.text, "\"user_annotation\", \"name\": \"ProfilerStep#"), 3);
    assert_non_null(strstr(r.text, "\"rank\": 3, \"world_size\": 4"));
    assert_non_null(strstr(r.text, "\"host_name\": \"host1\""));
    /* Kineto's base is a multiple of 7,889,238 s. The 223rd is the last before December 2025. */
    assert_non_null(strstr(r.text, "\"baseTimeNanoseconds\": 1759300074000000000,"));
    forget(&r);
}

TEST(numbers_are_written_digit_by_digit) {
    static const int64_t numbers[] = {0, INT64_MIN, INT64_MAX}, times[] = {7, 5247126000984077};
    tms_sink *sink = NULL;
    tms_out out = begin_out(&sink);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        tms_out_int(&out, numbers[i]);
        tms_out_text(&out, " ", 1);
    }
    for (size_t i = 0; i < COUNT(times); i++) {
        tms_out_us(&out, times[i]);
        tms_out_text(&out, " ", 1);
    }
    end_out(&out, sink, "0 -9223372036854775808 9223372036854775807 0.007 5247126000984.077 ");
}

/* Parses an option and its value, separated by a blank. */
static tms_status parse(const char *typed, tms_config *config) {
    char words[5][64] = {"tmerge-synth", "-o", "folder", "", ""};
    char *argv[6] = {words[0], words[1], words[2], words[3], words[4], NULL};
    const char *value = strchr(typed, ' ');
    tms_error err;
    (void)snprintf(words[3], sizeof words[3], "%.*s", (int)strcspn(typed, " "), typed);
    (void)snprintf(words[4], sizeof words[4], "%s", value ? value + 1 : "");
    tms_status status = tms_config_parse(config, value ? 5 : 4, argv, &err);
    if (status == TMS_OK)
        assert_string_equal(config->dir, "folder");
    config->dir = NULL; /* it points into words */
    return status;
}

TEST(options_are_read_exactly) {
    static const struct {
        const char *typed;
        size_t field; /* offset of an int64_t */
        int64_t value;
    } cases[] = {
        {"--compute-us 20.5", offsetof(tms_config, compute_ns), 20500},
        {"--jitter=0.0001", offsetof(tms_config, jitter_ppm), 1},
        {"--compress zstd", offsetof(tms_config, ranks), 8},
        {"--slow-kind host", offsetof(tms_config, slow_kind), TMS_SLOW_HOST},
        {"--slow-steps 4-6", offsetof(tms_config, slow_from), 4},
        {"--slow-steps 4-6", offsetof(tms_config, slow_to), 6},
        {"--seq", offsetof(tms_config, seq), 1},
        {"--seq", offsetof(tms_config, slow_to), -1},
        {"--fault leak", offsetof(tms_config, faults), TMS_FAULT_BIT(TMS_FAULT_LEAK)},
    };
    tms_config config;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t value;
        assert_ok(parse(cases[i].typed, &config));
        memcpy(&value, (const char *)&config + cases[i].field, sizeof value);
        if (value != cases[i].value)
            fail_msg("%s gives %lld", cases[i].typed, (long long)value);
        assert_int_equal(config.compress, i == 2 ? TMS_COMPRESS_ZSTD : TMS_COMPRESS_NONE);
    }
}

TEST(slow_says_who_when_and_by_how_much) {
    /* Ranks 2 and 3 are slow; rank 3 also in steps 4 and 5 (1.1 x 1.5 = 1.65); kernel 7 of rank 0
     * in step 3, the first step. */
    static const struct {
        int64_t rank, step, ppm, kernel_7_ppm;
    } cases[] = {
        {0, 0, 0, 20000000},      {0, 1, 0, 1000000},       {2, 0, 1100000, 1000000},
        {3, 0, 1100000, 1000000}, {3, 1, 1650000, 1000000}, {3, 2, 1650000, 1000000},
        {3, 3, 1100000, 1000000}, {4, 1, 0, 1000000},
    };
    char words[9][16] = {"synth",  "-o",        "job",    "--slow",  "2-3:1.1",
                         "--slow", "3:1.5:4-5", "--slow", "0:20:3:7"};
    char *argv[9];
    tms_config config;
    tms_error err;
    for (size_t i = 0; i < 9; i++)
        argv[i] = words[i];
    assert_ok(tms_config_parse(&config, 9, argv, &err));
    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_placement place = tms_placement_of(&config, cases[i].rank);
        assert_int_equal(tms_injected_slow_ppm(&config, cases[i].rank, cases[i].step),
                         cases[i].ppm);
        assert_int_equal(tms_injected_kernel_ppm(&config, &place, cases[i].step, 7),
                         cases[i].kernel_7_ppm);
        assert_int_equal(tms_injected_kernel_ppm(&config, &place, cases[i].step, 6), 1000000);
    }
}

TEST(noise_is_shared_by_a_copy_in_a_step_and_by_a_host_in_a_kernel) {
    tms_config config = small_job(); /* ranks 0 and 1 are a copy on one host, 2 and 3 on another */
    tms_placement place[4];
    int64_t n_hiccups = 0;
    config.tp = 2;
    config.share_ppm = 50000;
    config.shared_ppm = 50000;
    for (int64_t r = 0; r < 4; r++)
        place[r] = tms_placement_of(&config, r);
    for (int64_t i = 0; i < 100; i++) {
        int64_t share = tms_injected_share_ppm(&config, &place[0], i);
        int64_t host = tms_injected_kernel_ppm(&config, &place[0], i, 5);
        /* within 3.5 standard deviations */
        assert_in_range(share, 825000, 1175000);
        assert_in_range(host, 825000, 1175000);
        assert_int_equal(tms_injected_share_ppm(&config, &place[1], i), share);
        assert_int_not_equal(tms_injected_share_ppm(&config, &place[2], i), share);
        assert_int_equal(tms_injected_kernel_ppm(&config, &place[1], i, 5), host);
        assert_int_not_equal(tms_injected_kernel_ppm(&config, &place[3], i, 5), host);
        assert_int_not_equal(tms_injected_kernel_ppm(&config, &place[0], i, 6), host);
    }
    config.shared_ppm = 0;
    config.hiccup_ppm = 100000;
    for (int64_t i = 0; i < 10000; i++)
        n_hiccups += tms_injected_kernel_ppm(&config, &place[0], 0, i) == TMS_HICCUP * 1000000;
    /* 1000 expected, with a standard deviation of sqrt(10000 x 0.1 x 0.9) = 30 */
    assert_in_range(n_hiccups, 850, 1150);
}

TEST(nothing_is_computed_while_a_bucket_blocks) {
    tms_config config = small_job();
    for (int64_t blocking = 0; blocking < 2; blocking++) {
        config.blocking = blocking;
        recording r = record_of(&config, 1);
        assert_int_equal(r.tally.total.overlap_ns == 0, blocking);
        forget(&r);
    }
}

TEST(wrong_options_are_a_wrong_usage) {
    /* The default job has one host, which cannot be in two components. */
    char cases[] = "--ranks 0|--ranks 8x|--ranks 1.5|--ranks -1|--ranks|--rank 8|--compute-us 1.|"
                   "--compute-us .5|--compute-us 1.2345|--compress lz4|--buckets 13|--slow-rank 8|"
                   "--seed 9223372036854775808|more words|--steps 1000000000000000000000000|--tp 3|"
                   "--pp 16|--sequence-parallel|--slow-kind cpu|--slow-steps 4|--slow-steps 5-4|"
                   "--slow-steps -4|--slow 3|--slow 3:0|--slow 8:1.1|--slow 3-2:1.1|--slow 3:1.1:|"
                   "--slow 3:1.1:4:5:6|--slow 3:1.1:4-|--window-skew 5|--components 3|"
                   "--components 2|--late-percent 101|--fault fire|--seq=2";
    tms_config config;
    for (const char *typed = strtok(cases, "|"); typed; typed = strtok(NULL, "|"))
        if (parse(typed, &config) != TMS_ERR_USAGE)
            fail_msg("%s is taken", typed);
}

TEST(job_that_outlasts_its_clock_is_refused) {
    tms_config config = small_job();
    tms_error err;
    config.steps = 1000000;
    config.layers = 100000;
    config.compute_ns = 1000000000;
    assert_int_equal(tms_config_check(&config, &err), TMS_ERR_USAGE);
}

TEST(file_that_cannot_be_written_is_named) {
    tms_sink *sink = NULL;
    tms_error err;
    assert_int_equal(tms_sink_open(&sink, "/no-such-folder/a.json", TMS_COMPRESS_GZIP, &err),
                     TMS_ERR_OUTPUT);
    assert_null(sink);
    assert_non_null(strstr(err.message, "/no-such-folder/a.json"));
    assert_non_null(strstr(err.message, "No such file or directory"));
}

RUN_TESTS()
