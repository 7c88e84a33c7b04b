/* Hosts with slow transfers: groups with a host are compared with groups without it. */
#include "replay/whatif/links.h"

#define MIB ((int64_t)1 << 20)

/* A group of 2 hosts, with the median time of its operations. The quartiles differ by 1 us. */
typedef struct group {
    int64_t bytes, hosts[2], us;
} group;

static const struct {
    const char *what;
    group groups[8];
    const char *hosts; /* hosts that must be found */
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
     "",
     0,
     0},
    {"nobody has other operations", {{MIB, {1, 2}, 150}, {2 * MIB, {3, 4}, 60}}, "", 0, 0},
    /* 78 us is less than 1.3 times 61 */
    {"little", {{MIB, {1, 2}, 78}, {MIB, {3, 4}, 61}}, "", 0, 0},
    {"under 10 us", {{MIB, {1, 2}, 12}, {MIB, {3, 4}, 6}}, "", 0, 0},
};

TEST(a_host_with_slow_transfers_is_found) {
    for (size_t i = 0; i < COUNT(jobs); i++) {
        tm_vec links = TM_VEC(tm_links_time), members = TM_VEC(tm_links_member);
        tm_links found = TM_LINKS();
        char hosts[64] = "";
        print_message("%s\n", jobs[i].what);
        for (uint64_t g = 0; g < COUNT(jobs[i].groups) && jobs[i].groups[g].us > 0; g++) {
            const group *it = &jobs[i].groups[g];
            const int64_t ns = 1000 * it->us;
            const tm_links_time link = {{1, it->bytes, 2, 2}, g, 3, ns, ns - 1000, ns + 1000};
            assert_non_null(tm_vec_append(&links, &link, 1));
            for (size_t h = 0; h < 2; h++) {
                const tm_links_member member = {g, it->hosts[h]};
                assert_non_null(tm_vec_append(&members, &member, 1));
            }
        }
        assert_ok(tm_links_compare(&links, &members, &found, NULL));
        for (size_t h = 0; h < found.hosts.n; h++)
            snprintf(hosts + strlen(hosts), sizeof hosts - strlen(hosts), "%s%d", h > 0 ? ", " : "",
                     (int)((const int64_t *)found.hosts.data)[h]);
        assert_string_equal(hosts, jobs[i].hosts);
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
