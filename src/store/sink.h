/* HDF5 driver for the file being written. It differs from HDF5's default driver in how it handles
 * failures, and it appends the checksums on close. */
#ifndef TMERGE_STORE_SINK_H
#define TMERGE_STORE_SINK_H

#include <hdf5.h>

/** Shared by the writer and the driver. */
typedef struct tm_sink {
    int fd;    /* borrowed; descriptor of an empty file */
    int error; /* errno of the first failure, 0 if there is none */
} tm_sink;

/** Registers the driver with HDF5; negative on failure. Close its files first, then pass it to
 * H5FDunregister: HDF5 would release it before it closes the last file. */
hid_t tm_sink_driver(void);

/** Returns a property list for H5Fcreate, whose file name is then ignored. After a failed write,
 * all later writes are skipped and reported as done, because HDF5 1.10 cannot close a file whose
 * last writes fail and crashes at program end. Callers must therefore check sink->error after each
 * call.
 * @param driver  from tm_sink_driver
 * @param sink    outlives the file
 * @return        closed by the caller; negative if HDF5 fails */
hid_t tm_sink_access(hid_t driver, tm_sink *sink);

#endif
