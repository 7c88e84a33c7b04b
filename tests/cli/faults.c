/* Loaded into tmerge in front of its libraries (LD_PRELOAD) to make one thing fail that seldom
 * does. TMERGE_FAULT says which: "tmpfile": the file system has no files without a name; "mpi":
 * the third MPI_Allreduce of the process with rank 1 meets a failure inside of MPI. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static bool wanted(const char *fault) {
    const char *asked = getenv("TMERGE_FAULT");
    return asked && strcmp(asked, fault) == 0;
}

/* Where glibc has 64-bit file offsets by default this is what every caller gets. */
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
    return next(path, flags, mode);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    static int calls;
    int self;
    PMPI_Comm_rank(comm, &self);
    if (wanted("mpi") && self == 1 && ++calls == 3)
        return PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
    return PMPI_Allreduce(from, to, n, type, op, comm);
}
