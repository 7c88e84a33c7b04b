/* One chunk of a column, packed as HDF5's own pipeline of shuffle and zstd would pack it. */
#ifndef TMERGE_STORE_PACK_H
#define TMERGE_STORE_PACK_H

#include <stdbool.h>
#include <stddef.h>

/** Buffers and the zstd context, kept from chunk to chunk. One thread uses it at a time. */
typedef struct tm_packer tm_packer;

/** @param compress  false: a chunk is its raw bytes. Returns NULL when memory is out. */
tm_packer *tm_packer_create(bool compress);
void tm_packer_destroy(tm_packer *packer);

/** The most bytes that a chunk of @p raw bytes has when it is packed. */
size_t tm_pack_bound(size_t raw);

/** What a chunk holds: chunk_rows elements, of which the last ones are 0 where there are fewer. */
typedef struct tm_chunk_shape {
    size_t element_bytes;
    size_t chunk_rows;
} tm_chunk_shape;

/**
 * Packs @p n_rows rows and the zeros behind them. The same rows give the same bytes, whatever was
 * packed before them.
 *
 * @param n_rows  at most shape.chunk_rows
 * @param size    bytes packed
 * @return        the packed bytes, valid until the next call (for a full plain chunk: @p rows);
 *                NULL when memory is out
 */
const void *tm_pack_chunk(tm_packer *packer, tm_chunk_shape shape, const void *rows, size_t n_rows,
                          size_t *size);

/**
 * Undoes the compression of tm_pack_chunk.
 *
 * @param shuffled  [element_bytes * chunk_rows] bytes, for tm_unpack_rows
 * @return          false where the bytes are not one such chunk; @p shuffled is unspecified then
 */
bool tm_unpack_chunk(const void *packed, size_t size, tm_chunk_shape shape, void *shuffled);

/** Rows of an unpacked chunk, without a look at the others.
 * @param first  with @p n at most chunk_rows  @param rows  [n] elements */
void tm_unpack_rows(const void *shuffled, tm_chunk_shape shape, size_t first, size_t n, void *rows);

#endif
