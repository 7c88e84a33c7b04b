/* Pipeline stages are compared, and layers are found from repetitions in a pass. */
#include "replay/whatif/split.h"

typedef struct kernel {
    int64_t stage, rank, calls, total_ns;
} kernel;

static const struct {
    const char *what;
    kernel kernels[8]; /* kernels of one name and shape, in one step */
    int64_t work_ns[4];
    const char *differ; /* for each stage, + if it differs; "": the split is even */
} splits[] = {
    /* Work is calls x the median call of all stages, here (100 + 150) / 2 = 125 ns. */
    {"one rank a stage: a slow GPU", {{0, 0, 10, 1000}, {1, 1, 10, 1500}}, {0}, ""},
    {"more kernels on a slow GPU", {{0, 0, 10, 1000}, {1, 1, 20, 3000}}, {1250, 2500}, "-+"},
    /* Of two ranks, the lower counts. They differ by 10; 1300 - 1000 exceeds 3 times that. */
    {"longer kernels on all ranks of a stage",
     {{0, 0, 10, 1000}, {0, 1, 10, 1010}, {1, 2, 10, 1300}, {1, 3, 10, 1310}},
     {1000, 1300},
     "-+"},
    /* 1250 - 1000 is less than three times the median difference of ranks, (200 + 50) / 2. */
    {"ranks of a stage differ, too",
     {{0, 0, 10, 1000}, {0, 1, 10, 1200}, {1, 2, 10, 1250}, {1, 3, 10, 1300}},
     {0},
     ""},
    {"less than 3 %", {{0, 0, 1000, 1000}, {1, 1, 1029, 1029}}, {0}, ""},
    /* The mean is 5/3 of stage 0. Two stages have far more, so stage 0 is the one that differs. */
    {"most have more",
     {{0, 0, 10, 1000}, {1, 1, 20, 2000}, {2, 2, 20, 2000}},
     {1000, 2000, 2000},
     "+--"},
    {"one stage", {{0, 0, 10, 1000}}, {0}, ""},
};

TEST(stages_with_more_work_are_found) {
    for (size_t i = 0; i < COUNT(splits); i++) {
        tm_vec kernels = TM_VEC(tm_split_kernel), stages = TM_VEC(tm_split_stage);
        for (const kernel *k = splits[i].kernels; k->calls > 0; k++) {
            const tm_split_kernel one = {7, {1, 1, 1}, k->stage, k->rank, k->calls, k->total_ns, 0};
            assert_non_null(tm_vec_append(&kernels, &one, 1));
        }
        assert_ok(tm_split_compare(&kernels, 1, &stages, NULL));
        print_message("%s\n", splits[i].what);
        assert_int_equal(stages.n, strlen(splits[i].differ));
        for (size_t s = 0; s < stages.n; s++) {
            const tm_split_stage *stage = (const tm_split_stage *)stages.data + s;
            assert_int_equal(stage->work_ns, splits[i].work_ns[s]);
            assert_int_equal(stage->differs, splits[i].differ[s] == '+');
        }
        tm_vec_free(&kernels);
        tm_vec_free(&stages);
    }
}

RUN_TESTS()
