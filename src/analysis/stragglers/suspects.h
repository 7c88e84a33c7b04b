/* Finds the members of a group that take longer than chance explains. */
#ifndef TMERGE_SUSPECTS_H
#define TMERGE_SUSPECTS_H

#include "base/vec.h"
#include "own_times.h"

/** Maximum p of a suspect. */
#define TM_CHANCE_MOST 0.01

/** Maximum p of a confident finding. */
#define TM_CHANCE_SURE 0.001

/** Share of TM_CHANCE_MOST for hosts; ranks have the rest. Hosts are few, and each is the median of
 * several ranks, so slow ones stand out clearly. */
#define TM_HOSTS_SHARE 0.05

/** A member that takes longer than chance explains. */
typedef struct tm_suspect {
    int64_t member;    /* rank; for a host, its lowest rank in the group */
    int64_t from, to;  /* window, as from and to of its units */
    int64_t units;     /* steps or stretches in the window; for blocks, all that they contain */
    int64_t excess_ns; /* excess over the median of the others, summed over the window */
    double p;          /* probability by chance, corrected for all groups and levels tested */
    tm_unit_kind unit;
    bool host;       /* the ranks of a host, tested together */
    bool throughout; /* the window is the whole recording */
    bool of_stage; /* whether the member's pipeline stage was compared with other stages, which may
                      have unequal work */
    bool unsteady; /* whether the excess differs between few steps, as with unequal shares of data;
                      then there is no finding. Set by the caller */
    uint8_t work;  /* tm_suspect_work: what was compared; set by the caller */
} tm_suspect;

/** Part of a member's own time that is compared: all of it, or one kind of the replay's weights. */
typedef enum tm_suspect_work {
    TM_SUSPECT_ALL,
    TM_SUSPECT_DEVICE, /* kernels and copies of the member */
    TM_SUSPECT_HOST,   /* calls of the member and the host work before them */
    TM_SUSPECT_LAG     /* late starts of its kernels that nothing recorded explains */
} tm_suspect_work;

/** Returns the word for the column work of stragglers.finding; "" for all. */
static inline const char *tm_suspect_word(tm_suspect_work work) {
    return work == TM_SUSPECT_DEVICE ? "device"
           : work == TM_SUSPECT_HOST ? "host"
           : work == TM_SUSPECT_LAG  ? "queue"
                                     : "";
}

/** Result for a member's whole time, whether it is a suspect or not. */
typedef struct tm_standing {
    int64_t member, excess_ns;
    double p; /* as above; NaN if too little is known for a test */
} tm_standing;

/** A group to test. Borrowed. */
typedef struct tm_compared {
    const tm_own_times *stretches;
    const int64_t *steps;     /* [n_rows] step numbers */
    const int64_t *hosts;     /* [n] host of each member; -1 unknown */
    const int64_t *stages;    /* [n] pipeline stage of each member; -1 for none */
    double n_tests;           /* members of all groups of the job / members of this group */
    struct tm_orders *orders; /* [2] kept for the tests of members and of hosts; NULL for none */
} tm_compared;

/**
 * Finds suspects one at a time: of the members with p of at most 1 %, the one with the largest
 * excess is removed and the rest is tested again, until none passes. In each unit, members are
 * scored by their distance from its median (p_values.h). The largest height over members and
 * windows is compared with its distribution when members are permuted in each unit. Each member of
 * a group has the same share of the 1 %: p is 1 - (1 - p)^(members of all groups / of this one),
 * and for blocks, whose length is an estimate, twice that power.
 *
 * If the group has several hosts of several ranks, medians over each host's ranks are tested first,
 * at a twentieth of the 1 %, then ranks at the rest. Ranks of a found host leave the test of ranks
 * if 80 % of them have half of their median excess.
 *
 * Stages of a pipeline are not exchangeable. Members are first compared within their stage, then
 * stages with each other, and all members of a found stage are suspects. Finally all ranks are
 * compared, with a minimum excess of 5 % of the slowest one's time.
 *
 * @param suspects   of tm_suspect, appended to
 * @param standings  of tm_standing, appended to; none for members that are alone in their stage
 * @return           TM_OK; TM_ERR_FAULT
 */
tm_status tm_suspects_find(const tm_compared *compared, tm_vec *suspects, tm_vec *standings,
                           tm_error *err) TM_MUST_CHECK;

#endif
