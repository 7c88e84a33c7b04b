#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "h5.h"
#include "seal.h"

/* What the property list carries: HDF5 copies it byte by byte. */
typedef struct sink_info {
    tm_sink *sink;
} sink_info;

typedef struct sink_file {
    H5FD_t base; /* HDF5's part, first */
    tm_sink *sink;
    /* HDF5 keeps these two apart, and asks for them: its "end of allocation" and "end of file". */
    haddr_t allocated; /* end of the addresses given out */
    haddr_t end;       /* end of the file */
    tm_vec data;       /* of tm_extent; what was written of datasets */
} sink_file;

static void keep_error(tm_sink *sink) {
    if (sink->error == 0)
        sink->error = errno != 0 ? errno : EIO;
}

static H5FD_t *sink_open(const char *name, unsigned flags, hid_t access, haddr_t max) {
    /* The file is open, and may have no name. */
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

/* HDF5 has written all by now. A failure is told through the sink, as those of writes are. */
static herr_t sink_close(H5FD_t *base) {
    sink_file *file = (sink_file *)base;
    if (file->sink->error == 0)
        file->sink->error = tm_seal_write(file->sink->fd, file->end, &file->data);
    tm_vec_free(&file->data);
    free(file);
    return 0;
}

/* What HDF5's default driver says of itself, but for handles and for readers beside the writer. */
static herr_t sink_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

/* One address space for all types of memory, so that the type counts for nothing. */
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
        if (n == 0) { /* behind the end there are zeros, as in HDF5's own driver */
            memset(at, 0, size);
            return 0;
        }
        at += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* HDF5 hands on its heaps of texts as data, too. They are told by how they begin; what only looks
 * like one is structure then, which is as good. */
static bool is_data(H5FD_mem_t type, const void *buffer, size_t size) {
    return type == H5FD_MEM_DRAW && !(size >= 4 && memcmp(buffer, "GCOL", 4) == 0);
}

/* Data is summed as HDF5 hands it over, and so once, without being read back. */
static herr_t sink_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer) {
    (void)transfer;
    sink_file *file = (sink_file *)base;
    const char *at = buffer;
    if (is_data(type, buffer, size) && file->sink->error == 0 &&
        !tm_seal_add(&file->data, address, buffer, size))
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
    /* The same sum however far the loop came: what was left out counts as written, too. */
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
    /* far behind any file, and any sum of it and a size fits an off_t */
    .maxaddr = ((haddr_t)1 << 62) - 1,
    /* A file that is given up closes with all that is still open in it. */
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

/* The oldest form that holds what is stored, whatever release of HDF5 writes it: the default of
 * HDF5 2 is one in which the root group carries the time, so that no two stores would be the same.
 */
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
