/* Traces read in parts by several processes. */
#ifndef TMERGE_MPI_TRACE_PARTS_H
#define TMERGE_MPI_TRACE_PARTS_H

#include <mpi.h>

#include "timeline/part.h"
#include "tmerge/names.h"
#include "tmerge/reader.h"
#include "tmerge/source.h"

/** One part of a trace. All processes have the same list of parts, in which the parts of a trace
 * are adjacent and ordered. */
typedef struct tm_mpi_part {
    size_t input; /* index of the trace's entry */
    int reader;   /* process that reads the part; the reader of part 0 joins the parts */
    bool joined;  /* all parts of the trace were read correctly and form the whole trace */
    tm_part part; /* index and n are set on every process, the rest only on the reader */

    /* The following are set only on the reader. */
    tm_names *names; /* owned; texts of this part only; NULL for part 0 */
    bool read;
} tm_mpi_part;

/** Initialises part @p index of @p n of a trace. */
void tm_mpi_part_init(tm_mpi_part *part, size_t input, int index, int n);

/**
 * Reads a part on its reader. If the trace cannot be read in parts, returns TM_OK and leaves `read`
 * false, so that the parts are not joined. Collective: no.
 * @param names  this process's dictionary, which gets the texts of part 0
 * @param watch  or NULL
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_mpi_part_read(tm_mpi_part *part, const tm_trace_file *file, tm_names *names,
                           const tm_source_watch *watch, tm_error *err) TM_MUST_CHECK;

/**
 * Joins the parts of each trace that are proven to form the whole trace, and frees all parts. Sends
 * parts in pieces, so that the receiver needs memory only for the whole trace and one piece.
 * Collective: over comm.
 * @param parts   [n] all parts; the call sets `joined` in the parts of each trace that was joined
 * @param names   this process's dictionary, which gets the texts of the traces joined on this
 *                process
 * @param traces  [entry] set for each trace that was joined on this process; malloc'ed, freed by
 *                the caller
 * @return        TM_OK; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_parts_join(MPI_Comm comm, tm_mpi_part *parts, size_t n, tm_names *names,
                            tm_trace **traces, tm_error *err) TM_MUST_CHECK;

void tm_mpi_part_free(tm_mpi_part *part);

#endif
