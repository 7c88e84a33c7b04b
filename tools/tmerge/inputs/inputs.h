/* The files that the command line names, on all hosts. Every process gets the same list. */
#ifndef TMERGE_INPUTS_H
#define TMERGE_INPUTS_H

#include <mpi.h>

#include "arguments/command.h"
#include "base/vec.h"
#include "mpi/load/load.h"

typedef struct tm_inputs {
    tm_vec list; /* vector of tm_input; they point into `bytes` and `seen` */
    void *bytes; /* owned */
    void *seen;  /* owned */
    tm_hosts hosts;
} tm_inputs;

/** Expands the operands on every host that has processes. Operands are files, folders, quoted
 * patterns and lists of these. folders.h says which files of a folder are included. Lists and the
 * rank map are read on the first host. Each operand must exist on at least one host. If several
 * hosts have a file of the same path, size, time and digest, it is one input.
 *
 * Collective: over comm.
 * @param arguments  with their options --rank-map and --all-recordings
 * @param out        the same on every process; free it with tm_inputs_free
 * @return           TM_OK; TM_ERR_INPUT; TM_ERR_USAGE; TM_ERR_FAULT; the same on every process */
tm_status tm_inputs_list(MPI_Comm comm, const tm_arguments *arguments, tm_inputs *out,
                         tm_error *err) TM_MUST_CHECK;

/** Calls @p each with every file of this host that the operands name, in order. Leaves out missing
 * files. If a list can be read only once, calls @p each with the list itself. Collective: no.
 * TM_OK; TM_ERR_INPUT: a folder; TM_ERR_FAULT. */
tm_status tm_inputs_each(const tm_arguments *arguments,
                         void (*each)(void *context, const char *path), void *context,
                         tm_error *err) TM_MUST_CHECK;

void tm_inputs_free(tm_inputs *inputs);

#endif
