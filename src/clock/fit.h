/* Fits offset and drift of every host's clock to the ends of matched collectives. */
#ifndef TMERGE_CLOCK_FIT_H
#define TMERGE_CLOCK_FIT_H

#include <math.h>
#include <stdbool.h>

#include "clock/reduce.h"

/* Roles of a clock domain in an event. Causality: no domain with TM_CLOCK_TAKES ends before all
 * domains with TM_CLOCK_GIVES have started. */
enum {
    TM_CLOCK_GIVES = 1,  /* e.g. the sender of a message */
    TM_CLOCK_TAKES = 2,  /* e.g. the receiver of a message */
    TM_CLOCK_ANCHOR = 4, /* ends together with the other anchors of the event, up to noise */
    /* every rank waits for every other rank: all-reduce, all-gather, reduce-scatter, barrier */
    TM_CLOCK_FULL = TM_CLOCK_GIVES | TM_CLOCK_TAKES | TM_CLOCK_ANCHOR
};

/** Number of strata. Process groups and kinds of operations are hashed into strata. The ends of
 * each stratum may have a different bias. */
enum { TM_CLOCK_STRATA = 16 };

/** One matched operation (an event of the fit) as the ranks of one clock domain recorded it. An
 * event has a row for each domain that took part. An event's rows are adjacent, ascending by
 * domain, and on one process. */
typedef struct tm_clock_end {
    uint64_t event;       /* equal in all rows of an event, different in adjacent events */
    int64_t begin_max_ns; /* latest start of the domain's ranks that have TM_CLOCK_GIVES, on the
                             domain's clock */
    int64_t end_min_ns;   /* earliest end of the domain's ranks that have TM_CLOCK_TAKES */
    int64_t end_ns;       /* lower median of the ends of the domain's ranks */
    int32_t domain;
    int32_t n_ranks;      /* number of ranks of the domain in the event, at least 1 */
    uint16_t noise_class; /* class of ends that are about equally noisy, below n_classes */
    uint8_t flags;        /* TM_CLOCK_GIVES, _TAKES, _ANCHOR */
    uint8_t stratum;      /* hash of process group and kind, below TM_CLOCK_STRATA */
} tm_clock_end;

/** What is known of a clock before the fit. */
typedef struct tm_clock_domain {
    int64_t middle_ns; /* middle of the domain's recording, on its clock; magnitude below 2^61 */
    int64_t length_ns; /* length of the domain's recording */
    double wall_ns;    /* standard deviation of the wall clock from true time; HUGE_VAL: unknown */
    /* standard deviation of the clock's drift: 2,000 for torch.profiler, 20,000 if free-running */
    double drift_ppb;
    double gpu_ns; /* robust standard deviation between the clocks of the domain's GPUs; 0 if
                      unknown */
} tm_clock_domain;

typedef struct tm_clock_input {
    const tm_clock_end *ends; /* [n_ends] the rows of this process */
    size_t n_ends;
    const tm_clock_domain *domains; /* [n_domains] the same on every process */
    int32_t n_domains;
    int32_t n_classes;  /* at most 65,536; each class adds 4 KiB to memory and messages */
    int32_t dense_most; /* number of domains up to which dense equations are used; 0: the fit's own
                           default */
} tm_clock_input;

typedef enum tm_clock_method {
    TM_CLOCK_NONE, /* nothing is known: no wall clock, no collectives with other domains */
    /* the clock as recorded, because no collective links the domain to another domain */
    TM_CLOCK_WALL,
    TM_CLOCK_FIT
} tm_clock_method;

/** The model of one domain's clock: true = t + offset + drift x (t - middle). Uncertainties are
 * standard deviations. With TM_CLOCK_FIT, they are relative to the other domains of the component.
 * With TM_CLOCK_WALL, they are relative to UTC. */
typedef struct tm_clock_model {
    int64_t middle_ns; /* middle of the domain's window, as in the input */
    int64_t offset_ns; /* at the middle */
    double drift_ppb;
    double begin_uncertainty_ns, uncertainty_ns,
        end_uncertainty_ns; /* at the window's start, middle and end */
    bool bounded;
    /* Set if `bounded`. The offset is certainly in [low_ns, high_ns] if the clock of the
     * component's reference is right. The reference is the domain with the most anchors. For the
     * reference itself, both limits are its offset. */
    int64_t low_ns, high_ns;
    /* number of the component, from 0; components ascend by their lowest domain */
    int32_t component;
    uint8_t method;  /* tm_clock_method */
    int64_t anchors; /* number of events in which the domain's end had weight in the fit */
    /* Approximate size of a clock step within the window; 0 if there is no step. If two domains
     * have operations only with each other, either clock may have been stepped, so both get the
     * size. */
    int64_t step_ns;
    int64_t step_at_ns; /* recorded time of the step, accurate to 1/32 of the time that the domain's
                           events span; valid if step_ns is not 0 */
} tm_clock_model;

/** Result of the causality check, for the events of all processes, except suspect events. */
typedef struct tm_clock_check {
    int64_t events;
    /* Number of impossible events: one domain ended before another started. `before` counts them on
     * the recorded clocks, and `after` on the fitted clocks. */
    int64_t before, after;
    /* number of the impossible events in which end and start are more than TM_CLOCK_TOLERANCE_NS
     * apart */
    int64_t before_over, after_over;
    /* longest time between an end and a later start; 0 if there is none */
    int64_t worst_before_ns, worst_after_ns;
} tm_clock_check;

enum { TM_CLOCK_TOLERANCE_NS = 2000 };

typedef struct tm_clock_fit {
    tm_clock_model *models; /* [n_domains] the same on every process; owned */
    double *noise_ns;  /* [n_classes] standard deviation of one rank's ends; 0 for a class without
                          anchors; owned */
    bool *suspect;     /* [n_ends] the row's event contradicts the fit; owned */
    int64_t n_suspect; /* number of suspect events on all processes */
    int32_t n_domains, n_components;
    int32_t n_iterations;
    bool projected; /* the fit violated causality and was moved so that it does not */
    tm_clock_check check;
} tm_clock_fit;

/**
 * Fits offset and drift of every domain (method: src/README.md, "Clocks in short"). Events are
 * weighted by the noise of their class. Late ends and wrong matches have little weight. Within a
 * component, the differences between clocks come from the collectives. The common time of the
 * component stays as close as possible to the wall clocks (weighted median). Domains without
 * collectives keep their wall clock (TM_CLOCK_WALL).
 *
 * Collective over the reducer's processes. The result is bit-identical for any number of processes.
 * Sums over events use integers. Every process computes everything else from these sums in the same
 * way, in ISO mode of C, in which compilers neither fuse nor reorder operations.
 *
 * The equations of few domains are dense. Those of many domains are a sparse network
 * (clock/network.h). If there are too many collectives of many domains, the network combines
 * consecutive collectives, and uncertainties are upper bounds.
 *
 * Memory on each process: 97 bytes per row on this process, 4 KiB per domain, 24 bytes per event of
 * many domains, and the fill-in of the network (at most 100 MB).
 *
 * @param input    borrowed during the call
 * @param reducer  tm_clock_serial if one process has all events
 * @param out      set only on TM_OK; free with tm_clock_fit_free
 * @return         TM_OK; TM_ERR_FAULT on all processes if one of them is out of memory; otherwise
 *                 the status of a failed reduction
 */
tm_status tm_clock_fit_all(const tm_clock_input *input, const tm_clock_reducer *reducer,
                           tm_clock_fit *out, tm_error *err) TM_MUST_CHECK;
void tm_clock_fit_free(tm_clock_fit *fit);

/** Converts a recorded time to true time [ns]. */
static inline int64_t tm_clock_true(const tm_clock_model *model, int64_t recorded_ns) {
    double since = (double)(recorded_ns - model->middle_ns);
    return recorded_ns + model->offset_ns + llround(since * (model->drift_ppb * 1e-9));
}

/** How a rank's ends differ from the median end of its host. Only operations in which at least two
 * of the host's ranks took part are compared. */
typedef struct tm_clock_rank_end {
    int32_t host;
    int64_t n; /* number of compared operations */
    /* median difference: early_ns is over the first half of these operations, late_ns over the
     * second */
    double early_ns, late_ns;
    /* number of compared operations in which the rank ended before another rank of the host
     * started */
    int64_t n_broken;
    /* shortest time from a launch to the start of its kernel: the GPU's clock is ahead of the
     * host's by at most this. INFINITY: unknown */
    double lag_ns;
} tm_clock_rank_end;

/** Whether ranks of one host share a clock. */
typedef struct tm_clock_host {
    bool shared; /* false: each rank is a domain of its own */
    /* Robust standard deviation between the host's ranks, for tm_clock_domain.gpu_ns. If it is not
     * 0, it is at least the median of the job's hosts. */
    double spread_ns;
    /* Not 0: a rank ends its operations later than another rank by more than this, but both share a
     * clock. The rank really leaves late. */
    double late_ns;
} tm_clock_host;

/**
 * Decides for each host whether its ranks share a clock. A rank has a clock of its own if it has
 * at least 8 events, and if its difference from the median of the host's ranks exceeds five times
 * the noise in the first or in the second half of its events. A clock that runs at another rate
 * differs in one of the halves. If any rank has a clock of its own, the ranks of the host do not
 * share a clock.
 *
 * A rank whose ends differ may also leave its operations late, for example because its network is
 * slow. Ranks of a host share the CPU's clock, so their GPUs' clocks differ only by errors of the
 * conversion to the CPU's clock. A rank therefore shares the clock, although its ends differ, if
 * - the difference is steady, i.e. about the same in both halves,
 * - on each rank, a kernel started soon after its launch: after less than half of the difference,
 * - and no rank of the host ended an operation before another rank started it. Otherwise, they are
 *   not really on one host.
 *
 * @param ranks     [n_ranks] ranks of a host are adjacent
 * @param noise_ns  usual difference of ends within hosts. A value below 3 us, which is the error of
 *                  one GPU's clock, counts as 3 us.
 * @param hosts     [n_hosts] filled; a host without ranks is shared, with spread 0
 * @return          TM_OK; TM_ERR_FAULT
 */
tm_status tm_clock_split(const tm_clock_rank_end *ranks, size_t n_ranks, double noise_ns,
                         tm_clock_host *hosts, int32_t n_hosts, tm_error *err) TM_MUST_CHECK;

#endif
