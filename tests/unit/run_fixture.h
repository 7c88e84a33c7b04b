/* Simulated runs of kernels of a group, with known truth, for the alignment tests. */
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

/* A simulated group. Its operations have one kind; a step's last one may have another. */
typedef struct group_spec {
    int64_t n_ranks, steps, per_step; /* per_step: operations in a step */
    int64_t gap_ns, jitter_ns;        /* time between two ends, and its jitter */
    int64_t step_gap_ns;              /* additional gap between two steps */
    int64_t noise_ns;                 /* maximum noise of an end on one rank */
    int64_t offset_ns, drift_ppm;     /* maximum offset and drift of a rank's clock */
    int64_t lost_permille;
    int64_t skipped_steps; /* maximum number of steps by which a recording begins late */
    bool knows_steps, last_differs;
    int64_t late_permille, late_ns; /* ends that are late on one rank: their share, and how late */
    int64_t broadcasts; /* number of back-to-back broadcasts at the start of a step; a rank is late
                           to all of them by up to four broadcasts */
} group_spec;

/* One rank of the group; truth[k] is the operation of mark k. */
typedef struct rank_run {
    tm_run run;
    int64_t *truth;
} rank_run;

/* ends of 16 kernels [us]; all gaps between them differ */
extern const int64_t ends_us[16];

/* Returns a random number in [0, limit). The sequence is the same in every run of the test. */
int64_t draw(uint64_t *state, int64_t limit);

/* Simulates rank r, and prepares its run. If @p seen is not NULL, increments seen[k] for each
 * operation k that the rank recorded. */
rank_run simulate(const group_spec *spec, uint64_t seed, int64_t r, int *seen);
void free_run(rank_run *r);

/* Returns a prepared run of 10 us marks of one signature, with these ends. Free it with
 * free_run. */
rank_run run_of(const int64_t *at_us, size_t n);

#endif
