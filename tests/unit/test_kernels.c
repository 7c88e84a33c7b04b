/* Tables of kernels: every cell of a small job, computed by hand. */
#include "analysis_fixture.h"

#include <math.h>

/* Kernels of 1000 ns times `us`, one after another. -1 or NaN means not recorded. */
typedef struct kernel_spec {
    const char *name;
    int64_t us;
    int32_t grid, registers, shared; /* the grid has x,1,1 blocks of 64,2,1 threads */
    float blocks, occupancy;
} kernel_spec;

#define BARE -1, -1, -1, NAN, NAN

static void add_kernels(small_job *j, int64_t rank, const kernel_spec *specs, size_t n) {
    event_spec events[8] = {{.category = TM_CAT_KERNEL}};
    int64_t begin = 0;
    assert_true(n <= COUNT(events));
    for (size_t i = 0; i < n; i++) {
        events[i] = (event_spec){TM_CAT_KERNEL, specs[i].name, begin, specs[i].us * 1000, 0, 7, 0,
                                 NULL,          TM_DURATION};
        begin += specs[i].us * 1000;
    }
    tm_trace trace = make_trace(&j->ground, "one.json", events, n, 0);
    for (size_t i = 0; i < n; i++) {
        const kernel_spec *s = &specs[i];
        const bool known = s->grid >= 0;
        set_shape(&trace, i,
                  (tm_launch_shape){.grid = {s->grid, known ? 1 : -1, known ? 1 : -1},
                                    .block = {known ? 64 : -1, known ? 2 : -1, known ? 1 : -1},
                                    .registers = s->registers,
                                    .shared_memory_bytes = s->shared,
                                    .blocks_per_sm = s->blocks,
                                    .occupancy_pct = s->occupancy});
    }
    add_trace(j, rank, &trace);
}

/* gemm takes 50 and 150 us on a grid of 2, and 200 us on a grid of 4, on rank 0; 100 us on rank 1;
 * 400 us on rank 2.
 *   5 calls take 900: the mean is 180. Only the call of 50 is short, that is below 100 us.
 *   blocks     (1 * 50 + 3 * 150 + 2 * 100 + 2 * 400) / 700 = 1500 / 700, unknown for the 200 us
 *   occupancy  (50 * 50 + 20 * 200 + 10 * 100 + 10 * 400) / 750 = 11500 / 750, unknown for 150 us
 *   means      of ranks 133.333, 100, 400; their median is 133.333, and 400 is 3.0000075 times it
 *   shares     of 911 us in all: 98.7925..., 1.0976..., 0.1097...
 * On a grid of 2, 4 calls take 700, blocks 1500 / 700, occupancy 7500 / 550. The ranks' means are
 * 100, 100, 400; the medians of the other ranks 250, 250, 100. Rank 0 has two calls, so its usual
 * time is 2 x 250. */
static const kernel_spec rank_0[] = {{"gemm", 50, 2, 32, 0, 1.0F, 50.0F},
                                     {"gemm", 150, 2, 32, 0, 3.0F, NAN},
                                     {"gemm", 200, 4, 40, 512, NAN, 20.0F},
                                     {"ncclDevKernel_AllReduce", 10, BARE}};
static const kernel_spec rank_1[] = {{"gemm", 100, 2, 32, 0, 2.0F, 10.0F}};
static const kernel_spec rank_2[] = {{"nvjet_tst_128x160", 1, 8, 168, 9, 0.0F, 0.0F},
                                     {"gemm", 400, 2, 32, 0, 2.0F, 10.0F}};

TEST(kernels_are_as_worked_out_by_hand) {
    static const char *const kernels[] = {
        ("name calls total_ns mean_ns min_ns max_ns blocks_per_sm occupancy_pct share_pct "
         "communication class tensor_cores registers shared_memory_bytes short_calls short_pct "
         "ranks median_rank_ns slowest_rank_ns slowest_rank spread may_communicate"),
        ("gemm 5 900000 180000 50000 400000 2.142857143 15.33333333 98.79253568 false "
         "matrix~multiply false 40 512 1 20 3 133333 400000 2 3.0000075 false"),
        ("ncclDevKernel_AllReduce 1 10000 10000 10000 10000 null null 1.097694841 true "
         "communication false null null 1 100 1 10000 10000 0 1 false"),
        ("nvjet_tst_128x160 1 1000 1000 1000 1000 0 0 0.1097694841 false matrix~multiply true 168 "
         "9 "
         "1 100 1 1000 1000 2 1 false"),
    };
    static const char *const shapes[] = {
        ("name grid block registers shared_memory_bytes calls total_ns mean_ns min_ns max_ns "
         "blocks_per_sm occupancy_pct"),
        "gemm 2,1,1 64,2,1 32 0 4 700000 175000 50000 400000 2.142857143 13.63636364",
        "gemm 4,1,1 64,2,1 40 512 1 200000 200000 200000 200000 null 20",
        "ncclDevKernel_AllReduce null null null null 1 10000 10000 10000 10000 null null",
        "nvjet_tst_128x160 8,1,1 64,2,1 168 9 1 1000 1000 1000 1000 0 0",
    };
    static const char *const same[] = {"rank own_ns alike_ns usual_ns slower_ns kernels",
                                       "0 400000 200000 500000 0 1", "1 100000 100000 250000 0 1",
                                       "2 401000 400000 100000 400000 1"};
    small_job j = open_job();
    add_kernels(&j, 2, rank_2, COUNT(rank_2));
    add_kernels(&j, 0, rank_0, COUNT(rank_0));
    add_kernels(&j, 1, rank_1, COUNT(rank_1));
    finish_job(&j);
    CHECK_NAMED(&j, "kernels.kernel", kernels);
    CHECK_NAMED(&j, "kernels.launch_shape", shapes);
    CHECK_NAMED(&j, "kernels.same", same);
    close_job(&j);
}

RUN_TESTS()
