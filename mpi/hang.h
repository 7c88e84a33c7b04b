/* Dumps of flight recorders, read by all processes. */
#ifndef TMERGE_MPI_HANG_H
#define TMERGE_MPI_HANG_H

#include <mpi.h>

#include "base/vec.h"
#include "mpi/load/load.h"
#include "tmerge/table.h"

/** The inputs by what they are: of tm_input, in their order. Freed by the caller. */
typedef struct tm_hang_inputs {
    tm_vec dumps, traces;
} tm_hang_inputs;

/**
 * Tells dumps from traces, by content. Of a folder what is neither is left out.
 *
 * Collective: over comm.
 * @param inputs  [n] the same on every process
 * @param out     initialised by the caller; appended to
 * @return        TM_OK; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_hang_split(MPI_Comm comm, const tm_input *inputs, size_t n, const tm_hosts *hosts,
                            tm_hang_inputs *out, tm_error *err) TM_MUST_CHECK;

/**
 * Reads the dumps, each on some process, and adds to the tables what the analysis `hang` needs of
 * them, which tm_mpi_gather_tables brings to process 0. Of several dumps of one rank, by their
 * names, the newest is read. A dump that cannot be read is left out with a row of job.left_out, and
 * tells nothing of its rank.
 *
 * Collective: over comm.
 * @param inputs  [n] the same on every process
 * @return        TM_OK; TM_ERR_INPUT: none can be read; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_hang_read(MPI_Comm comm, const tm_input *inputs, size_t n, const tm_hosts *hosts,
                           tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
