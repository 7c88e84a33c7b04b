#include "chunk_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "filter.h"
#include "tmerge/store.h"

typedef struct buffer {
    void *bytes; /* owned */
    size_t size;
} buffer;

struct tm_packer {
    ZSTD_CCtx *context; /* NULL: plain chunks */
    /* one buffer for the result of each stage, because no stage works in place */
    buffer padded, shuffled, packed;
};

tm_packer *tm_packer_create(bool compress) {
    tm_packer *packer = calloc(1, sizeof *packer);
    if (packer && compress && !(packer->context = tm_zstd_compressor(TM_STORE_ZSTD_LEVEL))) {
        free(packer);
        return NULL;
    }
    return packer;
}

void tm_packer_destroy(tm_packer *packer) {
    if (!packer)
        return;
    ZSTD_freeCCtx(packer->context);
    free(packer->padded.bytes);
    free(packer->shuffled.bytes);
    free(packer->packed.bytes);
    free(packer);
}

size_t tm_pack_bound(size_t raw) {
    return ZSTD_compressBound(raw);
}

/* Returns the buffer. If it is smaller than @p size, it is first replaced by a larger one, which
 * does not have the old content. */
static void *room(buffer *kept, size_t size) {
    if (kept->size < size) {
        free(kept->bytes);
        kept->bytes = malloc(size);
        kept->size = kept->bytes ? size : 0;
    }
    return kept->bytes;
}

/* Transposes 8 x 8 bytes: swaps two quarters of the square, then does the same in each quarter, and
 * so on. */
static void transpose(uint64_t x[8]) {
    static const uint64_t masks[] = {0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF};
    for (unsigned round = 0; round < 3; round++) {
        unsigned far = 4u >> round, bits = far * 8;
        for (unsigned i = 0; i < 8; i++) {
            if (i & far)
                continue;
            uint64_t swapped = ((x[i] >> bits) ^ x[i + far]) & masks[round];
            x[i + far] ^= swapped;
            x[i] ^= swapped << bits;
        }
    }
}

/* Shuffles like HDF5's filter: first byte 0 of every element, then byte 1 of every element, and so
 * on. Works on squares of 8 x 8 bytes, because moving single bytes takes as long as the
 * compression. */
static void shuffle8(const unsigned char *from, size_t n, unsigned char *out) {
    uint64_t square[8];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(square, from + i * 8, sizeof square);
        transpose(square);
        for (size_t k = 0; k < 8; k++)
            memcpy(out + k * n + i, &square[k], 8);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 8; k++)
            out[k * n + i] = from[i * 8 + k];
}

/* Undoes shuffle8 for n elements, by transposing again. Byte k of element i is at from[k * apart +
 * i]. */
static void unshuffle8(const unsigned char *from, size_t apart, size_t n, unsigned char *out) {
    uint64_t square[8];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (size_t k = 0; k < 8; k++)
            memcpy(&square[k], from + k * apart + i, 8);
        transpose(square);
        memcpy(out + i * 8, square, sizeof square);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 8; k++)
            out[i * 8 + k] = from[k * apart + i];
}

/* Shuffles elements of 4 bytes. The left half of a square of 8 x 8 bytes has elements i to i + 7,
 * and its right half has elements i + 8 to i + 15. */
static void shuffle4(const unsigned char *from, size_t n, unsigned char *out) {
    uint64_t square[8];
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint32_t element[16];
        memcpy(element, from + i * 4, sizeof element);
        for (size_t k = 0; k < 8; k++)
            square[k] = element[k] | (uint64_t)element[k + 8] << 32;
        transpose(square);
        /* Row k of the square now has byte k of the left elements if k < 4, else byte k - 4 of the
         * right elements. */
        for (size_t k = 0; k < 8; k++)
            memcpy(out + k % 4 * n + i + k / 4 * 8, &square[k], 8);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            out[k * n + i] = from[i * 4 + k];
}

static void unshuffle4(const unsigned char *from, size_t apart, size_t n, unsigned char *out) {
    uint64_t square[8];
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint32_t element[16];
        for (size_t k = 0; k < 8; k++)
            memcpy(&square[k], from + k % 4 * apart + i + k / 4 * 8, 8);
        transpose(square);
        for (size_t k = 0; k < 8; k++) {
            element[k] = (uint32_t)square[k];
            element[k + 8] = (uint32_t)(square[k] >> 32);
        }
        memcpy(out + i * 4, element, sizeof element);
    }
    for (; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            out[i * 4 + k] = from[k * apart + i];
}

static const void *shuffle(tm_packer *packer, tm_chunk_shape shape, const void *rows) {
    /* HDF5's filter does not shuffle elements of one byte. */
    if (shape.element_bytes == 1)
        return rows;
    void *out = room(&packer->shuffled, shape.element_bytes * shape.chunk_rows);
    if (out && shape.element_bytes == 8)
        shuffle8(rows, shape.chunk_rows, out);
    else if (out)
        shuffle4(rows, shape.chunk_rows, out);
    return out;
}

/* Pads the last chunk of a dataset with zeros: every chunk in the file has full length. */
static const void *pad(tm_packer *packer, tm_chunk_shape shape, const void *rows, size_t n_rows) {
    if (n_rows == shape.chunk_rows)
        return rows;
    size_t raw = shape.element_bytes * shape.chunk_rows, used = shape.element_bytes * n_rows;
    char *out = room(&packer->padded, raw);
    if (out) {
        memcpy(out, rows, used);
        memset(out + used, 0, raw - used);
    }
    return out;
}

const void *tm_pack_chunk(tm_packer *packer, tm_chunk_shape shape, const void *rows, size_t n_rows,
                          size_t *size) {
    size_t raw = shape.element_bytes * shape.chunk_rows;
    const void *from = pad(packer, shape, rows, n_rows);
    if (!packer->context) {
        *size = raw;
        return from;
    }
    from = from ? shuffle(packer, shape, from) : NULL;
    void *out = room(&packer->packed, ZSTD_compressBound(raw));
    if (!from || !out)
        return NULL;
    /* ZSTD_compress2 writes the content's size into the frame. */
    *size = ZSTD_compress2(packer->context, out, packer->packed.size, from, raw);
    return ZSTD_isError(*size) ? NULL : out;
}

bool tm_unpack_chunk(const void *packed, size_t size, tm_chunk_shape shape, void *shuffled) {
    size_t raw = shape.element_bytes * shape.chunk_rows;
    /* All chunks have the same unpacked size. Any other size means damage. */
    return ZSTD_getFrameContentSize(packed, size) == raw &&
           ZSTD_decompress(shuffled, raw, packed, size) == raw;
}

void tm_unpack_rows(const void *shuffled, tm_chunk_shape shape, size_t first, size_t n,
                    void *rows) {
    const unsigned char *from = (const unsigned char *)shuffled + first;
    if (shape.element_bytes == 8)
        unshuffle8(from, shape.chunk_rows, n, rows);
    else if (shape.element_bytes == 4)
        unshuffle4(from, shape.chunk_rows, n, rows);
    else
        memcpy(rows, from, n);
}
