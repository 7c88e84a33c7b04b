/* Common parts of test files that run under MPI. */
#ifndef TMERGE_TEST_MPI_MAIN_H
#define TMERGE_TEST_MPI_MAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct CMUnitTest;

/** Return the rank of this process, and the number of processes, in MPI_COMM_WORLD. */
int this_process(void);
int all_processes(void);

/** Makes a folder on process 0, and gives its path to all processes. Collective. */
void open_folder(char folder[64]);

/** Returns whether both files exist and are identical. */
bool same_files(const char *a, const char *b);

/** Fails on all processes if @p good is false on process 0, so that no process continues alone.
 * Collective. */
void assert_on_all(bool good);

/** Runs tests like _cmocka_run_group_tests, between MPI_Init and MPI_Finalize. Returns the number
 * of failures. A hang counts as a failure. */
int run_mpi_tests(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **),
                  int (*tear_down)(void **));

/* Defines main. Put it at the end of a test file, after all tests. */
#define RUN_MPI_TESTS(set_up, tear_down)                                                           \
    int main(void) {                                                                               \
        return run_mpi_tests(tests_of_file.all, tests_of_file.n, set_up, tear_down);               \
    }

#endif
