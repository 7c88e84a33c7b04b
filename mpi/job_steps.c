#include "job_steps.h"

static bool marks_steps(const tm_timeline *timeline) {
    return timeline->n_steps > 0 && timeline->steps[0].annotated;
}

void tm_mpi_job_steps(MPI_Comm comm, tm_timeline *timelines, size_t n) {
    int any = 0;
    for (size_t i = 0; i < n; i++)
        any = any || marks_steps(&timelines[i]);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm);
    for (size_t i = 0; i < n && any; i++) {
        if (marks_steps(&timelines[i]))
            continue;
        timelines[i].n_steps = 0;
        for (size_t row = 0; row < timelines[i].n_events; row++)
            timelines[i].step[row] = TM_NO_STEP;
    }
}
