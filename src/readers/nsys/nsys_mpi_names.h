/* Functions of MPI by what they do, and its communicators by names that all of their ranks share.
 * Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MPI_NAMES_H
#define TMERGE_NSYS_MPI_NAMES_H

#include "nsys_emit.h"

/** What a function of MPI does. */
typedef struct tm_mpi_function {
    uint8_t kind;  /* tm_collective_kind; OTHER as well of what is no communication */
    bool moves;    /* it communicates, or makes a request that does */
    bool varies;   /* each rank has a size of its own */
    bool is_begun; /* it only begins: MPI_Isend, MPI_Iallreduce */
    bool is_made;  /* it makes a request that MPI_Start begins: MPI_Send_init */
    bool is_start; /* MPI_Start, MPI_Startall */
} tm_mpi_function;

tm_mpi_function tm_mpi_function_of(tm_text name);

/** A communicator of the process, from a moment on. */
typedef struct tm_mpi_comm {
    int64_t handle, since;
    uint32_t name;
    int32_t n_ranks, place; /* as in tm_communicator */
    int n_copies;           /* made of it so far */
    int64_t n_calls;        /* of collectives so far */
    bool used;
} tm_mpi_comm;

/** The communicators of the rank of the unit, for tm_mpi_comm_find. @param has  set to whether the
 * export lists any  @param out  is the caller's. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT */
tm_status tm_mpi_comms_read(tm_nsys_emitter *e, tm_vec *out, bool *has,
                            tm_error *err) TM_MUST_CHECK;

/** The one that had a handle then; NULL where none did. */
tm_mpi_comm *tm_mpi_comm_find(const tm_vec *comms, int64_t handle, int64_t time);

#endif
