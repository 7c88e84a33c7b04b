#include "ascend_place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmerge/timeline.h"

/* Returns the number in a name that consists of a prefix, a number and a suffix. Returns -1 if the
 * name has another form. */
static int64_t number_in(const char *name, const char *start, const char *end) {
    if (strncmp(name, start, strlen(start)) != 0)
        return -1;
    const char *digits = name + strlen(start);
    size_t n = strspn(digits, "0123456789");
    return n > 0 && n <= 9 && strcmp(digits + n, end) == 0 ? strtoll(digits, NULL, 10) : -1;
}

/* Returns the rank in the name of the file profiler_info_<rank>.json in a folder; -1 if there is
 * none, -2 if there are several. */
static int64_t rank_in(const char *folder) {
    int64_t rank = -1;
    const struct dirent *item;
    DIR *dir = opendir(folder);
    /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
    while (dir && (item = readdir(dir))) {
        int64_t found = number_in(item->d_name, "profiler_info_", ".json");
        if (found >= 0)
            rank = rank == -1 ? found : -2;
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
    int64_t rank =
        number_in(slash ? path + (slash - folder) + 1 : path, "ascend_pytorch_profiler_", ".db");
    rank = rank >= 0 ? rank : rank_in(folder);
    const char *base = strrchr(folder, '/');
    base = base ? base + 1 : folder;
    if (rank == -1 && strcmp(base, output) == 0) {
        snprintf(folder + (base - folder), sizeof output, ".");
        rank = rank_in(folder);
    }
    free(folder);
    return rank >= 0 && rank <= TM_RANK_MAX ? rank : -1;
}

/* Returns the length of a path without its last component. */
static size_t folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Removes the last folder of a path, [0, *size), if the folder's name starts with the given
 * word. */
static bool take_folder(const char *path, size_t *size, const char *word) {
    size_t begin = *size > 0 ? *size - 1 : 0;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    if (*size == 0 || strncmp(path + begin, word, strlen(word)) != 0)
        return false;
    *size = begin;
    return true;
}

bool tm_ascend_msprof_is_covered(const char *path, const char *other) {
    static const char output[] = "mindstudio_profiler_output", name[] = "msprof_";
    size_t own = folder_of(path), its = folder_of(other);
    const char *file = path + own, *file_there = other + its;
    if (strncmp(file, name, sizeof name - 1) != 0)
        return false;
    (void)take_folder(path, &own, output);
    if (strncmp(file_there, name, sizeof name - 1) == 0) {
        size_t folder = own;
        (void)take_folder(other, &its, output);
        return own == its && strncmp(path, other, own) == 0 &&
               take_folder(path, &folder, "PROF_") && strcmp(file, file_there) < 0;
    }
    return take_folder(path, &own, "PROF_") &&
           take_folder(other, &its, "ASCEND_PROFILER_OUTPUT/") && own == its &&
           strncmp(path, other, own) == 0 &&
           (strncmp(file_there, "trace_view.json", 15) == 0 ||
            strncmp(file_there, "ascend_pytorch_profiler", 23) == 0);
}

/* Returns the end of the text [begin, end) without a final _<digits>. Returns NULL if the text does
 * not end in this way. */
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
