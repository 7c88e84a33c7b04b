/* HDF5 driver for reading a store: HDF5 gets only verified bytes. */
#ifndef TMERGE_STORE_VERIFIED_FILE_H
#define TMERGE_STORE_VERIFIED_FILE_H

#include <stdbool.h>

#include <hdf5.h>

#include "tmerge/status.h"

typedef struct tm_verified_file tm_verified_file;

/** Opens a file and verifies everything except the data of its datasets. Data is verified when HDF5
 * reads it: HDF5's read fails if the data has changed.
 * @param out  set only on TM_OK; ended by tm_verified_file_close
 * @return     TM_OK; TM_ERR_INPUT: missing, not a store, cut short, damaged; TM_ERR_FAULT */
tm_status tm_verified_file_open(const char *path, tm_verified_file **out,
                                tm_error *err) TM_MUST_CHECK;

/** Frees the driver and @p verified, which may be NULL. Call it after H5Fclose of the file. */
void tm_verified_file_close(tm_verified_file *verified);

/** Opens the HDF5 file. Returns its id, or a negative value if HDF5 fails. */
hid_t tm_verified_file_h5(tm_verified_file *verified, const char *path);

/** Returns whether a read of HDF5 failed because memory ran out. */
bool tm_verified_file_memory_out(const tm_verified_file *verified);

/** Returns the size [B] of the HDF5 file. */
uint64_t tm_verified_file_content_bytes(const tm_verified_file *verified);

/** Returns the size [B] of the whole store. */
uint64_t tm_verified_file_bytes(const tm_verified_file *verified);

/** Verifies the data that was not read so far. Returns false if there is damage, and sets @p bad to
 * its byte offset. */
bool tm_verified_file_verify_rest(tm_verified_file *verified, uint64_t *bad);

/** Returns whether the file can be read and ends with a store's checksums. Does not verify the
 * content. */
bool tm_verified_file_is_store(const char *path);

#endif
