/* Ends of slices in Perfetto traces, in the orders in which writers write them. */
#include "readers/perfetto/perfetto_slices.h"

#include "timeline_fixture.h"

enum { EDGES_MAX = 8, SLICES_MAX = 4 };
enum { E = -1, OPEN = TM_PF_OPEN };

TEST(ends_are_given_to_begins) {
    static const struct {
        const char *what;
        size_t n;
        struct {
            int64_t time;
            uint32_t track;
            int slice; /* E: an end */
        } edges[EDGES_MAX];
        int64_t durations[SLICES_MAX];
    } cases[] = {
        {"nested as it happens", 4, {{0, 0, 0}, {1, 0, 1}, {2, 0, E}, {3, 0, E}}, {3, 1}},
        {"one after another", 4, {{0, 0, 0}, {5, 0, E}, {5, 0, 1}, {9, 0, E}}, {5, 4}},
        {"an empty one at the end of another",
         4,
         {{0, 0, 0}, {5, 0, 1}, {5, 0, E}, {5, 0, E}},
         {5, 0}},
        {"tracks apart", 4, {{0, 0, 0}, {1, 1, 1}, {2, 0, E}, {3, 1, E}}, {2, 2}},
        {"a file that is not sorted", 4, {{4, 0, 0}, {6, 0, E}, {1, 0, 1}, {2, 0, E}}, {2, 1}},
        {"not ended, and an end of nothing", 3, {{5, 0, E}, {6, 0, 0}, {7, 1, E}}, {OPEN}},
        /* For a group, PyTorch writes the begins of all slices before their ends. The times do not
         * show whether slice 0 ends at 5 or at 9. */
        {"a group, one after another",
         6,
         {{0, 0, 0}, {5, 0, 1}, {9, 0, 2}, {5, 0, E}, {9, 0, E}, {9, 0, E}},
         {5, 4, 0}},
        {"a group with an empty slice inside another",
         4,
         {{0, 0, 0}, {5, 0, 1}, {9, 0, E}, {5, 0, E}},
         {9, 0}},
        {"a group that overlaps on one track",
         6,
         {{0, 0, 0}, {4, 0, 1}, {1, 0, 2}, {6, 0, E}, {8, 0, E}, {2, 0, E}},
         {6, 4, 1}},
        /* These are not groups: time goes back between tracks, or the pairs would cross. */
        {"threads that take turns",
         6,
         {{10, 0, 0}, {12, 0, 1}, {5, 1, 2}, {15, 0, E}, {20, 0, E}, {6, 1, E}},
         {10, 3, 1}},
        {"begins, then ends, by time",
         6,
         {{0, 0, 0}, {2, 0, 1}, {5, 0, 2}, {4, 0, E}, {8, 0, E}, {10, 0, E}},
         {10, 2, 3}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tm_pf_edge edges[EDGES_MAX];
        int64_t open[SLICES_MAX] = {OPEN, OPEN, OPEN, OPEN};
        tm_vec durations = TM_VEC(int64_t);
        int n_slices = 0;
        assert_non_null(tm_vec_append(&durations, open, SLICES_MAX));
        for (size_t i = 0; i < cases[c].n; i++)
            n_slices += cases[c].edges[i].slice != E;
        for (size_t i = 0; i < cases[c].n; i++)
            edges[i] = (tm_pf_edge){
                cases[c].edges[i].time, cases[c].edges[i].track,
                cases[c].edges[i].slice == E ? TM_PF_END : (uint32_t)cases[c].edges[i].slice, 1};
        assert_true(tm_pf_slices(edges, cases[c].n, &durations));
        for (int s = 0; s < n_slices; s++)
            if (((int64_t *)durations.data)[s] != cases[c].durations[s])
                fail_msg("%s: slice %d takes %lld", cases[c].what, s,
                         (long long)((int64_t *)durations.data)[s]);
        tm_vec_free(&durations);
    }
}

RUN_TESTS()
