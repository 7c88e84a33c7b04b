/* Jobs of ranks made by hand, matched and analysed by several processes. */
#ifndef TMERGE_TEST_JOB_FIXTURE_H
#define TMERGE_TEST_JOB_FIXTURE_H

#include <mpi.h>

#include "../unit/comm_fixture.h"
#include "timeline/collectives.h"
#include "tmerge/analysis.h"

/* A job, defined by the timelines of its ranks. */
typedef struct job_def {
    int64_t n_ranks;
    tm_timeline (*build)(ground *g, int64_t rank);
    bool apart;               /* true: clocks are not compared */
    int64_t n_ranks_reported; /* job size given to the split of waits; 0: n_ranks */
} job_def;

/* How ranks are distributed to processes. */
enum { BLOCKS, ROUND_ROBIN, ALL_ON_LAST, N_SPREADS };

/* One process's part of a run. */
typedef struct share {
    ground ground;
    tm_timeline *timelines;
    size_t n;
    tm_collectives collectives;
    tm_tables tables;
} share;

/* Matches and analyses the job. Afterwards, process 0 has all tables. */
share run_job(MPI_Comm comm, const job_def *def, int spread);
void close_share(share *s);

const tm_table *find(const share *s, const char *name);
int64_t int_at(const tm_table *table, size_t row, const char *column);

/* Checks that a table has exactly these rows, in the notation of assert_row. */
void check_rows(const share *s, const char *name, const char *const *rows, size_t n);
#define CHECK_ROWS(s, name, rows) check_rows(s, name, rows, COUNT(rows))

/* Runs the job on all processes with each distribution. Process 0 checks its tables. */
void check_job(const job_def *def, void (*check)(const share *s));

/* Checks that stragglers.step has this row for each of steps 1 to 5. */
void check_five_steps(const share *s, const char *row);

/* Checks that all processes together make the same tables as one process, byte for byte. */
void check_same(const job_def *def, const share *alone, int spread);

#endif
