/* Jobs of hand-made ranks, matched and analysed over processes, for the tests of what they share.
 */
#ifndef TMERGE_TEST_JOB_FIXTURE_H
#define TMERGE_TEST_JOB_FIXTURE_H

#include <mpi.h>

#include "../unit/comm_fixture.h"
#include "timeline/collectives.h"
#include "tmerge/analysis.h"

/* A job: what each of its ranks did. */
typedef struct job_def {
    int64_t n_ranks;
    tm_timeline (*build)(ground *g, int64_t rank);
    bool apart;           /* clocks are not compared */
    int64_t n_ranks_told; /* what the split of waits is told; 0: n_ranks */
} job_def;

/* Who holds which rank. */
enum { BLOCKS, ROUND_ROBIN, ALL_ON_LAST, N_SPREADS };

/* One process's part of a run. */
typedef struct share {
    ground ground;
    tm_timeline *timelines;
    size_t n;
    tm_collectives collectives;
    tm_tables tables;
} share;

/* Matches and analyses the job; process 0 has all tables afterwards. */
share run_job(MPI_Comm comm, const job_def *def, int spread);
void close_share(share *s);

const tm_table *find(const share *s, const char *name);
int64_t int_at(const tm_table *table, size_t row, const char *column);

/* The rows of a table as assert_row has them, and no others. */
void check_rows(const share *s, const char *name, const char *const *rows, size_t n);
#define CHECK_ROWS(s, name, rows) check_rows(s, name, rows, COUNT(rows))

/* Process 0 checks the tables of the job on all processes, however its ranks are spread. */
void check_job(const job_def *def, void (*check)(const share *s));

/* The rows of stragglers.step: a row that says the same for each of five steps. */
void check_five_steps(const share *s, const char *row);

/* The job on all processes has the same tables as alone, to the byte. */
void check_same(const job_def *def, const share *alone, int spread);

#endif
