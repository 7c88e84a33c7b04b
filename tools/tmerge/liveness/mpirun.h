/* The launcher that started this process. */
#ifndef TMERGE_LIVENESS_MPIRUN_H
#define TMERGE_LIVENESS_MPIRUN_H

#include <stdbool.h>

/** Returns the parent of a process; 0 if unknown. */
long tm_mpirun_parent_of(long pid);

/** Ends mpirun, if it is an ancestor of this process, within three seconds. Otherwise it would wait
 * for the daemons of all hosts, even silent ones.
 * @return false: there is no mpirun */
bool tm_mpirun_end(void);

#endif
