/* Suspects found by comparing the work that ranks do on their own. */
#include "analysis/stragglers/compared.h"

#include <stdlib.h>

#include "replay/whatif/result.h"
#include "tmerge/analysis.h"

enum { RANKS = 2, STEPS = 4, PARTS = 16, ROWS = STEPS * PARTS, HOST = 1 };

/* Rank 1's work of a kind takes @p longer[s] thousandths more than rank 0's in step s. All other
 * differences are at most 2 thousandths. Returns the number of steady suspicions of rank 1. */
static size_t count_suspects(tm_works_kind kind, const int64_t longer[STEPS]) {
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
    }
    tm_tables_destroy(&tables);
    return n;
}

TEST(parts_of_few_steps_are_no_evidence_where_steps_differ) {
    /* Rank 1 takes 100 thousandths longer in each step: it is slow. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, (int64_t[]){100, 100, 100, 100}), 1);
    /* Rank 1 takes 51 thousandths longer on average, with a deviation of 55: it had more to do in
     * all four steps. By chance, one of two ranks has more to do in all four in 1 of 8 cases. */
    assert_int_equal(count_suspects(TM_WORKS_DEVICE, (int64_t[]){120, 4, 70, 10}), 0);
    /* More work does not explain why kernels wait longer in the queue. */
    assert_int_equal(count_suspects(TM_WORKS_LAG, (int64_t[]){120, 4, 70, 10}), 1);
}

RUN_TESTS()
