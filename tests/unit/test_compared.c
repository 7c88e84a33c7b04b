/* Suspects found by comparing the work that ranks do on their own. */
#include "analysis/stragglers/compared.h"

#include "replay/job/works_sum.h"
#include "replay/whatif/result.h"
#include "timeline_fixture.h"
#include "tmerge/analysis.h"

enum { RANKS = 2, STEPS = 4, PARTS = 16, ROWS = STEPS * PARTS, HOST = 1 };

/* Rank 1's work of a kind takes @p longer[s] thousandths more than rank 0's in step s. All other
 * differences are at most 2 thousandths. Rank 1's kernels run at once for @p at_once_ns more in
 * each step. Returns the number of steady suspicions of rank 1, and sets the last one's excess. */
static size_t count_suspects(tm_works_kind kind, const int64_t longer[STEPS], int64_t at_once_ns,
                             int64_t *excess_ns) {
    int64_t steps[ROWS], words[RANKS][TM_WORKS_RANK_WORDS + TM_N_WORKS * ROWS] = {{0}};
    tm_replay_result replay = {.works = {.n_rows = ROWS, .steps = steps}};
    replay.works.ranks = (tm_vec){.data = words, .n = RANKS, .size = sizeof words[0]};
    for (int rank = 0; rank < RANKS; rank++) {
        *(tm_works_rank *)(void *)words[rank] = (tm_works_rank){rank, -1, HOST};
        for (int row = 0; row < ROWS; row++) {
            const int64_t noise = (7 * row + 3 * rank) % 3;
            steps[row] = row / PARTS;
            words[rank][TM_WORKS_RANK_WORDS + (int)kind * ROWS + row] =
                1000000 + 1000 * (rank * longer[row / PARTS] + noise);
            words[rank][TM_WORKS_RANK_WORDS + TM_WORKS_AT_ONCE * ROWS + row] =
                row % PARTS ? 0 : 500000 + rank * at_once_ns;
        }
    }
    const tm_collectives own = {.has_works = true, .replay = &replay};
    tm_tables tables;
    tm_error err;
    size_t n = 0;
    assert_int_equal(tm_analysis_tables(&tables, &err), TM_OK);
    assert_int_equal(tm_compared_add(&tables, &own, &err), TM_OK);
    const tm_table *found = tm_tables_find(&tables, tm_compared_suspect.name);
    for (size_t i = 0; i < found->n_rows; i++) {
        const tm_suspect s = tm_compared_read(tm_table_row(found, i));
        n += s.member == 1 && !s.unsteady;
        *excess_ns = s.excess_ns;
    }
    tm_tables_destroy(&tables);
    return n;
}

TEST(parts_of_few_steps_are_no_evidence_where_steps_differ) {
    int64_t ns;
    /* Rank 1 takes 100 thousandths longer in each step: it is slow. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, (int64_t[]){100, 100, 100, 100}, 0, &ns), 1);
    /* Rank 1 takes 51 thousandths longer on average, with a deviation of 55: it had more to do in
     * all four steps. By chance, one of two ranks has more to do in all four in 1 of 8 cases. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, (int64_t[]){120, 4, 70, 10}, 0, &ns), 0);
    /* More work does not explain why kernels wait longer in the queue. */
    assert_int_equal(count_suspects(TM_WORKS_LAG, (int64_t[]){120, 4, 70, 10}, 0, &ns), 1);
}

TEST(kernels_that_run_at_once_take_their_time_once) {
    const int64_t longer[STEPS] = {100, 100, 100, 100};
    /* With 16 parts in each of 4 steps, rank 1 takes 64 x 100 us = 6.4 ms longer. Noise: in each
     * part 7 row + 3 rank has the same remainder for both ranks. */
    int64_t excess_ns;
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, longer, 0, &excess_ns), 1);
    assert_int_equal(excess_ns, 6400000);
    /* 1 ms of each step is in kernels that run while another one runs. The test is the same. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, longer, 1000000, &excess_ns), 1);
    assert_int_equal(excess_ns, 2400000);
    /* The excess is not below 0, nor larger because kernels run at once less often. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, longer, 2000000, &excess_ns), 1);
    assert_int_equal(excess_ns, 0);
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, longer, -500000, &excess_ns), 1);
    assert_int_equal(excess_ns, 6400000);
}

TEST(kernels_run_at_once_only_on_one_device) {
    /* In ns of step 3: stream 7 runs a kernel in [0, 100) and [100, 200), stream 9 in [50, 180), so
     * 130 ns twice. Device 1 and the copy do not count. */
    static const event_spec events[] = {
        {TM_CAT_USER_ANNOTATION, "ProfilerStep#3", 1000, 1000, 0, 1, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 1010, 5, 1, 1, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 1020, 5, 2, 1, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 1030, 5, 3, 1, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaLaunchKernel", 1040, 5, 4, 1, 0, NULL, TM_DURATION},
        {TM_CAT_RUNTIME, "cudaMemcpyAsync", 1050, 5, 5, 1, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 1200, 100, 1, 7, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 1300, 100, 2, 7, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 1250, 130, 3, 9, 0, NULL, TM_DURATION},
        {TM_CAT_KERNEL, "gemm", 1200, 400, 4, 7, 1, NULL, TM_DURATION},
        {TM_CAT_MEMCPY, "Memcpy HtoD (Pinned -> Device)", 1200, 200, 5, 14, 0, NULL, TM_DURATION},
    };
    ground g = open_ground();
    tm_timeline timeline = build_one(&g, 0, events, COUNT(events));
    tm_vec found = TM_VEC(tm_works_at_once);
    assert_true(tm_works_find_at_once(&timeline, 5, &found));
    assert_int_equal(found.n, 1);
    const tm_works_at_once *step = found.data;
    assert_int_equal(step->index, 5);
    assert_int_equal(step->number, 3);
    assert_int_equal(step->ns, 130);
    tm_vec_free(&found);
    tm_timeline_destroy(&timeline);
    close_ground(&g);
}

RUN_TESTS()
