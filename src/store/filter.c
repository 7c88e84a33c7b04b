#include "filter.h"

#include <stdint.h>
#include <stdlib.h>

#include <zstd.h>

#include "tmerge/store.h"

/* In one call, so that the frame states its content size: unpack makes room by it, and so do other
 * programs' decoders. */
static size_t pack(const void *from, size_t size, int level, void **out, size_t *out_size) {
    *out_size = ZSTD_compressBound(size);
    *out = malloc(*out_size);
    return *out ? ZSTD_compress(*out, *out_size, from, size, level) : 0;
}

static size_t unpack(const void *from, size_t size, void **out, size_t *out_size) {
    unsigned long long content = ZSTD_getFrameContentSize(from, size);
    /* chunks are smaller than 4 GiB; the two largest values say that there is no size */
    if (content == 0 || content > UINT32_MAX)
        return 0;
    *out_size = (size_t)content;
    *out = malloc(*out_size);
    return *out ? ZSTD_decompress(*out, *out_size, from, size) : 0;
}

/* HDF5 frees what stands in *buf with free(), and leaves it to the filter to replace it. */
static size_t filter(unsigned flags, size_t n_values, const unsigned values[], size_t n_bytes,
                     size_t *buf_size, void **buf) {
    void *out = NULL;
    size_t out_size = 0;
    /* Other programs may write datasets with this filter and no level. */
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
