#include "checksum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <isa-l/crc64.h>

#include "base/sorted.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "stored as it lies in memory");
_Static_assert(sizeof(tm_extent) == 24, "stored");

/* Magic number of the footer. The last byte is the version of the layout. */
static const char magic[8] = {'t', 'm', 'e', 'r', 'g', 'e', '\r', '\1'};

typedef struct footer {
    char magic[8];
    /* as in tm_checksum */
    uint64_t content_bytes, n_extents, structure_sum;
    uint64_t sum; /* checksum of the extents and of the footer's fields above */
} footer;

_Static_assert(sizeof(footer) == 40, "stored");

bool tm_checksum_read_at(int fd, uint64_t offset, void *out, size_t size) {
    char *at = out;
    while (size > 0) {
        ssize_t n = pread(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? 0 : errno;
            return false;
        }
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

static int write_at(int fd, uint64_t offset, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = pwrite(fd, at, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        at += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static uint64_t sum_more(uint64_t sum, const void *bytes, size_t size) {
    return crc64_ecma_refl(sum, bytes, size);
}

uint64_t tm_checksum_of(const void *bytes, size_t size) {
    return sum_more(0, bytes, size);
}

static uint64_t end_sum(const tm_extent *extents, const footer *end) {
    uint64_t sum = tm_checksum_of(extents, end->n_extents * sizeof *extents);
    return sum_more(sum, end, offsetof(footer, sum));
}

bool tm_checksum_add(tm_vec *extents, uint64_t offset, const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        size_t n = size < TM_EXTENT_MAX ? size : TM_EXTENT_MAX;
        tm_extent *added = tm_vec_push(extents);
        if (!added)
            return false;
        *added = (tm_extent){offset, n, tm_checksum_of(from, n)};
        from += n;
        offset += n;
        size -= n;
    }
    return true;
}

TM_ORDER_BY(by_offset, tm_extent, offset);

/* Returns whether extents ascend without overlap, end within the content, and fit in a reader's
 * buffer. Compares differences, because sums could overflow in a damaged file. */
static bool are_in_order(const tm_vec *extents, uint64_t content_bytes) {
    const tm_extent *e = extents->data;
    uint64_t end = 0;
    for (size_t i = 0; i < extents->n; i++) {
        if (e[i].offset < end || e[i].offset > content_bytes || e[i].size == 0 ||
            e[i].size > TM_EXTENT_MAX || e[i].size > content_bytes - e[i].offset)
            return false;
        end = e[i].offset + e[i].size;
    }
    return true;
}

/* Reads the structure: the bytes that are in no extent. Returns 0 or an errno; -1 if the file ends
 * too early. */
static int read_structure(int fd, tm_checksum *checksum) {
    const tm_extent *e = checksum->extents.data;
    size_t n = checksum->extents.n;
    uint64_t data = 0, at = 0;
    checksum->data_before = malloc((n + 1) * sizeof *checksum->data_before);
    for (size_t i = 0; checksum->data_before && i <= n; i++) {
        checksum->data_before[i] = data;
        data += i < n ? e[i].size : 0;
    }
    checksum->structure = malloc(checksum->content_bytes - data + 1);
    if (!checksum->data_before || !checksum->structure)
        return ENOMEM;
    /* Reads the bytes before each extent, and the bytes after the last extent. */
    for (size_t i = 0; i <= n; i++) {
        uint64_t end = i < n ? e[i].offset : checksum->content_bytes;
        if (!tm_checksum_read_at(fd, at, checksum->structure + at - checksum->data_before[i],
                                 (size_t)(end - at)))
            return errno ? errno : -1;
        at = i < n ? end + e[i].size : end;
    }
    return 0;
}

static uint64_t structure_sum(const tm_checksum *checksum) {
    return tm_checksum_of(checksum->structure,
                          checksum->content_bytes - checksum->data_before[checksum->extents.n]);
}

/* Reads the structure back from the finished file, because HDF5 writes parts of it more than once.
 */
int tm_checksum_write(int fd, uint64_t content_bytes, tm_vec *extents) {
    tm_checksum checksum = {.content_bytes = content_bytes, .extents = *extents};
    size_t bytes = extents->n * sizeof(tm_extent);
    tm_vec_sort(extents, by_offset);
    int error = are_in_order(extents, content_bytes) ? read_structure(fd, &checksum) : EINVAL;
    if (error == 0) {
        footer end = {.content_bytes = content_bytes,
                      .n_extents = extents->n,
                      .structure_sum = structure_sum(&checksum)};
        memcpy(end.magic, magic, sizeof magic);
        end.sum = end_sum(extents->data, &end);
        error = write_at(fd, content_bytes, extents->data, bytes);
        error = error ? error : write_at(fd, content_bytes + bytes, &end, sizeof end);
    }
    checksum.extents = TM_VEC(tm_extent); /* the caller frees the extents */
    tm_checksum_free(&checksum);
    return error < 0 ? EIO : error;
}

/* Reads the footer. Returns false if the file does not end with a footer that fits the file's size.
 */
static bool read_footer(int fd, uint64_t file_bytes, footer *end) {
    if (file_bytes < sizeof *end ||
        !tm_checksum_read_at(fd, file_bytes - sizeof *end, end, sizeof *end) ||
        memcmp(end->magic, magic, sizeof magic) != 0)
        return false;
    /* n_extents is not verified yet. A product with it could overflow, a division cannot. */
    uint64_t before = file_bytes - sizeof *end;
    return end->content_bytes <= before && (before - end->content_bytes) % sizeof(tm_extent) == 0 &&
           (before - end->content_bytes) / sizeof(tm_extent) == end->n_extents;
}

/* Reads the extents, which are before the footer. read_footer has checked their number. */
static tm_status read_end(int fd, const footer *end, const char *path, tm_vec *extents,
                          tm_error *err) {
    size_t bytes = end->n_extents * sizeof(tm_extent);
    if (end->n_extents > 0 && !tm_vec_append(extents, NULL, end->n_extents))
        return tm_fail_memory(err);
    if (!tm_checksum_read_at(fd, end->content_bytes, extents->data, bytes) ||
        end_sum(extents->data, end) != end->sum || !are_in_order(extents, end->content_bytes))
        return tm_fail(err, TM_ERR_INPUT, path, -1,
                       "the store is damaged: the checksums at its end do not match");
    return TM_OK;
}

bool tm_checksum_is_there(int fd, uint64_t file_bytes) {
    footer end;
    tm_vec extents = TM_VEC(tm_extent);
    bool there =
        read_footer(fd, file_bytes, &end) && read_end(fd, &end, "", &extents, NULL) == TM_OK;
    tm_vec_free(&extents);
    return there;
}

/* Returns the file size that HDF5's superblock states; 0 if there is none. The superblock is of
 * version 0, which the writer makes. */
static uint64_t stated_end(int fd) {
    enum { VERSION_AT = 8, ADDRESS_SIZE_AT = 13, END_AT = 40, HEAD = 48 };
    unsigned char head[HEAD];
    uint64_t end = 0;
    if (tm_checksum_read_at(fd, 0, head, sizeof head) && head[VERSION_AT] == 0 &&
        head[ADDRESS_SIZE_AT] == sizeof end)
        memcpy(&end, head + END_AT, sizeof end);
    return end;
}

/* Fails, and says why the file has no footer. A truncated file still states its full size at its
 * start. */
static tm_status explain_no_footer(int fd, uint64_t file_bytes, const char *path, tm_error *err) {
    if (stated_end(fd) > file_bytes)
        return tm_fail(err, TM_ERR_INPUT, path, -1, "the file is damaged: it was cut short");
    return tm_fail(err, TM_ERR_INPUT, path, -1,
                   "not a tmerge store, or changed since it was written");
}

tm_status tm_checksum_read(int fd, uint64_t file_bytes, const char *path, tm_checksum *out,
                           tm_error *err) {
    footer end;
    if (!read_footer(fd, file_bytes, &end))
        return explain_no_footer(fd, file_bytes, path, err);
    tm_checksum checksum = {.content_bytes = end.content_bytes, .extents = TM_VEC(tm_extent)};
    tm_status status = read_end(fd, &end, path, &checksum.extents, err);
    int error = status == TM_OK ? read_structure(fd, &checksum) : 0;
    if (error == ENOMEM)
        status = tm_fail_memory(err);
    else if (error > 0)
        status = tm_fail(err, TM_ERR_INPUT, path, -1, "cannot be read: %s", strerror(error));
    else if (status == TM_OK && (error < 0 || structure_sum(&checksum) != end.structure_sum))
        status = tm_fail(err, TM_ERR_INPUT, path, -1,
                         "the store is damaged: its structure has changed since it was written");
    if (status != TM_OK) {
        tm_checksum_free(&checksum);
        return status;
    }
    *out = checksum;
    return TM_OK;
}

void tm_checksum_free(tm_checksum *checksum) {
    tm_vec_free(&checksum->extents);
    free(checksum->data_before);
    free(checksum->structure);
    *checksum = (tm_checksum){.extents = TM_VEC(tm_extent)};
}
