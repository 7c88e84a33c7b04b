#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checksum.h"
#include "h5.h"

/* Driver information in HDF5's property list. HDF5 copies it byte by byte. */
typedef struct sink_info {
    tm_sink *sink;
} sink_info;

typedef struct sink_file {
    H5FD_t base; /* HDF5's part, first */
    tm_sink *sink;
    haddr_t allocated; /* end of the addresses that HDF5 has allocated */
    haddr_t end;       /* end of the file */
    tm_vec data;       /* vector of tm_extent: the written data of datasets */
} sink_file;

static void keep_error(tm_sink *sink) {
    if (sink->error == 0)
        sink->error = errno != 0 ? errno : EIO;
}

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t max) {
    /* The file is already open and may have no name. */
    (void)name;
    (void)flags;
    (void)max;
    const sink_info *info = H5Pget_driver_info(access);
    sink_file *file = info ? calloc(1, sizeof *file) : NULL;
    if (!file) {
        if (info)
            info->sink->error = ENOMEM;
        return NULL;
    }
    file->sink = info->sink;
    file->data = TM_VEC(tm_extent);
    return &file->base;
}

/* Appends the checksums after HDF5 has written everything. If this fails, only sink->error shows
 * it: HDF5 always gets success, as after a failed write. */
static herr_t sink_close(H5FD_t *base) {
    sink_file *file = (sink_file *)base;
    if (file->sink->error == 0)
        file->sink->error = tm_checksum_write(file->sink->fd, file->end, &file->data);
    tm_vec_free(&file->data);
    free(file);
    return 0;
}

/* Reports the features of HDF5's default driver, but no handles and no concurrent readers. */
static herr_t sink_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

/* All of HDF5's memory types share one address space, so the type is ignored. */
static haddr_t sink_get_allocated(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const sink_file *)base)->allocated;
}

static herr_t sink_set_allocated(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((sink_file *)base)->allocated = address;
    return 0;
}

static haddr_t sink_get_end(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const sink_file *)base)->end;
}

static herr_t sink_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer) {
    (void)type;
    (void)transfer;
    const sink_file *file = (const sink_file *)base;
    char *at = buffer;
    while (size > 0) {
        ssize_t n = pread(file->sink->fd, at, size, (off_t)address);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0) { /* Like HDF5's own driver, reads bytes after the end of the file as zeros. */
            memset(at, 0, size);
            return 0;
        }
        at += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Returns whether bytes are data. HDF5 also passes its text heaps as data, but these start with a
 * signature. Data that starts with the same bytes counts as structure, which is just as safe. */
static bool is_data(H5FD_mem_t type, const void *buffer, size_t size) {
    return type == H5FD_MEM_DRAW && !(size >= 4 && memcmp(buffer, "GCOL", 4) == 0);
}

/* Computes checksums of data when HDF5 passes the data, so that it need not be read back. */
static herr_t sink_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer) {
    (void)transfer;
    sink_file *file = (sink_file *)base;
    const char *at = buffer;
    if (is_data(type, buffer, size) && file->sink->error == 0 &&
        !tm_checksum_add(&file->data, address, buffer, size))
        file->sink->error = ENOMEM;
    while (size > 0 && file->sink->error == 0) {
        ssize_t n = pwrite(file->sink->fd, at, size, (off_t)address);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            keep_error(file->sink);
            break;
        }
        at += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    /* The end moves even if a write has failed. Later writes are then skipped, but HDF5 must
     * believe that they were done. */
    if (address + size > file->end)
        file->end = address + size;
    return 0;
}

static herr_t sink_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    sink_file *file = (sink_file *)base;
    if (file->allocated != file->end && file->sink->error == 0 &&
        ftruncate(file->sink->fd, (off_t)file->allocated) != 0)
        keep_error(file->sink);
    file->end = file->allocated;
    return 0;
}

static const H5FD_class_t sink_class = {
    TM_H5_DRIVER(TM_H5_SINK),
    .name = "tmerge_sink",
    /* larger than any file, but small enough that adding a size does not exceed an off_t */
    .maxaddr = ((haddr_t)1 << 62) - 1,
    /* Closing the file closes all of its objects, which an abandoned file still has open. */
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(sink_info),
    .open = sink_open,
    .close = sink_close,
    .query = sink_query,
    .get_eoa = sink_get_allocated,
    .set_eoa = sink_set_allocated,
    .get_eof = sink_get_end,
    .read = sink_read,
    .write = sink_write,
    .truncate = sink_truncate,
    .fl_map = H5FD_FLMAP_SINGLE,
};

hid_t tm_sink_driver(void) {
    return H5FDregister(&sink_class);
}

/* Requests the oldest file format that can hold the content: any release of HDF5 can read it. In
 * HDF5 2's default format, the root group has a timestamp, so that no two stores would be equal. */
hid_t tm_sink_access(hid_t driver, tm_sink *sink) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    sink_info info = {sink};
    if (access >= 0 && (H5Pset_driver(access, driver, &info) < 0 ||
                        H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V110) < 0 ||
                        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0)) {
        H5Pclose(access);
        access = H5I_INVALID_HID;
    }
    return access;
}
