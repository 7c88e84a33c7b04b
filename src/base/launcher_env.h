/* Rank and number of processes according to the launcher's environment variables, before MPI
 * starts; MPI's values take precedence. */
#ifndef TMERGE_LAUNCHER_ENV_H
#define TMERGE_LAUNCHER_ENV_H

#include <stdbool.h>

typedef enum tm_launcher {
    TM_LAUNCHER_NONE,
    TM_LAUNCHER_OPENMPI, /* mpirun of Open MPI */
    TM_LAUNCHER_PMIX,    /* srun --mpi=pmix, prun */
    TM_LAUNCHER_PMI,     /* srun --mpi=pmi2, mpiexec of MPICH and its derivatives */
    TM_LAUNCHER_SLURM,   /* plain srun: the processes do not know of each other */
} tm_launcher;

typedef struct tm_launcher_env {
    tm_launcher launcher;
    int rank;       /* number of this process; 0 without a launcher */
    int size;       /* number of processes; 1 without a launcher; 0 if unknown */
    int local_size; /* number of processes on this node; 0 if unknown */
} tm_launcher_env;

/** Reads the environment. @param environment "NAME=value" texts, the last NULL. Values that are not
 * numbers count as missing. */
tm_launcher_env tm_launcher_env_read(const char *const *environment);

bool tm_launcher_env_is_alone(const tm_launcher_env *env);

/** Returns whether all processes are known to be on this node. */
bool tm_launcher_env_is_one_node(const tm_launcher_env *env);

/** Returns whether a variable makes MPI look for a launcher or batch system and other processes. A
 * process that runs alone must unset such variables. */
bool tm_launcher_env_has(const char *variable);

#endif
