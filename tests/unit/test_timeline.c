/* Tracks and collectives of timeline rows. */
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

RUN_TESTS()
