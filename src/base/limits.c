#include "limits.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

enum { PATH_SIZE = 1024, TEXT_SIZE = 8192 };

/* Reads the start of a file; returns false if it cannot be opened. */
static bool read_text(const char *root, const char *folder, const char *name, char *out) {
    char path[3 * PATH_SIZE];
    snprintf(path, sizeof path, "%s%s%s", root, folder, name);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(out, 1, TEXT_SIZE - 1, file) : 0;
    out[n] = '\0';
    if (file)
        fclose(file);
    return file != NULL;
}

/* Returns the number of cores in the process's affinity; INT64_MAX if it is unknown. */
static int64_t of_affinity(const char *root) {
    static const char title[] = "\nCpus_allowed_list:";
    char text[TEXT_SIZE];
    tm_list list;
    int64_t n = 0;
    read_text(root, "/proc/self", "/status", text);
    char *line = strstr(text, title);
    if (!line)
        return INT64_MAX;
    line += strlen(title);
    line += strspn(line, " \t");
    line[strcspn(line, "\n")] = '\0';
    if (!tm_list_read(line, &list))
        return INT64_MAX;
    for (size_t i = 0; i < list.n; i++)
        n += list.ranges[i].last - list.ranges[i].first + 1;
    return n;
}

/* Returns quota / period in whole cores, at least 1. Returns INT64_MAX if there is no quota. */
static int64_t whole(const char *quota, const char *period) {
    int64_t used = strtoll(quota, NULL, 10), of = strtoll(period, NULL, 10);
    if (used <= 0 || of <= 0) /* no limit: the quota is "max" or -1 */
        return INT64_MAX;
    return used >= of ? used / of : 1;
}

/* A resource that control groups limit. */
typedef struct resource {
    const char *controller, *folder; /* names in version 1 of control groups */
    int64_t (*of_group)(const char *root, const char *folder, bool is_v2); /* INT64_MAX: no limit */
} resource;

static int64_t cores_of_group(const char *root, const char *folder, bool is_v2) {
    char quota[TEXT_SIZE], period[TEXT_SIZE];
    if (!is_v2)
        return read_text(root, folder, "/cpu.cfs_quota_us", quota) &&
                       read_text(root, folder, "/cpu.cfs_period_us", period)
                   ? whole(quota, period)
                   : INT64_MAX;
    const char *blank = read_text(root, folder, "/cpu.max", quota) ? strchr(quota, ' ') : NULL;
    return blank ? whole(quota, blank) : INT64_MAX;
}

static int64_t bytes_of_group(const char *root, const char *folder, bool is_v2) {
    char text[TEXT_SIZE];
    int64_t bytes = 0; /* the limit may be the word "max"; `bytes` then stays 0 */
    if (read_text(root, folder, is_v2 ? "/memory.max" : "/memory.limit_in_bytes", text))
        bytes = strtoll(text, NULL, 10);
    return bytes > 0 ? bytes : INT64_MAX;
}

static const resource cpu = {"cpu", "/cpu", cores_of_group};
static const resource memory = {"memory", "/memory", bytes_of_group};

static bool has_controller(const char *controllers, const char *name) {
    size_t size;
    for (; *controllers; controllers += size + (controllers[size] == ',')) {
        size = strcspn(controllers, ",");
        if (size == strlen(name) && strncmp(controllers, name, size) == 0)
            return true;
    }
    return false;
}

/* Evaluates a line of /proc/self/cgroup, "ID:CONTROLLERS:PATH": returns the minimum over the group
 * and its parents. Inside a container, the container's own group is the root, whatever path the
 * line has. */
static int64_t of_line(const resource *of, const char *root, char *line) {
    char folder[2 * PATH_SIZE];
    int64_t least = INT64_MAX;
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return INT64_MAX;
    *controllers++ = '\0';
    *path++ = '\0';
    bool is_v2 = *controllers == '\0';
    if (!is_v2 && !has_controller(controllers, of->controller))
        return INT64_MAX;
    for (char *slash = path + strlen(path); slash; slash = strrchr(path, '/')) {
        *slash = '\0';
        snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%.*s", is_v2 ? "" : of->folder, PATH_SIZE,
                 path);
        int64_t left = of->of_group(root, folder, is_v2);
        least = left < least ? left : least;
    }
    return least;
}

static int64_t of_groups(const resource *of, const char *root) {
    char text[TEXT_SIZE];
    int64_t least = INT64_MAX;
    read_text(root, "/proc/self", "/cgroup", text);
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end != '\0';
        if (end[-1] == '\n')
            end[-1] = '\0';
        int64_t left = of_line(of, root, line);
        least = left < least ? left : least;
    }
    return least;
}

int tm_cores(const char *root) {
    int64_t least = of_affinity(root), left = of_groups(&cpu, root);
    least = left < least ? left : least;
    return least < 1 || least > 65536 ? 1 : (int)least;
}

int64_t tm_memory(const char *root) {
    static const char title[] = "MemTotal:";
    char text[TEXT_SIZE];
    int64_t left = of_groups(&memory, root), kib = 0;
    const char *line = read_text(root, "/proc", "/meminfo", text) ? strstr(text, title) : NULL;
    if (line)
        kib = strtoll(line + strlen(title), NULL, 10);
    return kib > 0 && kib < left >> 10 ? kib << 10 : left;
}
