#include "filter.h"

#include <stdint.h>
#include <stdlib.h>

/* for ZSTD_c_blockSplitterLevel, which zstd has had since 1.5.7 */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "tmerge/store.h"

struct ZSTD_CCtx_s *tm_zstd_compressor(int level) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context)
        (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
#ifdef ZSTD_c_blockSplitterLevel
    /* 1 means that no block is split. Older releases never split blocks. */
    if (context)
        (void)ZSTD_CCtx_setParameter(context, ZSTD_c_blockSplitterLevel, 1);
#endif
    return context;
}

/* Allocates with posix_memalign, because HDF5 frees with the C library's free. tmerge replaces
 * malloc, and its memory may be in a temporary file (tools/tmerge/spill.h). */
static void *allocate(size_t size) {
    void *out = NULL;
    return posix_memalign(&out, sizeof(void *), size) == 0 ? out : NULL;
}

/* Compresses in one call, so that the frame has the content's size. To decompress, unpack() and
 * other programs allocate that size. */
static size_t pack(const void *from, size_t size, int level, void **out, size_t *out_size) {
    ZSTD_CCtx *context = tm_zstd_compressor(level);
    *out_size = ZSTD_compressBound(size);
    *out = allocate(*out_size);
    size_t n = context && *out ? ZSTD_compress2(context, *out, *out_size, from, size) : 0;
    ZSTD_freeCCtx(context);
    return n;
}

static size_t unpack(const void *from, size_t size, void **out, size_t *out_size) {
    unsigned long long content = ZSTD_getFrameContentSize(from, size);
    /* chunks are smaller than 4 GiB. If zstd does not know the size, it returns one of the two
     * largest values */
    if (content == 0 || content > UINT32_MAX)
        return 0;
    *out_size = (size_t)content;
    *out = allocate(*out_size);
    return *out ? ZSTD_decompress(*out, *out_size, from, size) : 0;
}

/* Callback of HDF5: replaces *buf, which HDF5 later frees with free(). */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                     size_t *buf_size, void **buf) {
    void *out = NULL;
    size_t out_size = 0;
    /* A dataset of another program may use this filter without a level. */
    int level = n_values > 0 ? (int)values[0] : TM_STORE_ZSTD_LEVEL;
    size_t n = flags & H5Z_FLAG_REVERSE ? unpack(*buf, n_bytes, &out, &out_size)
                                        : pack(*buf, n_bytes, level, &out, &out_size);
    if (n == 0 || ZSTD_isError(n)) {
        free(out);
        return 0;
    }
    free(*buf);
    *buf = out;
    *buf_size = out_size;
    return n;
}

const H5Z_class2_t tm_zstd_filter = {
    .version = H5Z_CLASS_T_VERS,
    .id = TM_STORE_ZSTD_FILTER,
    .encoder_present = 1,
    .decoder_present = 1,
    .name = "zstd",
    .filter = filter,
};
