/* The zstd filter of HDF5, as the class that the library is given. */
#ifndef TMERGE_STORE_FILTER_H
#define TMERGE_STORE_FILTER_H

#include <hdf5.h>

/** Filter 32015: a chunk is one zstd frame with its content size; cd_values[0] is the level and
 * may be missing. Refers to no symbol of HDF5. */
extern const H5Z_class2_t tm_zstd_filter;

#endif
