#include "ascend_place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmerge/timeline.h"

/* -1: none; -2: several. */
static int64_t rank_in(const char *folder) {
    static const char start[] = "profiler_info_", end[] = ".json";
    int64_t rank = -1;
    const struct dirent *item;
    DIR *dir = opendir(folder);
    /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
    while (dir && (item = readdir(dir))) {
        if (strncmp(item->d_name, start, sizeof start - 1) != 0)
            continue;
        const char *digits = item->d_name + sizeof start - 1;
        size_t n = strspn(digits, "0123456789");
        if (n == 0 || n > 9 || strcmp(digits + n, end) != 0)
            continue;
        rank = rank == -1 ? strtoll(digits, NULL, 10) : -2;
    }
    if (dir)
        closedir(dir);
    return rank;
}

int64_t tm_ascend_rank_of(const char *path) {
    static const char output[] = "ASCEND_PROFILER_OUTPUT";
    size_t size = strlen(path) + 4;
    char *folder = malloc(size);
    if (!folder)
        return -1;
    snprintf(folder, size, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    else
        snprintf(folder, size, ".");
    int64_t rank = rank_in(folder);
    const char *base = strrchr(folder, '/');
    base = base ? base + 1 : folder;
    if (rank == -1 && strcmp(base, output) == 0) {
        snprintf(folder + (base - folder), sizeof output, ".");
        rank = rank_in(folder);
    }
    free(folder);
    return rank >= 0 && rank <= TM_RANK_MAX ? rank : -1;
}

/* Takes _<digits> off the end of [begin, end). */
static const char *without_number(const char *begin, const char *end) {
    const char *p = end;
    while (p > begin && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return p < end && p > begin && p[-1] == '_' ? p - 1 : NULL;
}

bool tm_ascend_host_of(const char *path, char *out, size_t size) {
    static const char mark[] = "_ascend_pt";
    for (const char *at = path; (at = strstr(at, mark)); at++) {
        if (at[sizeof mark - 1] != '/' && at[sizeof mark - 1] != '\0')
            continue;
        const char *begin = at;
        while (begin > path && begin[-1] != '/')
            begin--;
        const char *end = without_number(begin, at);
        end = end ? without_number(begin, end) : NULL;
        if (!end || end == begin || (size_t)(end - begin) >= size)
            continue;
        memcpy(out, begin, (size_t)(end - begin));
        out[end - begin] = '\0';
        return true;
    }
    return false;
}
