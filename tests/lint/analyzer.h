/* Put before every file by clang-tidy.sh: tells the analyser what it cannot see into.
 *
 * A failing call returns the status that it was given, and processes agree on a failure when one
 * of them has failed. Unless it knows that, the analyser follows paths on which "return
 * tm_fail(...)" is TM_OK and the outputs are not set: false reports by the dozen. */
#ifndef TMERGE_ANALYZER_H
#define TMERGE_ANALYZER_H

#include "../../include/tmerge/status.h"
#include "../../tools/synth/base/error.h"

#define tm_fail(err, status, ...) ((void)tm_fail(err, status, __VA_ARGS__), (status))
#define tm_fail_memory(err) ((void)tm_fail_memory(err), TM_ERR_FAULT)
#define tms_fail(err, status, ...) ((void)tms_fail(err, status, __VA_ARGS__), (status))

#if __has_include(<mpi.h>)
#include "../../mpi/agree.h"

/* A function, for a macro would evaluate the status twice, and with it the call that gives it. */
static inline tm_status tm_lint_agree(MPI_Comm comm, tm_status own, tm_error *err) {
    tm_status all = tm_mpi_agree(comm, own, err);
    return own == TM_OK ? all : own;
}
#define tm_mpi_agree(comm, status, err) tm_lint_agree(comm, status, err)
#endif

#endif
