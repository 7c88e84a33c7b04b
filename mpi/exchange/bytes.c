#include "bytes.h"

#include <stdlib.h>

#include "agree.h"
#include "backoff.h"

/* Size of a piece [B]. A buffer of this size fits on the stack, so a process that is out of memory
 * can still receive a piece and drop it. */
enum { PIECE = 1 << 18 };

/* An error gets here only if the communicator's error handler returns; by default, MPI errors are
 * fatal. */
static tm_status check(int code, tm_error *err) {
    return code == MPI_SUCCESS
               ? TM_OK
               : tm_fail(err, TM_ERR_FAULT, NULL, -1, "MPI failed with error %d", code);
}

static int piece_of(size_t left) {
    return left < PIECE ? (int)left : PIECE;
}

static int send_piece(MPI_Comm comm, const void *bytes, int size, int to, int tag) {
    MPI_Request request;
    int code = MPI_Isend(bytes, size, MPI_BYTE, to, tag, comm, &request);
    return code == MPI_SUCCESS ? tm_mpi_await_data(&request, MPI_STATUS_IGNORE) : code;
}

tm_status tm_mpi_send_bytes(MPI_Comm comm, int to, int tag, const void *bytes, size_t size,
                            tm_error *err) {
    uint64_t n = size;
    const char *p = bytes;
    TM_TRY(check(send_piece(comm, &n, (int)sizeof n, to, tag), err));
    for (size_t sent = 0; sent < size; sent += PIECE)
        TM_TRY(check(send_piece(comm, p + sent, piece_of(size - sent), to, tag), err));
    return TM_OK;
}

tm_status tm_mpi_receive_bytes(MPI_Comm comm, int from, int tag, void **bytes, size_t *size,
                               tm_error *err) {
    uint64_t n = 0;
    TM_TRY(check(tm_mpi_receive(comm, &n, (int)sizeof n, from, tag, MPI_STATUS_IGNORE), err));
    char drop[PIECE], *all = malloc(n ? n : 1);
    tm_status status = all ? TM_OK : tm_fail_memory(err);
    for (uint64_t got = 0; got < n; got += PIECE) {
        tm_status received = check(tm_mpi_receive(comm, all ? all + got : drop, piece_of(n - got),
                                                  from, tag, MPI_STATUS_IGNORE),
                                   err);
        status = status == TM_OK ? received : status;
    }
    if (status != TM_OK) {
        free(all);
        return status;
    }
    *bytes = all;
    *size = (size_t)n;
    return TM_OK;
}

tm_status tm_mpi_broadcast_bytes(MPI_Comm comm, void **bytes, size_t *size, tm_error *err) {
    int self;
    MPI_Comm_rank(comm, &self);
    uint64_t n = *size;
    tm_status status = check(MPI_Bcast(&n, 1, MPI_UINT64_T, 0, comm), err);
    char *received = self == 0 ? NULL : malloc(n ? n : 1);
    char *all = self == 0 ? *bytes : received;
    if (self != 0 && !received)
        status = tm_fail_memory(err);
    status = tm_mpi_agree(comm, status, err);
    if (status == TM_OK) {
        for (uint64_t sent = 0; sent < n && status == TM_OK; sent += PIECE)
            status = check(MPI_Bcast(all + sent, piece_of(n - sent), MPI_BYTE, 0, comm), err);
        status = tm_mpi_agree(comm, status, err);
    }
    if (status != TM_OK) {
        free(received);
        return status;
    }
    *bytes = all;
    *size = (size_t)n;
    return TM_OK;
}
