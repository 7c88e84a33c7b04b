/* Facts for the analyser about functions it cannot see into; tidy.py includes it before every file.
 *
 * tm_fail() returns the status it was given, and processes agree on a failure if one of them has
 * failed. Without these facts the analyser follows paths on which "return tm_fail(...)" is TM_OK
 * and outputs are not set, which gives dozens of false reports. */
#ifndef TMERGE_ANALYZER_H
#define TMERGE_ANALYZER_H

#include "../../include/tmerge/status.h"
#include "../../tools/synth/base/error.h"

#define tm_fail(err, status, ...) ((void)tm_fail(err, status, __VA_ARGS__), (status))
#define tm_fail_memory(err) ((void)tm_fail_memory(err), TM_ERR_FAULT)
#define tms_fail(err, status, ...) ((void)tms_fail(err, status, __VA_ARGS__), (status))

#if __has_include(<mpi.h>)
#include "../../mpi/exchange/agree.h"

/* A function, because a macro would evaluate the status, and so the call that returns it, twice. */
static inline tm_status tm_lint_agree(MPI_Comm comm, tm_status own, tm_error *err) {
    tm_status all = tm_mpi_agree(comm, own, err);
    return own == TM_OK ? all : own;
}
#define tm_mpi_agree(comm, status, err) tm_lint_agree(comm, status, err)
#endif

#endif
