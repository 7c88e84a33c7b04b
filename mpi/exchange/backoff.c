#include "backoff.h"

#include <stdint.h>
#include <time.h>

#include "base/now.h"

enum {
    AT_ONCE_NS = 10000, /* time that a message takes to a process that already waits for it */
    SHORTEST_NS = 10000,
    LONGEST_NS = 1000000,
    LONGEST_OF_DATA_NS =
        50000, /* This is short, because MPI transfers no part of a large message during a sleep. */
    FEW = 1000 /* if a request has more values than this, its transfer takes longer than the wait
                  for other processes */
};

static void sleep_a_part_of(int64_t waited_ns, int64_t longest_ns) {
    int64_t ns = waited_ns / 4;
    ns = ns < SHORTEST_NS ? SHORTEST_NS : ns > longest_ns ? longest_ns : ns;
    const struct timespec pause = {0, (long)ns};
    nanosleep(&pause, NULL);
}

/* What a process waits for. ask() checks whether it has happened. */
typedef struct question {
    MPI_Request *request; /* request that must complete; NULL: a message must arrive */
    MPI_Comm comm;
    int from, tag;
    int64_t longest_ns;
    MPI_Message message;
} question;

static int ask(question *q, int *is, MPI_Status *status) {
    return q->request ? MPI_Test(q->request, is, status)
                      : MPI_Improbe(q->from, q->tag, q->comm, is, &q->message, status);
}

static int wait_for(question *q, MPI_Status *status) {
    int done = 0, code = ask(q, &done, status);
    for (int64_t begin_ns = done ? 0 : tm_now_ns(); !done && code == MPI_SUCCESS;) {
        int64_t waited_ns = tm_now_ns() - begin_ns;
        if (waited_ns > AT_ONCE_NS)
            sleep_a_part_of(waited_ns, q->longest_ns);
        code = ask(q, &done, status);
    }
    return code;
}

int tm_mpi_await(MPI_Request *request, MPI_Status *status) {
    question q = {.request = request, .longest_ns = LONGEST_NS};
    return wait_for(&q, status);
}

int tm_mpi_await_data(MPI_Request *request, MPI_Status *status) {
    question q = {.request = request, .longest_ns = LONGEST_OF_DATA_NS};
    return wait_for(&q, status);
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
    question q = {.comm = comm, .from = from, .tag = tag, .longest_ns = LONGEST_NS};
    MPI_Request request;
    int code = wait_for(&q, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Imrecv(bytes, size, MPI_BYTE, &q.message, &request);
    return code == MPI_SUCCESS ? tm_mpi_await_data(&request, status) : code;
}
