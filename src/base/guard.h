/* Registers files and children to clean up when the process is killed. */
#ifndef TMERGE_BASE_GUARD_H
#define TMERGE_BASE_GUARD_H

#include <sys/types.h>

/** All functions may be called at any time outside signal handlers. If the pointer to a guard is
 * NULL, nothing is registered. */
typedef struct tm_guard {
    /** `hold` defers signals that would end the process, until `release` is called. A file or child
     * must be created and registered between `hold` and `release`, so that a signal cannot leave it
     * behind. */
    void (*hold)(void);
    void (*release)(void);

    /** Registers a file, or a folder that contains only registered files, so that it is removed
     * when the process is killed. Files and folders are removed in reverse order of registration.
     * @param path  copied; need not exist */
    void (*remove)(const char *path);

    /** Registers the child. The process group of the child is killed before anything is removed. If
     * @p leader is 0, there is no child. */
    void (*child)(pid_t leader);
} tm_guard;

#endif
