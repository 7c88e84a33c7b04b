/* Simulated jobs with known clocks, as the rows that the clock fit reads. */
#ifndef TMERGE_TEST_CLOCK_JOBS_H
#define TMERGE_TEST_CLOCK_JOBS_H

#include "clock/fit.h"

/* A job with four kinds of operations: data-parallel groups connect the hosts of one stage, pairs
 * connect neighbouring stages, and the world connects all ranks. Every step takes one second. */
typedef struct clock_plan {
    uint64_t seed;
    int hosts, host_ranks, stages, steps;
    int per_step;     /* collectives of each data-parallel group in a step */
    bool world;       /* true: two small collectives of all ranks in each step */
    int pairs;        /* exchanges in each step between neighbouring stages */
    bool buffered;    /* true: senders need not wait, so only causality is known */
    double offset_ns; /* maximum clock offset, either sign */
    double drift_ppb; /* maximum drift, either sign */
    double gpu_ns;    /* standard deviation of each GPU's own clock error */
    double bias_ns;  /* maximum lateness of a host's ends in a group, constant per host and group */
    double noise_ns; /* standard deviation of each end: noise_ns + noise_share x transfer time */
    double noise_share; /* see noise_ns */
    double late;        /* share of ends that are late by about half a millisecond */
    double mismatched;  /* share of events in which one host has the record of another operation */
    double wall_ns;     /* offset uncertainty stated by the domains; 0: offset_ns */
    double steady_ppb;  /* drift uncertainty stated by the domains; 0: drift_ppb */
    int set_host;       /* host whose clock is set in the middle of the window */
    double set_ns;      /* amount by which it is set; 0: no clock is set */
    int dense_most;     /* dense_most of the fit's input; 0: its default */
} clock_plan;

typedef struct clock_job {
    clock_plan plan;
    tm_clock_end *ends; /* owned */
    size_t n, cap;
    uint64_t n_events;
    tm_clock_domain *domains; /* [hosts] owned */
    double *offset_ns;        /* [hosts] true minus recorded time in the middle; owned */
    double *drift;            /* [hosts] change of the offset per recorded time; owned */
    double *gpu_ns;           /* [hosts * host_ranks] owned */
    uint64_t random;
} clock_job;

enum { CLOCK_JOB_CLASSES = 8 };

/* 32 hosts of 8 ranks in four stages, a window of 3 s; the last host is always 1.5 ms late. */
extern const clock_plan usual_plan;

clock_job make_clock_job(const clock_plan *plan);
void free_clock_job(clock_job *job);

/* The whole job, as the input of a single process. */
tm_clock_input clock_job_input(const clock_job *job);

tm_clock_fit fit_clock_job(const clock_job *job);

/* Errors of a fit at the start, middle and end of the window, over the hosts [first, end). The
 * hosts' common error, which no collective can show, is subtracted. */
typedef struct clock_error {
    double worst_ns[3];
    double covered; /* share of errors within twice the stated uncertainty */
} clock_error;
clock_error clock_job_error(const clock_job *job, const tm_clock_fit *fit, int first, int end);

/* Returns the largest of the three errors. */
double worst_of(const clock_error *error);

#endif
