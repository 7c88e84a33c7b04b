/* What the files of the writer share. */
#ifndef TMERGE_STORE_WRITER_H
#define TMERGE_STORE_WRITER_H

#include <hdf5.h>

#include "base/draft.h"
#include "pack.h"
#include "sink.h"
#include "tmerge/store.h"

struct tm_store_writer {
    /* the file until it has its name */
    tm_draft draft;
    bool compress;
    /* of a full chunk; columns with fewer rows have one of their own length */
    size_t chunk_rows;
    /* shared with the driver: its address must not change */
    tm_sink sink;
    hid_t driver; /* owned; of the file */
    hid_t file;

    /* the open column */
    hid_t column;
    /* that it will have, by its caller's word */
    size_t n_rows;
    size_t next_row; /* the first of the next chunk */
    /* chunk_rows 0: it has no rows */
    tm_chunk_shape shape;

    /* for rows that are packed here */
    tm_packer *packer; /* owned; NULL until it is needed */
    char *pending;     /* owned; [a chunk] rows of the next chunk */
    size_t n_pending;  /* rows in it */
};

/** Ends a call: TM_OK where all that it did was @p done and the file took it. @p what stands in
 * the message where HDF5 failed without saying why. */
tm_status tm_store_done(const tm_store_writer *writer, bool done, const char *what, tm_error *err);

#endif
