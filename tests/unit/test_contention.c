/* The table of contention: small jobs, worked out by hand. */
#include "analysis_fixture.h"

enum { SLOTS = 40, SLOT = 1000 };

/* Kernels of one shape, one in each slot of 1000 ns. First, counts[0] kernels run alone, for 100,
 * 101, ... ns. The other kernels take @p scale times as long: counts[1] kernels have a collective
 * beside their second half, and counts[2] kernels have one beside their last third. */
static void add_mixed(small_job *j, int64_t rank, const int counts[3], int64_t scale) {
    event_spec events[2 * SLOTS];
    size_t n = 0;
    int64_t begin = 0;
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < counts[kind]; i++, begin += SLOT) {
            int64_t duration = kind == 0 ? 100 + i : scale * (100 + i);
            int64_t from = begin + (kind == 1 ? duration / 2 : duration - duration / 3);
            assert_true(n + 2 <= COUNT(events));
            events[n++] =
                (event_spec){TM_CAT_KERNEL, "gemm", begin, duration, 0, 7, 0, NULL, TM_DURATION};
            if (kind > 0)
                events[n++] = (event_spec){
                    TM_CAT_KERNEL, "ncclDevKernel_AllReduce", from, 500, 0, 20, 0, NULL,
                    TM_DURATION};
        }
    add_rank(j, rank, events, n);
}

/* Rank 0: alone 100 to 104 ns, median and mean 102; beside 200 to 210, median 205; ratio 2.0098;
 * extra 1230 - 6 * 102 = 618. Rank 1: alone 100 to 105, median and mean 102.5, shown as 103; beside
 * 300 to 312, median 306; ratio 2.9709; extra 1530 - 5 * 102.5 = 1017.5, shown as 1018. Rank 2 has
 * only 4 alone, which is too few to count. Over ranks: beside (205 + 306) / 2 = 255.5, shown as
 * 256; alone 102.5, shown as 103. */
TEST(kernels_beside_communication_are_compared_with_those_alone) {
    static const char *const rows[] = {
        "name=gemm grid=0,0,0 block=0,0,0 ranks=2 beside_calls=11 alone_calls=11 beside_ns=256 "
        "alone_ns=103 slowdown=2.490338854 extra_ns=1636"};
    small_job j = open_job();
    add_mixed(&j, 1, (const int[]){6, 5, 3}, 3);
    add_mixed(&j, 2, (const int[]){4, 9, 0}, 9);
    add_mixed(&j, 0, (const int[]){5, 6, 2}, 2);
    finish_job(&j);
    CHECK_ROWS(&j, "contention.kernel", rows);
    close_job(&j);
}

TEST(without_communication_there_is_nothing_to_compare) {
    small_job j = open_job();
    add_mixed(&j, 0, (const int[]){20, 0, 0}, 1);
    finish_job(&j);
    check_rows(&j, "contention.kernel", NULL, 0);
    close_job(&j);
}

RUN_TESTS()
