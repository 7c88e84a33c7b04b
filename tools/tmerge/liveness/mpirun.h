/* The launcher that started this process. */
#ifndef TMERGE_LIVENESS_MPIRUN_H
#define TMERGE_LIVENESS_MPIRUN_H

#include <stdbool.h>

/** Returns the parent of a process; 0 if unknown. */
long tm_mpirun_parent_of(long pid);

/** Ends mpirun within three seconds if it is an ancestor of this process. Otherwise mpirun would
 * wait for the daemons of all hosts, even of silent ones.
 * @return false: no ancestor is mpirun */
bool tm_mpirun_end(void);

#endif
