/* Finds suspects: the members of a group that take longer than chance explains. */
#ifndef TMERGE_SUSPECTS_H
#define TMERGE_SUSPECTS_H

#include "base/vec.h"
#include "own_times.h"

/** Maximum p of a suspect. */
#define TM_CHANCE_MOST 0.01

/** Maximum p of a confident finding. */
#define TM_CHANCE_SURE 0.001

/** A member that takes longer than chance explains. */
typedef struct tm_suspect {
    int64_t member;   /* rank; for a host, its lowest rank in the group */
    int64_t from, to; /* the window, as `from` of its first unit and `to` of its last unit */
    /* number of steps or stretches in the window (stretches if the units are blocks) */
    int64_t units;
    int64_t excess_ns; /* time above the median of the other members, summed over the window */
    double p; /* probability of such an excess by chance, corrected for all groups and levels */
    tm_unit_kind unit;
    bool host;       /* whether the member is a host */
    bool throughout; /* whether the window is the whole recording */
    bool of_stage;   /* whether the member's stage was compared with other stages, which may have
                        other work */
    /* Whether only few steps were compared and the excess differs between them, for example because
     * of unequal shares of data. Such a suspect gives no finding. Set by the caller. */
    bool unsteady;
    uint8_t work; /* tm_suspect_work: what was compared; set by the caller */
} tm_suspect;

/** The part of a member's own time that was compared: all of it, or one kind of work in the
 * replay. */
typedef enum tm_suspect_work {
    TM_SUSPECT_ALL,
    TM_SUSPECT_DEVICE, /* the member's kernels and copies */
    TM_SUSPECT_HOST,   /* the member's calls, and the host work before them */
    TM_SUSPECT_LAG     /* late starts of the member's kernels without a recorded reason */
} tm_suspect_work;

/** Returns the word for the column `work` of stragglers.finding; "" for TM_SUSPECT_ALL. */
static inline const char *tm_suspect_word(tm_suspect_work work) {
    return work == TM_SUSPECT_DEVICE ? "device"
           : work == TM_SUSPECT_HOST ? "host"
           : work == TM_SUSPECT_LAG  ? "queue"
                                     : "";
}

/** Result for a member over the whole recording, even if the member is no suspect. */
typedef struct tm_standing {
    int64_t member, excess_ns;
    double p; /* as in tm_suspect; NaN: too little data for a test */
} tm_standing;

/** A group to test. All pointers are borrowed. */
typedef struct tm_compared {
    const tm_own_times *stretches;
    const int64_t *steps;  /* [n_rows] step numbers */
    const int64_t *hosts;  /* [n] host of each member; -1: unknown */
    const int64_t *stages; /* [n] pipeline stage of each member; -1: none */
    /* members in all groups of the job / members in this group */
    double n_tests;
    bool hosts_only;          /* only suspect hosts are wanted */
    struct tm_orders *orders; /* [2] caches of random orders, for tests of members and for tests of
                                 hosts; NULL: no caches */
} tm_compared;

/**
 * Finds suspects one after another. Of all members with a p of at most 1 %, the member with the
 * largest excess is a suspect. It is removed, and the others are tested again, until no member has
 * such a p.
 *
 * The score of a member in a unit is its distance from the unit's median (p_values.h). The largest
 * height over all members and windows is compared with its distribution under permutation of the
 * members in each unit. Each member of any group has the same share of the 1 %, so p is corrected
 * to 1 - (1 - p)^(members of all groups / members of this group). For blocks, the exponent is
 * doubled, because the length of a block is an estimate.
 *
 * If the group has several hosts with several ranks each, hosts are tested before ranks. The value
 * of a host is the median of its ranks. The test of hosts gets a twentieth of the
 * 1 %, and the test of ranks gets the rest. If only hosts are wanted, they get all of it. A host is
 * a suspect only if its ranks are late together: 80 % of them have at least half of their median
 * excess, and none has more than 3 times as much. The ranks of a suspect host leave the test of
 * ranks.
 *
 * Stages of a pipeline do different work, so ranks of different stages cannot be exchanged. First,
 * members are compared within their stage. Then stages are compared. All members of a suspect stage
 * are suspects. Finally, all ranks are compared, with a minimum excess of 5 % of the slowest rank's
 * time.
 *
 * @param suspects   vector of tm_suspect, appended to
 * @param standings  vector of tm_standing, appended to; none for members that are alone in their
 *                   stage
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_suspects_find(const tm_compared *compared, tm_vec *suspects, tm_vec *standings,
                           tm_error *err) TM_MUST_CHECK;

#endif
