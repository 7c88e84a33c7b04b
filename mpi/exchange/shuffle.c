#include "shuffle.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agree.h"
#include "backoff.h"

/* An exchange of records. The arrays have an element for each process: the number of records that
 * are sent to it or received from it (_n), and the index of the first of these records (_at). */
typedef struct exchange {
    MPI_Comm comm;
    int n_processes;
    int (*owner)(const void *record, int n_processes);
    int *send_n, *send_at, *receive_n, *receive_at;
} exchange;

static bool prepare(exchange *x) {
    size_t n = (size_t)x->n_processes;
    x->send_n = calloc(4 * n, sizeof(int));
    x->send_at = x->send_n ? x->send_n + n : NULL;
    x->receive_n = x->send_n ? x->send_n + 2 * n : NULL;
    x->receive_at = x->send_n ? x->send_n + 3 * n : NULL;
    return x->send_n != NULL;
}

/* Computes offsets from counts. Returns the sum of the counts, or -1 if it exceeds the int that MPI
 * uses for counts. */
static long places(const int *n, int *at, int n_processes) {
    long sum = 0;
    for (int p = 0; p < n_processes; p++) {
        at[p] = (int)sum;
        sum += n[p];
        if (sum > INT_MAX)
            return -1;
    }
    return sum;
}

/* Returns the records sorted by owner; the sort is stable. */
static char *by_owner(const tm_vec *records, exchange *x) {
    const char *data = records->data;
    char *sorted = malloc(records->n * records->size + 1);
    if (!sorted)
        return NULL;
    for (size_t i = 0; i < records->n; i++) {
        int *at = &x->send_at[x->owner(data + i * records->size, x->n_processes)];
        memcpy(sorted + (size_t)(*at)++ * records->size, data + i * records->size, records->size);
    }
    for (int p = 0; p < x->n_processes; p++)
        x->send_at[p] -= x->send_n[p];
    return sorted;
}

static tm_status count(const tm_vec *records, exchange *x, tm_error *err) {
    const char *data = records->data;
    if (records->n > INT_MAX)
        return tm_fail(err, TM_ERR_FAULT, NULL, -1, "more than 2^31 records on one process");
    for (size_t i = 0; i < records->n; i++)
        x->send_n[x->owner(data + i * records->size, x->n_processes)]++;
    (void)places(x->send_n, x->send_at, x->n_processes);
    return TM_OK;
}

static tm_status exchange_records(exchange *x, tm_vec *records, tm_vec *out, tm_error *err) {
    MPI_Request request;
    MPI_Ialltoall(x->send_n, 1, MPI_INT, x->receive_n, 1, MPI_INT, x->comm, &request);
    tm_mpi_await(&request, MPI_STATUS_IGNORE);
    long n = places(x->receive_n, x->receive_at, x->n_processes);
    char *sorted = by_owner(records, x);
    tm_status status = TM_OK;
    tm_vec_free(records); /* Free the records before the received records are allocated, so that at
                             most two copies exist at any time. */
    out->n = 0;
    if (n < 0)
        status = tm_fail(err, TM_ERR_FAULT, NULL, -1, "more than 2^31 records for one process");
    else if (!sorted || !tm_vec_append(out, NULL, (size_t)n))
        status = tm_fail_memory(err);
    status = tm_mpi_agree(x->comm, status, err);
    if (status == TM_OK) {
        MPI_Datatype type;
        MPI_Type_contiguous((int)records->size, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        int code = MPI_Ialltoallv(sorted, x->send_n, x->send_at, type, out->data, x->receive_n,
                                  x->receive_at, type, x->comm, &request);
        MPI_Type_free(&type);
        if (code != MPI_SUCCESS || tm_mpi_await_data(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            status = tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI_Alltoallv failed");
        status = tm_mpi_agree(x->comm, status, err);
    }
    free(sorted);
    return status;
}

tm_status tm_mpi_shuffle(MPI_Comm comm, tm_vec *records,
                         int (*owner)(const void *record, int n_processes), tm_vec *out,
                         tm_error *err) {
    exchange x = {.comm = comm, .owner = owner};
    MPI_Comm_size(comm, &x.n_processes);
    if (x.n_processes == 1) { /* the received records are already in @p out */
        tm_vec_free(out);
        tm_vec_trim(records);
        *out = *records;
        *records = (tm_vec){.size = out->size};
        return TM_OK;
    }
    tm_status status = prepare(&x) ? count(records, &x, err) : tm_fail_memory(err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK)
        status = exchange_records(&x, records, out, err);
    tm_vec_free(records);
    free(x.send_n);
    return status;
}

int tm_mpi_first_process(const void *record, int n_processes) {
    (void)record;
    (void)n_processes;
    return 0;
}

tm_status tm_mpi_everywhere(MPI_Comm comm, const tm_vec *own, tm_vec *out, tm_error *err) {
    int n_processes, size = (int)(own->n * own->size), total = 0;
    MPI_Comm_size(comm, &n_processes);
    MPI_Request request;
    int *sizes = calloc(2 * (size_t)n_processes, sizeof *sizes), *from = sizes + n_processes;
    tm_status status = tm_mpi_agree(comm, sizes ? TM_OK : tm_fail_memory(err), err);
    if (status == TM_OK) {
        MPI_Iallgather(&size, 1, MPI_INT, sizes, 1, MPI_INT, comm, &request);
        tm_mpi_await(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n_processes; i++) {
            from[i] = total;
            total += sizes[i];
        }
        bool ok = tm_vec_append(out, NULL, (size_t)total / own->size) || total == 0;
        status = tm_mpi_agree(comm, ok ? TM_OK : tm_fail_memory(err), err);
    }
    if (status == TM_OK)
        MPI_Allgatherv(own->data, size, MPI_BYTE, out->data, sizes, from, MPI_BYTE, comm);
    free(sizes);
    return status;
}
