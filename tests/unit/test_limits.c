/* Cores and memory that a process may use, read from file trees like those of Linux. */
#include "base/limits.h"

#include <sys/stat.h>
#include <unistd.h>

#define ALLOWED(list)                                                                              \
    "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t" list "\nMems_allowed:\t1\n"

enum { MOST = 4 };

static void put(const char *root, const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Removes a file, and the folders that are then empty. */
static void clear(const char *root, const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    unlink(full);
    for (char *slash = strrchr(full, '/'); slash && strlen(full) > strlen(root);
         slash = strrchr(full, '/')) {
        *slash = '\0';
        rmdir(full);
    }
}

TEST(affinity_and_groups_say_how_many) {
    static const struct {
        const char *allowed, *groups;
        struct {
            const char *path, *text;
        } files[MOST];
        int cores;
    } cases[] = {
        {ALLOWED("0-7"), "0::/\n", {{NULL, NULL}}, 8},
        {ALLOWED("0,2-3,8"), "", {{NULL, NULL}}, 4},
        {"Name:\tx\n", "", {{NULL, NULL}}, 1}, /* the set of cores is unknown */
        /* cgroup 2: the limit of a container; then of a service whose slice has a lower one */
        {ALLOWED("0-7"), "0::/\n", {{"/cpu.max", "300000 100000\n"}}, 3},
        {ALLOWED("0-7"), "0::/\n", {{"/cpu.max", "250000 100000\n"}}, 2},
        {ALLOWED("0-7"), "0::/\n", {{"/cpu.max", "20000 100000\n"}}, 1},
        {ALLOWED("0-7"), "0::/\n", {{"/cpu.max", "max 100000\n"}}, 8},
        {ALLOWED("0-1"), "0::/\n", {{"/cpu.max", "300000 100000\n"}}, 2},
        {ALLOWED("0-7"),
         "0::/a/b\n",
         {{"/a/b/cpu.max", "600000 100000\n"}, {"/a/cpu.max", "400000 100000\n"}},
         4},
        {ALLOWED("0-7"), "0::/else\n", {{"/a/cpu.max", "400000 100000\n"}}, 8},
        /* cgroup 1 */
        {ALLOWED("0-7"),
         "5:memory:/m\n4:cpu,cpuacct:/d\n0::/\n",
         {{"/cpu/d/cpu.cfs_quota_us", "500000\n"}, {"/cpu/d/cpu.cfs_period_us", "100000\n"}},
         5},
        {ALLOWED("0-7"),
         "4:cpu,cpuacct:/outside/d\n",
         {{"/cpu/cpu.cfs_quota_us", "500000\n"}, {"/cpu/cpu.cfs_period_us", "100000\n"}},
         5},
        {ALLOWED("0-7"),
         "4:cpu,cpuacct:/\n",
         {{"/cpu/cpu.cfs_quota_us", "-1\n"}, {"/cpu/cpu.cfs_period_us", "100000\n"}},
         8},
        {ALLOWED("0-7"),
         "4:cpuset:/\n",
         {{"/cpu/cpu.cfs_quota_us", "100000\n"}, {"/cpu/cpu.cfs_period_us", "100000\n"}},
         8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char root[] = "/tmp/tmerge-cores-XXXXXX", path[512];
        assert_non_null(mkdtemp(root));
        put(root, "/proc/self/status", cases[i].allowed);
        put(root, "/proc/self/cgroup", cases[i].groups);
        for (size_t f = 0; f < MOST && cases[i].files[f].path; f++) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s", cases[i].files[f].path);
            put(root, path, cases[i].files[f].text);
        }
        int cores = tm_cores(root);
        for (size_t f = 0; f < MOST && cases[i].files[f].path; f++) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s", cases[i].files[f].path);
            clear(root, path);
        }
        clear(root, "/proc/self/status");
        clear(root, "/proc/self/cgroup");
        if (cores != cases[i].cores)
            fail_msg("case %zu: %d cores", i, cores);
    }
}

TEST(memory_is_that_of_the_machine_or_of_a_group) {
    static const struct {
        const char *meminfo, *groups, *path, *text;
        int64_t bytes;
    } cases[] = {
        {"MemTotal:       1000 kB\n", "", "/none", "", 1024000},
        {"MemTotal:       1000 kB\n", "0::/a/b\n", "/a/memory.max", "4096\n", 4096},
        {"MemTotal:       1000 kB\n", "0::/a\n", "/a/memory.max", "max\n", 1024000},
        {"MemTotal:       1000 kB\n", "5:memory:/m\n", "/memory/m/memory.limit_in_bytes", "8192\n",
         8192},
        /* cgroup 1 without a limit */
        {"MemTotal:       1000 kB\n", "5:memory:/m\n", "/memory/m/memory.limit_in_bytes",
         "9223372036854771712\n", 1024000},
        {"MemFree: 1 kB\n", "", "/none", "", INT64_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char root[] = "/tmp/tmerge-memory-XXXXXX", path[512];
        assert_non_null(mkdtemp(root));
        snprintf(path, sizeof path, "/sys/fs/cgroup%s", cases[i].path);
        put(root, "/proc/meminfo", cases[i].meminfo);
        put(root, "/proc/self/cgroup", cases[i].groups);
        put(root, path, cases[i].text);
        int64_t bytes = tm_memory(root);
        clear(root, path);
        clear(root, "/proc/meminfo");
        clear(root, "/proc/self/cgroup");
        if (bytes != cases[i].bytes)
            fail_msg("case %zu: %lld B", i, (long long)bytes);
    }
}

TEST(a_process_of_this_machine_has_some) {
    assert_in_range(tm_cores(""), 1, sysconf(_SC_NPROCESSORS_ONLN));
}

RUN_TESTS()
