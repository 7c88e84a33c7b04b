/* Reads flight recorder dumps and answers of NCCL's RAS, distributed over all processes. */
#ifndef TMERGE_MPI_HANG_INPUTS_H
#define TMERGE_MPI_HANG_INPUTS_H

#include <mpi.h>

#include "base/vec.h"
#include "mpi/load/load.h"
#include "tmerge/table.h"

/** Maximum number of answers of NCCL's RAS. Two answers are compared. */
enum { TM_HANG_ANSWERS_MAX = 2 };

/** Inputs by kind: vectors of tm_input, in input order. Freed by the caller. */
typedef struct tm_hang_inputs {
    /* Dumps of flight recorders, answers of NCCL's RAS, and traces. */
    tm_vec dumps, answers, traces;
} tm_hang_inputs;

/**
 * Sorts the inputs by kind, judging by their content. Leaves out a file of another kind if it was
 * found in a folder. Collective: over comm.
 * @param inputs  [n] the same on every process
 * @param out     vectors that the caller has initialised; the inputs are appended to them
 * @return        TM_OK; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_hang_split(MPI_Comm comm, const tm_input *inputs, size_t n, const tm_hosts *hosts,
                            tm_hang_inputs *out, tm_error *err) TM_MUST_CHECK;

/**
 * Reads each dump on one process, and adds rows to the tables of the analysis `hang`. Call
 * tm_mpi_gather_tables afterwards. If several dumps have the same rank in their names, only the
 * newest is read. An unreadable dump is left out and gets a row in job.left_out. It is then unknown
 * how far the rank of the dump has come. Collective: over comm.
 * @param inputs   the same on every process; the traces among them are not read
 * @param n_ranks  number of ranks of the job, given by the user; 0: unknown. If it is unknown, a
 *                 dump is left out if its rank is far above the ranks that the dumps list.
 * @return         TM_OK; TM_ERR_INPUT: no dump can be read; TM_ERR_FAULT; the same on every process
 */
tm_status tm_mpi_hang_read(MPI_Comm comm, const tm_hang_inputs *inputs, const tm_hosts *hosts,
                           int64_t n_ranks, tm_tables *out, tm_error *err) TM_MUST_CHECK;

#endif
