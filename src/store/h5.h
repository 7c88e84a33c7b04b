/* HDF5 helpers shared by the writer and the reader. */
#ifndef TMERGE_STORE_H5_H
#define TMERGE_STORE_H5_H

#include <stdbool.h>

#include <hdf5.h>

#include "tmerge/store.h"

/** First members of a driver's class: the version of the struct (since HDF5 1.14) and the driver's
 * number. Numbers from 512 on need not be registered with The HDF Group. */
#ifdef H5FD_CLASS_VERSION
#define TM_H5_DRIVER(number) .version = H5FD_CLASS_VERSION, .value = (H5FD_class_value_t)(number)
#else
#define TM_H5_DRIVER(number) .terminate = NULL
#endif
enum { TM_H5_SINK = 0x746d, TM_H5_INTAKE };

/** Starts HDF5, disables its error output and registers the zstd filter. */
bool tm_h5_start(void);

/** Closes an object of any kind except a file. Accepts the id that a failed call returned. */
void tm_h5_close(hid_t id);

/** Returns the type of an element, which is the same in the file and in memory. The caller must not
 * close it. */
hid_t tm_h5_element(tm_element element);

/** Returns the type of a cell, which is the same in the file and in memory. The caller must not
 * close it. Returns H5I_INVALID_HID for a text, whose type depends on its size. */
hid_t tm_h5_cell(tm_type type);

/** Writes an attribute with one number. */
bool tm_h5_put_number(hid_t object, const char *name, hid_t type, const void *number);

/** Makes a group without timestamps, so that equal stores have equal bytes. Closed by the caller.
 */
hid_t tm_h5_make_group(hid_t file, const char *path);

/* Values that mean null in a result table. */
#define TM_NULL_INT INT64_MIN
enum { TM_NULL_BOOL = -1 };

/** Buffer size for the path of a result table in the file. */
enum { TM_TABLE_PATH_MAX = 256 };

/** Builds the path of a result table in @p out: "overlap.rank" -> "/analysis/overlap/rank". Returns
 * the length of the part before the last slash; 0 if the name has no dot or is too long. */
size_t tm_h5_table_path(const char *name, char out[TM_TABLE_PATH_MAX]);

#endif
