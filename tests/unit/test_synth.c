/* The job generator: what it simulates keeps the rules that tmerge's analyses rest on. */
#include "synth_jobs.h"

#include <stdio.h>

#include "synth/base/out.h"
#include "synth/sim/mishaps.h"
#include "synth/sim/replay.h"
#include "synth/truth/blame.h"

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

static void all_reduces_end_together(void **state) {
    tms_config config = small_job();
    tms_plan plan = plan_of(&config);

    for (int64_t i = 0; i < n_parts(&config); i += config.ranks) {
        for (int64_t r = 1; r < config.ranks; r++) {
            assert_int_equal(plan.end_ns[i + r], plan.end_ns[i]);
        }
    }
    tms_plan_free(&plan);
}

static void ends_differ_by_no_more_than_the_end_jitter(void **state) {
    tms_config config = small_job();
    bool differ = false;
    tms_plan plan;

    config.end_jitter_ns = 300;
    plan = plan_of(&config);
    for (int64_t i = 0; i < n_parts(&config); i++) {
        int64_t first = i - i % config.ranks;
        int64_t lag = plan.end_ns[i] - plan.end_ns[first];

        assert_in_range(lag + 300, 0, 600);
        differ = differ || lag != 0;
    }
    assert_true(differ);
    tms_plan_free(&plan);
}

static void wait_and_transfer_add_up_to_the_kernel(void **state) {
    tms_config config = small_job();
    tms_plan plan;

    config.jitter_ppm = 0;
    plan = plan_of(&config);
    for (int64_t i = 0; i < n_parts(&config); i++) {
        int64_t first = i - i % config.ranks;
        int64_t last = first + tms_blame_last(plan.begin_ns + first, config.ranks);
        tms_split split = tms_blame_split(plan.begin_ns[i], plan.end_ns[i], plan.begin_ns[last]);

        assert_int_equal(split.wait_ns + split.transfer_ns, plan.end_ns[i] - plan.begin_ns[i]);
        /* Without jitter a transfer takes what bytes and bandwidth say. */
        assert_int_equal(split.transfer_ns, tms_config_transfer_ns(&config));
        assert_true(split.wait_ns >= 0);
    }
    tms_plan_free(&plan);
}

static void wait_ends_with_the_kernel_where_clocks_disagree(void **state) {
    /* Begin 10, end 40: the last rank comes at 25; at 10; at 60, after the end. */
    static const struct {
        int64_t last, wait, transfer;
    } cases[] = {{25, 15, 15}, {10, 0, 30}, {60, 30, 0}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_split split = tms_blame_split(10, 40, cases[i].last);

        assert_int_equal(split.wait_ns, cases[i].wait);
        assert_int_equal(split.transfer_ns, cases[i].transfer);
    }
}

static void transfer_time_follows_bytes_ranks_and_bandwidth(void **state) {
    tms_config config = small_job();

    /* 8e6 B * 2 * 3/4 = 12e6 B; at 10 GB/s that is 1.2 ms; 5 us of latency. */
    config.bucket_bytes = 8000000;
    config.bandwidth_mbps = 10000;
    config.latency_ns = 5000;
    assert_int_equal(tms_config_transfer_ns(&config), 1205000);
    /* One rank has nobody to send to. */
    config.ranks = 1;
    assert_int_equal(tms_config_transfer_ns(&config), 5000);
}

static void check_times(const tms_times *times) {
    assert_true(times->idle_ns >= 0);
    assert_true(times->work_ns[TMS_WORK_COMPUTE] > 0);
    assert_int_equal(times->work_ns[TMS_WORK_COMPUTE] + times->exposed_comm_ns +
                         times->exposed_memory_ns + times->idle_ns,
                     times->window_ns);
    assert_int_equal(times->overlap_ns + times->exposed_comm_ns, times->work_ns[TMS_WORK_COMM]);
}

static void parts_of_a_window_add_up_for_each_rank_and_step(void **state) {
    tms_config config = small_job();
    tms_plan plan;

    config.jitter_ppm = 100000;
    plan = plan_of(&config);
    for (int64_t r = 0; r < config.ranks; r++) {
        tms_tally tally;
        tms_sink *sink = trace_of(&plan, r, &tally);

        check_times(&tally.total);
        assert_int_equal(tally.n_steps, config.steps);
        for (size_t i = 0; i < tally.n_steps; i++) {
            check_times(&tally.steps[i].times);
        }
        tms_tally_free(&tally);
        tms_sink_abandon(sink);
    }
    tms_plan_free(&plan);
}

static void tally_agrees_with_a_job_worked_out_by_hand(void **state) {
    /* Step 7 is [0, 100), step 8 is annotated [90, 200).
     *   compute [10, 40) [30, 50)          union [10, 50): 40
     *   comm    [20, 70) and [120, 130)    60; under compute [20, 50): 30
     *   memory  [60, 80), [125, 135)       30; alone in [70, 80) and [130, 135): 15
     * The second all-reduce was launched at 95, inside both: the later step has it. The copy
     * [60, 80) was launched at 5, and one of no length at 150 stretches nothing but the window.
     * Window [10, 150) = 140; busy [10, 80) + [120, 135) = 85. */
    tms_tally tally;
    tms_error err;

    tms_tally_init(&tally);
    assert_int_equal(tms_tally_add_step(&tally, 7, 0, 100, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_MEMORY, 5, 60, 80, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_COMPUTE, 6, 30, 50, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_COMPUTE, 7, 10, 40, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_COMM, 8, 20, 70, &err), TMS_OK);
    assert_int_equal(tms_tally_add_step(&tally, 8, 90, 200, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_COMM, 95, 120, 130, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_MEMORY, 96, 125, 135, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_MEMORY, 97, 150, 150, &err), TMS_OK);
    tms_tally_finish(&tally);

    assert_int_equal(tally.total.window_ns, 140);
    assert_int_equal(tally.total.work_ns[TMS_WORK_COMPUTE], 40);
    assert_int_equal(tally.total.work_ns[TMS_WORK_COMM], 60);
    assert_int_equal(tally.total.work_ns[TMS_WORK_MEMORY], 30);
    assert_int_equal(tally.total.overlap_ns, 30);
    assert_int_equal(tally.total.exposed_comm_ns, 30);
    assert_int_equal(tally.total.exposed_memory_ns, 15);
    assert_int_equal(tally.total.busy_ns, 85);
    assert_int_equal(tally.total.idle_ns, 55);
    /* Step 8 begins where step 7 ended, at 100. */
    assert_int_equal(tally.steps[1].begin_ns, 100);
    assert_int_equal(tally.steps[1].end_ns, 200);
    assert_int_equal(tally.steps[1].times.exposed_comm_ns, 10);
    assert_int_equal(tally.steps[1].times.idle_ns, 85);
    tms_tally_free(&tally);
}

static void step_lasts_until_the_work_that_it_launched_ends(void **state) {
    tms_tally tally;
    tms_error err;

    /* Step 1 is annotated [0, 50), its kernel runs in [40, 120). Step 2 is annotated [60, 110) and
     * launches nothing: it begins and ends at 120. */
    tms_tally_init(&tally);
    assert_int_equal(tms_tally_add_step(&tally, 1, 0, 50, &err), TMS_OK);
    assert_int_equal(tms_tally_add_step(&tally, 2, 60, 110, &err), TMS_OK);
    assert_int_equal(tms_tally_add_work(&tally, TMS_WORK_COMPUTE, 49, 40, 120, &err), TMS_OK);
    tms_tally_finish(&tally);
    assert_int_equal(tally.steps[0].end_ns, 120);
    assert_int_equal(tally.steps[0].times.idle_ns, 40);
    assert_int_equal(tally.steps[1].begin_ns, 120);
    assert_int_equal(tally.steps[1].times.window_ns, 0);
    tms_tally_free(&tally);
}

/* Checks the GPU work of one step: after its launch, inside the step, in order on its stream. */
static void check_order(const tms_events *events) {
    int64_t free_ns[TMS_TRACK_COUNT] = {0};

    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];
        bool work = event->launch_ns != 0 && event->kind != TMS_GPU_ANN_ALL_REDUCE;

        assert_true(event->duration_ns > 0 || event->kind == TMS_INSTANT_MEMORY);
        assert_true(event->begin_ns >= events->step_begin_ns);
        assert_true(event->begin_ns + event->duration_ns <= events->step_end_ns);
        if (work) {
            assert_true(event->launch_ns < event->begin_ns);
            assert_true(event->begin_ns >= free_ns[event->track]);
            free_ns[event->track] = event->begin_ns + event->duration_ns;
        }
    }
}

static void launches_precede_kernels_and_streams_do_not_overlap(void **state) {
    tms_config config = small_job();
    tms_plan plan;

    config.compute_ns = 5000; /* so short that kernels wait for launches, too */
    plan = plan_of(&config);
    for (int64_t r = 0; r < config.ranks; r++) {
        tms_replay replay;
        tms_error err;
        bool more = false;

        assert_int_equal(tms_replay_init(&replay, &plan, r, TMS_ALL_SECTIONS, &err), TMS_OK);
        assert_int_equal(tms_replay_next(&replay, &more, &err), TMS_OK);
        for (; more; assert_int_equal(tms_replay_next(&replay, &more, &err), TMS_OK)) {
            check_order(&replay.events);
        }
        tms_replay_free(&replay);
    }
    tms_plan_free(&plan);
}

static void slow_rank_comes_last_in_nearly_all_collectives(void **state) {
    tms_config config = small_job();
    int64_t last = 0;
    tms_plan plan;

    config.steps = 10;
    config.slow_rank = 2;
    config.slow_ppm = 1100000;
    plan = plan_of(&config);
    for (int64_t i = 0; i < n_parts(&config); i += config.ranks) {
        last += tms_blame_last(plan.begin_ns + i, config.ranks) == config.slow_rank;
    }
    assert_true(last * 10 >= config.steps * config.buckets * 9);
    tms_plan_free(&plan);
}

static void same_seed_gives_the_same_bytes_and_another_seed_others(void **state) {
    size_t sizes[3];
    const char *texts[3];
    tms_sink *sinks[3];

    for (int i = 0; i < 3; i++) {
        tms_config config = small_job();
        tms_tally tally;
        tms_plan plan;

        config.seed = i < 2 ? 5 : 6;
        plan = plan_of(&config);
        sinks[i] = trace_of(&plan, 1, &tally);
        texts[i] = tms_sink_bytes(sinks[i], &sizes[i]);
        tms_tally_free(&tally);
        tms_plan_free(&plan);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(texts[0], texts[1], sizes[0]);
    assert_true(sizes[0] != sizes[2] || memcmp(texts[0], texts[2], sizes[0]) != 0);
    for (int i = 0; i < 3; i++) {
        tms_sink_abandon(sinks[i]);
    }
}

static void trace_holds_as_many_events_as_the_truth_says(void **state) {
    tms_config config = small_job();
    tms_plan plan = plan_of(&config);
    tms_tally tally;
    tms_sink *sink = trace_of(&plan, 3, &tally);
    size_t size;
    const char *text = tms_sink_bytes(sink, &size);

    assert_int_equal(occurrences(text, "\"ph\": \"X\"") + occurrences(text, "\"ph\": \"i\""),
                     tally.n_recorded);
    assert_int_equal(occurrences(text, "\"cat\": \"kernel\", \"name\": \"nccl"),
                     config.steps * config.buckets);
    assert_int_equal(occurrences(text, "\"user_annotation\", \"name\": \"ProfilerStep#"), 3);
    assert_non_null(strstr(text, "\"rank\": 3, \"world_size\": 4"));
    assert_non_null(strstr(text, "\"host_name\": \"host1\""));
    /* Kineto's grid of 7,889,238 s: 223 of them end before December 2025. */
    assert_non_null(strstr(text, "\"baseTimeNanoseconds\": 1759300074000000000,"));
    tms_tally_free(&tally);
    tms_sink_abandon(sink);
    tms_plan_free(&plan);
}

static void numbers_are_written_digit_by_digit(void **state) {
    tms_sink *sink = NULL;
    tms_out out;
    tms_error err;
    size_t size;

    assert_int_equal(tms_sink_open_memory(&sink, &err), TMS_OK);
    assert_true(tms_out_init(&out, sink));
    tms_out_int(&out, 0);
    tms_out_text(&out, " ", 1);
    tms_out_int(&out, INT64_MIN);
    tms_out_text(&out, " ", 1);
    tms_out_int(&out, INT64_MAX);
    tms_out_text(&out, " ", 1);
    tms_out_us(&out, 7);
    tms_out_text(&out, " ", 1);
    tms_out_us(&out, 5247126000984077);
    tms_out_flush(&out);
    assert_memory_equal(tms_sink_bytes(sink, &size),
                        "0 -9223372036854775808 9223372036854775807 0.007 5247126000984.077", 66);
    assert_int_equal(size, 66);
    tms_out_free(&out);
    tms_sink_abandon(sink);
}

static tms_status parse(const char *option, const char *value, tms_config *config) {
    char words[5][64] = {"tmerge-synth", "-o", "folder", "", ""};
    char *argv[6] = {words[0], words[1], words[2], words[3], words[4], NULL};
    tms_error err;
    tms_status status;

    (void)snprintf(words[3], sizeof words[3], "%s", option);
    (void)snprintf(words[4], sizeof words[4], "%s", value);
    status = tms_config_parse(config, value[0] == '\0' ? 4 : 5, argv, &err);
    if (status == TMS_OK) {
        assert_string_equal(config->dir, "folder");
    }
    config->dir = NULL; /* it points into words */
    return status;
}

static void decimal_options_are_read_exactly(void **state) {
    tms_config config;

    assert_int_equal(parse("--compute-us", "20.5", &config), TMS_OK);
    assert_int_equal(config.compute_ns, 20500);
    assert_int_equal(parse("--jitter=0.0001", "", &config), TMS_OK);
    assert_int_equal(config.jitter_ppm, 1);
    assert_int_equal(parse("--compress", "zstd", &config), TMS_OK);
    assert_int_equal(config.compress, TMS_COMPRESS_ZSTD);
    assert_int_equal(config.ranks, 8);
}

static void words_flags_and_ranges_are_read(void **state) {
    tms_config config;

    assert_int_equal(parse("--slow-kind", "host", &config), TMS_OK);
    assert_int_equal(config.slow_kind, TMS_SLOW_HOST);
    assert_int_equal(parse("--slow-steps", "4-6", &config), TMS_OK);
    assert_int_equal(config.slow_from, 4);
    assert_int_equal(config.slow_to, 6);
    assert_int_equal(parse("--seq", "", &config), TMS_OK);
    assert_int_equal(config.seq, 1);
    assert_int_equal(config.slow_to, -1);
    assert_int_equal(parse("--fault", "leak", &config), TMS_OK);
    assert_true(tms_config_has(&config, TMS_FAULT_LEAK));
}

static void slow_says_who_when_and_by_how_much(void **state) {
    /* Ranks 2 and 3; of them 3 in steps 4 and 5 (1.1 x 1.5 = 1.65); rank 0's kernel 7 of step 3,
     * the first. */
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

    for (size_t i = 0; i < 9; i++) {
        argv[i] = words[i];
    }
    assert_int_equal(tms_config_parse(&config, 9, argv, &err), TMS_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_placement place = tms_placement_of(&config, cases[i].rank);

        assert_int_equal(tms_mishap_slow_ppm(&config, cases[i].rank, cases[i].step), cases[i].ppm);
        assert_int_equal(tms_mishap_kernel_ppm(&config, &place, cases[i].step, 7),
                         cases[i].kernel_7_ppm);
        assert_int_equal(tms_mishap_kernel_ppm(&config, &place, cases[i].step, 6), 1000000);
    }
}

static void noise_is_shared_by_a_copy_in_a_step_and_by_a_host_in_a_kernel(void **state) {
    tms_config config = small_job(); /* ranks 0 and 1 are one copy and one host, 2 and 3 another */
    tms_placement place[4];
    int64_t n_hiccups = 0;

    config.tp = 2;
    config.share_ppm = 50000;
    config.shared_ppm = 50000;
    for (int64_t r = 0; r < 4; r++) {
        place[r] = tms_placement_of(&config, r);
    }
    for (int64_t i = 0; i < 100; i++) {
        int64_t share = tms_mishap_share_ppm(&config, &place[0], i);
        int64_t host = tms_mishap_kernel_ppm(&config, &place[0], i, 5);

        /* At most 3.5 standard deviations. */
        assert_in_range(share, 825000, 1175000);
        assert_in_range(host, 825000, 1175000);
        assert_int_equal(tms_mishap_share_ppm(&config, &place[1], i), share);
        assert_int_not_equal(tms_mishap_share_ppm(&config, &place[2], i), share);
        assert_int_equal(tms_mishap_kernel_ppm(&config, &place[1], i, 5), host);
        assert_int_not_equal(tms_mishap_kernel_ppm(&config, &place[3], i, 5), host);
        assert_int_not_equal(tms_mishap_kernel_ppm(&config, &place[0], i, 6), host);
    }
    config.shared_ppm = 0;
    config.hiccup_ppm = 100000;
    for (int64_t i = 0; i < 10000; i++) {
        n_hiccups += tms_mishap_kernel_ppm(&config, &place[0], 0, i) == TMS_HICCUP * 1000000;
    }
    /* A tenth, with a standard deviation of sqrt(10000 x 0.1 x 0.9) = 30. */
    assert_in_range(n_hiccups, 850, 1150);
}

static void nothing_is_computed_while_a_bucket_blocks(void **state) {
    tms_config config = small_job();

    for (int64_t blocking = 0; blocking < 2; blocking++) {
        tms_plan plan;
        tms_tally tally;

        config.blocking = blocking;
        plan = plan_of(&config);
        tms_sink_abandon(trace_of(&plan, 1, &tally));
        assert_int_equal(tally.total.overlap_ns == 0, blocking);
        tms_tally_free(&tally);
        tms_plan_free(&plan);
    }
}

static void wrong_options_are_a_wrong_usage(void **state) {
    static const char *const cases[][2] = {
        {"--ranks", "0"},
        {"--ranks", "8x"},
        {"--ranks", "1.5"},
        {"--ranks", "-1"},
        {"--ranks", ""},
        {"--rank", "8"},
        {"--compute-us", "1."},
        {"--compute-us", ".5"},
        {"--compute-us", "1.2345"},
        {"--compress", "lz4"},
        {"--buckets", "13"},
        {"--slow-rank", "8"},
        {"--seed", "9223372036854775808"},
        {"more", "words"},
        {"--steps", "1000000000000000000000000"},
        {"--tp", "3"},
        {"--pp", "16"},
        {"--sequence-parallel", ""},
        {"--slow-kind", "cpu"},
        {"--slow-steps", "4"},
        {"--slow-steps", "5-4"},
        {"--slow-steps", "-4"},
        {"--slow", "3"},
        {"--slow", "3:0"},
        {"--slow", "8:1.1"},
        {"--slow", "3-2:1.1"},
        {"--slow", "3:1.1:"},
        {"--slow", "3:1.1:4:5:6"},
        {"--slow", "3:1.1:4-"},
        {"--window-skew", "5"},
        {"--components", "3"},
        {"--components", "2"}, /* of one host */
        {"--late-percent", "101"},
        {"--fault", "fire"},
        {"--seq=2", ""},
    };
    tms_config config;

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(parse(cases[i][0], cases[i][1], &config), TMS_ERR_USAGE);
    }
}

static void job_that_outlasts_its_clock_is_refused(void **state) {
    tms_config config = small_job();
    tms_error err;

    config.steps = 1000000;
    config.layers = 100000;
    config.compute_ns = 1000000000;
    assert_int_equal(tms_config_check(&config, &err), TMS_ERR_USAGE);
}

static void file_that_cannot_be_written_is_named(void **state) {
    tms_sink *sink = NULL;
    tms_error err;

    assert_int_equal(tms_sink_open(&sink, "/no-such-folder/a.json", TMS_COMPRESS_GZIP, &err),
                     TMS_ERR_OUTPUT);
    assert_null(sink);
    assert_non_null(strstr(err.message, "/no-such-folder/a.json"));
    assert_non_null(strstr(err.message, "No such file or directory"));
}

int main(void) {
    return RUN(
        all_reduces_end_together, ends_differ_by_no_more_than_the_end_jitter,
        wait_and_transfer_add_up_to_the_kernel, wait_ends_with_the_kernel_where_clocks_disagree,
        transfer_time_follows_bytes_ranks_and_bandwidth,
        parts_of_a_window_add_up_for_each_rank_and_step, tally_agrees_with_a_job_worked_out_by_hand,
        step_lasts_until_the_work_that_it_launched_ends,
        launches_precede_kernels_and_streams_do_not_overlap,
        slow_rank_comes_last_in_nearly_all_collectives,
        same_seed_gives_the_same_bytes_and_another_seed_others,
        trace_holds_as_many_events_as_the_truth_says, numbers_are_written_digit_by_digit,
        decimal_options_are_read_exactly, words_flags_and_ranges_are_read,
        slow_says_who_when_and_by_how_much,
        noise_is_shared_by_a_copy_in_a_step_and_by_a_host_in_a_kernel,
        nothing_is_computed_while_a_bucket_blocks, wrong_options_are_a_wrong_usage,
        job_that_outlasts_its_clock_is_refused, file_that_cannot_be_written_is_named);
}
