#include "nested_traces.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folders.h"
#include "identity/rank_from_path.h"

/* Limits of the search: an archive of runs may have millions of files and few traces. Each entry
 * costs a stat, and each file an open. */
enum {
    LEVELS_MAX = 5,
    ENTRIES_MAX = 10000,
    FOLDER_ENTRIES_MAX = 1000,
    FILES_MAX = 500,
    FOLDER_FILES_MAX = 32
};

/* A folder to search. The path is first, for tm_path_order. */
typedef struct place {
    char *path; /* owned */
    int level;  /* depth below the named folder */
} place;

typedef struct search {
    const char *root;
    tm_vec places; /* vector of place: folders that are still to be searched, sorted by level */
    tm_vec files;  /* vector of char *, owned: files of the current folder */
    int n_entries, n_files; /* examined so far */
    char names[TM_MESSAGE_MAX / 2];
    tm_text last; /* the last name in `names`; points into the path of a place */
    size_t n_names;
} search;

/* Adds an entry of a folder at this level to the folders to search or to the files. Takes ownership
 * of the path. Returns false when out of memory. */
static bool add_entry(search *s, char *path, int level) {
    struct stat info;
    const place below = {path, level + 1};
    bool folder = lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder && level < LEVELS_MAX)
        return tm_vec_append(&s->places, &below, 1);
    if (!folder && level > 1 && tm_is_file(path)) /* files of upper levels are not added, because
                                                     the caller has already looked at them */
        return tm_vec_append(&s->files, &path, 1);
    free(path);
    return true;
}

/* Returns the path of the next entry of a folder, hidden or not; owned by the caller. Returns NULL
 * at the end of the folder, and NULL with *ok false when out of memory. */
static char *next_entry(DIR *dir, const char *folder, bool *ok) {
    /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
    const struct dirent *item = readdir(dir);
    size_t size = item ? strlen(folder) + strlen(item->d_name) + 2 : 0;
    char *path = item ? malloc(size) : NULL;
    if (path)
        snprintf(path, size, "%s/%s", folder, item->d_name);
    *ok = path || !item;
    return path;
}

/* Lists a folder. Skips a folder that cannot be read, because the user did not name it. */
static tm_status list(search *s, const place *at, tm_error *err) {
    DIR *dir = opendir(at->path);
    bool ok = true;
    for (int n = 0; ok && dir && n < FOLDER_ENTRIES_MAX && s->n_entries < ENTRIES_MAX; n++) {
        char *path = next_entry(dir, at->path, &ok);
        if (!path)
            break;
        bool hidden = path[strlen(at->path) + 1] == '.';
        ok = hidden || add_entry(s, path, at->level);
        if (hidden || !ok)
            free(path);
        s->n_entries++;
    }
    if (dir)
        closedir(dir);
    return ok ? TM_OK : tm_fail_memory(err);
}

static bool holds_trace(search *s) {
    char **files = s->files.data;
    size_t n = s->files.n;
    bool found = false;
    if (n > 1)
        qsort(files, n, sizeof *files, tm_path_order);
    for (size_t i = 0; i < n; i++) {
        bool look = !found && i < FOLDER_FILES_MAX && s->n_files < FILES_MAX;
        s->n_files += look;
        found = found || (look && tm_is_trace(files[i]));
        free(files[i]);
    }
    s->files.n = 0;
    return found;
}

/* Adds the name of a folder with traces to the list. If the folder is named after a rank, adds its
 * parent instead, because all ranks below the parent are one recording. */
static void add_name(search *s, const char *path) {
    const char *name = path + strlen(s->root), *base = strrchr(path, '/') + 1;
    name += strspn(name, "/");
    const tm_rank_label label = tm_rank_label_of(base, strlen(base));
    bool of_rank = tm_rank_of_label(&label) >= 0 && base > name;
    const tm_text text = {name, of_rank ? (size_t)(base - 1 - name) : strlen(name)};
    if (s->n_names > 0 && text.size == s->last.size &&
        !memcmp(text.bytes, s->last.bytes, text.size))
        return;
    tm_folders_list_name(s->names, sizeof s->names, text);
    s->last = text;
    s->n_names++;
}

static tm_status look(search *s, tm_error *err) {
    for (size_t i = 0; i < s->places.n; i++) {
        const place at = ((place *)s->places.data)[i];
        size_t first = s->places.n;
        TM_TRY(list(s, &at, err));
        if (s->places.n - first > 1)
            qsort((place *)s->places.data + first, s->places.n - first, sizeof at, tm_path_order);
        if (holds_trace(s))
            add_name(s, at.path);
    }
    return TM_OK;
}

tm_status tm_elsewhere_fail(const char *folder, tm_error *err) {
    search s = {.root = folder, .places = TM_VEC(place), .files = TM_VEC(char *)};
    const place root = {strdup(folder), 0};
    bool ok = root.path && tm_vec_append(&s.places, &root, 1);
    tm_status status = ok ? look(&s, err) : tm_fail_memory(err);
    if (!ok)
        free(root.path);
    for (size_t i = 0; i < s.files.n; i++)
        free(((char **)s.files.data)[i]);
    if (status == TM_OK && s.n_names > 0)
        status = tm_fail(
            err, TM_ERR_INPUT, folder, -1,
            "there is no trace here or one level below; there are traces in %s; name %s", s.names,
            s.n_names == 1 ? "that folder" : "one of these, or all folders of one job");
    for (size_t i = 0; i < s.places.n; i++)
        free(((place *)s.places.data)[i].path);
    tm_vec_free(&s.places);
    tm_vec_free(&s.files);
    return status;
}
