/* Another program, run to its end. */
#ifndef TMERGE_BASE_CHILD_H
#define TMERGE_BASE_CHILD_H

#include "guard.h"

enum { TM_CHILD_SAID_MAX = 160 };

/** What a run is told to. */
typedef struct tm_child_watch {
    const tm_guard *guard;       /* NULL: none */
    void (*tick)(void *context); /* called several times a second while it runs; NULL: nobody */
    void *context;
} tm_child_watch;

/** How it ended. */
typedef struct tm_child_end {
    int status;                   /* as it exited, or -1 */
    int signal;                   /* that ended it, or 0 */
    char said[TM_CHILD_SAID_MAX]; /* the end of what it printed to both streams: the last lines,
                                     joined by " | ", without control characters */
} tm_child_end;

/**
 * Runs a program, without a shell, in a process group of its own and with nothing to read, and
 * waits for it as long as it takes; what it leaves running of its group is ended. So is the group
 * where this process ends before, even by SIGKILL: a shell beside it (/bin/sh) sees to that.
 *
 * By posix_spawn, which shares the memory of this process until the other program is loaded: Open
 * MPI warns of fork, which copies it, registered pages of the network too.
 *
 * @param program    its path
 * @param arguments  its name first, NULL last
 * @param out        set only where 0 is returned
 * @return           0, or the errno of what kept it from being started or waited for
 */
int tm_child_run(const char *program, const char *const *arguments, const tm_child_watch *watch,
                 tm_child_end *out);

#endif
