/* Declarations that the files of the writer share. */
#ifndef TMERGE_STORE_WRITER_H
#define TMERGE_STORE_WRITER_H

#include <hdf5.h>

#include "base/temp_file.h"
#include "chunk_pack.h"
#include "h5.h"
#include "sink.h"
#include "tmerge/store.h"

struct tm_store_writer {
    /* The file has no name until it is complete. */
    tm_temp_file temp;
    bool compress;
    /* Number of rows of a full chunk. If a column has fewer rows, one chunk has all of them. */
    size_t chunk_rows;
    /* The address of this member must not change, because the driver uses it. */
    tm_sink sink;
    hid_t driver; /* owned; driver of the file */
    hid_t file;

    /* The objects below are owned. They are reused, because making them takes long. */
    hid_t text, scalar; /* type and space of text attributes */
    hid_t plain;        /* creation properties of a dataset in one piece */
    hid_t chunked;      /* creation properties of a column in chunks of chunked_rows rows */
    size_t chunked_rows;
    hid_t group; /* the group that was used last */
    char group_path[TM_TABLE_PATH_MAX];

    /* the open column */
    hid_t column;
    /* number of rows that the caller announced for the column */
    size_t n_rows;
    size_t next_row; /* first row of the next chunk */
    /* shape of the column's chunks; `chunk_rows` is 0 if the column has no rows */
    tm_chunk_shape shape;

    /* The members below are for rows that the writer packs itself. */
    tm_packer *packer; /* owned; NULL until needed */
    char *pending;     /* owned; buffer for the rows of the next chunk */
    size_t n_pending;  /* number of rows in `pending` */
};

/** Returns TM_OK if a call is @p done and no write to the file failed. If HDF5 failed without a
 * reason, the message names @p what. */
tm_status tm_store_done(const tm_store_writer *writer, bool done, const char *what, tm_error *err);

/** Writes an attribute with a UTF-8 text of variable length, which h5py shows as str. */
bool tm_store_put_text(const tm_store_writer *writer, hid_t object, const char *name,
                       const char *text);

/** Keeps @p group open, and closes the group that was open before. The writer owns @p group from
 * then on. */
bool tm_store_use_group(tm_store_writer *writer, const char *path, hid_t group);

/** Returns whether the open group is the group at @p path. */
bool tm_store_uses_group(const tm_store_writer *writer, const char *path);

#endif
