#include "temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

enum { LINK_MAX_CHARS = 40, READ_AND_WRITE_BY_ALL = 0666, DAY_S = 86400 };

/* Builds the name in /proc through which a nameless file can be linked. */
static void link_of(int fd, char out[LINK_MAX_CHARS]) {
    snprintf(out, LINK_MAX_CHARS, "/proc/self/fd/%d", fd);
}

/* Returns the length of a path's folder, including the trailing slash. */
static int folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns a hash of the scope in which process ids are unique: this machine since boot, and the PID
 * namespace. */
static unsigned machine(void) {
    char boot[40] = "", space[40] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, boot, sizeof boot) : 0, m;
    if (fd >= 0)
        close(fd);
    m = readlink("/proc/self/ns/pid", space, sizeof space);
    uint64_t hash = tm_hash_mixed(0, boot, n > 0 ? (size_t)n : 0);
    return (unsigned)tm_hash_mixed(hash, space, m > 0 ? (size_t)m : 0);
}

bool tm_temp_file_temporary_path(const char *path, char *out, size_t size) {
    int folder = folder_size(path);
    int n = snprintf(out, size, "%.*s.%s.%08x-%ld.tmerge-tmp", folder, path, path + folder,
                     machine(), (long)getpid());
    bool fits = n >= 0 && (size_t)n < size;
    if (!fits && size > 0)
        out[0] = '\0';
    return fits;
}

bool tm_temp_file_create(tm_temp_file *temp, const char *path) {
    size_t length = strlen(path), size = length + TM_TEMP_LONGER;
    *temp = (tm_temp_file){.path = malloc(length + 1), .temporary = malloc(size), .fd = -1};
    if (!temp->path || !temp->temporary)
        return false;
    memcpy(temp->path, path, length + 1);
    return tm_temp_file_temporary_path(path, temp->temporary, size);
}

/* Opens a file without a name; returns -1 if that fails for any reason. Only Linux has such files
 * (the build defines _GNU_SOURCE for them): on other systems, files get the temporary name. */
static int open_nameless(const tm_temp_file *temp) {
    int fd = -1;
#ifdef O_TMPFILE
    /* Cuts the temporary name "FOLDER/.NAME" to "FOLDER/.", because open needs the path of the
     * folder. */
    char *slash = strrchr(temp->temporary, '/');
    char *after_dot = slash ? slash + 2 : temp->temporary + 1, kept = *after_dot;
    char link[LINK_MAX_CHARS];
    *after_dot = '\0';
    fd = open(temp->temporary, O_TMPFILE | O_RDWR | O_CLOEXEC, READ_AND_WRITE_BY_ALL);
    *after_dot = kept;
    link_of(fd, link);
    if (fd >= 0 && access(link, F_OK) != 0) {
        close(fd);
        fd = -1;
    }
#else
    (void)temp;
#endif
    return fd;
}

/* Returns whether a name in the folder is a temporary file of the same output that no process
 * writes any more. Writers on other machines cannot be checked, but they finish within a day. */
static bool is_left_over(int folder, const char *name, const char *base) {
    struct stat info;
    size_t size = strlen(base);
    if (name[0] != '.' || strncmp(name + 1, base, size) != 0 || name[1 + size] != '.')
        return false;
    char *end = NULL;
    unsigned long of = strtoul(name + size + 2, &end, 16);
    long pid = *end == '-' ? strtol(end + 1, &end, 10) : 0;
    if (pid <= 0 || strcmp(end, ".tmerge-tmp") != 0)
        return false;
    if (of == machine())
        return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           info.st_mtime < time(NULL) - DAY_S;
}

static void clear_left_over(tm_temp_file *temp) {
    int size = folder_size(temp->path);
    /* Cuts the path after its folder for opendir(), and restores it below. */
    char kept = temp->temporary[size];
    temp->temporary[size] = '\0';
    DIR *folder = opendir(size > 0 ? temp->temporary : ".");
    temp->temporary[size] = kept;
    const struct dirent *entry;
    /* cppcheck-suppress readdirCalled ; readdir_r is deprecated, and the stream is our own */
    while (folder && (entry = readdir(folder)))
        if (is_left_over(dirfd(folder), entry->d_name, temp->path + size))
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

int tm_temp_file_open(tm_temp_file *temp) {
    clear_left_over(temp);
    if (unlink(temp->temporary) != 0 && errno != ENOENT)
        return errno;
    temp->fd = open_nameless(temp);
    if (temp->fd >= 0)
        return 0;
    /* O_EXCL: fails if the name exists, for example as somebody else's link */
    temp->fd = open(temp->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, READ_AND_WRITE_BY_ALL);
    if (temp->fd < 0)
        return errno;
    temp->named = true;
    return 0;
}

/* Links the file under its temporary name: unlike rename, linkat cannot replace a file. */
static int give_name(tm_temp_file *temp) {
    char link[LINK_MAX_CHARS];
    link_of(temp->fd, link);
    /* Another process may have made a file of this name. If the file cannot be removed, linkat
     * fails, too. */
    (void)unlink(temp->temporary);
    if (linkat(AT_FDCWD, link, AT_FDCWD, temp->temporary, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    temp->named = true;
    return 0;
}

/* Returns whether the temporary name still refers to the file that this process wrote. */
static bool is_own(const tm_temp_file *temp) {
    struct stat written, there;
    return fstat(temp->fd, &written) == 0 && lstat(temp->temporary, &there) == 0 &&
           written.st_dev == there.st_dev && written.st_ino == there.st_ino;
}

static int synchronise(int fd) {
    int failed;
    do
        failed = fsync(fd);
    while (failed && errno == EINTR);
    return failed && errno != EINVAL ? errno : 0; /* EINVAL: a file of this kind cannot be
                                                     synchronised, which is no failure */
}

int tm_temp_file_publish(tm_temp_file *temp) {
    int failed = synchronise(temp->fd);
    if (failed)
        return failed;
    failed = temp->named ? 0 : give_name(temp);
    if (failed)
        return failed;
    if (!is_own(temp))
        return ENOENT;
    if (rename(temp->temporary, temp->path) != 0)
        return errno;
    temp->named = false;
    return 0;
}

void tm_temp_file_discard(tm_temp_file *temp) {
    if (temp->named)
        (void)unlink(temp->temporary);
    if (temp->fd >= 0)
        (void)close(temp->fd);
    free(temp->temporary);
    free(temp->path);
    *temp = (tm_temp_file){.fd = -1};
}
