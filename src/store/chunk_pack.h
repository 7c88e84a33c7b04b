/* Packs chunks of a column exactly as HDF5's shuffle and zstd filters do. */
#ifndef TMERGE_STORE_CHUNK_PACK_H
#define TMERGE_STORE_CHUNK_PACK_H

#include <stdbool.h>
#include <stddef.h>

/** Buffers and a zstd context, reused for all chunks. Only one thread at a time may use a packer.
 */
typedef struct tm_packer tm_packer;

/** Creates a packer. Returns NULL when out of memory.
 * @param compress  false: the packed chunks are raw bytes */
tm_packer *tm_packer_create(bool compress);
void tm_packer_destroy(tm_packer *packer);

/** Returns the largest size that a chunk of @p raw bytes can take when packed. */
size_t tm_pack_bound(size_t raw);

/** Shape of a column's chunks. Each chunk has chunk_rows elements; in the last chunk, elements
 * after the last row are 0. */
typedef struct tm_chunk_shape {
    size_t element_bytes;
    size_t chunk_rows;
} tm_chunk_shape;

/** Packs @p n_rows rows, padded with zeros. The same rows always give the same bytes.
 * @param n_rows  at most shape.chunk_rows
 * @param size    set to the packed size [B]
 * @return        the packed bytes, valid until the next call (@p rows itself if the chunk is full
 * and not compressed); NULL when out of memory */
const void *tm_pack_chunk(tm_packer *packer, tm_chunk_shape shape, const void *rows, size_t n_rows,
                          size_t *size);

/** Decompresses a chunk of tm_pack_chunk.
 * @param shuffled [element_bytes * chunk_rows] bytes, for tm_unpack_rows; undefined after a failure
 * @return false if the bytes are not a chunk that tm_pack_chunk compressed */
bool tm_unpack_chunk(const void *packed, size_t size, tm_chunk_shape shape, void *shuffled);

/** Extracts rows of a decompressed chunk without unshuffling the other rows.
 * @param first @p first + @p n is at most chunk_rows
 * @param rows [n] elements */
void tm_unpack_rows(const void *shuffled, tm_chunk_shape shape, size_t first, size_t n, void *rows);

#endif
