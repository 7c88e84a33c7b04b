#include "agree.h"

#include <limits.h>

tm_status tm_mpi_agree(MPI_Comm comm, tm_status status, tm_error *err) {
    int self, mine, lowest;
    MPI_Comm_rank(comm, &self);
    mine = status == TM_OK ? INT_MAX : self;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm);
    if (lowest == INT_MAX)
        return TM_OK;
    tm_error told = {.status = status, .offset = -1};
    if (self == lowest && err) {
        told = *err;
        told.status = status;
    }
    MPI_Bcast(&told, (int)sizeof told, MPI_BYTE, lowest, comm);
    if (err)
        *err = told;
    return told.status;
}
