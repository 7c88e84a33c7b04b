/* Registers files and children to clean up when the process is killed. */
#ifndef TMERGE_BASE_GUARD_H
#define TMERGE_BASE_GUARD_H

#include <sys/types.h>

/** All functions may be called at any time outside signal handlers. A NULL guard means none. */
typedef struct tm_guard {
    /** hold defers signals that would end the process, until release. Create and register a file or
     * child between hold and release, so that a signal cannot leave it behind. */
    void (*hold)(void);
    void (*release)(void);

    /** Registers a file for removal, or a folder that contains only registered files. The last one
     * registered is removed first.
     * @param path  copied; need not exist */
    void (*remove)(const char *path);

    /** Registers the child whose process group is killed before anything is removed; 0: no
     * child. */
    void (*child)(pid_t leader);
} tm_guard;

#endif
