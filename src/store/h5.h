/* Short hands for HDF5, shared by the writer and the reader. */
#ifndef TMERGE_STORE_H5_H
#define TMERGE_STORE_H5_H

#include <stdbool.h>

#include <hdf5.h>

#include "tmerge/store.h"

/** The first members of a driver's class: since HDF5 1.14 the version of the struct, and a number
 * of those that need not be registered, from 512 on. */
#ifdef H5FD_CLASS_VERSION
#define TM_H5_DRIVER(number) .version = H5FD_CLASS_VERSION, .value = (H5FD_class_value_t)(number)
#else
#define TM_H5_DRIVER(number) .terminate = NULL
#endif
enum { TM_H5_SINK = 0x746d, TM_H5_INTAKE };

/** Starts HDF5, silences what it prints about failures, and makes the zstd filter known. */
bool tm_h5_start(void);

/** Closes an object of any kind but a file; takes what a failed call returned. */
void tm_h5_close(hid_t id);

/** The type of an element in the file, which is also the one in memory. Never closed. */
hid_t tm_h5_element(tm_element element);

/** The type of a cell in the file, which is also the one in memory; a text's depends on its size
 * and is H5I_INVALID_HID here. Never closed. */
hid_t tm_h5_cell(tm_type type);

/** An attribute with a UTF-8 text of variable length, which h5py shows as str. */
bool tm_h5_put_text(hid_t object, const char *name, const char *text);

/** An attribute with one number. */
bool tm_h5_put_number(hid_t object, const char *name, hid_t type, const void *number);

/** A group without times, so that equal stores are equal to the byte. Closed by the caller. */
hid_t tm_h5_make_group(hid_t file, const char *path);

/* How null is stored in a result table. */
#define TM_NULL_INT INT64_MIN
enum { TM_NULL_BOOL = -1 };

/** Room for the path of a result table in the file. */
enum { TM_TABLE_PATH_MAX = 256 };

/** "overlap.rank" gives "/analysis/overlap" and its length up to the table's name:
 * "/analysis/overlap/rank" in @p out. Returns 0 where the name has no dot or is too long. */
size_t tm_h5_table_path(const char *name, char out[TM_TABLE_PATH_MAX]);

#endif
