#include "draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINK_MAX_CHARS = 40, READ_AND_WRITE_BY_ALL = 0666 };

/* The name in /proc by which a file without a name can get one. */
static void link_of(int fd, char out[LINK_MAX_CHARS]) {
    snprintf(out, LINK_MAX_CHARS, "/proc/self/fd/%d", fd);
}

bool tm_draft_temporary_path(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int n = snprintf(out, size, "%.*s.%s.tmerge-tmp", folder, path, path + folder);
    bool fits = n >= 0 && (size_t)n < size;
    if (!fits && size > 0)
        out[0] = '\0';
    return fits;
}

bool tm_draft_create(tm_draft *draft, const char *path) {
    size_t length = strlen(path), size = length + sizeof "..tmerge-tmp";
    *draft = (tm_draft){.path = malloc(length + 1), .temporary = malloc(size), .fd = -1};
    if (!draft->path || !draft->temporary)
        return false;
    memcpy(draft->path, path, length + 1);
    return tm_draft_temporary_path(path, draft->temporary, size);
}

/* Returns -1 where that cannot be had; why does not matter. Such files are Linux's, not POSIX's
 * (the build defines _GNU_SOURCE for this file); elsewhere all have the temporary name. */
static int open_nameless(const tm_draft *draft) {
    int fd = -1;
#ifdef O_TMPFILE
    /* Up to the dot with which its last part begins, the temporary name is one of the folder. */
    char *slash = strrchr(draft->temporary, '/');
    char *behind_dot = slash ? slash + 2 : draft->temporary + 1, kept = *behind_dot;
    char link[LINK_MAX_CHARS];
    *behind_dot = '\0';
    fd = open(draft->temporary, O_TMPFILE | O_RDWR | O_CLOEXEC, READ_AND_WRITE_BY_ALL);
    *behind_dot = kept;
    link_of(fd, link);
    if (fd >= 0 && access(link, F_OK) != 0) {
        close(fd);
        fd = -1;
    }
#else
    (void)draft;
#endif
    return fd;
}

int tm_draft_open(tm_draft *draft) {
    if (unlink(draft->temporary) != 0 && errno != ENOENT)
        return errno;
    draft->fd = open_nameless(draft);
    if (draft->fd >= 0)
        return 0;
    /* exclusive: never through a link that somebody else put there */
    draft->fd =
        open(draft->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, READ_AND_WRITE_BY_ALL);
    if (draft->fd < 0)
        return errno;
    draft->named = true;
    return 0;
}

/* A link cannot take the place of a file, so the temporary name comes first. */
static int give_name(tm_draft *draft) {
    char link[LINK_MAX_CHARS];
    link_of(draft->fd, link);
    (void)unlink(draft->temporary); /* what came there since; if that fails, so does the link */
    if (linkat(AT_FDCWD, link, AT_FDCWD, draft->temporary, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    draft->named = true;
    return 0;
}

static int synchronise(int fd) {
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed && errno != EINVAL ? errno : 0; /* EINVAL: a file that cannot be synchronised */
}

int tm_draft_publish(tm_draft *draft) {
    int failed = synchronise(draft->fd);
    if (failed)
        return failed;
    failed = draft->named ? 0 : give_name(draft);
    if (failed)
        return failed;
    if (rename(draft->temporary, draft->path) != 0)
        return errno;
    draft->named = false;
    return 0;
}

void tm_draft_discard(tm_draft *draft) {
    if (draft->named)
        (void)unlink(draft->temporary);
    if (draft->fd >= 0)
        (void)close(draft->fd);
    free(draft->temporary);
    free(draft->path);
    *draft = (tm_draft){.fd = -1};
}
