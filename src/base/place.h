/* Which process of how many this is, as its launcher says in the environment: before MPI starts,
 * which then knows better. */
#ifndef TMERGE_PLACE_H
#define TMERGE_PLACE_H

#include <stdbool.h>

typedef enum tm_launcher {
    TM_LAUNCHER_NONE,
    TM_LAUNCHER_OPENMPI, /* mpirun of Open MPI */
    TM_LAUNCHER_PMIX,    /* srun --mpi=pmix, prun */
    TM_LAUNCHER_PMI,     /* srun --mpi=pmi2, mpiexec of MPICH and those made from it */
    TM_LAUNCHER_SLURM,   /* srun without any of these: processes that know nothing of each other */
} tm_launcher;

typedef struct tm_place {
    tm_launcher launcher;
    int rank;       /* 0 without a launcher */
    int size;       /* 1 without a launcher; 0 where it does not say */
    int local_size; /* processes on this node; 0 where nobody says */
} tm_place;

/** @param environment  "NAME=value" texts, the last NULL. What is no number is not there. */
tm_place tm_place_read(const char *const *environment);

/** Whether there is no other process: nobody has to be reached. */
bool tm_place_is_alone(const tm_place *place);

/** Whether all processes are known to be on this node. */
bool tm_place_is_one_node(const tm_place *place);

/** Whether a variable tells MPI of a launcher or a batch system, so that it would look for the
 * others. Those that a process without others has to be rid of. */
bool tm_place_is_of_launcher(const char *variable);

#endif
