#include "patience.h"

#include <stdint.h>
#include <time.h>

enum {
    AT_ONCE_NS = 10000, /* what a message takes to one that is there */
    SHORTEST_NS = 10000,
    LONGEST_NS = 1000000,
    FEW = 1000 /* more values are on their way for longer than their processes wait */
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_a_part_of(int64_t waited_ns) {
    int64_t ns = waited_ns / 4;
    ns = ns < SHORTEST_NS ? SHORTEST_NS : ns > LONGEST_NS ? LONGEST_NS : ns;
    const struct timespec pause = {0, (long)ns};
    nanosleep(&pause, NULL);
}

int tm_mpi_await(MPI_Request *request, MPI_Status *status) {
    int done = 0, code;
    code = MPI_Test(request, &done, status);
    for (int64_t begin_ns = done ? 0 : now_ns(); !done && code == MPI_SUCCESS;) {
        int64_t waited_ns = now_ns() - begin_ns;
        if (waited_ns > AT_ONCE_NS)
            sleep_a_part_of(waited_ns);
        code = MPI_Test(request, &done, status);
    }
    return code;
}

int tm_mpi_reduce(MPI_Comm comm, void *values, int n, MPI_Datatype type, MPI_Op op) {
    MPI_Request request;
    int code = n <= FEW ? MPI_Iallreduce(MPI_IN_PLACE, values, n, type, op, comm, &request)
                        : MPI_Ibarrier(comm, &request);
    code = code == MPI_SUCCESS ? tm_mpi_await(&request, MPI_STATUS_IGNORE) : code;
    return n <= FEW || code != MPI_SUCCESS ? code
                                           : MPI_Allreduce(MPI_IN_PLACE, values, n, type, op, comm);
}

int tm_mpi_receive(MPI_Comm comm, void *bytes, int size, int from, int tag, MPI_Status *status) {
    MPI_Request request;
    int code = MPI_Irecv(bytes, size, MPI_BYTE, from, tag, comm, &request);
    return code == MPI_SUCCESS ? tm_mpi_await(&request, status) : code;
}
