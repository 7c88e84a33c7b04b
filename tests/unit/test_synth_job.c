/* Generated jobs with all kinds of parallelism: groups, order, and content of a trace. */
#include "synth_jobs.h"

#include "synth/sim/sim_replay.h"
#include "synth/truth/true_blame.h"

/* Groups of a rank in a grid of 16 ranks with tp 2, dp 4 and pp 2, and in the second of two such
 * grids, where ranks are higher by 16. Rank 11 = 1 + 2 * (1 + 4 * 1) has tp 1, dp 1, stage 1. */
TEST(groups_of_a_grid_are_those_of_megatron) {
    static const struct {
        int64_t components;
        tms_role role;
        int64_t name, start, stride, size;
    } cases[] = {
        {1, TMS_ROLE_DATA, 4, 9, 2, 4},     /* ranks 9 to 15: fourth of 4 groups, after the world */
        {1, TMS_ROLE_TENSOR, 10, 10, 1, 2}, /* sixth of 8 groups, after 1 + 4 others */
        {1, TMS_ROLE_PREVIOUS, 16, 3, 8,
         2}, /* ranks 3, 11: fourth of 8 groups, after 1 + 4 + 8 others */
        {1, TMS_ROLE_WORLD, 0, 0, 1, 16},
        {2, TMS_ROLE_DATA, 8, 25, 2, 4},    /* ranks 25 to 31: last of 8 groups, after the world */
        {2, TMS_ROLE_TENSOR, 22, 26, 1, 2}, /* 14th of 16 groups, after 1 + 8 others */
        {2, TMS_ROLE_PREVIOUS, 36, 19, 8,
         2}, /* ranks 19 and 27: 12th of 16 groups, after 1 + 8 + 16 others */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_config config = job_of(&(shape){16 * cases[i].components, 2, 2, 1, 0, 0});
        config.components = cases[i].components;
        tms_placement placement = tms_placement_of(&config, 16 * cases[i].components - 5);
        tms_plan plan = plan_of(&config);
        const tms_channel *channel = tms_groups_channel(&plan.groups, &placement, cases[i].role);
        assert_int_equal(channel->name, cases[i].name);
        assert_int_equal(channel->ranks.start, cases[i].start);
        assert_int_equal(channel->ranks.stride, cases[i].stride);
        assert_int_equal(channel->ranks.size, cases[i].size);
        assert_memory_equal(&channel->group, &channel->ranks, sizeof channel->ranks);
        assert_int_equal(placement.pp, 1);
        assert_null(tms_groups_channel(&plan.groups, &placement, TMS_ROLE_NEXT));
        for (int64_t k = 0; k < plan.groups.n_channels; k++) {
            const tms_ranks *ranks = &plan.groups.channels[k].ranks;
            assert_true(plan.groups.channels[k].n_instances == 0 ||
                        ranks->start / 16 == tms_ranks_at(ranks, ranks->size - 1) / 16);
        }
        tms_plan_free(&plan);
    }
}

static int64_t kernels_of(const tms_plan *plan, const char *name) {
    recording r = record(plan, 3);
    int64_t n = occurrences(r.text, name);
    forget(&r);
    return n;
}

TEST(job_without_a_world_lacks_but_its_two_collectives) {
    static const shape of[] = {{8, 2, 2, 1, 0, 0}, {8, 1, 1, 1, 0, 1}};
    for (size_t i = 0; i < COUNT(of); i++) {
        tms_config config = job_of(&of[i]), bare = config;
        bare.no_world = 1;
        tms_plan with = plan_of(&config), without = plan_of(&bare);
        assert_int_equal(with.groups.n_instances - without.groups.n_instances, 2);
        /* The all-reduce of the gradient norm is the only one in single precision. */
        assert_int_equal(kernels_of(&with, "AllReduce_Sum_f32"), config.steps);
        assert_int_equal(kernels_of(&without, "AllReduce_Sum_f32"), 0);
        tms_plan_free(&with);
        tms_plan_free(&without);
    }
}

/* Checks all ends of one instance: no rank leaves before the last one has arrived. */
static void check_instance(const tms_plan *plan, int64_t step, int64_t i) {
    const tms_instance *instance = &plan->instances[i];
    int64_t n = plan->groups.channels[instance->channel].ranks.size;
    size_t at = tms_plan_first(plan, step, i);
    int64_t last_ns = plan->begin_ns[at + (size_t)tms_blame_last(plan->begin_ns + at, n)];
    assert_true(instance->known);
    for (int64_t p = 0; p < n; p++) {
        size_t k = at + (size_t)p;
        assert_true(plan->end_ns[k] > plan->begin_ns[k]);
        if (instance->what != TMS_BROADCAST) {
            assert_true(plan->end_ns[k] > last_ns);
            assert_int_equal(plan->end_ns[k], plan->end_ns[at]);
        }
    }
}

TEST(collectives_and_messages_end_together_in_all_shapes) {
    for (size_t s = 0; s < COUNT(shapes); s++) {
        tms_config config = job_of(&shapes[s]);
        tms_plan plan = plan_of(&config);
        assert_true(plan.groups.n_instances > 0);
        for (int64_t step = 0; step < config.steps; step++) {
            for (int64_t i = 0; i < plan.groups.n_instances; i++)
                check_instance(&plan, step, i);
        }
        tms_plan_free(&plan);
    }
}

TEST(ends_lag_by_position_and_in_pairs_either_way) {
    tms_config config = job_of(&(shape){16, 4, 2, 1, 0, 0});
    int64_t lag_ns[64] = {0};
    int64_t turned = 0;
    int64_t pairs = 0;
    config.end_bias_ns = 900;
    tms_plan plan = plan_of(&config);
    assert_true(plan.groups.n_channels <= 64);
    for (int64_t k = 0; k < config.steps * plan.groups.n_instances; k++) {
        int64_t i = k % plan.groups.n_instances;
        int64_t channel = plan.instances[i].channel;
        int64_t n = plan.groups.channels[channel].ranks.size;
        const int64_t *end_ns = plan.end_ns + tms_plan_first(&plan, k / plan.groups.n_instances, i);
        for (int64_t p = 0; p < n && n > 2 && plan.instances[i].what != TMS_BROADCAST; p++)
            assert_int_equal(end_ns[p] - end_ns[0], 900 * p / (n - 1));
        if (n > 2)
            continue;
        pairs += lag_ns[channel] == 0;
        turned += lag_ns[channel] == 0 && end_ns[1] < end_ns[0];
        assert_true(lag_ns[channel] == 0 || lag_ns[channel] == end_ns[1] - end_ns[0]);
        lag_ns[channel] = end_ns[1] - end_ns[0];
        assert_int_equal(lag_ns[channel] * lag_ns[channel], 900 * 900);
    }
    /* eight data-parallel groups of two, and eight pairs of neighbouring stages */
    assert_int_equal(pairs, 16);
    assert_in_range(turned, 3, 13);
    tms_plan_free(&plan);
}

/* Checks that GPU work is after its launch, inside the step, and in order on its stream. */
static void check_order(const tms_events *events) {
    int64_t free_ns[TMS_TRACK_COUNT] = {0};
    for (size_t i = 1; i <= events->count; i++) {
        const tms_event *event = &events->items[i];
        bool annotation = tms_kind_get(event->kind)->shape == TMS_SHAPE_GPU_ANNOTATION;
        assert_true(event->duration_ns > 0 || event->kind == TMS_INSTANT_MEMORY);
        assert_true(event->begin_ns >= events->step_begin_ns);
        assert_true(event->begin_ns + event->duration_ns <= events->step_end_ns);
        if (tms_track_gpu(event->track) && !annotation) {
            assert_true(event->launch_ns > 0 && event->launch_ns < event->begin_ns);
            assert_true(event->begin_ns >= free_ns[event->track]);
            free_ns[event->track] = event->begin_ns + event->duration_ns;
        }
    }
}

TEST(launches_precede_kernels_and_streams_keep_order_in_all_shapes) {
    for (size_t s = 0; s < 2 * COUNT(shapes); s++) {
        tms_config config = job_of(&shapes[s / 2]);
        if (s % 2)
            config.compute_ns = 5000; /* kernels are so short that they also wait for launches */
        tms_plan plan = plan_of(&config);
        for (int64_t r = 0; r < config.ranks; r += 3) {
            tms_replay replay;
            tms_error err;
            bool more = false;
            assert_ok(tms_replay_init(&replay, &plan, r, TMS_ALL_SECTIONS, &err));
            do {
                assert_ok(tms_replay_next(&replay, &more, &err));
                if (more)
                    check_order(&replay.events);
            } while (more);
            tms_replay_free(&replay);
        }
        tms_plan_free(&plan);
    }
}

static bool meet(const tms_event *a, const tms_event *b) {
    return a->begin_ns < b->begin_ns + b->duration_ns && b->begin_ns < a->begin_ns + a->duration_ns;
}

TEST(nothing_is_computed_while_the_tensor_group_communicates) {
    tms_config config = job_of(&(shape){8, 4, 1, 1, 1, 0});
    tms_plan plan = plan_of(&config);
    tms_replay replay;
    tms_error err;
    bool more = false;
    int64_t kernels = 0;
    assert_ok(tms_replay_init(&replay, &plan, 5, TMS_ALL_SECTIONS, &err));
    assert_ok(tms_replay_next(&replay, &more, &err));
    for (size_t i = 1; i <= replay.events.count; i++) {
        const tms_event *a = &replay.events.items[i];
        if (a->track != TMS_TRACK_TENSOR)
            continue;
        kernels += tms_kind_get(a->kind)->shape == TMS_SHAPE_COMM;
        for (size_t k = 1; k <= replay.events.count; k++) {
            const tms_event *b = &replay.events.items[k];
            assert_false(b->track == TMS_TRACK_COMPUTE && b->kind != TMS_GPU_ANN_STEP &&
                         meet(a, b));
        }
    }
    /* eight layers have a gather and a scatter in both directions; the batch has a broadcast */
    assert_int_equal(kernels, 8 * 2 * 2 + 1);
    tms_replay_free(&replay);
    tms_plan_free(&plan);
}

static void check_times(const tms_times *times) {
    assert_true(times->idle_ns >= 0);
    assert_true(times->work_ns[TMS_WORK_COMPUTE] > 0);
    assert_int_equal(times->work_ns[TMS_WORK_COMPUTE] + times->exposed_comm_ns +
                         times->exposed_memory_ns + times->idle_ns,
                     times->window_ns);
    assert_int_equal(times->overlap_ns + times->exposed_comm_ns, times->work_ns[TMS_WORK_COMM]);
}

TEST(times_and_events_add_up_in_all_shapes) {
    for (size_t s = 0; s < COUNT(shapes); s++) {
        tms_config config = job_of(&shapes[s]);
        config.jitter_ppm = 100000;
        recording r = record_of(&config, config.ranks - 3);
        check_times(&r.tally.total);
        assert_int_equal(r.tally.n_steps, config.steps);
        for (size_t i = 0; i < r.tally.n_steps; i++)
            check_times(&r.tally.steps[i].times);
        assert_int_equal(occurrences(r.text, "\"ph\": \"X\"") +
                             occurrences(r.text, "\"ph\": \"i\""),
                         r.tally.n_recorded);
        assert_int_equal(occurrences(r.text, "\"name\": \"record_param_comms\""),
                         occurrences(r.text, "\"cat\": \"kernel\", \"name\": \"nccl"));
        forget(&r);
    }
}

TEST(collectives_carry_what_the_options_say) {
    static const struct {
        int64_t seq, comms_id, no_metadata, on_kernels, seqs, ids;
    } cases[] = {{0, 0, 0, 1, 0, 0}, {1, 0, 0, 1, 2, 0}, {1, 1, 1, 0, 1, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        tms_config config;
        tms_config_init(&config);
        config.ranks = 40;
        config.seq = cases[i].seq;
        config.comms_id = cases[i].comms_id;
        config.no_metadata = cases[i].no_metadata;
        recording r = record_of(&config, 33);
        const int64_t n = config.steps * config.buckets;
        /* Of forty ranks, thirty are listed. The operator gives all ranks as three numbers. */
        const struct {
            const char *part;
            int64_t n;
        } parts[] = {
            {"\"Collective name\": \"allreduce\"", n * (1 + cases[i].on_kernels)},
            {"\"Seq\": ", n * cases[i].seqs},
            {"\"Comms Id\": ", n * cases[i].ids},
            {", 28, 29, ...]\"", n * (1 + cases[i].on_kernels)},
            {"\"Rank\": 33, \"Global rank start\": 0, \"Global rank stride\": 1, ", n},
        };
        for (size_t k = 0; k < COUNT(parts); k++)
            assert_int_equal(occurrences(r.text, parts[k].part), parts[k].n);
        /* There are four operations per step, counted from the job's start, three steps earlier. */
        assert_true(config.seq == 0 || strstr(r.text, "\"Seq\": 13") != NULL);
        forget(&r);
    }
}

TEST(messages_name_the_rank_on_the_other_side) {
    /* Stage 1 of two: activations come from rank 2, and gradients go back to it. */
    static const char *const twice_a_step[] = {
        "\"name\": \"ncclDevKernel_SendRecv(", ", \"Src Rank\": 2", ", \"Dst Rank\": 2",
        "\"name\": \"nccl:recv 1<-0\"", "\"name\": \"nccl:send 1->0\""};
    tms_config config = job_of(&(shape){8, 2, 2, 1, 0, 0});
    recording r = record_of(&config, 6);
    for (size_t i = 0; i < COUNT(twice_a_step); i++)
        assert_int_equal(occurrences(r.text, twice_a_step[i]), 2 * config.steps);
    assert_int_equal(occurrences(r.text, "{\"pg_name\": "), 4);
    forget(&r);
}

TEST(faults_show_in_times_and_names) {
    recording of[1 + TMS_FAULT_PAGEABLE + 1]; /* without a fault, and with each fault */
    int64_t small = 0, pageable = 0;
    for (int i = 0; i <= TMS_FAULT_PAGEABLE + 1; i++) {
        tms_config config = job_of(&(shape){8, 1, 1, 1, 0, 0});
        config.faults = i == 0 ? 0 : TMS_FAULT_BIT(i - 1);
        of[i] = record_of(&config, 0);
        small += occurrences(of[i].text, "unrolled_elementwise_kernel") * (i == 2);
        pageable += occurrences(of[i].text, "Memcpy HtoD (Pageable -> Device)") * (i == 5);
        /* Each step frees 48 blocks of memory, 6.3 MB; with the fault an eighth fewer, 5.5 MB. */
        assert_int_equal(occurrences(of[i].text, "\"Bytes\": -6291456"), i == 4 ? 0 : config.steps);
        assert_int_equal(occurrences(of[i].text, "\"Bytes\": -5505024"), i == 4 ? config.steps : 0);
    }
    assert_int_equal(small, 3 * 8 * 2 * 20);
    assert_int_equal(pageable, 3 * 2);
    /* Loading adds half of the layers' 8 * 3 * 100 us to each step except the first, before whose
     * window it is: 2.4 ms in all, with 2 % of jitter. */
    assert_in_range(of[1].tally.total.idle_ns - of[0].tally.total.idle_ns, 2200000, 2600000);
    /* Only the memset and the work after the gradients overlaps communication. */
    const tms_times *sound = &of[0].tally.total, *slow = &of[3].tally.total;
    assert_true(sound->overlap_ns > sound->work_ns[TMS_WORK_COMM] / 2);
    assert_true(slow->overlap_ns < slow->work_ns[TMS_WORK_COMM] / 20);
    for (size_t i = 0; i < COUNT(of); i++)
        forget(&of[i]);
}

TEST(same_seed_gives_the_same_bytes_and_another_seed_others_in_all_shapes) {
    for (size_t s = 0; s < COUNT(shapes); s++) {
        recording of[3];
        for (int i = 0; i < 3; i++) {
            tms_config config = job_of(&shapes[s]);
            config.seed = i < 2 ? 5 : 6;
            of[i] = record_of(&config, config.ranks - 1);
        }
        assert_int_equal(of[0].size, of[1].size);
        assert_memory_equal(of[0].text, of[1].text, of[0].size);
        assert_string_not_equal(of[0].text, of[2].text);
        for (int i = 0; i < 3; i++)
            forget(&of[i]);
    }
}

RUN_TESTS()
