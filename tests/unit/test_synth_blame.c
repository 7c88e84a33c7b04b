/* The generator's truth about waiting: shares, slow ranks, wrong clocks and lost records. */
#include "synth_jobs.h"

#include "synth/sim/host_clock.h"
#include "synth/sim/injected_faults.h"
#include "synth/truth/true_blame.h"
#include "synth/truth/truth.h"

static tms_blame blame_of(const tms_plan *plan) {
    tms_blame blame;
    tms_error err;
    assert_ok(tms_blame_build(&blame, plan, &err));
    return blame;
}

static tms_times times_of(const tms_plan *plan, int64_t rank) {
    recording r = record(plan, rank);
    const tms_times times = r.tally.total;
    forget(&r);
    return times;
}

TEST(shares_of_nanoseconds_keep_six_decimals) {
    /* 10/3 + 5/7 + 1/2 = 4.547619047...; then three times 1/3, which is 1 to within 1.5e-14.
     * 0.9999999 is rounded up to 1; 65535/65536 = 0.99998474... */
    static const int64_t parts[][2] = {{10, 3}, {5, 7}, {1, 2}, {1, 3}, {1, 3}, {1, 3}};
    tms_share shares[3] = {{0, 0}, {6, TMS_SHARE_UNIT / 10000000 * 9999999}, {0, 0}};
    tms_sink *sink = NULL;
    tms_out out = begin_out(&sink);
    for (size_t i = 0; i < COUNT(parts); i++)
        tms_share_add(&shares[0], parts[i][0], parts[i][1]);
    tms_share_add(&shares[2], 65535, 65536);
    for (int i = 0; i < 3; i++) {
        tms_truth_share(&out, shares[i]);
        tms_out_text(&out, " ", 1);
    }
    end_out(&out, sink, "5.547619 7.000000 0.999985 ");
}

TEST(waits_are_split_layer_by_layer) {
    /* One all-reduce of four ranks in a step, with arrivals set by hand: 0, 10, 30 and 60 ns.
     * gap of 10 ns: one rank waits 10, three are late and cause 10/3 each
     * gap of 20 ns: two ranks wait 40 together, two are late and cause 20 each
     * gap of 30 ns: three ranks wait 90 together, one is late and causes 90
     * Sums: 0, 3.33, 23.33, 113.33; together 140 = 60 + 50 + 30. All kernels end at 100. */
    static const int64_t begins[] = {10, 60, 0, 30}, caused[] = {3, 113, 0, 23};
    tms_config config;
    tms_config_init(&config);
    config.ranks = 4;
    config.steps = 1;
    config.buckets = 1;
    tms_plan plan = plan_of(&config);
    for (int i = 0; i < 4; i++) {
        plan.begin_ns[i] = begins[i];
        plan.end_ns[i] = 100;
    }
    tms_blame blame = blame_of(&plan);
    for (int i = 0; i < 4; i++)
        assert_int_equal(blame.ranks[i].caused.whole_ns, caused[i]);
    assert_int_equal(blame.ranks[2].wait_ns, 60);
    assert_int_equal(blame.ranks[1].transfer_ns, 40);
    assert_int_equal(blame.ranks[1].last_arrivals, 1);
    assert_int_equal(blame.wait_ns, 140);
    assert_int_equal(blame.steps[0].leader, 1);
    tms_blame_free(&blame);
    tms_plan_free(&plan);
}

TEST(caused_waits_are_the_waits_in_all_shapes) {
    for (size_t s = 0; s < COUNT(shapes); s++) {
        tms_config config = job_of(&shapes[s]);
        tms_plan plan = plan_of(&config);
        tms_share caused = {0, 0};
        tms_blame blame = blame_of(&plan);
        int64_t waited_ns = 0;
        for (int64_t r = 0; r < config.ranks; r++) {
            tms_share_sum(&caused, blame.ranks[r].caused);
            waited_ns += blame.ranks[r].wait_ns;
        }
        tms_share_add(&caused, 1, 2); /* a sum just below an integer counts as the integer */
        assert_int_equal(caused.whole_ns, waited_ns);
        assert_int_equal(blame.wait_ns, waited_ns);
        tms_blame_free(&blame);
        tms_plan_free(&plan);
    }
}

TEST(slow_rank_is_found_whatever_is_slow_about_it) {
    static const shape of[] = {{8, 1, 1, 1, 0, 0}, {16, 2, 2, 2, 0, 0}, {64, 4, 2, 2, 1, 1}};
    for (size_t i = 0; i < 6; i++) {
        tms_config config = job_of(&of[i / 2]);
        config.slow_rank = 5;
        config.slow_kind = (int64_t)(i % 2);
        /* A host catches up while its GPU communicates, so it must be slowed down by more. */
        config.slow_ppm = config.slow_kind == TMS_SLOW_HOST ? 3000000 : 1500000;
        tms_plan plan = plan_of(&config);
        tms_blame blame = blame_of(&plan);
        for (int64_t r = 0; r < config.ranks; r++)
            assert_true(r == 5 ||
                        tms_share_compare(blame.ranks[5].caused, blame.ranks[r].caused) > 0);
        assert_int_equal(blame.ranks[5].steps_led, config.steps);
        tms_blame_free(&blame);
        tms_plan_free(&plan);
    }
}

TEST(slow_host_has_normal_kernels_and_slow_gpu_has_not) {
    tms_config config = job_of(&(shape){8, 1, 1, 1, 0, 0});
    config.slow_rank = 2;
    for (config.slow_kind = 0; config.slow_kind < 2; config.slow_kind++) {
        tms_plan plan = plan_of(&config);
        int64_t normal_ns = times_of(&plan, 3).work_ns[TMS_WORK_COMPUTE];
        int64_t slow_ns = times_of(&plan, 2).work_ns[TMS_WORK_COMPUTE];
        /* 150 % for a slow GPU, 100 % for a slow host, with 2 % of jitter on some 300 kernels. */
        int64_t percent = config.slow_kind == TMS_SLOW_GPU ? 150 : 100;
        assert_in_range(slow_ns * 100 / normal_ns, percent - (percent > 100 ? 3 : 2),
                        percent + (percent > 100 ? 3 : 2));
        tms_plan_free(&plan);
    }
}

TEST(rotating_ranks_lead_one_step_each) {
    tms_config config = job_of(&(shape){8, 2, 1, 1, 0, 0});
    int64_t seen = 0;
    config.rotating = 1;
    config.steps = 8;
    tms_plan plan = plan_of(&config);
    tms_blame blame = blame_of(&plan);
    for (int64_t step = 0; step < config.steps; step++) {
        assert_int_equal(blame.steps[step].leader, tms_injected_slow_rank(&config, step));
        seen |= INT64_C(1) << blame.steps[step].leader;
    }
    /* each of the eight ranks led one step */
    assert_int_equal(seen, 255);
    tms_blame_free(&blame);
    tms_plan_free(&plan);
}

TEST(only_the_slow_steps_have_a_slow_rank) {
    static const int64_t expected[] = {-1, 1, 1, -1}; /* the first step is number 3 */
    tms_config config;
    tms_config_init(&config);
    config.slow_rank = 1;
    config.slow_from = 4;
    config.slow_to = 5;
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(tms_injected_slow_rank(&config, i), expected[i]);
}

TEST(even_job_has_no_straggler) {
    tms_config config = job_of(&(shape){8, 1, 1, 1, 0, 0});
    config.jitter_ppm = 0;
    config.compute_ns = 400000;
    tms_plan plan = plan_of(&config);
    tms_blame blame = blame_of(&plan);
    /* Less than 1 % of eight windows is waiting. */
    assert_true(blame.wait_ns * 100 < times_of(&plan, 0).window_ns * 8);
    tms_blame_free(&blame);
    tms_plan_free(&plan);
}

TEST(clocks_shift_and_stretch_what_is_recorded) {
    /* After 2.5 s, a clock of +4000 ppb has gained 10 us. Its offset is -7 ns. At 2 s it is set
     * forward by 1 us. */
    tms_clock clock = {-7, 4000, 1000, TMS_EPOCH_NS + 2000000000, 3};
    assert_int_equal(tms_clock_recorded_ns(&clock, TMS_EPOCH_NS), TMS_EPOCH_NS - 7);
    assert_int_equal(tms_clock_recorded_ns(&clock, TMS_EPOCH_NS + 1000000000),
                     TMS_EPOCH_NS + 1000003993);
    assert_int_equal(tms_clock_recorded_ns(&clock, TMS_EPOCH_NS + 2500000000),
                     TMS_EPOCH_NS + 2500010993);
}

TEST(hosts_share_a_clock_and_the_first_is_right) {
    tms_config config = job_of(&(shape){8, 1, 1, 1, 0, 0});
    tms_clock clocks[8];
    config.offset_ns = 1000000;
    config.drift_ppb = 10000;
    config.gpu_error_ns = 2000;
    tms_plan plan = plan_of(&config);
    for (int64_t r = 0; r < 8; r++) {
        tms_placement placement = tms_placement_of(&config, r);
        clocks[r] = tms_clock_of(&plan, &placement);
        assert_int_equal(clocks[r].offset_ns, clocks[r / 4 * 4].offset_ns);
        assert_in_range(clocks[r].gpu_error_ns + 2000, 0, 4000);
    }
    assert_int_equal(clocks[0].offset_ns, 0);
    assert_int_equal(clocks[0].drift_ppb, 0);
    assert_true(clocks[4].offset_ns != 0 && clocks[4].drift_ppb != 0);
    assert_true(clocks[0].gpu_error_ns != clocks[1].gpu_error_ns);
    tms_plan_free(&plan);
}

TEST(wrong_clocks_change_no_truth_between_ranks) {
    tms_config config = job_of(&(shape){8, 2, 2, 2, 0, 0});
    tms_plan right = plan_of(&config);
    tms_plan wrong;
    size_t n = (size_t)(config.steps * right.groups.n_parts);
    config.offset_ns = 5000000;
    config.drift_ppb = 10000;
    config.gpu_error_ns = 5000;
    wrong = plan_of(&config);
    assert_memory_equal(right.begin_ns, wrong.begin_ns, n * sizeof *right.begin_ns);
    assert_memory_equal(right.end_ns, wrong.end_ns, n * sizeof *right.end_ns);
    tms_plan_free(&right);
    tms_plan_free(&wrong);
}

TEST(late_ends_are_as_many_as_asked_for_and_single) {
    tms_config config = job_of(&(shape){64, 2, 1, 1, 0, 0});
    int64_t n = 0;
    int64_t late = 0;
    int64_t sum_ns = 0;
    config.late_ppm = 150000;
    tms_plan plan = plan_of(&config);
    for (int64_t i = 0; i < config.steps * plan.groups.n_instances; i++) {
        int64_t instance = i % plan.groups.n_instances;
        int64_t size = plan.groups.channels[plan.instances[instance].channel].ranks.size;
        const int64_t *end_ns =
            plan.end_ns + tms_plan_first(&plan, i / plan.groups.n_instances, instance);
        int64_t first_ns = end_ns[0];
        /* In large groups at least one end is on time; without late ends, all are. */
        for (int64_t p = 0; p < size; p++)
            first_ns = end_ns[p] < first_ns ? end_ns[p] : first_ns;
        for (int64_t p = 0; p < size && size == 32; p++) {
            late += end_ns[p] > first_ns;
            sum_ns += end_ns[p] - first_ns;
            n++;
        }
    }
    /* 3 steps of 2 groups of 32 ranks with 4 buckets: 768 ends. Their deviation is 1.3 %. */
    assert_int_equal(n, 768);
    assert_in_range(late * 1000, 110 * n, 190 * n);
    /* 115 ends are up to 2 ms late, so their mean has the deviation 0.58 ms / sqrt(115) */
    assert_in_range(sum_ns, 840000 * late, 1160000 * late);
    tms_plan_free(&plan);
}

TEST(lost_kernels_and_late_windows_leave_collectives_incomplete) {
    tms_config config = job_of(&(shape){8, 2, 1, 1, 0, 0});
    int64_t complete = 0;
    int64_t kernels = 0;
    int64_t all;
    config.lost_ppm = 100000;
    config.window_skew = 2;
    tms_plan plan = plan_of(&config);
    all = config.steps * plan.groups.n_instances;
    for (int64_t i = 0; i < all; i++)
        complete +=
            tms_plan_complete(&plan, i / plan.groups.n_instances, i % plan.groups.n_instances);
    for (int64_t r = 0; r < config.ranks; r++) {
        recording of = record(&plan, r);
        kernels += occurrences(of.text, "\"cat\": \"kernel\", \"name\": \"nccl");
        assert_int_equal(of.tally.n_steps, config.steps - tms_injected_skipped(&config, r));
        forget(&of);
    }
    assert_true(complete > 0 && complete < all);
    assert_true(kernels > 0 && kernels < config.steps * plan.groups.n_parts);
    tms_plan_free(&plan);
}

RUN_TESTS()
