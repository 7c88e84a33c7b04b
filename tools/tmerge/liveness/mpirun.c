#include "mpirun.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads the parent and the name of a process from /proc. Returns 0 and sets "" if there is no such
 * process. The name ends at the last ")" in the file, because the name itself may contain ")". */
static long read_stat(long pid, char name[20]) {
    char path[64], stat[512];
    name[0] = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t n = fread(stat, 1, sizeof stat - 1, file);
    fclose(file);
    stat[n] = '\0';
    const char *begin = strchr(stat, '('), *end = strrchr(stat, ')');
    snprintf(name, 20, "%.*s", begin && end ? (int)(end - begin - 1) : 0, begin ? begin + 1 : "");
    return end && strlen(end) > 4 ? strtol(end + 4, NULL, 10) : 0;
}

long tm_mpirun_parent_of(long pid) {
    char name[20];
    return read_stat(pid, name);
}

static bool is_mpirun(const char *name) {
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun"};
    bool is = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        is = is || strncmp(name, names[k], strlen(names[k])) == 0;
    return is;
}

/* Finds mpirun among the ancestors: wrappers may be in between. Returns 0 if there is none. */
static long find(void) {
    enum { WRAPPERS_MAX = 8 };
    char name[20];
    long pid = (long)getppid();
    for (int i = 0; i <= WRAPPERS_MAX && pid > 1; i++) {
        long parent = read_stat(pid, name);
        if (is_mpirun(name))
            return pid;
        pid = parent;
    }
    return 0;
}

/* Two requests within five seconds end Open MPI 4's mpirun at once; PRRTE, the launcher of Open MPI
 * 5, needs three. A separate process sends them, because the first request ends the processes that
 * mpirun started. The delay lets mpirun first pass on their output. */
bool tm_mpirun_end(void) {
    pid_t mpirun = (pid_t)find();
    if (mpirun <= 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        const struct timespec second = {.tv_sec = 1};
        char name[20];
        setsid();
        for (int i = 0; i < 3; i++) {
            nanosleep(&second, NULL);
            (void)read_stat(mpirun, name);
            if (is_mpirun(name))
                kill(mpirun, SIGTERM);
        }
        _exit(0);
    }
    return child > 0;
}
