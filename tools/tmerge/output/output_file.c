#include "output_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/letters.h"
#include "base/temp_file.h"
#include "launch/signals.h"

static tm_status check_present(const char *path, mode_t mode, const tm_output_kind *kind,
                               bool force, tm_error *err) {
    if (S_ISDIR(mode))
        return tm_fail(err, TM_ERR_OUTPUT, path, -1, "this is a folder");
    if (!S_ISREG(mode)) /* a device or a pipe would be replaced by the new file */
        return tm_fail(err, TM_ERR_OUTPUT, path, -1, "this is not a regular file");
    if (!force && !kind->is_one(kind->context, path))
        return tm_fail(err, TM_ERR_OUTPUT, path, -1, "this file is not %s; --force overwrites it",
                       kind->word);
    return TM_OK;
}

tm_status tm_output_check(const char *path, const tm_output_kind *kind, bool force, tm_error *err) {
    struct stat info;
    char folder[TM_PATH_MAX + 1];
    if (strlen(path) >= TM_PATH_MAX)
        return tm_fail(err, TM_ERR_OUTPUT, path, -1, "this path is too long");
    if (path[0] == '\0')
        return tm_fail(err, TM_ERR_OUTPUT, NULL, -1, "the name of the output is empty");
    if (stat(path, &info) == 0)
        TM_TRY(check_present(path, info.st_mode, kind, force, err));
    /* The folder's name gets "/." at its end, because "NAME/." does not exist if NAME is a file. */
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash - path) + 1 : 0, path);
    if (access(folder, W_OK | X_OK) != 0)
        return tm_fail(err, TM_ERR_OUTPUT, path, -1, "no file can be made in its folder: %s",
                       strerror(errno));
    return TM_OK;
}

char *tm_output_beside(const char *store, const char *ending) {
    static const char store_end[] = ".h5";
    size_t size = strlen(store);
    if (tm_ends_with(store, size, store_end))
        size -= sizeof store_end - 1;
    const size_t room = size + strlen(ending) + 1;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%.*s%s", (int)size, store, ending);
    return path;
}

void tm_output_watch(const char *path) {
    char temporary[TM_PATH_MAX + TM_TEMP_LONGER];
    if (tm_temp_file_temporary_path(path, temporary, sizeof temporary))
        tm_signals_remove(temporary);
}
