/* Tracks and collectives of timeline rows. */
#include "timeline/hosts.h"
#include "tmerge/timeline.h"

/* Rows 0 to 2 and 3 to 4; the tracks in between are empty. */
TEST(a_row_belongs_to_the_track_that_holds_it) {
    tm_track tracks[] = {{.first = 0, .count = 0},
                         {.first = 0, .count = 3},
                         {.first = 3, .count = 0},
                         {.first = 3, .count = 2},
                         {.first = 5, .count = 0}};
    const tm_timeline timeline = {.n_events = 5, .tracks = tracks, .n_tracks = 5};
    static const size_t expected[] = {1, 1, 1, 3, 3};
    for (uint32_t row = 0; row < 5; row++)
        assert_ptr_equal(tm_timeline_track(&timeline, row), &tracks[expected[row]]);
}

TEST(the_collective_of_a_row_is_found_or_the_next_one) {
    tm_collective_attr attrs[] = {{.event = 2}, {.event = 3}, {.event = 7}};
    tm_timeline timeline = {.n_events = 9};
    assert_null(tm_timeline_collective(&timeline, 2));
    assert_int_equal(tm_timeline_collectives_from(&timeline, 2), 0);
    timeline.attrs[TM_ATTR_COLLECTIVE] = attrs;
    timeline.n_attrs[TM_ATTR_COLLECTIVE] = 3;
    static const size_t from[] = {0, 0, 0, 1, 2, 2, 2, 2, 3};
    for (uint32_t row = 0; row < 9; row++) {
        bool has = row == 2 || row == 3 || row == 7;
        assert_int_equal(tm_timeline_collectives_from(&timeline, row), from[row]);
        assert_ptr_equal(tm_timeline_collective(&timeline, row), has ? &attrs[from[row]] : NULL);
    }
}

TEST(hosts_that_nobody_tells_follow_from_devices) {
    static const struct {
        int64_t rank, device;
        const char *recorded;
        int32_t expected; /* of the name hostN; -1: recorded */
    } cases[] = {
        {0, 0, NULL, 0},        {1, 1, NULL, 0},
        {2, 3, NULL, 0},                         /* devices need only increase */
        {3, 0, NULL, 1},        {4, 0, NULL, 2}, /* hosts with one device */
        {5, 1, "host3", -1},    {6, 2, NULL, 4}, /* rank 5 is in between, and has the name host3 */
        {8, 3, NULL, 6}, /* rank 7 is missing; ranks 9 and 10 are on host5 */
        {9, 4, "host5", -1},    {10, 4, "host5", -1},
        {12, 0, NULL, 7},       {14, 2, NULL, 7}, /* rank 13 may have device 1 */
        {15, -1, "host07", -1},
    };
    tm_host_rank ranks[COUNT(cases)];
    tm_error err = {0};
    for (size_t i = 0; i < COUNT(cases); i++)
        ranks[i] = (tm_host_rank){cases[i].rank, cases[i].device, cases[i].recorded ? 1 : 0,
                                  tm_host_number_of(cases[i].recorded ? cases[i].recorded : "")};
    assert_int_equal(tm_hosts_infer(ranks, COUNT(cases), &err), TM_OK);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(ranks[i].number, cases[i].expected);
    /* Without any host or device number, only a single rank has a host. */
    tm_host_rank bare[] = {{0, -1, 0, -1}, {1, -1, 0, -1}};
    assert_int_equal(tm_hosts_infer(bare, 2, &err), TM_OK);
    assert_int_equal(bare[1].number, -1);
    assert_int_equal(tm_hosts_infer(bare, 1, &err), TM_OK);
    assert_int_equal(bare[0].number, 0);
}

RUN_TESTS()
