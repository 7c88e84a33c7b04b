#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/hash.h"

/* Reads the first @p bytes of a file; pads a shorter file with zeros. */
static tm_status read_head(int file, const char *path, uint64_t *words, size_t bytes,
                           tm_error *err) {
    char *at = (char *)words;
    size_t size = 0;
    while (size < bytes) {
        ssize_t n = read(file, at + size, bytes - size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tm_fail(err, TM_ERR_INPUT, path, -1, "%s", strerror(errno));
        if (n == 0)
            break;
        size += (size_t)n;
    }
    memset(at + size, 0, bytes - size);
    return TM_OK;
}

/* Returns whether the file is on a network file system. The types are from linux/magic.h and
 * vendors' sources. */
static bool is_of_network(int file) {
    static const uint32_t types[] = {
        0x6969,     /* NFS */
        0x0BD00BD0, /* Lustre */
        0x47504653, /* GPFS */
        0x00C36400, /* Ceph */
        0x19830326, /* BeeGFS */
        0xFE534D42, /* SMB 2 and 3 */
    };
    struct statfs info;
    bool is = false;
    if (fstatfs(file, &info) == 0)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            is = is || (uint32_t)info.f_type == types[i];
    return is;
}

/* Hashes in independent lanes, so that the processor can work on several words at once. */
static uint64_t hash_head(const uint64_t *words, size_t bytes) {
    enum { LANES = 8 };
    uint64_t lanes[LANES] = {0};
    for (size_t i = 0; i < bytes / sizeof *words; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] = tm_hash_words(lanes[k], words + i + k, 1);
    return tm_hash_words(0, lanes, LANES);
}

static tm_status digest(int file, const char *path, size_t bytes, uint64_t *out, tm_error *err) {
    uint64_t *words = malloc(bytes);
    tm_status status = words ? read_head(file, path, words, bytes, err) : tm_fail_memory(err);
    if (status == TM_OK)
        *out = hash_head(words, bytes);
    free(words);
    return status;
}

static tm_status identify(int file, const char *path, tm_identity *out, tm_error *err) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "%s", strerror(errno));
    *out =
        (tm_identity){.size = info.st_size,
                      .mtime_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec};
    if (!S_ISREG(info.st_mode) || is_of_network(file))
        return TM_OK;
    return digest(file, path, TM_IDENTITY_LONG, &out->digest, err);
}

/* @param out  file descriptor; -1 on failure */
static tm_status open_file(const char *path, int *out, tm_error *err) {
    /* Without O_NONBLOCK, opening a pipe would wait for a writer. */
    *out = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return *out >= 0 ? TM_OK : tm_fail(err, TM_ERR_INPUT, path, -1, "%s", strerror(errno));
}

tm_status tm_identity_of(const char *path, tm_identity *out, tm_error *err) {
    int file;
    TM_TRY(open_file(path, &file, err));
    tm_status status = identify(file, path, out, err);
    close(file);
    return status;
}

tm_status tm_identity_digest(const char *path, size_t bytes, uint64_t *out, tm_error *err) {
    int file;
    TM_TRY(open_file(path, &file, err));
    tm_status status = digest(file, path, bytes, out, err);
    close(file);
    return status;
}
