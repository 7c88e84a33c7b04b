#include "input/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum size of a read [B]. POSIX does not define reads above SSIZE_MAX, and Linux reads at most
 * 2 GiB at once. */
static const size_t most_at_once = (size_t)1 << 30;

static tm_status fail_system(tm_error *err, const char *what, int number) {
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0)
        reason[0] = '\0';
    return tm_fail(err, TM_ERR_INPUT, NULL, -1, "%s: %s", what, reason);
}

/* Fills the buffer from the file. A pipe returns fewer bytes than requested long before its end. */
static tm_status read_file(tm_raw *raw, uint8_t *buffer, size_t capacity, size_t *n,
                           tm_error *err) {
    *n = 0;
    while (*n < capacity && !raw->ended) {
        size_t wanted = capacity - *n < most_at_once ? capacity - *n : most_at_once;
        ssize_t got = read(raw->fd, buffer + *n, wanted);
        if (got < 0 && errno != EINTR)
            return fail_system(err, "cannot be read", errno);
        if (got > 0)
            *n += (size_t)got;
        raw->ended = got == 0;
    }
    return TM_OK;
}

static int open_retrying(const char *path) {
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool is_protobuf(const char *path) {
    size_t size = strlen(path);
    return size > 3 && strcmp(path + size - 3, ".pb") == 0;
}

static tm_status look_at(tm_raw *raw, const char *path, tm_error *err) {
    struct stat status;
    if (fstat(raw->fd, &status) != 0)
        return fail_system(err, "cannot be read", errno);
    if (S_ISDIR(status.st_mode))
        return fail_system(err, "cannot be read", EISDIR);
    if (S_ISREG(status.st_mode)) {
        raw->size = (int64_t)status.st_size;
        /* Makes the kernel read further ahead; a failure does no harm. */
        (void)posix_fadvise(raw->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    TM_TRY(read_file(raw, raw->head, sizeof raw->head, &raw->n_head, err));
    /* /proc files and pipes report no size, so only reading shows that a file is empty. */
    if (raw->n_head == 0)
        return is_protobuf(path)
                   ? tm_fail(err, TM_ERR_INPUT, NULL, -1,
                             "file is empty; profilers also leave an empty file if "
                             "a profile exceeds protobuf's limit of 2 GB: record fewer steps")
                   : tm_fail_nothing(err, NULL, -1, "file is empty");
    return TM_OK;
}

tm_status tm_raw_open(tm_raw *raw, const char *path, tm_error *err) {
    *raw = (tm_raw){.fd = open_retrying(path), .piece_bytes = TM_RAW_PIECE, .size = -1};
    if (raw->fd < 0)
        return fail_system(err, "cannot be opened", errno);
    tm_status status = look_at(raw, path, err);
    if (status != TM_OK)
        tm_raw_close(raw);
    return status;
}

void tm_raw_open_memory(tm_raw *raw, const void *bytes, size_t size) {
    *raw = (tm_raw){
        .fd = -1, .bytes = bytes, .left = size, .piece_bytes = TM_RAW_PIECE, .size = (int64_t)size};
}

void tm_raw_close(tm_raw *raw) {
    if (raw->fd >= 0)
        (void)close(raw->fd); /* the failure can be ignored: the file was only read */
    raw->fd = -1;
    free(raw->piece);
    raw->piece = NULL;
}

const uint8_t *tm_raw_head(const tm_raw *raw, size_t *n) {
    if (raw->fd < 0) {
        *n = raw->left < TM_RAW_HEAD ? raw->left : TM_RAW_HEAD;
        return raw->bytes;
    }
    *n = raw->n_head;
    return raw->head;
}

tm_status tm_raw_skip(tm_raw *raw, int64_t offset, tm_error *err) {
    if (raw->size < 0)
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "is a pipe: it can only be read once");
    if (offset < 0 || offset > raw->size)
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "ends before byte %lld", (long long)offset);
    if (raw->fd < 0) {
        raw->bytes += offset - (raw->size - (int64_t)raw->left);
        raw->left = (size_t)(raw->size - offset);
        return TM_OK;
    }
    if (lseek(raw->fd, (off_t)offset, SEEK_SET) < 0)
        return fail_system(err, "cannot be read", errno);
    raw->head_taken = raw->n_head; /* the head counts as delivered, because its bytes will be read
                                      from the file again */
    raw->ended = false;
    return TM_OK;
}

static const uint8_t *take_memory(tm_raw *raw, size_t capacity, size_t *n) {
    const uint8_t *bytes = raw->bytes;
    *n = raw->left < capacity ? raw->left : capacity;
    if (*n > 0) /* bytes may be NULL if n is 0, and adding to NULL is undefined */
        raw->bytes += *n;
    raw->left -= *n;
    raw->consumed += (int64_t)*n;
    return bytes;
}

tm_status tm_raw_read(tm_raw *raw, void *buffer, size_t capacity, size_t *n, tm_error *err) {
    if (raw->fd < 0) {
        const uint8_t *bytes = take_memory(raw, capacity, n);
        if (*n > 0)
            memcpy(buffer, bytes, *n);
        return TM_OK;
    }
    size_t kept = raw->n_head - raw->head_taken;
    if (kept > capacity)
        kept = capacity;
    if (kept > 0) {
        memcpy(buffer, raw->head + raw->head_taken, kept);
        raw->head_taken += kept;
    }
    tm_status status = read_file(raw, (uint8_t *)buffer + kept, capacity - kept, n, err);
    *n += kept;
    raw->consumed += (int64_t)*n;
    return status;
}

tm_status tm_raw_next(tm_raw *raw, const uint8_t **bytes, size_t *n, tm_error *err) {
    *n = 0;
    if (raw->fd < 0) {
        *bytes = take_memory(raw, raw->piece_bytes, n);
        return TM_OK;
    }
    if (!raw->piece)
        raw->piece = malloc(raw->piece_bytes);
    if (!raw->piece)
        return tm_fail_memory(err);
    *bytes = raw->piece;
    return tm_raw_read(raw, raw->piece, raw->piece_bytes, n, err);
}
