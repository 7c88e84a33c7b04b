#include "tables.h"

#include <stdlib.h>

#include "agree.h"
#include "bytes.h"

enum { TAG_ROWS = 11 };

static bool keep_none(const tm_table *table, const tm_cell *row, void *context) {
    (void)table;
    (void)row;
    (void)context;
    return false;
}

static tm_status send_table(MPI_Comm comm, tm_table *table, tm_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    tm_status status = tm_table_pack(table, &bytes, &size, err);
    /* Process 0 waits for this message: it is sent, empty, even where packing failed. */
    tm_status sent = tm_mpi_send_bytes(comm, 0, TAG_ROWS, bytes, size, err);
    free(bytes);
    tm_table_filter(table, keep_none, NULL);
    return status != TM_OK ? status : sent;
}

static tm_status receive_table(MPI_Comm comm, int from, tm_table *table, tm_error *err) {
    void *bytes = NULL;
    size_t size = 0;
    TM_TRY(tm_mpi_receive_bytes(comm, from, TAG_ROWS, &bytes, &size, err));
    tm_status status = size > 0 ? tm_table_unpack(table, bytes, size, err) : TM_OK;
    free(bytes);
    return status;
}

tm_status tm_mpi_gather_tables(MPI_Comm comm, tm_tables *tables, tm_error *err) {
    int self, n_processes;
    MPI_Comm_rank(comm, &self);
    MPI_Comm_size(comm, &n_processes);
    tm_status status = TM_OK;
    for (size_t t = 0; t < tables->n_tables; t++) {
        for (int from = 1; from < n_processes; from++) {
            tm_status done = TM_OK;
            if (self == 0)
                done = receive_table(comm, from, &tables->tables[t], err);
            else if (self == from)
                done = send_table(comm, &tables->tables[t], err);
            status = status == TM_OK ? done : status;
        }
    }
    return tm_mpi_agree(comm, status, err);
}
