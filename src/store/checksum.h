/* The checksums of a store. They are at the end of the file, where no HDF5 program reads, and cover
 * every byte. A reader verifies all bytes before HDF5 reads them, because some damage makes HDF5
 * 1.10 crash. A store has three parts:
 * - content: the HDF5 file. Each of its bytes is either data (of a dataset) or structure (all other
 *   bytes);
 * - extents: a list of n pieces of data, in the order of the file. For each piece: offset, size and
 *   checksum. A piece has at most TM_EXTENT_MAX bytes;
 * - footer: magic number, size of the content, n, checksum of the structure, and checksum of the
 *   extents and the footer.
 *
 * All numbers have 8 bytes and are little-endian. A checksum is CRC-64/XZ (ECMA-182, reflected). */
#ifndef TMERGE_STORE_CHECKSUM_H
#define TMERGE_STORE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "tmerge/status.h"

/* Maximum size of an extent [B]. A reader has to read a whole extent to verify a few of its bytes,
 * so extents must be small. But if they are too small, their list is long. */
enum { TM_EXTENT_MAX = 1 << 20 };

typedef struct tm_extent {
    uint64_t offset, size, sum;
} tm_extent;

typedef struct tm_checksum {
    uint64_t content_bytes;
    tm_vec extents;           /* vector of tm_extent */
    uint64_t *data_before;    /* owned; [extents.n + 1] number of data bytes before each extent. The
                                 last element is the number of all data bytes */
    unsigned char *structure; /* owned; the bytes that are not data, concatenated */
} tm_checksum;

/** Reads [offset, offset + size). Returns false after a failure: errno is then 0 if the file ends
 * too early. */
bool tm_checksum_read_at(int fd, uint64_t offset, void *out, size_t size);

uint64_t tm_checksum_of(const void *bytes, size_t size);

/** Adds an extent for data that was written at @p offset. Returns false when out of memory. */
bool tm_checksum_add(tm_vec *extents, uint64_t offset, const void *bytes, size_t size);

/** Writes extents and footer after the content. Reads the structure back for its checksum.
 * @param extents  vector of tm_extent, in any order; sorted here
 * @return 0, or an errno: EINVAL if two extents overlap */
int tm_checksum_write(int fd, uint64_t content_bytes, tm_vec *extents);

/** Returns whether the file ends with correct extents and a correct footer. Does not verify the
 * content. */
bool tm_checksum_is_there(int fd, uint64_t file_bytes);

/** Reads everything except the data into memory, and verifies it.
 * @param out set only on TM_OK; ended by tm_checksum_free
 * @return TM_OK; TM_ERR_INPUT with @p path: cut short, damaged or not a store; TM_ERR_FAULT */
tm_status tm_checksum_read(int fd, uint64_t file_bytes, const char *path, tm_checksum *out,
                           tm_error *err) TM_MUST_CHECK;
void tm_checksum_free(tm_checksum *checksum);

#endif
