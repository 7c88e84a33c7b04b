/* The list of files that the command line means, on whatever hosts they lie: the same on every
 * process. */
#ifndef TMERGE_INPUTS_H
#define TMERGE_INPUTS_H

#include <mpi.h>

#include "base/vec.h"
#include "command.h"
#include "mpi/load/load.h"

typedef struct tm_inputs {
    tm_vec list; /* of tm_input; they point into bytes and seen */
    void *bytes; /* owned */
    void *seen;  /* owned */
    tm_hosts hosts;
} tm_inputs;

/**
 * Expands files, folders, quoted globs and lists of these on every host that has processes, and
 * reads the rank map; lists and map lie on the first host. A folder's files come in natural order
 * (9 before 10); names that begin with a dot are left out; folders.h says which they are. An
 * operand has to be on one host at least; what hosts see under one name is one file if path, size,
 * time and digest are the same.
 *
 * Collective: over comm.
 * @param arguments  with their options --rank-map and --all-recordings
 * @param out        the same on every process; free it with tm_inputs_free
 * @return          TM_OK; TM_ERR_INPUT; TM_ERR_USAGE; TM_ERR_FAULT; the same on every process
 */
tm_status tm_inputs_list(MPI_Comm comm, const tm_arguments *arguments, tm_inputs *out,
                         tm_error *err) TM_MUST_CHECK;

/** Calls @p each with every file of this host that the operands mean, in their order; what is
 * missing is not told; of a list that can be read only once, itself alone. Collective: no. TM_OK;
 * TM_ERR_INPUT: a folder; TM_ERR_FAULT. */
tm_status tm_inputs_each(const tm_arguments *arguments,
                         void (*each)(void *context, const char *path), void *context,
                         tm_error *err) TM_MUST_CHECK;

void tm_inputs_free(tm_inputs *inputs);

#endif
