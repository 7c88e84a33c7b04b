/* Runs of kernels of a simulated group, for the tests of alignment: what happened is known. */
#ifndef TMERGE_TEST_RUN_FIXTURE_H
#define TMERGE_TEST_RUN_FIXTURE_H

#include "match/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* A simulated group: layers of one kind, and a step's last operation of another. */
typedef struct group_spec {
    int64_t n_ranks, steps, per_step; /* operations of a step */
    int64_t gap_ns, jitter_ns;        /* between two ends */
    int64_t step_gap_ns;              /* more of it between two steps */
    int64_t noise_ns;                 /* of an end on one rank */
    int64_t offset_ns, drift_ppm;     /* greatest of a rank's clock */
    int64_t lost_permille;
    int64_t skipped_steps; /* recordings begin up to so many late */
    bool knows_steps, last_differs;
    int64_t late_permille, late_ns; /* ends that are late on one rank */
    int64_t broadcasts;             /* operations at a step's begin that are, one behind the other;
                                       a rank comes late to all of a step's, by up to four */
} group_spec;

/* One rank of it; which operation each mark is of. */
typedef struct rank_run {
    tm_run run;
    int64_t *truth;
} rank_run;

/* Ends [us] whose gaps are all different. */
extern const int64_t ends_us[16];

/* Values in [0, limit), the same in every run of the test. */
int64_t draw(uint64_t *state, int64_t limit);

/* Simulates rank r, whose run is prepared; *seen[k] is increased for its operations where seen is
 * not NULL. */
rank_run simulate(const group_spec *spec, uint64_t seed, int64_t r, int *seen);
void free_run(rank_run *r);

/* A prepared run of marks of 10 us and one token that end at_us; freed with free_run. */
rank_run run_of(const int64_t *at_us, size_t n);

#endif
