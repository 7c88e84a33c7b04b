/* Slow devices and the steps in which they are slow. */
#include "analysis/analyses.h"
#include "analysis/xla/cells.h"

#include <inttypes.h>

#include "rows_fixture.h"
#include "tmerge/analysis.h"

enum { CELLS = 8, STEP = 1000 };

/* One step of 1000 ns, with each rank's compute, input wait, launch and copy-out time. */
typedef struct cells_case {
    int64_t compute[CELLS], input[CELLS], launch[CELLS], copies[CELLS];
    const char *unmarked; /* "rank=N": this rank has no steps */
    const char *programs; /* a letter for each rank's program */
    const char *slow;     /* slow devices: "rank reason over" of each */
} cells_case;

static void add_cell(tm_tables *tables, int64_t rank, int64_t step, const int64_t ns[4]) {
    add_rowf(tables, "pod.step",
             "rank=%" PRId64 " step=%" PRId64 " step_ns=1000 compute_16_ns=%" PRId64
             " compute_32_ns=0 compute_untyped_ns=0 input_ns=%" PRId64 " launch_ns=%" PRId64
             " compilation_ns=0 host_ns=0 output_ns=%" PRId64 " device_to_device_ns=0 offload_ns=0",
             rank, step, ns[0], ns[1], ns[2], ns[3]);
}

static void judge(tm_tables *tables, int64_t n_ranks, const char *programs) {
    tm_error err;
    for (int64_t rank = 0; rank < n_ranks; rank++) {
        if (programs)
            add_rowf(tables, "pod.rank", "rank=%" PRId64 " program=%c", rank, programs[rank]);
        else
            add_rowf(tables, "pod.rank", "rank=%" PRId64, rank);
    }
    assert_int_equal(tm_cells_judge(tables, &err), TM_OK);
}

TEST(a_cell_is_slow_by_what_it_has_more_than_half_of_all) {
    /* A device is slow if it takes 5 % of the step (50 ns) more than the fourth of the 8 times. */
    static const cells_case cases[] = {
        {.compute = {100, 100, 100, 100, 100, 100, 100, 100}, .slow = ""},
        {.compute = {100, 100, 100, 100, 149, 100, 100, 100}, .slow = ""},
        {.compute = {100, 100, 100, 100, 150, 100, 100, 100}, .slow = "4 compute 50 "},
        /* Half of the devices, those of one host, wait for input. */
        {.compute = {100, 500, 100, 100, 100, 100, 100, 100},
         .input = {10, 10, 10, 10, 300, 300, 300, 300},
         .slow = "1 compute 400 4 input 290 5 input 290 6 input 290 7 input 290 "},
        {.compute = {100, 100, 100, 160, 100, 100, 100, 100},
         .launch = {0, 0, 0, 70, 0, 0, 0, 0},
         .copies = {0, 0, 90, 0, 0, 0, 0, 0},
         .slow = "2 copies 90 3 launch 70 "},
        /* Devices without computation or steps are not slow, and others are not compared with them.
         */
        {.compute = {0, 0, 0, 100, 100, 100, 100, 100}, .slow = ""},
        {.compute = {0, 0, 1, 1, 1, 100, 100, 100},
         .input = {0, 0, 0, 0, 0, 0, 0, 900},
         .unmarked = "rank=7",
         .slow = "5 compute 99 6 compute 99 "},
        /* Stage 2 of a pipeline has twice the work of stage 1, and one device is slow in it. In the
         * second case, one device runs a program that no other runs. */
        {.compute = {100, 100, 100, 100, 200, 200, 260, 200},
         .programs = "aaaabbbb",
         .slow = "6 compute 60 "},
        {.compute = {100, 100, 100, 100, 200, 200, 200, 900},
         .programs = "abababac",
         .slow = "4 compute 100 5 compute 100 6 compute 100 "},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_tables tables = open_tables();
        char found[256] = "";
        for (int rank = 0; rank < CELLS; rank++) {
            const int64_t ns[] = {cases[c].compute[rank], cases[c].input[rank],
                                  cases[c].launch[rank], cases[c].copies[rank]};
            add_cell(&tables, rank, 0, ns);
        }
        if (cases[c].unmarked)
            add_row(&tables, "overlap.unmarked", cases[c].unmarked);
        judge(&tables, CELLS, cases[c].programs);
        const tm_table *steps = tm_tables_find(&tables, "pod.step");
        for (size_t i = 0; i < steps->n_rows; i++) {
            const tm_cell *slow = tm_table_cell(steps, i, "slow");
            const tm_cell *of_rank = tm_table_cell(tm_tables_find(&tables, "pod.rank"), i, "slow");
            assert_int_equal(slow->null, of_rank->null);
            if (!slow->null)
                snprintf(found + strlen(found), sizeof found - strlen(found), "%zu %s %" PRId64 " ",
                         i, slow->value.text, tm_table_cell(steps, i, "over_ns")->value.i);
        }
        assert_string_equal(found, cases[c].slow);
        tm_tables_destroy(&tables);
    }
}

TEST(of_large_jobs_steps_of_slow_devices_alone_are_kept) {
    enum { RANKS = 150, STEPS = 150, SLOW = 7 };
    const int64_t usual[] = {100, 0, 0, 0}, more[] = {200, 0, 0, 0};
    tm_tables tables = open_tables();
    for (int rank = 0; rank < RANKS; rank++)
        for (int step = 0; step < STEPS; step++)
            add_cell(&tables, rank, step, rank == SLOW && step % 3 > 0 ? more : usual);
    judge(&tables, RANKS, NULL);
    const tm_table *steps = tm_tables_find(&tables, "pod.step");
    assert_int_equal(steps->n_rows, 100); /* rank SLOW is slow in two of three steps */
    for (size_t i = 0; i < steps->n_rows; i++)
        assert_int_equal(tm_table_cell(steps, i, "rank")->value.i, SLOW);
    const tm_table *ranks = tm_tables_find(&tables, "pod.rank");
    assert_int_equal(tm_table_cell(ranks, SLOW, "slow_steps")->value.i, 100);
    assert_int_equal(tm_table_cell(ranks, SLOW, "over_ns")->value.i, 100 * 100);
    assert_true(tm_table_cell(ranks, SLOW - 1, "slow")->null);
    tm_tables_destroy(&tables);
}

RUN_TESTS()
