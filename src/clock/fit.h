/* Offset and drift of every host's clock, from the ends of matched collectives. */
#ifndef TMERGE_CLOCK_FIT_H
#define TMERGE_CLOCK_FIT_H

#include <math.h>
#include <stdbool.h>

#include "clock/reduce.h"

/* What one clock domain did in one event. */
enum {
    TM_CLOCK_GIVES = 1,  /* nobody who takes can end before this began */
    TM_CLOCK_TAKES = 2,  /* cannot end before all who give have begun */
    TM_CLOCK_ANCHOR = 4, /* ends when the other anchors of the event do, give or take noise */
    /* Every rank waits for every other: all-reduce, all-gather, reduce-scatter, barrier. */
    TM_CLOCK_FULL = TM_CLOCK_GIVES | TM_CLOCK_TAKES | TM_CLOCK_ANCHOR
};

/** Groups and kinds are hashed into so many strata, whose disagreement tells the bias of ends. */
enum { TM_CLOCK_STRATA = 16 };

/**
 * One matched communication as the ranks of one clock domain recorded it. The rows of an event lie
 * together and on one process, one for each domain, ascending in domain.
 */
typedef struct tm_clock_end {
    uint64_t event;       /* the same in rows of one event; neighbouring events differ */
    int64_t begin_max_ns; /* latest begin of the domain's ranks that give, recorded */
    int64_t end_min_ns;   /* earliest end of those that take */
    int64_t end_ns;       /* lower median of the ends */
    int32_t domain;
    int32_t n_ranks;      /* of the domain in the event, at least 1 */
    uint16_t noise_class; /* kind, log2 of duration, within a host or between: below n_classes */
    uint8_t flags;        /* TM_CLOCK_GIVES, _TAKES, _ANCHOR */
    uint8_t stratum;      /* hash of process group and kind, below TM_CLOCK_STRATA */
} tm_clock_end;

/** What is known of a clock beforehand. */
typedef struct tm_clock_domain {
    int64_t middle_ns; /* of its window, recorded; magnitude below 2^61 */
    int64_t length_ns; /* of its window */
    double wall_ns;    /* standard deviation of recorded against true time; HUGE_VAL: unknown */
    double drift_ppb;  /* the same of its rate: 2,000 with torch.profiler, 20,000 free running */
    double gpu_ns;     /* robust spread of its ranks' ends against one another; 0 where unknown */
} tm_clock_domain;

typedef struct tm_clock_input {
    const tm_clock_end *ends; /* [n_ends] on this process */
    size_t n_ends;
    const tm_clock_domain *domains; /* [n_domains] the same on every process */
    int32_t n_domains;
    int32_t n_classes;  /* at most 65,536; memory and messages grow with it: 4 KiB each */
    int32_t dense_most; /* up to so many domains are solved without a network; 0: as many as that
                           is faster for */
} tm_clock_input;

typedef enum tm_clock_method {
    TM_CLOCK_NONE, /* nothing is known: neither wall clock nor collective */
    TM_CLOCK_WALL, /* as recorded: no collective links it to another domain */
    TM_CLOCK_FIT
} tm_clock_method;

/**
 * One domain's clock: true = t + offset + drift x (t - middle). Uncertainties are standard
 * deviations against the other domains of the component (method fit) or against UTC (wall).
 */
typedef struct tm_clock_model {
    int64_t middle_ns; /* as given */
    int64_t offset_ns; /* at the middle */
    double drift_ppb;
    double begin_uncertainty_ns, uncertainty_ns, end_uncertainty_ns; /* begin, middle, end */
    bool bounded;
    int64_t low_ns, high_ns; /* where bounded: the offset's guaranteed interval, were the clock of
                                the component's reference (its most anchors) true; [offset] there */
    int32_t component;       /* from 0, ascending by lowest domain */
    uint8_t method;          /* tm_clock_method */
    int64_t anchors;         /* events whose ends had weight in the fit */
    int64_t step_ns;    /* how far the clock was set within the window, roughly; 0: was not. Of two
                           that meet no third both have it: either may have been set */
    int64_t step_at_ns; /* recorded time of it, before or behind it, to 1/32 of the events' time;
                           where step_ns is not 0 */
} tm_clock_model;

/** Causality, over the events of all processes that are not suspect. */
typedef struct tm_clock_check {
    int64_t events;
    int64_t before, after;                   /* events in which one ended before another began */
    int64_t before_over, after_over;         /* of them, by over TM_CLOCK_TOLERANCE_NS */
    int64_t worst_before_ns, worst_after_ns; /* largest such lead; 0 without */
} tm_clock_check;

enum { TM_CLOCK_TOLERANCE_NS = 2000 };

typedef struct tm_clock_fit {
    tm_clock_model *models; /* [n_domains] owned; the same on every process */
    double *noise_ns;       /* [n_classes] spread of one rank's ends; 0 without anchors; owned */
    bool *suspect;          /* [n_ends] the row's event contradicts the fit; owned */
    int64_t n_suspect;      /* events, of all processes */
    int32_t n_domains, n_components;
    int32_t n_iterations;
    bool projected; /* the fit was moved onto the causal bounds */
    tm_clock_check check;
} tm_clock_fit;

/**
 * Fits offset and drift of every domain. Events are weighed by the noise of their class and robust
 * against late ends and wrong matches; within a component the differences of clocks come from the
 * collectives, and their common time stays nearest to the wall clocks (weighted median). Domains
 * that no collective reaches keep their wall clock and say so in their method.
 *
 * Collective over the reducer's processes; the result is the same to the bit for any number of
 * them: what is summed over events is whole numbers, and all else every process computes from these
 * alike (C in ISO mode, where compilers neither fuse nor reorder what is written).
 * Of few domains the equations are dense; of many they are a network (clock/network.h). Of a job of
 * many with more collectives of many domains than can each be followed, uncertainties are upper
 * bounds: what several ends that follow one another tell is then taken together.
 * Memory: 97 bytes for each row on this process; on each process 4 KiB for each domain, 24 bytes
 * for each event of many domains, and what the network fills in: at most 100 MB of it.
 *
 * @param input    borrowed during the call
 * @param reducer  &tm_clock_serial where one process has all events
 * @param out      set only on TM_OK; freed with tm_clock_fit_free
 * @return         TM_OK; TM_ERR_FAULT on all processes where memory is out on one of them; else
 *                 what a reduction returned
 * Method: src/README.md, "Clocks in short".
 */
tm_status tm_clock_fit_all(const tm_clock_input *input, const tm_clock_reducer *reducer,
                           tm_clock_fit *out, tm_error *err) TM_MUST_CHECK;
void tm_clock_fit_free(tm_clock_fit *fit);

/** True time [ns] of a recorded one. */
static inline int64_t tm_clock_true(const tm_clock_model *model, int64_t recorded_ns) {
    double since = (double)(recorded_ns - model->middle_ns);
    return recorded_ns + model->offset_ns + llround(since * (model->drift_ppb * 1e-9));
}

/** What the ranks of one host say of their clocks: each rank's ends against its host's median end,
 * over the events in which two or more of the host's ranks took part. */
typedef struct tm_clock_rank_end {
    int32_t host;
    int64_t n;                /* such events */
    double early_ns, late_ns; /* median of the differences in the first and second half of them */
} tm_clock_rank_end;

/** Whether ranks of one host share a clock. */
typedef struct tm_clock_host {
    bool shared;      /* else each rank is a domain of its own */
    double spread_ns; /* robust standard deviation over its ranks, for tm_clock_domain.gpu_ns: at
                         least the usual one of the job's hosts */
} tm_clock_host;

/**
 * Decides for each host whether its ranks share a clock: they do, unless a rank with 8 events or
 * more lies further from the middle of its host's ranks than five times the noise, in the first
 * half of the events or in the second (a rate of its own shows there).
 *
 * @param ranks     [n_ranks] ranks of a host lie together
 * @param noise_ns  spread of ends inside hosts; less than 3 us (one GPU's clock) is taken as that
 * @param hosts     [n_hosts] filled; a host without ranks is shared, with spread 0
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_split(const tm_clock_rank_end *ranks, size_t n_ranks, double noise_ns,
                         tm_clock_host *hosts, int32_t n_hosts, tm_error *err) TM_MUST_CHECK;

#endif
