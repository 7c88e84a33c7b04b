/* The zstd filter of HDF5, as the class that the library is given. */
#ifndef TMERGE_STORE_FILTER_H
#define TMERGE_STORE_FILTER_H

#include <hdf5.h>

/** Filter 32015: a chunk is one zstd frame with its content size; cd_values[0] is the level and
 * may be missing. Refers to no symbol of HDF5. */
extern const H5Z_class2_t tm_zstd_filter;

/** What compresses chunks at a level, to the same bytes with each release of zstd (1.5.4 to 1.5.7
 * were tried). NULL without memory; the caller frees it with ZSTD_freeCCtx. */
struct ZSTD_CCtx_s *tm_zstd_compressor(int level);

#endif
