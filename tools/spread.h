/* One command on many cores: where nothing has started several processes, tmerge has mpirun start
 * them. */
#ifndef TMERGE_SPREAD_H
#define TMERGE_SPREAD_H

#include "command.h"

/**
 * Becomes mpirun, which runs this very command in several processes of this machine, and does not
 * return: where -j asks for them, or where the operands are so large that they pay. Where that
 * cannot be, it says why, and this process does it all.
 *
 * Called before MPI starts, unless a launcher has started several: then it checks that -j agrees.
 * @param arguments  with an option jobs
 * @return           TM_OK: there are as many processes as there will be; TM_ERR_USAGE
 */
tm_status tm_spread(const tm_arguments *arguments, tm_error *err) TM_MUST_CHECK;

/** The number of processes that -j asks for; below 0 none. TM_OK; TM_ERR_USAGE. */
tm_status tm_spread_parse(const tm_arguments *arguments, int64_t *n, tm_error *err) TM_MUST_CHECK;

#endif
