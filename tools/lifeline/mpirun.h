/* The launcher above this process. */
#ifndef TMERGE_LIFELINE_MPIRUN_H
#define TMERGE_LIFELINE_MPIRUN_H

#include <stdbool.h>

/** The parent of a process; 0 where that cannot be seen. */
long tm_mpirun_parent_of(long pid);

/**
 * Has mpirun, where it is an ancestor of this process, end within three seconds: it waits for the
 * daemons of all hosts before it ends by itself, also for one that does not answer.
 * @return  false: there is none
 */
bool tm_mpirun_end(void);

#endif
