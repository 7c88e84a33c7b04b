/* The end of every file of tests that runs under MPI. */
#ifndef TMERGE_TEST_MPI_MAIN_H
#define TMERGE_TEST_MPI_MAIN_H

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

/** Runs an array of tests, as cmocka_run_group_tests does, between MPI_Init and MPI_Finalize; sets
 * how many failed. A hang is a failure, too. */
#define RUN_MPI_TESTS(tests, set_up, tear_down, failed)                                            \
    do {                                                                                           \
        alarm(300);                                                                                \
        setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);                                            \
        MPI_Init(NULL, NULL);                                                                      \
        (failed) = cmocka_run_group_tests(tests, set_up, tear_down);                               \
        MPI_Finalize();                                                                            \
    } while (0)

#endif
