/* Runs another program to its end. */
#ifndef TMERGE_BASE_CHILD_H
#define TMERGE_BASE_CHILD_H

#include "guard.h"

enum { TM_CHILD_SAID_MAX = 160 };

/** Settings of tm_child_run. */
typedef struct tm_child_watch {
    const tm_guard *guard;       /* NULL: no guard */
    void (*tick)(void *context); /* called several times a second; NULL: not called */
    void *context;
} tm_child_watch;

typedef struct tm_child_end {
    int status;                   /* exit status, or -1 */
    int signal;                   /* signal that killed the program, or 0 */
    char said[TM_CHILD_SAID_MAX]; /* last lines of its stdout and stderr, joined by " | ", without
                                     control characters */
} tm_child_end;

/**
 * Runs a program in its own process group, without a shell and without input. Waits for the
 * program without a time limit. Then kills all processes of the group that still run. If this
 * process ends before the program, even by SIGKILL, a helper shell (/bin/sh) kills the group. Uses
 * posix_spawn instead of fork: after a fork, memory that is registered with the network is unsafe,
 * and Open MPI warns about it.
 * @param program    path of the program
 * @param arguments  the first is the program's name; NULL is the last
 * @param out        set only if 0 is returned
 * @return           0; or an errno if the program cannot be started, or if waiting for it fails
 */
int tm_child_run(const char *program, const char *const *arguments, const tm_child_watch *watch,
                 tm_child_end *out);

#endif
