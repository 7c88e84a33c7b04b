/* What must not outlive the process that made it, told to whoever handles its signals. */
#ifndef TMERGE_BASE_GUARD_H
#define TMERGE_BASE_GUARD_H

#include <sys/types.h>

/** All may be called at any time outside of signal handlers; a NULL guard stands for none. */
typedef struct tm_guard {
    /** Until release a signal that ends the process waits: for what is made and told of between the
     * two, so that there is no moment at which it exists and nobody knows. */
    void (*hold)(void);
    void (*release)(void);

    /** A file, or a folder that is empty by then: removed in the reverse order of these calls.
     * @param path  copied; what does not exist any more, or not yet, does no harm */
    void (*remove)(const char *path);

    /** The child whose process group is ended, before anything is removed; 0: none any more. */
    void (*child)(pid_t leader);
} tm_guard;

#endif
