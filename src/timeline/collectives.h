/* Matched collectives. Matching produces them. The clock fit and the analyses read them. */
#ifndef TMERGE_COLLECTIVES_H
#define TMERGE_COLLECTIVES_H

#include "base/vec.h"
#include "tmerge/timeline.h"

enum { TM_GROUP_TEXT_MAX = 64 };

/** How the kernels of an operation were matched, most trustworthy first. */
typedef enum tm_match_way {
    TM_MATCH_COMMS_ID, /* `Comms Id` */
    TM_MATCH_SEQ,      /* process group and `Seq` */
    TM_MATCH_PAIR,     /* order of transfers from one rank to another */
    TM_MATCH_ORDER,    /* order within the process group */
    TM_MATCH_INFERRED  /* who waited for whom: the group is not recorded */
} tm_match_way;

/** Returns the word for a way of matching:
 * - "metadata": ids in the kernels;
 * - "order": order of the kernels within a recorded group, or between two ranks;
 * - "inferred": no group is recorded. */
static inline const char *tm_match_word(uint8_t way) {
    return way == TM_MATCH_INFERRED                        ? "inferred"
           : way == TM_MATCH_PAIR || way == TM_MATCH_ORDER ? "order"
                                                           : "metadata";
}

/** Reasons why a kernel belongs to no operation, each with its word. */
#define TM_UNMATCHED_REASONS(X)                                                                    \
    X(ORDER, "order unproven") /* no metadata, and the kernel's times do not prove a group */      \
    X(ONE_SIDED, "one-sided")  /* the kernels of its library have no counterparts                  \
                                  on other ranks */                                                \
    X(GROUP, "group unknown")  /* the ranks of its group are unknown */                            \
    X(PEER, "peer unknown")    /* a transfer without a recorded peer */                            \
    X(TRANSFERS, "transfers differ") /* sender and receiver recorded different numbers or sizes of \
                                        transfers */                                               \
    X(TOO_FEW, "too few")            /* too few kernels: a match may be chance */                  \
    X(SIGNATURES, "signatures differ") /* no alignment has equal kinds, sizes and steps */         \
    X(INCOHERENT, "incoherent")        /* no alignment has a constant end difference */            \
    X(AMBIGUOUS, "ambiguous")          /* several alignments have a constant end difference */     \
    X(ALONE, "no counterpart")         /* no kernel ends at the same time on the other ranks */    \
    X(PLACE, "ends need not meet") /* Ranks may leave a kernel of this kind early, so it can be    \
                                      matched only by its position. But a rank lacks kernels. */

typedef enum tm_unmatched {
    TM_UNMATCHED_NOT, /* the kernel is matched */
#define TM_UNMATCHED_ENUM(name, word) TM_UNMATCHED_##name,
    TM_UNMATCHED_REASONS(TM_UNMATCHED_ENUM)
#undef TM_UNMATCHED_ENUM
        TM_N_UNMATCHED
} tm_unmatched;

/** Number of unmatched kernels of one group and reason, on one process. */
typedef struct tm_left_out {
    int64_t count;
    int32_t group_size; /* -1 if the group is unknown */
    uint8_t reason;     /* tm_unmatched */
    char group_text[TM_GROUP_TEXT_MAX];
} tm_left_out;

/** A communication kernel of a rank. Sent as bytes to the process that matches the kernel. */
typedef struct tm_comm_record {
    uint64_t group; /* id of the kernel's process group or, for a transfer, of the pair of ranks in
                       the group; equal on all ranks */
    uint64_t key;   /* id of the operation within `group` and `way`; equal on all ranks */
    /* Before alignment: as recorded. After alignment: begin_ns is the start on the job's clock, and
     * end_ns is begin_ns + the recorded duration. */
    int64_t begin_ns, end_ns;
    int64_t gained_ns;          /* correction of the duration due to drift; 0 before alignment */
    int64_t exposed_ns;         /* as in tm_collective_attr; tm_mpi_exposed sets it */
    int64_t bytes;              /* size as nccl-tests defines it; -1 without metadata */
    int64_t call_bytes;         /* as in tm_collective_attr */
    int64_t step;               /* number of the kernel's step; -1 for none */
    int64_t seq;                /* -1 if not in the trace */
    int64_t rank;               /* rank in the job */
    uint64_t operation;         /* the program's id of the operation if seq is TM_SEQ_REPEATED; the
                                   tag of an MPI message if `tagged`; else 0 */
    uint64_t process_group;     /* id of the kernel's process group, also for a transfer; while a
                                   kernel without metadata is not yet matched, its signature */
    int32_t process_group_size; /* ranks of process_group */
    uint32_t description;       /* id of the text that describes the group; TM_NO_NAME: none */
    uint32_t event;             /* row of the kernel in the rank's timeline */
    int32_t group_size; /* number of ranks of the group; 2 for a transfer. While a kernel without
                           metadata is not yet matched: number of the job's ranks */
    int32_t origin;     /* process that holds the rank and receives the answer */
    /* Clock domain of the rank. Alignment sets this member and the next two. Before alignment, a
     * kernel without metadata has the number of the rank's host here. */
    int32_t domain;
    uint32_t uncertainty_ns; /* uncertainty of the rank's clock against other domains */
    uint32_t spread_ns;      /* uncertainty of the rank's clock within its domain */
    uint8_t kind;            /* tm_collective_kind */
    uint8_t way;             /* tm_match_way */
    int32_t evidence_bits;   /* If the group is inferred: evidence [bits] for the weakest of the
                                joins of ranks that made the group. */
    bool at_least;           /* if the group is inferred: it may have more ranks than were found */
    bool exchange;           /* an exchange: both ranks send and receive */
    bool wrong_clock;        /* the kernel starts long before its launch: its times are wrong */
    bool transfer_alone;     /* the recorded kernel starts only when the last rank has arrived, so
                                that it has no wait */
    bool tagged; /* an MPI message with `operation` as tag. For a receive, the recorded size is
                    that of the buffer, not of the message. Only messages with equal tags stay in
                    order */
    char group_text[TM_GROUP_TEXT_MAX]; /* name of the group; its ranks if it has no name;
                                           terminated */
} tm_comm_record;

/** Whether the kernels of a matched operation are complete and agree. */
typedef enum tm_instance_state {
    TM_INSTANCE_COMPLETE,   /* every member of the group has a kernel */
    TM_INSTANCE_INCOMPLETE, /* some members have no kernel */
    TM_INSTANCE_SUSPECT     /* members disagree in kind or size, or a rank has two kernels */
} tm_instance_state;

/** One communication operation with its kernels: records [first, first + n). */
typedef struct tm_instance {
    size_t first, n; /* records in tm_collectives, ascending by rank */
    int64_t last_ns; /* L: the latest start */
    /* The waits of the operation are known. All of these are required: the operation has several
     * ranks; its kind synchronises, or it is an exchange, or its kernels show that all ranks waited
     * (tm_instance_met, set by alignment); it is complete, or it is a barrier whose last rank is
     * known. */
    bool waits;
    bool transfers; /* the operation is a complete transfer from one rank to another. Alignment
                       clears `waits` and `transfers` if the starts cannot be compared */
    bool joins;    /* Members could continue only when the last member had arrived. This may also be
                      true for transfers, broadcasts and incomplete operations. Set by alignment. */
    uint8_t state; /* tm_instance_state */
} tm_instance;

/** Values of an operation for those tables that have a row for each kind and group. They are on the
 * process that owns the group. */
typedef struct tm_instance_value {
    uint64_t group;
    int64_t bytes;       /* median of the members' sizes; -1 without metadata */
    int64_t transfer_ns; /* latest end minus latest start (L); -1 if waits are unknown */
    int64_t skew_ns;     /* latest start (L) minus earliest start; -1 if waits are unknown */
    int32_t group_size;
    uint8_t kind;
    uint8_t state; /* tm_instance_state */
    char group_text[TM_GROUP_TEXT_MAX];
    uint64_t process_group;     /* as in tm_comm_record */
    int32_t process_group_size; /* as in tm_comm_record */
    uint32_t description;       /* as in tm_comm_record */
    int32_t from, to;           /* ranks of the sender and the receiver of a transfer; -1 for other
                                   operations */
    int64_t shortest_ns;        /* duration of the operation's shortest kernel */
    int64_t comm_ns;            /* sum of the durations of the operation's kernels */
    int64_t waited_ns;          /* sum of the members' waits; 0 if waits are unknown */
    int32_t evidence_bits;      /* as in tm_comm_record */
    uint8_t way;                /* as in tm_comm_record */
    bool at_least;              /* as in tm_comm_record */
} tm_instance_value;

/** An operation with one of the largest waits or exposed times of the job. */
typedef struct tm_worst {
    size_t instance; /* index into instances */
    int64_t place;   /* index of the operation when the job's operations are sorted by wait or by
                        exposed time, the largest first */
} tm_worst;

/** How long `for_rank` waited because `rank` was late, summed over operations. */
typedef struct tm_pair {
    int64_t rank, for_rank;
    int64_t whole_ns;
    uint64_t fraction; /* fraction of a nanosecond, in units of 2^-40 ns; below 2^40 */
} tm_pair;

/** The results of delay propagation for a rank in a step, in whole nanoseconds. passed_ns is the
 * part of the caused wait that the rank passes on to the ranks that made it wait. indirect_ns is
 * the wait of other ranks that the rank has caused indirectly. */
typedef struct tm_cost {
    int64_t rank, step; /* step -1: outside of all steps */
    int64_t passed_ns, indirect_ns;
} tm_cost;

/** Own time of a rank in the stretch that ends at an operation (waits/stretches.h). It is on the
 * process that owns the operation's group. */
typedef struct tm_own_time {
    uint64_t group;
    uint64_t key;    /* key of the operation, as in tm_comm_record */
    int64_t last_ns; /* latest start of the operation */
    int64_t step;    /* -1 for none */
    int64_t rank;
    int64_t ns;
    uint32_t host; /* name id of the rank's host; TM_NO_NAME: unknown */
} tm_own_time;

/** A rank of a process group. The group has operations with known waits. */
typedef struct tm_group_member {
    uint64_t group;
    int64_t rank;
} tm_group_member;

/** Use of the job's pipeline, the same on every process. */
typedef struct tm_pipeline_use {
    int64_t stages;    /* 0: no pipeline */
    int64_t transfers; /* number of transfers from the first stage to the second */
    int64_t senders;   /* number of ranks of the first stage */
    int64_t wait_ns;   /* time that all ranks waited for transfers */
    int64_t kept_ns;   /* time that transfers and collectives kept ranks from computing */
} tm_pipeline_use;

/** What a process knows about the matched operations. */
typedef struct tm_collectives {
    tm_vec records;   /* vector of tm_comm_record; the records of an instance are adjacent */
    tm_vec instances; /* vector of tm_instance: the operations that this process matched */
    tm_vec
        values;   /* vector of tm_instance_value: operations of the groups that this process owns */
    tm_vec worst; /* vector of tm_worst: from the job's operations with the largest waits, those
                     that this process matched */
    /* vector of tm_worst: from the job's most exposed operations, those matched by this process */
    tm_vec exposed;
    tm_vec pairs;    /* vector of tm_pair: the pairs whose late rank is owned by this process */
    tm_vec left_out; /* vector of tm_left_out: numbers of unmatched kernels, as counted by this
                        process */
    tm_vec costs;    /* vector of tm_cost: the costs of ranks in each step */
    tm_vec members; /* vector of tm_group_member: the groups of the ranks that this process holds */
    tm_vec own_times; /* vector of tm_own_time: the own times of all members of the groups that this
                         process owns */
    tm_vec stages;    /* vector of tm_stage (waits/stages.h): all ranks of the pipeline */
    int64_t n_waits;  /* number of the job's operations with known waits */
    tm_pipeline_use pipeline;
    bool first_process;        /* this process reports for the whole job */
    int64_t n_compared;        /* number of the job's group members whose groups have own times */
    int64_t violations_before; /* number of operations in which one rank ended before another had
                                  started, by the clocks as recorded; set by alignment */
    int64_t worst_before_ns;   /* in these operations, the longest time from a rank's end to another
                                  rank's start */
    /* result of the replay (replay/whatif/result.h); borrowed. It is set only on the first process,
     * and NULL without a replay. */
    const struct tm_replay_result *replay;
    bool has_works; /* the replay has the ranks' own work; same on every process */
} tm_collectives;

/** Longest time from the last arrival to the end of a barrier. TPUs take 1.7 to 5.2 us. */
#define TM_BARRIER_NS INT64_C(6000)

/** Returns whether all ranks of a collective of this kind wait for the last arrival. */
static inline bool tm_collective_synchronises(uint8_t kind) {
    return kind == TM_COLL_ALLREDUCE || kind == TM_COLL_ALLGATHER ||
           kind == TM_COLL_REDUCESCATTER || kind == TM_COLL_ALLTOALL || kind == TM_COLL_BARRIER;
}

/** Returns whether the operation of a kernel synchronises: no rank can leave it before all ranks
 * have arrived. An operation without bytes does not, unless it is a barrier. */
static inline bool tm_record_synchronises(const tm_comm_record *record) {
    return tm_collective_synchronises(record->kind) &&
           (record->bytes != 0 || record->kind == TM_COLL_BARRIER);
}

/** Returns how far apart [ns] two starts must be so that it is certain which start was first. If
 * the ranks are in different clock domains, this is 2 sqrt(u^2 + v^2), where u and v are the
 * uncertainties of the two clocks. Within one domain, it is twice the spread of the rank @p a. It
 * is 0 if clocks are used as recorded. */
static inline int64_t tm_joint_uncertainty(const tm_comm_record *a, const tm_comm_record *b) {
    if (a->domain == b->domain)
        return 2 * (int64_t)a->spread_ns;
    return llround(2.0 * hypot((double)a->uncertainty_ns, (double)b->uncertainty_ns));
}

/** Returns the latest start [ns] of the members of an operation, @p n > 0. */
static inline int64_t tm_members_last(const tm_comm_record *members, size_t n) {
    int64_t last = members->begin_ns;
    for (size_t i = 1; i < n; i++)
        last = members[i].begin_ns > last ? members[i].begin_ns : last;
    return last;
}

/** Returns the latest start minus the earliest end [ns] of an operation's members, on their clocks;
 * @p n > 0. If this is above 0, the clocks or the match are wrong, because no rank leaves before
 * all have arrived. */
static inline int64_t tm_members_lead(const tm_comm_record *members, size_t n) {
    int64_t first_end = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t end = members[i].end_ns + members[i].gained_ns;
        first_end = end < first_end ? end : first_end;
    }
    return tm_members_last(members, n) - first_end;
}

/** Returns the time [ns] that a member waited for the last member: max(0, min(end, L) - begin). */
static inline int64_t tm_member_wait(const tm_comm_record *record, int64_t last_ns) {
    int64_t end = record->end_ns < last_ns ? record->end_ns : last_ns;
    return end > record->begin_ns ? end - record->begin_ns : 0;
}

#endif
