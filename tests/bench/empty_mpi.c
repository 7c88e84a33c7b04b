/* Starts and ends MPI without doing anything, to measure the cost of MPI itself. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
