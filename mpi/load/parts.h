/* Traces that several processes read, each a part of them. */
#ifndef TMERGE_MPI_PARTS_H
#define TMERGE_MPI_PARTS_H

#include <mpi.h>

#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/reader.h"
#include "tmerge/source.h"

/** One part. All processes have the same list: the parts of a trace stand together, in order. */
typedef struct tm_mpi_part {
    size_t input; /* the trace */
    int reader;   /* the process that reads it; that of part 0 joins the parts */
    bool joined;  /* the trace was read rightly, and is the whole */
    tm_part part; /* index and n everywhere, all else on the reader */

    /* on the reader */
    tm_names *names; /* owned; the texts of this part alone, NULL for part 0 */
    bool read;
} tm_mpi_part;

/** @p part is part @p index of @p n of a trace. */
void tm_mpi_part_init(tm_mpi_part *part, size_t input, int index, int n);

/**
 * Reads a part on its reader. Where the trace cannot be read in this way, that is no failure: the
 * parts will not be joined.
 *
 * Collective: no.
 * @param names  this process's dictionary, for part 0
 * @param watch  or NULL
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_mpi_part_read(tm_mpi_part *part, const tm_trace_file *file, tm_names *names,
                           const tm_source_watch *watch, tm_error *err) TM_MUST_CHECK;

/**
 * Brings the parts of each trace together where they are proven to be the whole of it, and frees
 * all that was read. Parts travel in pieces, one after another; beside the rows of the trace their
 * receiver holds one piece.
 *
 * Collective: over comm.
 * @param parts   [n] joined is set in all parts of a trace that could be joined
 * @param names   this process's dictionary: of the traces joined here
 * @param traces  by input: set where the trace was joined here, malloc'ed and the caller's
 * @return        TM_OK; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_parts_join(MPI_Comm comm, tm_mpi_part *parts, size_t n, tm_names *names,
                            tm_trace **traces, tm_error *err) TM_MUST_CHECK;

/** Frees what a part still holds. */
void tm_mpi_part_free(tm_mpi_part *part);

#endif
