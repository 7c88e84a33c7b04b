/* Who of a group takes longer than chance explains. */
#ifndef TMERGE_SUSPECTS_H
#define TMERGE_SUSPECTS_H

#include "base/vec.h"
#include "own_times.h"

/** The largest p of one. */
#define TM_CHANCE_MOST 0.01

/** Of it the hosts' part: hosts are few, and each has the median of several ranks, so that a slow
 * one stands out most of all. The ranks have what is left. */
#define TM_HOSTS_SHARE 0.05

/** One that does. */
typedef struct tm_suspect {
    int64_t member;    /* rank; of a host the lowest rank of it in the group */
    int64_t from, to;  /* the window: as from and to of its units */
    int64_t units;     /* steps or stretches in the window, of blocks all that they have */
    int64_t excess_ns; /* over the median of the others, summed over the window */
    double p;          /* that chance explains as much, of all groups and levels tested */
    tm_unit_kind unit;
    bool host;       /* the ranks of a host, taken together */
    bool throughout; /* the window is all there is */
    bool of_stage;   /* its stage against the others of a pipeline, which need not be equal */
    uint8_t work;    /* tm_suspect_work: what was compared; the caller sets it */
} tm_suspect;

/** What of a member's own time is compared: all of it, or by the replay's weights. */
typedef enum tm_suspect_work {
    TM_SUSPECT_ALL,
    TM_SUSPECT_DEVICE, /* its kernels and copies */
    TM_SUSPECT_HOST,   /* its calls and what lies before them */
    TM_SUSPECT_LAG     /* what nothing recorded explains of the begins of its kernels */
} tm_suspect_work;

/** As work in stragglers.finding has it; "" for all. */
static inline const char *tm_suspect_word(tm_suspect_work work) {
    return work == TM_SUSPECT_DEVICE ? "device"
           : work == TM_SUSPECT_HOST ? "host"
           : work == TM_SUSPECT_LAG  ? "queue"
                                     : "";
}

/** What each member's whole time tells, whether it is a suspect or not. */
typedef struct tm_standing {
    int64_t member, excess_ns;
    double p; /* as above; NaN where too little is known for a test */
} tm_standing;

/** A group to be tested. Borrowed. */
typedef struct tm_compared {
    const tm_own_times *stretches;
    const int64_t *steps;  /* [n_rows] */
    const int64_t *hosts;  /* [n] of each member, equal for those of one; -1 unknown */
    const int64_t *stages; /* [n] of a pipeline; -1 for none */
    double n_tests;        /* members of all groups of the job, for each of this one */
} tm_compared;

/**
 * Finds them, one after another: of those whose p is 1 % at most, the one of largest excess; it
 * leaves, and the rest is tested anew, until nobody passes. In each unit the members are scored by
 * how far they are from its median (scores.h); the largest height over members and windows is held
 * against that of the same with the members of each unit permuted. Each member of a group has the
 * same share in the 1 %: p is 1 - (1 - p)^(members of all groups / of this one), and of blocks,
 * whose length is an estimate, twice that power. Where the group has several hosts of several
 * ranks, medians over the ranks of each host are tested first, at a twentieth of the 1 %, and the
 * ranks at the rest; the ranks of a host that is found leave the test of ranks if 80 % of them have
 * half of its ranks' median excess. Stages of a pipeline are not exchangeable: members are compared
 * with those of their own stage, and the stages with one another, all members of one that is found
 * being suspects; then all ranks with one another, who are suspects with 5 % of what the slowest
 * does.
 *
 * @param suspects   of tm_suspect, appended to
 * @param standings  of tm_standing, appended to; of members that are alone in their stage none
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_suspects_find(const tm_compared *compared, tm_vec *suspects, tm_vec *standings,
                           tm_error *err) TM_MUST_CHECK;

#endif
