/* Self-launch: without a launcher, tmerge starts several processes by mpirun. */
#ifndef TMERGE_SELF_LAUNCH_H
#define TMERGE_SELF_LAUNCH_H

#include "arguments/command.h"

/**
 * Executes mpirun, which runs the same command in several processes on this machine, and does not
 * return. Happens if -j requests it or the operands are large enough to benefit. If mpirun cannot
 * run, warns, and this process does all the work.
 *
 * Called before MPI starts. Under a launcher only checks that -j agrees.
 * @param arguments  with an option jobs
 * @return           TM_OK: the number of processes is final; TM_ERR_USAGE
 */
tm_status tm_self_launch(const tm_arguments *arguments, tm_error *err) TM_MUST_CHECK;

/** Parses the number of processes of -j; negative if not given. TM_OK; TM_ERR_USAGE. */
tm_status tm_self_launch_parse(const tm_arguments *arguments, int64_t *n,
                               tm_error *err) TM_MUST_CHECK;

#endif
