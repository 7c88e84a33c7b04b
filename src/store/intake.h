/* The HDF5 driver of a store that is read: no byte that was not verified reaches HDF5. */
#ifndef TMERGE_STORE_INTAKE_H
#define TMERGE_STORE_INTAKE_H

#include <stdbool.h>

#include <hdf5.h>

#include "tmerge/status.h"

typedef struct tm_intake tm_intake;

/**
 * Opens a file and verifies all of it but the data of its datasets, which is verified when it is
 * read: HDF5 then fails to read what is not as it was written.
 *
 * @param out  set only on TM_OK; ended by tm_intake_close
 * @return     TM_OK; TM_ERR_INPUT: missing, no store, cut short, damaged; TM_ERR_FAULT
 */
tm_status tm_intake_open(const char *path, tm_intake **out, tm_error *err) TM_MUST_CHECK;

/** After H5Fclose of its file. NULL is allowed. */
void tm_intake_close(tm_intake *intake);

/** Opens the HDF5 file; negative where HDF5 fails. */
hid_t tm_intake_file(tm_intake *intake, const char *path);

/** Whether HDF5 failed to read something for want of memory alone. */
bool tm_intake_memory_out(const tm_intake *intake);

/** Bytes of the HDF5 file. */
uint64_t tm_intake_content_bytes(const tm_intake *intake);

/** Bytes of the whole store. */
uint64_t tm_intake_file_bytes(const tm_intake *intake);

/** Verifies the data that was not read until now; false where it is damaged, at byte @p bad. */
bool tm_intake_verify_rest(tm_intake *intake, uint64_t *bad);

/** Whether the file can be read and is sealed as a store; its content is not verified. */
bool tm_intake_is_store(const char *path);

#endif
