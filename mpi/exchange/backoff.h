/* Backoff: waits for other processes without occupying a core. (A blocking MPI call uses a core
 * until it completes.) */
#ifndef TMERGE_BACKOFF_H
#define TMERGE_BACKOFF_H

#include <mpi.h>

/**
 * Waits for any request like MPI_Wait: polls briefly, then sleeps between polls for a quarter of
 * the time waited so far, at most a millisecond. Do not use it for requests with much data, because
 * MPI makes progress only inside its calls.
 * Collective: no.
 * @param status  may be MPI_STATUS_IGNORE
 * @return        MPI's code
 */
int tm_mpi_await(MPI_Request *request, MPI_Status *status);

/** Waits for a request like tm_mpi_await, with shorter sleeps for requests with much data.
 * Collective: no. */
int tm_mpi_await_data(MPI_Request *request, MPI_Status *status);

/** Does an in-place MPI_Allreduce that waits like tm_mpi_await. Collective: over comm. */
int tm_mpi_reduce(MPI_Comm comm, void *values, int n, MPI_Datatype type, MPI_Op op);

/** Does an MPI_Recv of bytes that waits like tm_mpi_await. Collective: no. */
int tm_mpi_receive(MPI_Comm comm, void *bytes, int size, int from, int tag, MPI_Status *status);

#endif
