/* Hosts on which a call takes longer, and the medians that show it. */
#include "replay/job/call_times.h"

enum { RANKS = 6, NONE = -1 };

/* For each rank: its stage, its host, and the time that a call takes there. Factors by hand: the
 * median over a host's ranks, divided by the lower median of the other hosts' medians. */
static const struct {
    struct {
        int stage, host, ns;
    } ranks[RANKS];
    size_t n; /* number of hosts that can be compared */
    double factors[3];
} jobs[] = {
    /* 305 is the median of host 1, 101 of host 0 */
    {{{0, 0, 100}, {0, 0, 102}, {0, 0, 101}, {1, 1, 300}, {1, 1, 305}, {1, 1, 310}},
     2,
     {1, 305.0 / 101, 1}},
    /* Of 100 and 110, the lower is used for host 2: 300 / 100. Host 2 has two stages. */
    {{{0, 0, 100}, {0, 0, 100}, {1, 1, 110}, {1, 1, 110}, {2, 2, 300}, {3, 2, 300}}, 3, {1, 1, 3}},
    /* Stages may differ by a fifth. */
    {{{0, 0, 100}, {0, 0, 100}, {0, 0, 100}, {1, 1, 120}, {1, 1, 120}, {1, 1, 120}}, 2, {1, 1, 1}},
    /* Stage 1 is on both hosts, so its ranks have peers on the other host. */
    {{{0, 0, 100}, {0, 0, 100}, {1, 0, 100}, {1, 1, 300}, {2, 1, 300}, {2, 1, 300}}, 0, {1, 1, 1}},
    /* Without a pipeline, or on one host, nothing is compared. */
    {{{NONE, 0, 100},
      {NONE, 0, 100},
      {NONE, 0, 100},
      {NONE, 1, 300},
      {NONE, 1, 300},
      {NONE, 1, 300}},
     0,
     {1, 1, 1}},
    {{{0, 0, 100}, {0, 0, 100}, {0, 0, 100}, {1, 0, 300}, {1, 0, 300}, {1, 0, 300}}, 0, {1, 1, 1}},
};

TEST(a_host_whose_calls_take_longer_than_those_of_others) {
    for (size_t j = 0; j < COUNT(jobs); j++) {
        tm_replay_fact facts[RANKS];
        tm_vec times = TM_VEC(tm_host_time);
        tm_error err;
        for (int i = 0; i < RANKS; i++)
            facts[i] = (tm_replay_fact){i, jobs[j].ranks[i].stage, jobs[j].ranks[i].ns,
                                        1 + (uint32_t)jobs[j].ranks[i].host};
        assert_int_equal(tm_host_times(facts, RANKS, &times, &err), TM_OK);
        if (times.n != jobs[j].n)
            fail_msg("row %zu: %zu hosts", j, times.n);
        for (uint32_t host = 0; host < COUNT(jobs[j].factors); host++)
            if (tm_host_factor(&times, 1 + host) != jobs[j].factors[host])
                fail_msg("row %zu, host %u: %f", j, host, tm_host_factor(&times, 1 + host));
        tm_vec_free(&times);
    }
}

TEST(medians_are_of_each_row) {
    const size_t rows[] = {1, SIZE_MAX, 0, 1, 1, 3};
    const int64_t ns[] = {7, 1000, 5, 9, 1, 4};
    int64_t out[4];
    assert_true(tm_call_medians(rows, ns, COUNT(ns), COUNT(out), out));
    assert_memory_equal(out, ((int64_t[]){5, 7, 0, 4}), sizeof out);
}

RUN_TESTS()
