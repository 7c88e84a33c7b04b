/* The tables of kernels: every cell of a small job, worked out by hand. */
#include "analysis_fixture.h"

#include <math.h>

/* A kernel of 1000 ns times `us`, one after another; what is not recorded is -1 or NaN. */
typedef struct kernel_spec {
    const char *name;
    int64_t us;
    int32_t grid, registers, shared; /* a grid of x,1,1 blocks of 64,2,1 threads */
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

/* gemm, by rank in us:  0: 50 and 150 on a grid of 2, 200 on one of 4;  1: 100;  2: 400.
 *   900 in 5, mean 180; one is under 100 us, for 100 is not
 *   blocks     (1 * 50 + 3 * 150 + 2 * 100 + 2 * 400) / 700 = 1500 / 700; the 200 have none
 *   occupancy  (50 * 50 + 20 * 200 + 10 * 100 + 10 * 400) / 750 = 11500 / 750; the 150 have none
 *   means      133.333, 100, 400: median 133.333, the slowest is 3.0000075 times that
 *   shares     of 911 us: 98.7925..., 1.0976..., 0.1097...
 *   the grid of 2: 700 in 4, blocks 1500 / 700, occupancy 7500 / 550 */
static const kernel_spec rank_0[] = {{"gemm", 50, 2, 32, 0, 1.0F, 50.0F},
                                     {"gemm", 150, 2, 32, 0, 3.0F, NAN},
                                     {"gemm", 200, 4, 40, 512, NAN, 20.0F},
                                     {"ncclDevKernel_AllReduce", 10, BARE}};
static const kernel_spec rank_1[] = {{"gemm", 100, 2, 32, 0, 2.0F, 10.0F}};
static const kernel_spec rank_2[] = {{"nvjet_tst_128x160", 1, 8, 168, 9, 0.0F, 0.0F},
                                     {"gemm", 400, 2, 32, 0, 2.0F, 10.0F}};

static void kernels_are_as_worked_out_by_hand(void **state) {
    (void)state;
    static const char *const kernels[] = {
        "name=gemm calls=5 total_ns=900000 mean_ns=180000 min_ns=50000 max_ns=400000 "
        "blocks_per_sm=2.142857143 occupancy_pct=15.33333333 share_pct=98.79253568 "
        "communication=false class=matrix multiply tensor_cores=false registers=40 "
        "shared_memory_bytes=512 short_calls=1 short_pct=20 ranks=3 median_rank_ns=133333 "
        "slowest_rank_ns=400000 slowest_rank=2 spread=3.0000075",
        "name=ncclDevKernel_AllReduce calls=1 total_ns=10000 mean_ns=10000 min_ns=10000 "
        "max_ns=10000 blocks_per_sm=null occupancy_pct=null share_pct=1.097694841 "
        "communication=true class=communication tensor_cores=false registers=null "
        "shared_memory_bytes=null short_calls=1 short_pct=100 ranks=1 median_rank_ns=10000 "
        "slowest_rank_ns=10000 slowest_rank=0 spread=1",
        "name=nvjet_tst_128x160 calls=1 total_ns=1000 mean_ns=1000 min_ns=1000 max_ns=1000 "
        "blocks_per_sm=0 occupancy_pct=0 share_pct=0.1097694841 communication=false class=matrix "
        "multiply tensor_cores=true registers=168 shared_memory_bytes=9 short_calls=1 "
        "short_pct=100 ranks=1 median_rank_ns=1000 slowest_rank_ns=1000 slowest_rank=2 spread=1",
    };
    static const char *const shapes[] = {
        "name=gemm grid=2,1,1 block=64,2,1 registers=32 shared_memory_bytes=0 calls=4 "
        "total_ns=700000 mean_ns=175000 min_ns=50000 max_ns=400000 blocks_per_sm=2.142857143 "
        "occupancy_pct=13.63636364",
        "name=gemm grid=4,1,1 block=64,2,1 registers=40 shared_memory_bytes=512 calls=1 "
        "total_ns=200000 mean_ns=200000 min_ns=200000 max_ns=200000 blocks_per_sm=null "
        "occupancy_pct=20",
        "name=ncclDevKernel_AllReduce grid=null block=null registers=null shared_memory_bytes=null "
        "calls=1 total_ns=10000 mean_ns=10000 min_ns=10000 max_ns=10000 blocks_per_sm=null "
        "occupancy_pct=null",
        "name=nvjet_tst_128x160 grid=8,1,1 block=64,2,1 registers=168 shared_memory_bytes=9 "
        "calls=1 total_ns=1000 mean_ns=1000 min_ns=1000 max_ns=1000 blocks_per_sm=0 "
        "occupancy_pct=0",
    };
    small_job j = open_job();
    add_kernels(&j, 2, rank_2, COUNT(rank_2));
    add_kernels(&j, 0, rank_0, COUNT(rank_0));
    add_kernels(&j, 1, rank_1, COUNT(rank_1));
    finish_job(&j);
    CHECK_ROWS(&j, "kernels.kernel", kernels);
    CHECK_ROWS(&j, "kernels.launch_shape", shapes);
    close_job(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_as_worked_out_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
