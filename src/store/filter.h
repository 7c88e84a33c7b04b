/* HDF5's zstd filter. */
#ifndef TMERGE_STORE_FILTER_H
#define TMERGE_STORE_FILTER_H

#include <hdf5.h>

/** Filter 32015: a chunk is one zstd frame with the size of its content. cd_values[0] is the level,
 * and may be missing. Uses no symbol of HDF5. */
extern const H5Z_class2_t tm_zstd_filter;

/** Creates a compressor for chunks. It gives the same bytes with each release of zstd
 * (tested: 1.5.4 to 1.5.7). NULL when out of memory. The caller frees it with ZSTD_freeCCtx. */
struct ZSTD_CCtx_s *tm_zstd_compressor(int level);

#endif
