#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "identity/rank_from_path.h"
#include "mpi/load/inputs_merge.h"
#include "readers/converter.h"
#include "tmerge/names.h"
#include "tmerge/reader.h"

int tm_path_order(const void *a, const void *b) {
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    int order = tm_natural_order(x, y);
    return order ? order : strcmp(x, y);
}

bool tm_is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static tm_status read_folder(const char *folder, DIR *dir, tm_vec *paths, tm_error *err) {
    const struct dirent *item;
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    for (;;) {
        errno = 0; /* the calls of the previous round may have set errno */
        /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
        item = readdir(dir);
        if (!item)
            break;
        if (item->d_name[0] == '.')
            continue;
        size_t size = strlen(folder) + strlen(item->d_name) + 2;
        char *path = malloc(size);
        if (!path)
            return tm_fail_memory(err);
        snprintf(path, size, "%s%s%s", folder, slash, item->d_name);
        if (!tm_is_file(path)) {
            free(path);
        } else if (!tm_vec_append(paths, &path, 1)) {
            free(path);
            return tm_fail_memory(err);
        }
    }
    return errno ? tm_fail(err, TM_ERR_INPUT, folder, -1, "%s", strerror(errno)) : TM_OK;
}

/* Returns a glob pattern for paths below a folder. Escapes the folder's name. The caller frees it;
 * NULL when out of memory. */
static char *pattern_below(const char *folder, const char *pattern) {
    char *out = malloc(2 * strlen(folder) + strlen(pattern) + 2), *p = out;
    for (const char *c = folder; out && *c; c++) {
        if (strchr("*?[\\", *c))
            *p++ = '\\';
        *p++ = *c;
    }
    const char *slash = p > out && p[-1] == '/' ? "" : "/";
    if (out)
        snprintf(p, strlen(pattern) + 2, "%s%s", slash, pattern);
    return out;
}

static bool add_matches(const char *folder, const char *pattern, tm_vec *paths) {
    glob_t found;
    char *whole = pattern_below(folder, pattern);
    bool ok = whole != NULL;
    int code = ok ? glob(whole, 0, NULL, &found) : GLOB_NOSPACE;
    for (size_t i = 0; code == 0 && i < found.gl_pathc && ok; i++) {
        char *path = tm_is_file(found.gl_pathv[i]) ? strdup(found.gl_pathv[i]) : NULL;
        ok = !path || tm_vec_append(paths, &path, 1);
    }
    if (code == 0)
        globfree(&found);
    free(whole);
    return ok && code != GLOB_NOSPACE;
}

static tm_text folder_of(const char *path) {
    const char *end = strrchr(path, '/'), *begin = end;
    while (begin > path && begin[-1] != '/')
        begin--;
    return (tm_text){begin, (size_t)(end - begin)};
}

static bool same_folder(const char *a, const char *b) {
    tm_text x = folder_of(a), y = folder_of(b);
    return x.size == y.size && memcmp(x.bytes, y.bytes, x.size) == 0;
}

void tm_folders_list_name(char *text, size_t room, tm_text name) {
    size_t used = strlen(text);
    const char *comma = used > 0 ? ", " : "";
    if (used + name.size + sizeof ", , ..." < room)
        snprintf(text + used, room - used, "%s%.*s", comma, (int)name.size, name.bytes);
    else if (used < 3 || strcmp(text + used - 3, "...") != 0)
        snprintf(text + used, room - used, "%s...", comma);
}

/* Fails if the paths are in more than one folder. The message lists the folders.
 * @param paths [n] sorted, so that the paths of a folder are adjacent
 * @param what what the folders contain
 * @param advice what the user should do */
static tm_status check_one_folder(const char *named, char *const *paths, size_t n, const char *what,
                                  const char *advice, tm_error *err) {
    char text[TM_MESSAGE_MAX / 2] = "";
    size_t n_folders = 0;
    for (size_t i = 0; i < n; i++) {
        tm_text folder = folder_of(paths[i]);
        if (i > 0 && same_folder(paths[i], paths[i - 1]))
            continue;
        tm_folders_list_name(text, sizeof text, folder);
        n_folders++;
    }
    return n_folders <= 1
               ? TM_OK
               : tm_fail(err, TM_ERR_INPUT, named, -1, "%zu folders below hold %s: %s; %s",
                         n_folders, what, text, advice);
}

/* Lists the files in the places below a folder where profilers write traces. */
static tm_status read_below(const char *folder, tm_vec *paths, tm_error *err) {
    size_t n;
    const tm_format *const *formats = tm_formats(&n);
    for (size_t i = 0; i < n; i++) {
        size_t first = paths->n;
        for (const char *const *p = formats[i]->in_folders; p && *p; p++)
            if (!add_matches(folder, *p, paths))
                return tm_fail_memory(err);
        if (formats[i]->one_folder && paths->n > first)
            TM_TRY(check_one_folder(folder, (char *const *)paths->data + first, paths->n - first,
                                    "profiles, and each is a job", "name one of them", err));
    }
    return TM_OK;
}

bool tm_is_trace(const char *path) {
    tm_file_info info = {.kind = TM_FILE_OTHER};
    return tm_converter_of(path) ||
           (tm_file_sniff(path, &info, NULL) == TM_OK && info.kind == TM_FILE_TRACE);
}

static bool any_trace(char *const *paths, size_t n) {
    size_t i = 0;
    while (i < n && !tm_is_trace(paths[i]))
        i++;
    return i < n;
}

/* Returns whether each path is in a folder that is named after a rank. Such folders together are
 * one recording. */
static bool are_of_ranks(char *const *paths, size_t n) {
    bool are = true;
    for (size_t i = 0; i < n && are; i++) {
        tm_text folder = folder_of(paths[i]);
        const tm_rank_label label = tm_rank_label_of(folder.bytes, folder.size);
        are = tm_rank_of_label(&label) >= 0;
    }
    return are;
}

/* Drops the paths in folders that have no trace. */
static void keep_recordings(tm_vec *paths, size_t first) {
    char **v = paths->data;
    size_t n = paths->n, to = first;
    for (size_t i = first, end; i < n; i = end) {
        for (end = i + 1; end < n && same_folder(v[i], v[end]);)
            end++;
        bool keep = any_trace(v + i, end - i);
        for (size_t k = i; k < end; k++) {
            if (keep)
                v[to++] = v[k];
            else
                free(v[k]);
        }
    }
    paths->n = to;
}

/* Lists the recordings below a folder if the folder itself has no trace. Each recording is a
 * subfolder, as torchtitan and torchtune write them: iteration_10/rank0_trace.json. */
static tm_status read_recordings(const char *folder, bool all, tm_vec *paths, bool *any,
                                 tm_error *err) {
    size_t first = paths->n;
    *any = any_trace(paths->data, paths->n);
    if (*any)
        return TM_OK;
    if (!add_matches(folder, "*/*", paths))
        return tm_fail_memory(err);
    char **v = (char **)paths->data + first;
    if (paths->n > first)
        qsort(v, paths->n - first, sizeof *v, tm_path_order);
    keep_recordings(paths, first);
    *any = paths->n > first;
    if (all || are_of_ranks(v, paths->n - first))
        return TM_OK;
    return check_one_folder(
        folder, v, paths->n - first, "traces",
        "name one of them, or read all with --all-recordings if they are recordings of one run",
        err);
}

tm_status tm_folder_list(const char *folder, bool all_recordings, tm_vec *paths, bool *any,
                         tm_error *err) {
    DIR *dir = opendir(folder);
    if (!dir)
        return tm_fail(err, TM_ERR_INPUT, folder, -1, "%s", strerror(errno));
    tm_status status = read_folder(folder, dir, paths, err);
    closedir(dir);
    if (status == TM_OK)
        status = read_below(folder, paths, err);
    if (status == TM_OK)
        status = read_recordings(folder, all_recordings, paths, any, err);
    tm_vec_sort(paths, tm_path_order);
    return status;
}
