/* Without a launcher, tmerge itself starts several processes with mpirun. */
#ifndef TMERGE_SELF_LAUNCH_H
#define TMERGE_SELF_LAUNCH_H

#include "arguments/command.h"

/** Decides how many processes do the work. If -j asks for several processes, or if the input is
 * large enough to benefit from them, executes mpirun and does not return: mpirun runs the same
 * command in several processes on this machine. If mpirun cannot run, warns and returns, and this
 * process does all the work. If a launcher has started this process, only checks that -j, if
 * given, is the number of processes. Call this before MPI starts.
 * @param arguments of a command that has the option jobs
 * @return           TM_OK: the number of processes is final; TM_ERR_USAGE */
tm_status tm_self_launch(const tm_arguments *arguments, tm_error *err) TM_MUST_CHECK;

/** Parses the number of processes of -j. If -j is not given, sets a negative number. TM_OK;
 * TM_ERR_USAGE. */
tm_status tm_self_launch_parse(const tm_arguments *arguments, int64_t *n,
                               tm_error *err) TM_MUST_CHECK;

#endif
