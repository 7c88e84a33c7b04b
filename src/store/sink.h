/* HDF5 driver for the file being written: like HDF5's default driver, except for its handling of
 * failures and the checksum trailer that it appends on close. */
#ifndef TMERGE_STORE_SINK_H
#define TMERGE_STORE_SINK_H

#include <hdf5.h>

/** State of the file, shared by the writer and the driver. */
typedef struct tm_sink {
    int fd;    /* borrowed; descriptor of the file, initially empty */
    int error; /* errno of the first failure, 0 if there is none */
} tm_sink;

/** Registers the driver with HDF5; negative on failure. Keep it until its files are closed (HDF5
 * releases a driver before it closes the last file), then pass it to H5FDunregister. */
hid_t tm_sink_driver(void);

/**
 * Returns a property list for H5Fcreate, which ignores its file name. After a failed write, all
 * later writes are skipped and reported as done, because HDF5 1.10 cannot close a file whose last
 * writes fail and crashes at program end. Callers must therefore check sink->error after each call.
 * @param driver  from tm_sink_driver
 * @param sink    outlives the file
 * @return        closed by the caller; negative if HDF5 fails
 */
hid_t tm_sink_access(hid_t driver, tm_sink *sink);

#endif
