#include "mpi_main.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

int this_process(void) {
    int self;
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    return self;
}

int all_processes(void) {
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    return n;
}

void open_folder(char folder[64]) {
    strcpy(folder, "/tmp/tmerge-mpi-XXXXXX");
    if (this_process() == 0)
        assert_non_null(mkdtemp(folder));
    MPI_Bcast(folder, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

bool same_files(const char *a, const char *b) {
    size_t n = 0, m = 0;
    char *x = read_file(a, &n), *y = read_file(b, &m);
    bool same = x && y && n == m && memcmp(x, y, n) == 0;
    free(x);
    free(y);
    return same;
}

void assert_on_all(bool good) {
    int all = good;
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    assert_true(all);
}

int run_mpi_tests(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **),
                  int (*tear_down)(void **)) {
    alarm(300);
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    MPI_Init(NULL, NULL);
    int failed = _cmocka_run_group_tests("tests", tests, n, set_up, tear_down);
    MPI_Finalize();
    return failed;
}
