/* Finds the members of a group that take longer than chance explains. */
#ifndef TMERGE_SUSPECTS_H
#define TMERGE_SUSPECTS_H

#include "base/vec.h"
#include "own_times.h"

/** Maximum p of a suspect. */
#define TM_CHANCE_MOST 0.01

/** Maximum p of a confident finding. */
#define TM_CHANCE_SURE 0.001

/** Hosts have this share of TM_CHANCE_MOST, and ranks the rest. Hosts are few, and each is the
 * median of several ranks, so slow hosts stand out clearly. */
#define TM_HOSTS_SHARE 0.05

/** A member that takes longer than chance explains. */
typedef struct tm_suspect {
    int64_t member;   /* rank; for a host, its lowest rank in the group */
    int64_t from, to; /* window: `from` of its first unit, and `to` of its last */
    int64_t units;    /* number of steps or stretches in the window; for blocks, of the stretches in
                         them */
    int64_t excess_ns; /* excess over the median of the other members, summed over the window */
    double p; /* probability that chance gives such a height, corrected for all groups and levels
                 tested */
    tm_unit_kind unit;
    bool host;       /* the member is a host */
    bool throughout; /* the window is the whole recording */
    bool of_stage;   /* the member's stage was compared with other stages, which may have other
                        work */
    bool unsteady;   /* the excess differs between the few steps, as with unequal shares of data, so
                        this gives no finding; set by the caller */
    uint8_t work;    /* tm_suspect_work: what was compared; set by the caller */
} tm_suspect;

/** What is compared of a member's own time: all of it, or one kind of work in the replay. */
typedef enum tm_suspect_work {
    TM_SUSPECT_ALL,
    TM_SUSPECT_DEVICE, /* kernels and copies of the member */
    TM_SUSPECT_HOST,   /* calls of the member and the host work before them */
    TM_SUSPECT_LAG     /* late starts of the member's kernels for which no reason was recorded */
} tm_suspect_work;

/** Returns the word for the column `work` of stragglers.finding; "" for TM_SUSPECT_ALL. */
static inline const char *tm_suspect_word(tm_suspect_work work) {
    return work == TM_SUSPECT_DEVICE ? "device"
           : work == TM_SUSPECT_HOST ? "host"
           : work == TM_SUSPECT_LAG  ? "queue"
                                     : "";
}

/** The result for a member over the whole recording, whether it is a suspect or not. */
typedef struct tm_standing {
    int64_t member, excess_ns;
    double p; /* as in tm_suspect; NaN if there is too little data for a test */
} tm_standing;

/** A group to test. All pointers are borrowed. */
typedef struct tm_compared {
    const tm_own_times *stretches;
    const int64_t *steps;     /* [n_rows] step numbers */
    const int64_t *hosts;     /* [n] host of each member; -1 unknown */
    const int64_t *stages;    /* [n] pipeline stage of each member; -1 for none */
    double n_tests;           /* members of all groups of the job / members of this group */
    struct tm_orders *orders; /* [2] orders kept for tests of members, and for tests of hosts; NULL:
                                 none are kept */
} tm_compared;

/**
 * Finds suspects one at a time: removes the member with the largest excess of those with a p of at
 * most 1 %, and tests the others again, until none has such a p. Scores members in each unit by
 * their distance from its median (p_values.h). Compares the largest height over members and windows
 * with its distribution if members are permuted in each unit. Each member of any group has the same
 * share of the 1 %: p is 1 - (1 - p)^(members of all groups / members of this one). Blocks, whose
 * length is an estimate, have twice that power.
 *
 * If the group has several hosts with several ranks each, the medians over each host's ranks are
 * tested first, at a twentieth of the 1 %, and then the ranks at the rest of it. The ranks of a
 * host that is a suspect leave the test of ranks if 80 % of them have half of their median excess.
 *
 * Stages of a pipeline do different work, so their ranks cannot be exchanged. Members are first
 * compared within their stage. Then stages are compared with each other; all members of a stage
 * that is found are suspects. Finally all ranks are compared, with a minimum excess of 5 % of the
 * slowest one's time.
 *
 * @param suspects   of tm_suspect, appended to
 * @param standings  of tm_standing, appended to; none for members that are alone in their stage
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_suspects_find(const tm_compared *compared, tm_vec *suspects, tm_vec *standings,
                           tm_error *err) TM_MUST_CHECK;

#endif
