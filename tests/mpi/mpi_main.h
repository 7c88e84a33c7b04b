/* What every file of tests that runs under MPI needs, and its end. */
#ifndef TMERGE_TEST_MPI_MAIN_H
#define TMERGE_TEST_MPI_MAIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct CMUnitTest;

/** Which process this is, of how many, over MPI_COMM_WORLD. */
int this_process(void);
int all_processes(void);

/** A folder that process 0 makes for all, of at most 64 characters. Collective. */
void open_folder(char folder[64]);

/** Whether there are two files that hold the same bytes. */
bool same_files(const char *a, const char *b);

/** Fails on all processes where it is false on process 0, so that none goes on alone. Collective.
 */
void assert_on_all(bool good);

/** Runs tests as _cmocka_run_group_tests does, between MPI_Init and MPI_Finalize; returns how many
 * failed. A hang is a failure, too. */
int run_mpi_tests(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **),
                  int (*tear_down)(void **));

/* The end of a file of tests (program.h). */
#define RUN_MPI_TESTS(set_up, tear_down)                                                           \
    int main(void) {                                                                               \
        return run_mpi_tests(tests_of_file.all, tests_of_file.n, set_up, tear_down);               \
    }

#endif
