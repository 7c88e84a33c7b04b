/* Makes findings on the job from suspects of groups: which ranks stand out, when, and how certain
 * this is. */
#ifndef TMERGE_FINDINGS_H
#define TMERGE_FINDINGS_H

#include "analysis/shared/fixes.h"
#include "blames.h"
#include "suspects.h"
#include "timeline/collectives.h"

typedef enum tm_shape {
    TM_SHAPE_THROUGHOUT,  /* from the first unit to the last */
    TM_SHAPE_EPISODE,     /* in a contiguous window of under 80 % of the units */
    TM_SHAPE_ALTERNATION, /* one of two episodes of different ranks that do not overlap */
    TM_SHAPE_EVENT,       /* a few operations that have half of all waiting */
    TM_SHAPE_BUBBLE       /* stages of a pipeline wait for one another */
} tm_shape;

typedef enum tm_certainty { TM_CERTAINTY_LIKELY, TM_CERTAINTY_CONFIDENT } tm_certainty;

/** Minimum share of communication time in complete operations for a certainty above "likely". */
#define TM_MATCHED_LEAST 0.5
/** Minimum share of communication time in complete operations to clear ranks. Below it, the causes
 * of too many waits are unknown. */
#define TM_MATCHED_CLEARED 0.9

/** Returns whether the sum of all waits is under 1 % of the sum of all windows [ns]. */
static inline bool tm_waits_little(int64_t wait_ns, int64_t window_ns) {
    return wait_ns < window_ns / 100 + (window_ns % 100 > 0);
}

/** Returns whether known and unknown waits are both little. Only then do waits show that no rank
 * holds the job up.
 * @param unknown_ns  exposed communication of which it is unknown how much is waiting [ns] */
static inline bool tm_waits_clear(int64_t wait_ns, int64_t unknown_ns, int64_t window_ns) {
    return tm_waits_little(wait_ns, window_ns) && tm_waits_little(unknown_ns, window_ns);
}

/** One finding. */
typedef struct tm_finding {
    tm_culprit level;
    tm_shape shape;
    tm_certainty certainty;
    /* Host or group: its lowest rank. Event: the rank that always came last, or -1 if several ranks
     * did. */
    int64_t rank;
    size_t place;      /* for a host or group: index of its first rank in tm_blames.places */
    size_t n_members;  /* number of ranks that the finding is about */
    int64_t from, to;  /* as in stragglers.finding */
    int64_t units;     /* for an event: number of its operations */
    tm_unit_kind unit; /* not set if the finding is an event */
    double p;          /* 1 for an event, which is not tested */
    /* excess of the rank; if there are several ranks, the median of their excesses */
    int64_t excess_ns;
    double excess_pct;   /* excess_ns as a share of the steps [%] */
    int64_t caused_ns;   /* waits that the ranks caused within the window [ns] */
    double caused_share; /* caused_ns as a share of all waiting */
    bool of_stage; /* whether the rank's stage was compared with other stages of the pipeline */
    uint8_t work;  /* tm_suspect_work: kind of work that takes longer */
    /* Saving from fixing the ranks of the finding [% of a step]. If this alone saves nothing, the
     * saving from also fixing the ranks of earlier findings. NaN without a replay. */
    double saved_pct;
} tm_finding;

/** Maximum number of operations of an event. */
enum { TM_EVENT_MOST = 5 };

/** An operation that is among those with the longest waits. */
typedef struct tm_heavy {
    int64_t wait_ns;   /* sum of the waits of all members */
    int64_t last_rank; /* rank that came last; -1: several ranks did */
    int64_t step;      /* -1: none */
} tm_heavy;

/** The findings, and the other figures that the verdict is based on. */
typedef struct tm_findings {
    /* vector of tm_finding, largest saving first; without a replay, largest excess first */
    tm_vec all;
    int64_t steps_ns; /* sum over the steps; each step counts with its longest window on any rank
                         [ns] */
    double most_pct;  /* largest excess of any rank, named or not [% of the steps] */
    double least_p;   /* minimum p of any rank; 1 if nothing could be tested */
    bool tested;      /* whether a group had enough data for a test */
    /* smallest number of operations that have half of all waiting, with those that wait about as
     * long; 0 if it is large */
    int64_t few;
    /* recorded and ideal bubble, as shares of the windows; 0 without a pipeline */
    double bubble, ideal;
    double transfers; /* share of the windows in which ranks wait for transfers */
    int64_t stages, micro_batches;
    bool replayed; /* whether a replay shows what fixing ranks saves */
    /* whether half of all waiting was for one rank, and the replay is not sure about the saving of
     * fixing it */
    bool open;
    /* whether a rank stands out in only few steps, and its excess differs between them */
    bool unsteady;
    bool spared; /* whether ranks stand out but are not named, because fixing them saves little */
    /* set if `spared`: the finding with the largest saving among those on these ranks */
    tm_finding spared_of;
} tm_findings;

/** Returns "throughout", "episode", "alternation", "event" or "bubble". */
const char *tm_shape_word(tm_shape shape);

/** Returns "confident" or "likely". */
const char *tm_certainty_word(tm_certainty certainty);

/** Input of tm_findings_find. All pointers are borrowed. */
typedef struct tm_findings_input {
    const tm_suspect *suspects;   /* [n_suspects] the suspects of all groups */
    const tm_standing *standings; /* [n_standings] of all groups */
    size_t n_suspects, n_standings;
    /* [n_heavy] operations of the job with the longest waits, longest first; more than
     * TM_EVENT_MOST if there are more */
    const tm_heavy *heavy;
    size_t n_heavy;
    int64_t n_waits; /* number of the job's operations that have waits */
    tm_pipeline_use pipeline;
    int64_t n_steps;
    const tm_blames *blames;
    int64_t steps_ns;     /* as in tm_findings */
    int64_t window_ns;    /* sum of the windows of all ranks */
    int64_t unknown_ns;   /* exposed communication of all ranks of which it is unknown how much is
                             waiting */
    double matched_share; /* share of communication time in complete operations */
    /* share of communication time in complete operations of groups that may have more ranks */
    double open_share;
    tm_fixes fixes;
} tm_findings_input;

/**
 * Finds the findings of the verdict.
 *
 * If several groups suspect the same rank, their suspects are merged. The result has the smallest
 * p, and the window of the largest excess.
 *
 * A finding is kept in these cases:
 * - A replay shows the savings, and the finding saves at least 1 % of a step. If there are several
 *   findings, it also saves at least a tenth of the total saving.
 * - No finding saves that much, the replay is not sure, and the finding's ranks caused half of all
 *   waiting.
 * - There is no replay, and the finding's excess is at least 1 % of the steps.
 *
 * A host is named instead of its ranks if it has at most half of all ranks, and if at least 80 % of
 * its ranks, and at least 2, have findings. If no host qualifies, the same rule applies to process
 * groups. Two findings that are episodes (steps in which a rank is slow) alternate if one episode
 * ends before the other starts.
 *
 * If there is no finding, but ranks wait for transfers between stages for at least 1 % of the
 * windows, there is a bubble. It is the time in which waits for transfers and waits in collectives
 * keep ranks from computing. Its ideal is (p - 1) / (m + p - 1) for p stages and m micro-batches.
 * The number of micro-batches is the number of transfers from a rank of the first stage in a step.
 *
 * If there is neither a finding nor a bubble, there may be an event: at most TM_EVENT_MOST
 * operations, and at most 10 % of all operations, that have half of all waiting. No other operation
 * waits about as long, i.e. at most a fifth less than their mean.
 *
 * @param out  its vector must be initialised
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_findings_find(const tm_findings_input *input, tm_findings *out,
                           tm_error *err) TM_MUST_CHECK;

/** Returns whether a finding names ranks. Events and bubbles do not. */
static inline bool tm_finding_names(const tm_finding *f) {
    return f->shape != TM_SHAPE_EVENT && f->shape != TM_SHAPE_BUBBLE;
}

/** Sets the flags of the ranks that a finding is about.
 * @param members  [t->n_ranks]; other flags do not change */
void tm_finding_members(const tm_blames *t, const tm_finding *f, bool *members);

/** Derives the verdict from the findings. */
tm_verdict_kind tm_findings_verdict(const tm_findings_input *input, const tm_findings *found);

#endif
