/* The end of a store. Behind the HDF5 file proper, which no HDF5 program looks past, stand the sums
 * of all its bytes: a reader knows what it may believe before HDF5 1.10, which does not survive
 * every damage, sees any of it.
 *
 *   content     the HDF5 file; a byte of it is data (of datasets) or structure (all else, gaps too)
 *   extents     [n] {offset, size, sum} of the data, ascending, in pieces of at most TM_EXTENT_MAX
 *   footer      magic, size of the content, n, sum of the structure, sum of extents and footer
 *
 * All numbers are little-endian, 8 bytes; a sum is CRC-64/XZ (ECMA-182, reflected). */
#ifndef TMERGE_STORE_SEAL_H
#define TMERGE_STORE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/* Who needs a few bytes of an extent reads all of it, and holds it: large enough that the list of
 * extents stays short, small enough that this costs little. */
enum { TM_EXTENT_MAX = 1 << 20 };

typedef struct tm_extent {
    uint64_t offset, size, sum;
} tm_extent;

typedef struct tm_seal {
    uint64_t content_bytes;
    tm_vec extents;           /* of tm_extent */
    uint64_t *data_before;    /* owned; [extents.n + 1] bytes of data before an extent */
    unsigned char *structure; /* owned; the bytes that are no data, one after another */
} tm_seal;

/** Whether all of [offset, offset + size) was read; errno is 0 where the file ends before. */
bool tm_seal_read_at(int fd, uint64_t offset, void *out, size_t size);

uint64_t tm_seal_sum(const void *bytes, size_t size);

/** Adds data that was written at @p offset; false when memory is out. */
bool tm_seal_add(tm_vec *extents, uint64_t offset, const void *bytes, size_t size);

/**
 * Writes extents and footer behind the content, whose structure is read back for its sum.
 *
 * @param extents  of tm_extent, in any order; sorted here
 * @return         0; an errno, EINVAL where data was written twice
 */
int tm_seal_write(int fd, uint64_t content_bytes, tm_vec *extents);

/** Whether the file ends with a footer whose sum is right, of whatever content. */
bool tm_seal_is_there(int fd, uint64_t file_bytes);

/**
 * Reads and verifies all but the data. Needs memory for that, at most the size of the file.
 *
 * @param out  set only on TM_OK; ended by tm_seal_free
 * @return     TM_OK; TM_ERR_INPUT with @p path: cut short, damaged or no store; TM_ERR_FAULT
 */
tm_status tm_seal_read(int fd, uint64_t file_bytes, const char *path, tm_seal *out,
                       tm_error *err) TM_MUST_CHECK;
void tm_seal_free(tm_seal *seal);

#endif
