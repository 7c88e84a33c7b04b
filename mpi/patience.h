/* Waiting for other processes without taking a core from them: a blocking call of MPI asks until
 * the end of its wait. */
#ifndef TMERGE_MPI_PATIENCE_H
#define TMERGE_MPI_PATIENCE_H

#include <mpi.h>

/**
 * Waits for a request, of whatever call, as MPI_Wait does: asks for a moment, then sleeps in
 * between, each time a fourth of what it has waited, at most a millisecond. Not for requests that
 * carry much: MPI gets on with them only while it is called.
 *
 * Collective: no.
 * @param status  may be MPI_STATUS_IGNORE  @return  of MPI
 */
int tm_mpi_await(MPI_Request *request, MPI_Status *status);

/** The same for a request that carries much: sleeps shortly. Collective: no. */
int tm_mpi_await_data(MPI_Request *request, MPI_Status *status);

/** As MPI_Allreduce in place, with such waiting. Collective: over comm. */
int tm_mpi_reduce(MPI_Comm comm, void *values, int n, MPI_Datatype type, MPI_Op op);

/** As MPI_Recv of bytes, with such waiting. Collective: no. */
int tm_mpi_receive(MPI_Comm comm, void *bytes, int size, int from, int tag, MPI_Status *status);

#endif
