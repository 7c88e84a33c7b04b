/* Preloaded into tmerge (LD_PRELOAD) to inject rare failures. Words in TMERGE_FAULT select them:
 * "tmpfile": the file system has no unnamed files; "mpi": the third MPI_Iallreduce of the process
 * with rank 1 fails inside MPI; "matching", "writing": the last process stops, as by SIGSTOP, in
 * its first exchange of records, or while the store is written; "temp_file": the process that
 * writes a file stops after writing a part of it. TMERGE_STARTED is a path prefix: each process
 * creates the file with its rank appended when MPI_Init returns. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

static bool wanted(const char *fault) {
    const char *asked = getenv("TMERGE_FAULT");
    return asked && strstr(asked, fault);
}

static int temp_file = -1; /* file that is being written */

/* With glibc's default of 64-bit file offsets, every caller uses open, not open64. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int open(const char *path, int flags, ...) {
    static int (*next)(const char *, int, ...);
    va_list more;
    va_start(more, flags);
    int mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
    va_end(more);
    if ((flags & O_TMPFILE) == O_TMPFILE && wanted("tmpfile")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "open");
    int fd = next(path, flags, mode);
    if ((flags & O_TMPFILE) == O_TMPFILE || strstr(path, ".tmerge-tmp"))
        temp_file = fd;
    return fd;
}

static void stop_in_temp_file(int fd) {
    static int calls;
    if (fd == temp_file && wanted("temp_file") && ++calls == 2)
        raise(SIGSTOP);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
ssize_t write(int fd, const void *bytes, size_t size) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    stop_in_temp_file(fd);
    return next(fd, bytes, size);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    static ssize_t (*next)(int, const void *, size_t, off_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pwrite");
    stop_in_temp_file(fd);
    return next(fd, bytes, size, at);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, required, provided), self;
    const char *begin = getenv("TMERGE_STARTED");
    char path[512];
    if (begin) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &self);
        snprintf(path, sizeof path, "%s%d", begin, self);
        FILE *file = fopen(path, "w");
        if (file)
            fclose(file);
    }
    return code;
}

static void stop_the_last(const char *fault, MPI_Comm comm) {
    static bool is_over;
    int self, size;
    PMPI_Comm_rank(comm, &self);
    PMPI_Comm_size(comm, &size);
    if (wanted(fault) && self == size - 1 && !is_over) {
        is_over = true;
        raise(SIGSTOP);
    }
}

int MPI_Iallreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
    static int calls;
    int self;
    PMPI_Comm_rank(comm, &self);
    /* A reduction that is pending during work is one of the writing of the store, and is not in
     * place. The processes agree by reductions in place. */
    if (from != MPI_IN_PLACE)
        stop_the_last("writing", comm);
    if (wanted("mpi") && self == 1 && ++calls == 3)
        return PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
    return PMPI_Iallreduce(from, to, n, type, op, comm, request);
}

int MPI_Ialltoallv(const void *from, const int *n_from, const int *at_from, MPI_Datatype type_from,
                   void *to, const int *n_to, const int *at_to, MPI_Datatype type_to, MPI_Comm comm,
                   MPI_Request *request) {
    stop_the_last("matching", comm);
    return PMPI_Ialltoallv(from, n_from, at_from, type_from, to, n_to, at_to, type_to, comm,
                           request);
}
