/* The filter as a plugin for the HDF5 tools and h5py. h5py hides HDF5's symbols from plugins, so
 * this file and filter.c must not use symbols of HDF5. */
#include <H5PLextern.h>

#include "filter.h"

H5PL_type_t H5PLget_plugin_type(void) {
    return H5PL_TYPE_FILTER;
}

const void *H5PLget_plugin_info(void) {
    return &tm_zstd_filter;
}
