/* From suspects of groups to what is said of the job: who stands out, when, and how sure that is.
 */
#ifndef TMERGE_FINDINGS_H
#define TMERGE_FINDINGS_H

#include "analysis/shared/fixes.h"
#include "suspects.h"
#include "timeline/collectives.h"
#include "tolls.h"

typedef enum tm_shape {
    TM_SHAPE_THROUGHOUT,  /* from the first unit to the last */
    TM_SHAPE_EPISODE,     /* in under 80 % of the units, one after another */
    TM_SHAPE_ALTERNATION, /* an episode that ends before another's begins */
    TM_SHAPE_EVENT,       /* a few operations hold half of the waiting */
    TM_SHAPE_BUBBLE       /* stages of a pipeline wait for one another */
} tm_shape;

typedef enum tm_certainty { TM_CERTAINTY_LIKELY, TM_CERTAINTY_CONFIDENT } tm_certainty;

/** Below this share of the communication time in complete operations nothing is more than likely.
 */
#define TM_MATCHED_LEAST 0.5
/** Below this one nobody is cleared: who keeps the rest waiting is not known. */
#define TM_MATCHED_CLEARED 0.9

/** Whether all waiting is under 1 % of all windows [ns]: without the product, which may not fit,
 * below the hundredth part rounded up. */
static inline bool tm_waits_little(int64_t wait_ns, int64_t window_ns) {
    return wait_ns < window_ns / 100 + (window_ns % 100 > 0);
}

/** What is found. */
typedef struct tm_finding {
    tm_culprit level;
    tm_shape shape;
    tm_certainty certainty;
    int64_t rank;        /* of a host or group the lowest; of an event who came last, -1 several */
    size_t place;        /* of a host or group: index into tm_findings.places, of its first rank */
    size_t n_members;    /* of those ranks */
    int64_t from, to;    /* as in stragglers.finding */
    int64_t units;       /* of an event: operations */
    tm_unit_kind unit;   /* not of an event */
    double p;            /* 1 for events, which are no test */
    int64_t excess_ns;   /* of a rank, the median of several */
    double excess_pct;   /* of the steps */
    int64_t caused_ns;   /* what they cost the others, in the window */
    double caused_share; /* of all waiting */
    bool of_stage;       /* its stage against the others of a pipeline */
    uint8_t work;        /* tm_suspect_work: of what it takes longer */
    double saved_pct; /* what fixing it saves of a step, with those named before it where it saves
                         nothing without them; NaN where no replay tells */
} tm_finding;

/** An operation that waited most. */
typedef struct tm_heavy {
    int64_t wait_ns;   /* of all its members */
    int64_t last_rank; /* -1: several */
    int64_t step;      /* -1: none */
} tm_heavy;

/** What there is to judge by, and what comes of it. */
typedef struct tm_findings {
    tm_vec all;           /* of tm_finding, the largest excess first */
    int64_t steps_ns;     /* the sum of the longest rank of each step */
    double most_pct;      /* the largest excess of a rank over all steps, named or not */
    double least_p;       /* the least p of a rank, 1 where nothing could be tested */
    bool tested;          /* some group had enough for a test */
    int64_t few;          /* so few operations hold half of the waiting; 0: more do */
    double bubble, ideal; /* shares of the windows; 0 without a pipeline */
    double transfers;     /* waiting for transfers, likewise */
    int64_t stages, micro_batches;
    bool replayed;        /* what fixing ranks saves is known */
    bool open;            /* half of all waiting was for one rank, and that is not sure */
    bool spared;          /* who stands out is not named, for fixing it saves too little: */
    tm_finding spared_of; /* who would save most of these */
} tm_findings;

/** "throughout", "episode", "alternation", "event" or "bubble". */
const char *tm_shape_word(tm_shape shape);

/** "confident" or "likely". */
const char *tm_certainty_word(tm_certainty certainty);

/** What tm_findings_find works on. Borrowed. */
typedef struct tm_findings_input {
    const tm_suspect *suspects;   /* [n_suspects] of all groups */
    const tm_standing *standings; /* [n_standings] of all groups */
    size_t n_suspects, n_standings;
    const tm_heavy *heavy; /* [n_heavy] the most waiting operations of the job, in order */
    size_t n_heavy;
    int64_t n_waits; /* operations of the job that have waits */
    tm_pipeline_use pipeline;
    int64_t n_steps;
    const tm_tolls *tolls;
    int64_t steps_ns;     /* as in tm_findings */
    int64_t window_ns;    /* sum of all ranks' windows */
    double matched_share; /* of the communication time */
    double open_share;    /* of it in groups that may have further ranks */
    tm_fixes fixes;
} tm_findings_input;

/**
 * Finds what is to be said. Of one rank the groups are brought together: the least p, the window of
 * the largest excess. If a replay knows what fixing them saves, only those stay who save 1 % of a
 * step and, beside others, a tenth of what all together save, or, where none does and the replay is
 * not sure, one for whom half of all waiting was; else those whose excess is 1 % of the steps. A
 * host of at most half of all ranks of which 80 %, and 2, are found is named instead of them; else
 * such a process group. Two episodes of which one ends before the other begins alternate. Where
 * nobody is found, a pipeline in which ranks wait for transfers between stages for 1 % of the
 * windows has a bubble: the time in which waiting, for transfers and in collectives, keeps ranks
 * from computing. Ideal is (p - 1) / (m + p - 1) for p stages and m micro-batches, as many as
 * transfers from a rank of the first stage in a step. Without such a pipeline at most 5 operations,
 * and 10 % of all, that hold half of the waiting are an event.
 *
 * @param out  its vector initialised
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_findings_find(const tm_findings_input *input, tm_findings *out,
                           tm_error *err) TM_MUST_CHECK;

/** Whether it names somebody: neither an event nor a bubble does. */
static inline bool tm_finding_names(const tm_finding *f) {
    return f->shape != TM_SHAPE_EVENT && f->shape != TM_SHAPE_BUBBLE;
}

/** Sets the ranks that a finding is about. @param members  [n_ranks] of the tolls; others stay */
void tm_finding_members(const tm_tolls *tolls, const tm_finding *finding, bool *members);

/** The verdict that the findings make. */
tm_verdict_kind tm_findings_verdict(const tm_findings_input *input, const tm_findings *found);

#endif
