/* Classifies MPI functions, and gives communicators names that are the same on all of their ranks.
 * Private to the reader of Nsight Systems exports. */
#ifndef TMERGE_NSYS_MPI_NAMES_H
#define TMERGE_NSYS_MPI_NAMES_H

#include "nsys_emit.h"

typedef struct tm_mpi_function {
    uint8_t kind;  /* tm_collective_kind; also TM_COLL_OTHER if the call does not communicate */
    bool moves;    /* whether the call communicates, or creates a request that communicates */
    bool varies;   /* sizes may differ between ranks */
    bool is_begun; /* non-blocking: MPI_Isend, MPI_Iallreduce */
    /* creates a persistent request, like MPI_Send_init; MPI_Start then starts the request */
    bool is_made;
    bool is_start; /* MPI_Start, MPI_Startall */
} tm_mpi_function;

tm_mpi_function tm_mpi_function_of(tm_text name);

/** A communicator of the process, valid from `since` on. */
typedef struct tm_mpi_comm {
    int64_t handle, since;
    uint32_t name;
    int32_t n_ranks, place; /* as in tm_communicator */
    int n_copies;           /* number of copies made of this communicator so far */
    int64_t n_calls;        /* number of collectives on this communicator so far */
    bool used;
} tm_mpi_comm;

/**
 * Reads the communicators of the unit's rank, for tm_mpi_comm_find.
 * @param has  set to whether the export lists any communicators
 * @param out  freed by the caller
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_mpi_comms_read(tm_nsys_emitter *e, tm_vec *out, bool *has,
                            tm_error *err) TM_MUST_CHECK;

/** Returns the communicator that has this handle at @p time; NULL if there is none. */
tm_mpi_comm *tm_mpi_comm_find(const tm_vec *comms, int64_t handle, int64_t time);

#endif
