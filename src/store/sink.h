/* The HDF5 driver of the file that is being written: HDF5's default one, but for failures, and for
 * the seal that it puts behind the file when that is closed. */
#ifndef TMERGE_STORE_SINK_H
#define TMERGE_STORE_SINK_H

#include <hdf5.h>

/** What became of the file; shared by the writer and the driver. */
typedef struct tm_sink {
    int fd;    /* borrowed; of the file, which is empty at first */
    int error; /* errno of the first failure, 0 while there is none */
} tm_sink;

/** Makes the driver known to HDF5; negative where that fails. To be kept until its files are closed
 * (HDF5 lets go of a driver before it closes the last file with it), then given to
 * H5FDunregister. */
hid_t tm_sink_driver(void);

/**
 * A property list for H5Fcreate, whose name of the file counts for nothing. Once a write has
 * failed, every later one is left out and said to be done: HDF5 1.10 cannot close a file whose last
 * writes fail, and crashes when the program ends. So whoever writes must look at sink->error after
 * each call.
 *
 * @param driver  of tm_sink_driver
 * @param sink    outlives the file
 * @return        closed by the caller; negative where HDF5 fails
 */
hid_t tm_sink_access(hid_t driver, tm_sink *sink);

#endif
