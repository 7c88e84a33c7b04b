#include "intake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sorted.h"
#include "h5.h"
#include "seal.h"

struct tm_intake {
    int fd;
    hid_t driver; /* kept until the file is closed, because HDF5 releases it earlier */
    uint64_t file_bytes;
    tm_seal seal;
    bool *seen;           /* owned; [extents] whether the extent was verified once */
    unsigned char *piece; /* owned; [TM_EXTENT_MAX] the extent last read in part */
    size_t piece_at;      /* index of that extent, SIZE_MAX: none */
    bool memory_out;      /* a failure reported to HDF5 was not the file's fault */
};

/* Content of the property list. HDF5 copies it byte by byte. */
typedef struct intake_info {
    tm_intake *intake;
} intake_info;

typedef struct intake_file {
    H5FD_t base; /* HDF5's part, first */
    tm_intake *intake;
    /* set and read by HDF5 */
    haddr_t allocated;
} intake_file;

/* Reads a whole extent; returns false if it is not as written. */
static bool take_extent(tm_intake *intake, size_t i, void *out) {
    /* Verified on every read, because the bytes are read from disk again. */
    const tm_extent *extent = (const tm_extent *)intake->seal.extents.data + i;
    if (!tm_seal_read_at(intake->fd, extent->offset, out, (size_t)extent->size) ||
        tm_seal_sum(out, (size_t)extent->size) != extent->sum)
        return false;
    intake->seen[i] = true;
    return true;
}

/* Reads an extent into intake->piece. */
static bool hold_extent(tm_intake *intake, size_t i) {
    if (intake->piece_at == i)
        return true;
    intake->piece_at = SIZE_MAX;
    if (!intake->piece)
        intake->piece = malloc(TM_EXTENT_MAX);
    intake->memory_out = !intake->piece;
    if (!intake->piece || !take_extent(intake, i, intake->piece))
        return false;
    intake->piece_at = i;
    return true;
}

/* Reads part of an extent. It can be verified only together with the rest of the extent. */
static bool take_data(tm_intake *intake, size_t i, size_t inside, size_t size, void *out) {
    const tm_extent *extent = (const tm_extent *)intake->seal.extents.data + i;
    if (size == extent->size)
        return take_extent(intake, i, out);
    if (!hold_extent(intake, i))
        return false;
    memcpy(out, intake->piece + inside, size);
    return true;
}

static bool ends_by(const void *extent, const void *address) {
    const tm_extent *e = extent;
    return e->offset + e->size <= *(const uint64_t *)address;
}

/* Returns the first extent that ends after an address. tm_seal_read checked that extents ascend
 * without overlap, so their ends ascend too. */
static size_t find_extent(const tm_vec *extents, uint64_t address) {
    return tm_bisect(extents->data, extents->n, extents->size, &address, ends_by);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Reads bytes for HDF5. When HDF5 reads structure ahead, it may also request some of the following
 * data, which it ignores. Zeros suffice for it, so damaged data does not prevent reading the
 * structure. */
static bool take(tm_intake *intake, bool data, uint64_t address, size_t size, char *out) {
    const tm_seal *seal = &intake->seal;
    const tm_extent *e = seal->extents.data;
    size_t i = find_extent(&seal->extents, address);
    while (size > 0) {
        size_t n;
        if (i < seal->extents.n && address >= e[i].offset) {
            uint64_t inside = address - e[i].offset;
            n = (size_t)least(size, e[i].size - inside);
            if (!data)
                memset(out, 0, n);
            else if (!take_data(intake, i, (size_t)inside, n, out))
                return false;
            i++;
        } else if (address < seal->content_bytes) {
            uint64_t end = i < seal->extents.n ? e[i].offset : seal->content_bytes;
            n = (size_t)least(size, end - address);
            /* The structure in memory omits the data between its pieces. */
            memcpy(out, seal->structure + (address - seal->data_before[i]), n);
        } else { /* zeros after the end, as in HDF5's own driver */
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
    const intake_info *info = H5Pget_driver_info(access);
    intake_file *file = info && flags == H5F_ACC_RDONLY ? calloc(1, sizeof *file) : NULL;
    if (!file) {
        if (info)
            info->intake->memory_out = true;
        return NULL;
    }
    file->intake = info->intake;
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
    return ((const intake_file *)base)->allocated;
}

static herr_t intake_set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((intake_file *)base)->allocated = address;
    return 0;
}

static haddr_t intake_get_end(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const intake_file *)base)->intake->seal.content_bytes;
}

static herr_t intake_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer) {
    (void)transfer;
    tm_intake *intake = ((intake_file *)base)->intake;
    return take(intake, type == H5FD_MEM_DRAW, address, size, buffer) ? 0 : -1;
}

/* HDF5 requires a write function. */
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
    .name = "tmerge_intake",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(intake_info),
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

/* Opens the file without HDF5, which would block on a pipe. Returns a file descriptor; -1 and
 * errno, which is 0 if the file is not an HDF5 file. */
static int open_hdf5(const char *path, uint64_t *file_bytes) {
    /* HDF5 would also look for it after a user block; a store has none. */
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
    if (fstat(fd, &status) == 0 && tm_seal_read_at(fd, 0, bytes, sizeof bytes)) {
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

bool tm_intake_is_store(const char *path) {
    uint64_t file_bytes;
    int fd = open_hdf5(path, &file_bytes);
    bool is = fd >= 0 && tm_seal_is_there(fd, file_bytes);
    if (fd >= 0)
        close(fd);
    return is;
}

tm_status tm_intake_open(const char *path, tm_intake **out, tm_error *err) {
    tm_intake *intake = calloc(1, sizeof *intake);
    if (!intake)
        return tm_fail_memory(err);
    intake->driver = H5I_INVALID_HID;
    intake->piece_at = SIZE_MAX;
    intake->fd = open_hdf5(path, &intake->file_bytes);
    tm_status status = TM_OK;
    if (intake->fd < 0 && errno != 0)
        status = tm_fail(err, TM_ERR_INPUT, path, -1, "cannot be read: %s", strerror(errno));
    else if (intake->fd < 0)
        status = tm_fail(err, TM_ERR_INPUT, path, -1, "not a tmerge store");
    else
        status = tm_seal_read(intake->fd, intake->file_bytes, path, &intake->seal, err);
    /* One more than needed, because calloc may return NULL for 0. */
    if (status == TM_OK && !(intake->seen = calloc(intake->seal.extents.n + 1, 1)))
        status = tm_fail_memory(err);
    if (status != TM_OK) {
        tm_intake_close(intake);
        return status;
    }
    *out = intake;
    return TM_OK;
}

void tm_intake_close(tm_intake *intake) {
    if (!intake)
        return;
    if (intake->driver >= 0)
        H5FDunregister(intake->driver);
    if (intake->fd >= 0)
        close(intake->fd);
    tm_seal_free(&intake->seal);
    free(intake->seen);
    free(intake->piece);
    free(intake);
}

hid_t tm_intake_file(tm_intake *intake, const char *path) {
    hid_t file = H5I_INVALID_HID, access = H5Pcreate(H5P_FILE_ACCESS);
    const intake_info info = {intake};
    intake->driver = H5FDregister(&intake_class);
    if (access >= 0 && intake->driver >= 0 && H5Pset_driver(access, intake->driver, &info) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        file = H5Fopen(path, H5F_ACC_RDONLY, access);
    tm_h5_close(access);
    return file;
}

bool tm_intake_memory_out(const tm_intake *intake) {
    return intake->memory_out;
}

uint64_t tm_intake_content_bytes(const tm_intake *intake) {
    return intake->seal.content_bytes;
}

uint64_t tm_intake_file_bytes(const tm_intake *intake) {
    return intake->file_bytes;
}

bool tm_intake_verify_rest(tm_intake *intake, uint64_t *bad) {
    const tm_extent *e = intake->seal.extents.data;
    for (size_t i = 0; i < intake->seal.extents.n; i++) {
        if (intake->seen[i] || hold_extent(intake, i))
            continue;
        *bad = e[i].offset;
        return false;
    }
    return true;
}
