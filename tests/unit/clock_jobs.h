/* Simulated jobs whose clocks are known, as the rows that the clock fit reads. */
#ifndef TMERGE_TEST_CLOCK_JOBS_H
#define TMERGE_TEST_CLOCK_JOBS_H

#include "clock/fit.h"

/* Data-parallel groups link the hosts of one stage, rank by rank; pairs link neighbouring stages;
 * the world is all ranks. Every step is one second. */
typedef struct clock_plan {
    uint64_t seed;
    int hosts, host_ranks, stages, steps;
    int per_step;       /* collectives of each data-parallel group in a step */
    bool world;         /* two small collectives of all ranks in each step */
    int pairs;          /* exchanges in each step between neighbours of stages */
    bool buffered;      /* of which only causality is known, for senders need not wait */
    double offset_ns;   /* clocks are off by up to so much either way, */
    double drift_ppb;   /* drift by up to so much either way, */
    double gpu_ns;      /* and each GPU's by a normal error of its own */
    double bias_ns;     /* a host's ends in a group are late by up to so much, always alike */
    double noise_ns;    /* normal, of each end; */
    double noise_share; /* and by so much of the transfer's length */
    double late;        /* share of ends that are late by half a millisecond or so */
    double mismatched;  /* share of events in which one host's record is another operation's */
    double wall_ns;     /* what the domains say of their offset; 0: offset_ns, */
    double steady_ppb;  /* and of their drift; 0: drift_ppb */
    int set_host;       /* whose clock is set in the middle of the window by */
    double set_ns;      /* so much; 0: none is */
    int dense_most;     /* of the input; 0: as usual */
} clock_plan;

typedef struct clock_job {
    clock_plan plan;
    tm_clock_end *ends; /* owned */
    size_t n, cap;
    uint64_t n_events;
    tm_clock_domain *domains; /* [hosts] owned */
    double *offset_ns;        /* [hosts] true minus recorded at the middle; owned */
    double *drift;            /* [hosts] its growth per recorded time; owned */
    double *gpu_ns;           /* [hosts * host_ranks] owned */
    uint64_t random;
} clock_job;

enum { CLOCK_JOB_CLASSES = 8 };

/* 32 hosts of 8 ranks in four stages, a window of 3 s; the last host is 1.5 ms late throughout. */
extern const clock_plan usual_plan;

clock_job make_clock_job(const clock_plan *plan);
void free_clock_job(clock_job *job);

/* All of the job, for one process. */
tm_clock_input clock_job_input(const clock_job *job);

/* Fits the whole job on one process. */
tm_clock_fit fit_clock_job(const clock_job *job);

/* How far a fit is off at begin, middle and end of the window, over the hosts [first, end): their
 * common error, which no collective can show, left out. */
typedef struct clock_error {
    double worst_ns[3];
    double covered; /* share of errors within twice the stated uncertainty */
} clock_error;
clock_error clock_job_error(const clock_job *job, const tm_clock_fit *fit, int first, int end);

/* The worst of the three. */
double worst_of(const clock_error *error);

#endif
