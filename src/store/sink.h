/* HDF5 driver for the file that is being written. Unlike HDF5's default driver, it hides failures
 * of writes from HDF5, and appends the checksums when HDF5 closes the file. */
#ifndef TMERGE_STORE_SINK_H
#define TMERGE_STORE_SINK_H

#include <hdf5.h>

/** Shared by the writer and the driver. */
typedef struct tm_sink {
    int fd;    /* borrowed; descriptor of a file that is empty at first */
    int error; /* errno of the first failure, 0 if there is none */
} tm_sink;

/** Registers the driver with HDF5. Returns the driver's id, or a negative value on failure. After
 * all files of the driver are closed, pass the id to H5FDunregister. HDF5 itself would release the
 * driver before it closes the last file. */
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
