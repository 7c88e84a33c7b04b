/* Slow transfers: groups at a place are compared with groups elsewhere. */
#include "replay/whatif/links.h"

#define MIB ((int64_t)1 << 20)

/* A group of 2 hosts, or of 2 ranks inside a host, with the median time of its operations. The
 * quartiles differ by 1 us. End 203 is rank 203 of host 2; ends below 100 are hosts. */
typedef struct group {
    int64_t bytes, ends[2], us;
} group;

static const struct {
    const char *what;
    group groups[8];
    const char *found; /* ends that must be found */
    int64_t ns, others_ns;
} jobs[] = {
    {"a chain of hosts",
     {{MIB, {1, 2}, 60}, {MIB, {2, 3}, 60}, {MIB, {3, 4}, 150}},
     "4",
     150000,
     60000},
    /* Host 3 has a fast group, and so has host 2. Both groups of host 4 are slow. */
    {"two groups of a host",
     {{MIB, {1, 2}, 60}, {MIB, {3, 4}, 150}, {MIB, {2, 4}, 140}, {MIB, {1, 3}, 61}},
     "4",
     145000,
     60500},
    {"who of two hosts is not reported",
     {{MIB, {1, 2}, 150}, {MIB, {3, 4}, 60}},
     "1, 2",
     150000,
     60000},
    {"another sort of operations tells",
     {{MIB, {1, 2}, 150}, {MIB, {3, 4}, 60}, {2 * MIB, {1, 3}, 300}, {2 * MIB, {2, 4}, 110}},
     "1",
     300000,
     110000},
    {"small messages are all as slow",
     {{MIB, {1, 2}, 150}, {MIB, {3, 4}, 60}, {8, {1, 3}, 15}, {8, {2, 4}, 15}},
     "1, 2",
     150000,
     60000},
    {"one link of a host that has others", /* hosts 2 and 3 each have a fast link, too */
     {{MIB, {2, 3}, 150}, {MIB, {1, 2}, 60}, {MIB, {3, 4}, 60}},
     "2, 3",
     150000,
     60000},
    {"two links of different hosts",
     {{MIB, {2, 3}, 150}, {MIB, {4, 5}, 150}, {MIB, {1, 2}, 60}, {MIB, {3, 4}, 60}},
     "",
     0,
     0},
    {"a link between two ranks of a host",
     {{MIB, {102, 103}, 150}, {MIB, {101, 102}, 60}, {MIB, {103, 104}, 60}},
     "102, 103",
     150000,
     60000},
    {"both links of a rank",
     {{MIB, {102, 103}, 150}, {MIB, {103, 104}, 140}, {MIB, {101, 102}, 60}, {MIB, {104, 105}, 61}},
     "103",
     145000,
     60500},
    {"all links inside a host",
     {{MIB, {801, 802}, 150}, {MIB, {803, 804}, 140}, {MIB, {905, 906}, 60}, {MIB, {907, 908}, 61}},
     "inside 8",
     145000,
     60500},
    /* host 4: 3 (150 - 60) = 270 us of excess; ranks 105 and 106: 3 (200 - 60) = 420 us */
    {"a slow host and a slower link",
     {{MIB, {1, 2}, 60}, {MIB, {3, 4}, 150}, {MIB, {105, 106}, 200}, {MIB, {107, 108}, 60}},
     "105, 106",
     200000,
     60000},
    {"nobody has other operations", {{MIB, {1, 2}, 150}, {2 * MIB, {3, 4}, 60}}, "", 0, 0},
    /* 78 us is less than 1.3 times 61 */
    {"little", {{MIB, {1, 2}, 78}, {MIB, {3, 4}, 61}}, "", 0, 0},
    {"under 10 us", {{MIB, {1, 2}, 12}, {MIB, {3, 4}, 6}}, "", 0, 0},
};

static void add_place(tm_vec *members, uint64_t g, tm_links_what what, int64_t id) {
    const tm_links_member member = {g, {what, id}};
    assert_non_null(tm_vec_append(members, &member, 1));
}

TEST(a_place_with_slow_transfers_is_found) {
    for (size_t i = 0; i < COUNT(jobs); i++) {
        tm_vec links = TM_VEC(tm_links_time), members = TM_VEC(tm_links_member);
        tm_links found = TM_LINKS();
        char ends[64] = "";
        print_message("%s\n", jobs[i].what);
        for (uint64_t g = 0; g < COUNT(jobs[i].groups) && jobs[i].groups[g].us > 0; g++) {
            const group *it = &jobs[i].groups[g];
            const int64_t ns = 1000 * it->us, inside = it->ends[0] / 100;
            const tm_links_time link = {
                {1, it->bytes, 2, inside > 0 ? 1 : 2}, g, 3, ns, ns - 1000, ns + 1000};
            assert_non_null(tm_vec_append(&links, &link, 1));
            for (size_t e = 0; e < 2; e++)
                add_place(&members, g, inside > 0 ? TM_LINKS_RANK : TM_LINKS_HOST, it->ends[e]);
            add_place(&members, g, TM_LINKS_LINK, 100 * it->ends[0] + it->ends[1]);
            if (inside > 0)
                add_place(&members, g, TM_LINKS_INSIDE, inside);
        }
        assert_ok(tm_links_compare(&links, &members, &found, NULL));
        for (size_t e = 0; e < found.ends.n; e++) {
            const tm_links_place *end = (const tm_links_place *)found.ends.data + e;
            snprintf(ends + strlen(ends), sizeof ends - strlen(ends), "%s%d",
                     end->what == TM_LINKS_INSIDE ? "inside "
                     : e > 0                      ? ", "
                                                  : "",
                     (int)end->id);
        }
        assert_string_equal(ends, jobs[i].found);
        if (found.slow.n > 0) {
            const tm_links_slow *slow = found.slow.data;
            assert_int_equal(slow->ns, jobs[i].ns);
            assert_int_equal(slow->others_ns, jobs[i].others_ns);
        }
        tm_links_free(&found);
        tm_vec_free(&links);
        tm_vec_free(&members);
    }
}

RUN_TESTS()
