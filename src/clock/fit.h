/* Fits offset and drift of every host's clock to the ends of matched collectives. */
#ifndef TMERGE_CLOCK_FIT_H
#define TMERGE_CLOCK_FIT_H

#include <math.h>
#include <stdbool.h>

#include "clock/reduce.h"

/* The role of one clock domain in one event. */
enum {
    TM_CLOCK_GIVES = 1, /* no domain that takes can end before this domain started */
    TM_CLOCK_TAKES =
        2, /* a domain that takes cannot end before all domains that give have started */
    TM_CLOCK_ANCHOR = 4, /* ends together with the other anchors of the event, up to noise */
    /* Every rank waits for every other: all-reduce, all-gather, reduce-scatter, barrier. */
    TM_CLOCK_FULL = TM_CLOCK_GIVES | TM_CLOCK_TAKES | TM_CLOCK_ANCHOR
};

/** Number of strata that groups and kinds are hashed into; they disagree by the bias of ends. */
enum { TM_CLOCK_STRATA = 16 };

/**
 * One matched communication as recorded by the ranks of one clock domain. The rows of an event are
 * adjacent and on one process, one per domain, ascending by domain.
 */
typedef struct tm_clock_end {
    uint64_t event;       /* the same in all rows of an event; adjacent events differ */
    int64_t begin_max_ns; /* latest start of the domain's giving ranks, recorded */
    int64_t end_min_ns;   /* earliest end of its taking ranks */
    int64_t end_ns;       /* lower median of the ends */
    int32_t domain;
    int32_t n_ranks;      /* of the domain in the event, at least 1 */
    uint16_t noise_class; /* kind, log2 of duration, within or between hosts; below n_classes */
    uint8_t flags;        /* TM_CLOCK_GIVES, _TAKES, _ANCHOR */
    uint8_t stratum;      /* hash of process group and kind, below TM_CLOCK_STRATA */
} tm_clock_end;

/** Prior knowledge of a clock. */
typedef struct tm_clock_domain {
    int64_t middle_ns; /* of its recording window, recorded time; magnitude below 2^61 */
    int64_t length_ns; /* of its window */
    double wall_ns;    /* standard deviation of recorded against true time; HUGE_VAL: unknown */
    double
        drift_ppb; /* standard deviation of its rate: 2,000 torch.profiler, 20,000 free running */
    double gpu_ns; /* robust spread among the ends of its ranks; 0 if unknown */
} tm_clock_domain;

typedef struct tm_clock_input {
    const tm_clock_end *ends; /* [n_ends] on this process */
    size_t n_ends;
    const tm_clock_domain *domains; /* [n_domains] the same on every process */
    int32_t n_domains;
    int32_t n_classes;  /* at most 65,536; each adds 4 KiB to memory and messages */
    int32_t dense_most; /* largest number of domains solved with dense equations; 0: the number up
                           to which that is faster */
} tm_clock_input;

typedef enum tm_clock_method {
    TM_CLOCK_NONE, /* nothing is known: neither wall clock nor collective */
    TM_CLOCK_WALL, /* as recorded: no collective links it to another domain */
    TM_CLOCK_FIT
} tm_clock_method;

/**
 * The model of one domain's clock: true = t + offset + drift x (t - middle). Uncertainties are
 * standard deviations relative to the other domains of the component (method fit) or to UTC (wall).
 */
typedef struct tm_clock_model {
    int64_t middle_ns; /* as in the input */
    int64_t offset_ns; /* at the middle */
    double drift_ppb;
    double begin_uncertainty_ns, uncertainty_ns,
        end_uncertainty_ns; /* at the window's start, middle and end */
    bool bounded;
    int64_t low_ns,
        high_ns; /* if bounded: guaranteed interval of the offset if the clock of the component's
                    reference (most anchors) is true; low = high = offset there */
    int32_t component;  /* from 0, ascending by lowest domain */
    uint8_t method;     /* tm_clock_method */
    int64_t anchors;    /* events whose ends had weight in the fit */
    int64_t step_ns;    /* approximate size of a clock step within the window; 0: no step. If two
                           domains meet no third, both get it, as either may have stepped */
    int64_t step_at_ns; /* recorded time of the step, accurate to 1/32 of the events' time span;
                           valid if step_ns is not 0 */
} tm_clock_model;

/** Causality check, over all processes' events that are not suspect. */
typedef struct tm_clock_check {
    int64_t events;
    int64_t before, after; /* events in which one domain ended before another started: before and
                              after the fit */
    int64_t before_over, after_over;         /* the same, by more than TM_CLOCK_TOLERANCE_NS */
    int64_t worst_before_ns, worst_after_ns; /* largest time by which a domain ended before another
                                                started; 0 if there is none */
} tm_clock_check;

enum { TM_CLOCK_TOLERANCE_NS = 2000 };

typedef struct tm_clock_fit {
    tm_clock_model *models; /* [n_domains] owned; the same on every process */
    double *noise_ns;       /* [n_classes] spread of one rank's ends; 0 without anchors; owned */
    bool *suspect;          /* [n_ends] the row's event contradicts the fit; owned */
    int64_t n_suspect;      /* suspect events on all processes */
    int32_t n_domains, n_components;
    int32_t n_iterations;
    bool projected; /* the fit was moved onto the causal bounds */
    tm_clock_check check;
} tm_clock_fit;

/**
 * Fits offset and drift of every domain. Events are weighted by the noise of their class, robustly
 * against late ends and wrong matches. Within a component, clock differences come from the
 * collectives, and the common time stays as close as possible to the wall clocks (weighted median).
 * Domains without collectives keep their wall clock, as their method shows.
 *
 * Collective over the reducer's processes. The result is bit-identical for any number of processes:
 * sums over events use integers, and every process computes everything else from them in the same
 * way (C in ISO mode, in which compilers neither fuse nor reorder operations).
 * A few domains use dense equations, many a sparse network (clock/network.h). If many domains have
 * more many-domain collectives than the network can follow one by one, uncertainties are upper
 * bounds, because consecutive ends are combined.
 * Memory: 97 bytes per row on this process; on each process 4 KiB per domain, 24 bytes per
 * many-domain event, and the fill-in of the network (at most 100 MB).
 *
 * @param input    borrowed during the call
 * @param reducer  &tm_clock_serial if one process has all events
 * @param out      set only on TM_OK; free with tm_clock_fit_free
 * @return         TM_OK; TM_ERR_FAULT on all processes if one of them is out of memory; otherwise
 * the status of a failed reduction
 * Method: src/README.md, "Clocks in short".
 */
tm_status tm_clock_fit_all(const tm_clock_input *input, const tm_clock_reducer *reducer,
                           tm_clock_fit *out, tm_error *err) TM_MUST_CHECK;
void tm_clock_fit_free(tm_clock_fit *fit);

/** Converts a recorded time to true time [ns]. */
static inline int64_t tm_clock_true(const tm_clock_model *model, int64_t recorded_ns) {
    double since = (double)(recorded_ns - model->middle_ns);
    return recorded_ns + model->offset_ns + llround(since * (model->drift_ppb * 1e-9));
}

/** A rank's ends relative to the median end of its host, over the events in which at least two of
 * the host's ranks took part. */
typedef struct tm_clock_rank_end {
    int32_t host;
    int64_t n; /* number of such events */
    double early_ns,
        late_ns; /* median difference in the first and the second half of these events */
} tm_clock_rank_end;

/** Whether ranks of one host share a clock. */
typedef struct tm_clock_host {
    bool shared;      /* otherwise each rank is a domain of its own */
    double spread_ns; /* robust standard deviation over its ranks, for tm_clock_domain.gpu_ns: at
                         least the median of the job's hosts */
} tm_clock_host;

/**
 * Decides for each host whether its ranks share a clock. They do unless a rank with at least 8
 * events deviates from the median of its host's ranks by more than five times the noise in the
 * first or the second half of the events (which also detects a different rate).
 *
 * @param ranks     [n_ranks] ranks of a host are adjacent
 * @param noise_ns  spread of ends inside hosts; raised to at least 3 us (one GPU's clock)
 * @param hosts     [n_hosts] filled; a host without ranks is shared, with spread 0
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_split(const tm_clock_rank_end *ranks, size_t n_ranks, double noise_ns,
                         tm_clock_host *hosts, int32_t n_hosts, tm_error *err) TM_MUST_CHECK;

#endif
