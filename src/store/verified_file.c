#include "verified_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sorted.h"
#include "checksum.h"
#include "h5.h"

struct tm_verified_file {
    int fd;
    hid_t driver; /* registered until the file is closed: HDF5 itself would release it too early */
    uint64_t file_bytes;
    tm_checksum checksum;
    bool *seen;           /* owned; [number of extents] whether the extent was ever verified */
    unsigned char *piece; /* owned; [TM_EXTENT_MAX] the extent that was last read in part */
    size_t piece_at;      /* index of the extent that is in `piece`; SIZE_MAX if there is none */
    bool memory_out; /* a read failed because memory ran out, not because the file is damaged */
};

/* Driver information in HDF5's property list. HDF5 copies it byte by byte. */
typedef struct verified_info {
    tm_verified_file *verified;
} verified_info;

typedef struct verified_h5 {
    H5FD_t base; /* HDF5's part; must be the first member */
    tm_verified_file *verified;
    /* HDF5 sets and reads this */
    haddr_t allocated;
} verified_h5;

/* Reads and verifies a whole extent. Returns false if its bytes have changed since the store was
 * written. */
static bool take_extent(tm_verified_file *verified, size_t i, void *out) {
    /* Every read is verified, because the bytes come from the disk again. */
    const tm_extent *extent = (const tm_extent *)verified->checksum.extents.data + i;
    if (!tm_checksum_read_at(verified->fd, extent->offset, out, (size_t)extent->size) ||
        tm_checksum_of(out, (size_t)extent->size) != extent->sum)
        return false;
    verified->seen[i] = true;
    return true;
}

static bool hold_extent(tm_verified_file *verified, size_t i) {
    if (verified->piece_at == i)
        return true;
    verified->piece_at = SIZE_MAX;
    if (!verified->piece)
        verified->piece = malloc(TM_EXTENT_MAX);
    verified->memory_out = !verified->piece;
    if (!verified->piece || !take_extent(verified, i, verified->piece))
        return false;
    verified->piece_at = i;
    return true;
}

/* Reads part of an extent. Only a whole extent can be verified. */
static bool take_data(tm_verified_file *verified, size_t i, size_t inside, size_t size, void *out) {
    const tm_extent *extent = (const tm_extent *)verified->checksum.extents.data + i;
    if (size == extent->size)
        return take_extent(verified, i, out);
    if (!hold_extent(verified, i))
        return false;
    memcpy(out, verified->piece + inside, size);
    return true;
}

static bool ends_by(const void *extent, const void *address) {
    const tm_extent *e = extent;
    return e->offset + e->size <= *(const uint64_t *)address;
}

/* Returns the index of the first extent that ends after an address. The ends ascend, as
 * tm_checksum_read checked. */
static size_t find_extent(const tm_vec *extents, uint64_t address) {
    return tm_bisect(extents->data, extents->n, extents->size, &address, ends_by);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Reads bytes for HDF5. HDF5 may read ahead from structure into data, and ignore that data. It then
 * gets zeros instead, so that damaged data does not make a read of structure fail. */
static bool take(tm_verified_file *verified, bool data, uint64_t address, size_t size, char *out) {
    const tm_checksum *checksum = &verified->checksum;
    const tm_extent *e = checksum->extents.data;
    size_t i = find_extent(&checksum->extents, address);
    while (size > 0) {
        size_t n;
        if (i < checksum->extents.n && address >= e[i].offset) {
            uint64_t inside = address - e[i].offset;
            n = (size_t)least(size, e[i].size - inside);
            if (!data)
                memset(out, 0, n);
            else if (!take_data(verified, i, (size_t)inside, n, out))
                return false;
            i++;
        } else if (address < checksum->content_bytes) {
            uint64_t end = i < checksum->extents.n ? e[i].offset : checksum->content_bytes;
            n = (size_t)least(size, end - address);
            /* The structure in memory has no gaps in place of the data. */
            memcpy(out, checksum->structure + (address - checksum->data_before[i]), n);
        } else { /* after the end, bytes are read as zeros, as by HDF5's own driver */
            memset(out, 0, size);
            n = size;
        }
        out += n;
        address += n;
        size -= n;
    }
    return true;
}

static H5FD_t *intake_open(const char *name, unsigned flags, hid_t access, haddr_t max) {
    (void)name;
    (void)max;
    const verified_info *info = H5Pget_driver_info(access);
    verified_h5 *file = info && flags == H5F_ACC_RDONLY ? calloc(1, sizeof *file) : NULL;
    if (!file) {
        if (info)
            info->verified->memory_out = true;
        return NULL;
    }
    file->verified = info->verified;
    return &file->base;
}

static herr_t intake_close(H5FD_t *base) {
    free(base);
    return 0;
}

static herr_t intake_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t intake_get_allocated(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const verified_h5 *)base)->allocated;
}

static herr_t intake_set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((verified_h5 *)base)->allocated = address;
    return 0;
}

static haddr_t intake_get_end(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const verified_h5 *)base)->verified->checksum.content_bytes;
}

static herr_t intake_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer) {
    (void)transfer;
    tm_verified_file *verified = ((verified_h5 *)base)->verified;
    return take(verified, type == H5FD_MEM_DRAW, address, size, buffer) ? 0 : -1;
}

/* Always fails. HDF5 requires every driver to have a write function. */
static herr_t intake_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *buffer) {
    (void)base;
    (void)type;
    (void)transfer;
    (void)address;
    (void)size;
    (void)buffer;
    return -1;
}

static const H5FD_class_t intake_class = {
    TM_H5_DRIVER(TM_H5_INTAKE),
    .name = "tmerge_verified",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(verified_info),
    .open = intake_open,
    .close = intake_close,
    .query = intake_query,
    .get_eoa = intake_get_allocated,
    .set_eoa = intake_set_allocated,
    .get_eof = intake_get_end,
    .read = intake_read,
    .write = intake_write,
    .fl_map = H5FD_FLMAP_SINGLE,
};

/* Opens the file with open(), because HDF5 would block on a pipe. Returns a descriptor; -1 after a
 * failure: errno is then 0 if this is no HDF5 file. */
static int open_hdf5(const char *path, uint64_t *file_bytes) {
    /* Signature at the start of an HDF5 file. HDF5 would also find it after a user block, which a
     * store does not have. */
    static const char signature[] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    struct stat status;
    char bytes[sizeof signature];
    if (stat(path, &status) != 0)
        return -1;
    int fd = -1;
    do
        errno = 0;
    while (S_ISREG(status.st_mode) && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 &&
           errno == EINTR);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && tm_checksum_read_at(fd, 0, bytes, sizeof bytes)) {
        *file_bytes = (uint64_t)status.st_size;
        errno = 0;
        if (memcmp(bytes, signature, sizeof bytes) == 0)
            return fd;
    }
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

bool tm_verified_file_is_store(const char *path) {
    uint64_t file_bytes;
    int fd = open_hdf5(path, &file_bytes);
    bool is = fd >= 0 && tm_checksum_is_there(fd, file_bytes);
    if (fd >= 0)
        close(fd);
    return is;
}

tm_status tm_verified_file_open(const char *path, tm_verified_file **out, tm_error *err) {
    tm_verified_file *verified = calloc(1, sizeof *verified);
    if (!verified)
        return tm_fail_memory(err);
    verified->driver = H5I_INVALID_HID;
    verified->piece_at = SIZE_MAX;
    verified->fd = open_hdf5(path, &verified->file_bytes);
    tm_status status = TM_OK;
    if (verified->fd < 0 && errno != 0)
        status = tm_fail(err, TM_ERR_INPUT, path, -1, "cannot be read: %s", strerror(errno));
    else if (verified->fd < 0)
        status = tm_fail(err, TM_ERR_INPUT, path, -1, "not a tmerge store");
    else
        status =
            tm_checksum_read(verified->fd, verified->file_bytes, path, &verified->checksum, err);
    /* n + 1, because calloc may return NULL for 0 */
    if (status == TM_OK && !(verified->seen = calloc(verified->checksum.extents.n + 1, 1)))
        status = tm_fail_memory(err);
    if (status != TM_OK) {
        tm_verified_file_close(verified);
        return status;
    }
    *out = verified;
    return TM_OK;
}

void tm_verified_file_close(tm_verified_file *verified) {
    if (!verified)
        return;
    if (verified->driver >= 0)
        H5FDunregister(verified->driver);
    if (verified->fd >= 0)
        close(verified->fd);
    tm_checksum_free(&verified->checksum);
    free(verified->seen);
    free(verified->piece);
    free(verified);
}

hid_t tm_verified_file_h5(tm_verified_file *verified, const char *path) {
    hid_t file = H5I_INVALID_HID, access = H5Pcreate(H5P_FILE_ACCESS);
    const verified_info info = {verified};
    verified->driver = H5FDregister(&intake_class);
    if (access >= 0 && verified->driver >= 0 &&
        H5Pset_driver(access, verified->driver, &info) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    tm_h5_close(access);
    return file;
}

bool tm_verified_file_memory_out(const tm_verified_file *verified) {
    return verified->memory_out;
}

uint64_t tm_verified_file_content_bytes(const tm_verified_file *verified) {
    return verified->checksum.content_bytes;
}

uint64_t tm_verified_file_bytes(const tm_verified_file *verified) {
    return verified->file_bytes;
}

bool tm_verified_file_verify_rest(tm_verified_file *verified, uint64_t *bad) {
    const tm_extent *e = verified->checksum.extents.data;
    for (size_t i = 0; i < verified->checksum.extents.n; i++) {
        if (verified->seen[i] || hold_extent(verified, i))
            continue;
        *bad = e[i].offset;
        return false;
    }
    return true;
}
