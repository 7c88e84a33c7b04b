/* The two sorts of a timeline are compared with a plain insertion sort. */
#include "timeline/sort_events.h"

static uint32_t next(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

TEST(events_are_ordered_by_begin_then_longer_first_then_place) {
    static const struct {
        size_t n;
        int64_t begin[6], duration[6];
        uint32_t expected[6];
    } cases[] = {
        {0, {0}, {0}, {0}},
        {1, {5}, {1}, {0}},
        {2, {5, 5}, {1, 2}, {1, 0}}, /* a parent before its child */
        {2, {5, 5}, {2, 2}, {0, 1}}, /* in the order of the file */
        {3, {3, 2, 1}, {0, 0, 0}, {2, 1, 0}},
        {3, {-1, -2, 0}, {0, 0, 0}, {1, 0, 2}},
        {5, {0, 0, 1, 0, 1}, {9, 10, 1, 9, 2}, {1, 0, 3, 4, 2}},
        {6, {1, 3, 5, 0, 2, 4}, {0, 0, 0, 0, 0, 0}, {3, 0, 4, 1, 5, 2}}, /* two ascending runs */
        {6, {4, 5, 2, 3, 0, 1}, {0, 0, 0, 0, 0, 0}, {4, 5, 2, 3, 0, 1}}, /* three ascending runs */
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tm_raw_event events[6] = {{0}};
        uint32_t order[6], scratch[6];
        for (uint32_t i = 0; i < cases[c].n; i++) {
            events[i].begin_ns = cases[c].begin[i];
            events[i].duration_ns = cases[c].duration[i];
            order[i] = i;
        }
        assert_true(tm_sort_events(events, order, cases[c].n, scratch));
        for (size_t i = 0; i < cases[c].n; i++)
            assert_int_equal(order[i], cases[c].expected[i]);
    }
}

static bool before(const tm_raw_event *x, const tm_raw_event *y, bool first_in_file) {
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns;
    return first_in_file;
}

TEST(random_events_come_out_as_by_insertion) {
    enum { MOST = 300 };
    tm_raw_event events[MOST];
    uint32_t order[MOST], expected[MOST], scratch[MOST], seed = 7;
    for (int round = 0; round < 400; round++) {
        uint32_t n = next(&seed) % (MOST + 1), spread = 1 + next(&seed) % 400;
        for (uint32_t i = 0; i < n; i++) {
            /* Begins are random below `spread` (1: all equal). Every other round adds i, so that
             * they are nearly sorted. */
            events[i] = (tm_raw_event){
                .begin_ns = next(&seed) % spread + (round % 2 ? i : 0),
                .duration_ns = next(&seed) % 3,
            };
            order[i] = i;
            uint32_t at = i;
            for (; at > 0 && before(&events[i], &events[expected[at - 1]], false); at--)
                expected[at] = expected[at - 1];
            expected[at] = i;
        }
        assert_true(tm_sort_events(events, order, n, scratch));
        if (n > 0)
            assert_memory_equal(order, expected, n * sizeof *order);
    }
}

TEST(only_the_given_events_are_sorted) {
    const tm_raw_event events[] = {
        {.begin_ns = 9}, {.begin_ns = 8}, {.begin_ns = 7}, {.begin_ns = 6}, {.begin_ns = 5}};
    uint32_t order[] = {0, 2, 4, 99}, scratch[3];
    assert_true(tm_sort_events(events, order, 3, scratch));
    const uint32_t expected[] = {4, 2, 0, 99};
    assert_memory_equal(order, expected, sizeof order);
}

/* Makes rows of one attribute table for these events. The other bytes of a row are its index. */
static tm_vec make_rows(tm_attr attr, const uint32_t *events, size_t n) {
    tm_vec rows = {.size = tm_attr_size(attr)};
    for (size_t i = 0; i < n; i++) {
        void *row = tm_vec_push(&rows);
        assert_non_null(row);
        memset(row, (int)i, rows.size);
        *tm_attr_event(attr, row) = events[i];
    }
    return rows;
}

TEST(attribute_rows_of_every_kind_are_sorted_by_event_and_stay_in_order) {
    static const struct {
        uint32_t events[6];
        uint8_t places[6]; /* for each place: index of the given row */
    } cases[] = {
        {{0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}}, {{5, 4, 3, 2, 1, 0}, {5, 4, 3, 2, 1, 0}},
        {{7, 7, 3, 7, 3, 3}, {2, 4, 5, 0, 1, 3}}, /* the series of one counter stay in order */
        {{1, 1, 1, 1, 1, 0}, {5, 0, 1, 2, 3, 4}}, {{99, 0, 2, 2, 2, 1}, {1, 5, 2, 3, 4, 0}},
    };
    for (int a = 0; a < TM_N_ATTRS; a++)
        for (size_t c = 0; c < COUNT(cases); c++) {
            tm_attr attr = (tm_attr)a;
            tm_vec rows = make_rows(attr, cases[c].events, 6);
            assert_true(tm_sort_attrs(attr, &rows, 100));
            assert_int_equal(rows.n, 6);
            for (size_t i = 0; i < 6; i++) {
                unsigned char *row = (unsigned char *)rows.data + i * rows.size, same[256];
                assert_true(rows.size <= sizeof same);
                memset(same, cases[c].places[i], rows.size);
                *tm_attr_event(attr, same) = cases[c].events[cases[c].places[i]];
                assert_memory_equal(row, same, rows.size);
            }
            tm_vec_free(&rows);
        }
}

TEST(a_table_without_rows_is_sorted) {
    tm_vec rows = TM_VEC(tm_launch_attr);
    assert_true(tm_sort_attrs(TM_ATTR_LAUNCH, &rows, 100));
    assert_int_equal(rows.n, 0);
    assert_null(rows.data);
}

RUN_TESTS()
