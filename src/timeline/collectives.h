/* Collectives as data: output of matching, input of the clock fit and the analyses. */
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
    TM_MATCH_INFERRED  /* the group is not recorded; it was inferred from who waited for whom */
} tm_match_way;

/** Returns the word for a way: "metadata" (ids in the kernels), "order" (order within a recorded
 * group) or "inferred". */
static inline const char *tm_match_word(uint8_t way) {
    return way == TM_MATCH_INFERRED                        ? "inferred"
           : way == TM_MATCH_PAIR || way == TM_MATCH_ORDER ? "order"
                                                           : "metadata";
}

/** Reasons why a kernel belongs to no operation, each with its word. */
#define TM_UNMATCHED_REASONS(X)                                                                    \
    X(ORDER, "order unproven") /* no metadata, and the times of the kernel do not prove a group */ \
    X(ONE_SIDED, "one-sided")  /* the kernels of its library have no counterparts */               \
    X(GROUP, "group unknown")  /* the ranks of its group are unknown */                            \
    X(PEER, "peer unknown")    /* a transfer without a recorded peer */                            \
    X(TRANSFERS, "transfers differ") /* sender and receiver recorded other numbers or sizes */     \
    X(TOO_FEW, "too few")            /* too few kernels: a match may be chance */                  \
    X(TOKENS, "tokens differ")       /* no alignment has equal kinds, sizes and steps */           \
    X(INCOHERENT, "incoherent")      /* no alignment has a constant end difference */              \
    X(AMBIGUOUS, "ambiguous")        /* several alignments have a constant end difference */       \
    X(ALONE, "no counterpart")       /* it ends when nothing ends on the other ranks */            \
    X(PLACE, "ends need not meet")   /* matched by position only, but a rank lacks kernels */

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

/** One communication kernel of one rank, as sent to the process that matches it. No pointers: it is
 * sent as bytes. */
typedef struct tm_comm_record {
    uint64_t group; /* id of its process group, or for a transfer of its pair of ranks in the group;
                       equal on every rank */
    uint64_t key;   /* id of the operation within group and way; equal on every rank */
    int64_t begin_ns, end_ns;   /* recorded times; after alignment on the job's clock, where end is
                                   the aligned begin + the recorded duration */
    int64_t gained_ns;          /* correction of the duration due to drift; 0 before alignment */
    int64_t exposed_ns;         /* as in tm_collective_attr; set by tm_mpi_exposed */
    int64_t bytes;              /* size as nccl-tests defines it; -1 without metadata */
    int64_t call_bytes;         /* as in tm_collective_attr */
    int64_t step;               /* number of its step; -1 for none */
    int64_t seq;                /* -1 if not in the trace */
    int64_t rank;               /* global */
    uint64_t operation;         /* the program's id of the operation if its sequence number is
                                   TM_SEQ_REPEATED; else 0 */
    uint64_t process_group;     /* id of its process group, also for transfers; for a kernel without
                                   metadata its token until it is matched */
    int32_t process_group_size; /* ranks of process_group */
    uint32_t description;       /* id of the name that describes the group; TM_NO_NAME: none */
    uint32_t event;             /* row of the kernel in the rank's timeline */
    int32_t group_size; /* number of ranks of the group; 2 for a transfer; for a kernel without
                           metadata, the job's ranks until it is matched */
    int32_t origin;     /* process that holds the rank and receives the answer */
    int32_t domain; /* clock domain of its rank, set by alignment like the next two; before that,
                       for a kernel without metadata, the number of its host */
    uint32_t uncertainty_ns; /* uncertainty of its clock against other domains */
    uint32_t spread_ns;      /* uncertainty of its clock within its domain */
    uint8_t kind;            /* tm_collective_kind */
    uint8_t way;             /* tm_match_way */
    int32_t evidence_bits;   /* if inferred: evidence [bits] of the weakest join of its group */
    bool at_least;           /* if inferred: the group may have more ranks */
    bool exchange;           /* an exchange: each of two ranks sends to the other */
    bool wrong_clock;        /* whether the kernel starts long before its launch */
    bool
        transfer_alone; /* whether the recorded kernel starts only when the last rank has arrived */
    bool tagged; /* `operation` is the tag of an MPI message: a receive has the size of its buffer,
                    not of the message, and the order is kept only within a tag */
    char group_text[TM_GROUP_TEXT_MAX]; /* name of the group, or else its ranks; terminated */
} tm_comm_record;

/** Whether the kernels of a matched operation are complete and agree. */
typedef enum tm_instance_state {
    TM_INSTANCE_COMPLETE,   /* every member of its group contributed a kernel */
    TM_INSTANCE_INCOMPLETE, /* some did not */
    TM_INSTANCE_SUSPECT     /* members disagree in kind or size, or a rank has two kernels */
} tm_instance_state;

/** One communication operation with its kernels: records [first, first + n). */
typedef struct tm_instance {
    size_t first, n; /* records in tm_collectives, ascending by rank */
    int64_t last_ns; /* L: the latest start */
    bool waits;      /* its waits are known: it has several ranks, is of a synchronising kind or an
                        exchange, and is complete or a barrier whose last rank is known */
    bool transfers;  /* it is a complete transfer from one rank to another; after alignment (as for
                        `waits`) only if the starts can be compared */
    bool joins; /* after alignment: its members could continue only when the last had arrived; also
                   set for transfers, broadcasts and incomplete operations */
    uint8_t state; /* tm_instance_state */
} tm_instance;

/** Data about an operation for the tables by kind and group; stored at the group's owner. */
typedef struct tm_instance_value {
    uint64_t group;
    int64_t bytes;       /* median size over its members; -1 without metadata */
    int64_t transfer_ns; /* latest end minus L; -1 if waits are unknown */
    int64_t skew_ns;     /* L minus earliest start; -1 if waits are unknown */
    int32_t group_size;
    uint8_t kind;
    uint8_t state; /* tm_instance_state */
    char group_text[TM_GROUP_TEXT_MAX];
    uint64_t process_group;     /* as in tm_comm_record */
    int32_t process_group_size; /* likewise */
    uint32_t description;       /* likewise */
    int32_t from, to;           /* of a transfer: sender and receiver; else -1 */
    int64_t shortest_ns;        /* duration of its shortest kernel */
    int64_t comm_ns;            /* sum of its kernels' durations */
    int64_t waited_ns;          /* sum of its members' waits; 0 if waits are unknown */
    int32_t evidence_bits;      /* as in tm_comm_record */
    uint8_t way;                /* likewise */
    bool at_least;              /* likewise */
} tm_instance_value;

/** One of the operations with the most wait, or the most exposed time. */
typedef struct tm_worst {
    size_t instance; /* index into instances */
    int64_t place;   /* rank in the order by wait, or by exposed time; 0: the worst of the job */
} tm_worst;

/** How long one rank waited because another was late, summed over operations. */
typedef struct tm_pair {
    int64_t rank, for_rank;
    int64_t whole_ns;  /* whole nanoseconds */
    uint64_t fraction; /* fraction in units of 2^-40 ns, below 2^40 */
} tm_pair;

/** How delay propagation changes the cost of a rank in one step, in whole nanoseconds: the part of
 * its caused wait that is passed on to ranks which had made it wait, and the wait of others that it
 * caused indirectly. */
typedef struct tm_cost {
    int64_t rank, step; /* step -1: outside all steps */
    int64_t passed_ns, indirect_ns;
} tm_cost;

/** Own time of a rank in the stretch that ends at an operation (waits/stretches.h). Kept by the
 * process that owns the group. */
typedef struct tm_own_time {
    uint64_t group;
    uint64_t key;    /* key of the operation, as in tm_comm_record */
    int64_t last_ns; /* its last begin */
    int64_t step;    /* -1 for none */
    int64_t rank;
    int64_t ns;
    uint32_t host; /* name id of the rank's host; TM_NO_NAME: unknown */
} tm_own_time;

/** A rank of a process group that has operations with defined waits. */
typedef struct tm_group_member {
    uint64_t group;
    int64_t rank;
} tm_group_member;

/** The use of the job's pipeline; the same on every process. */
typedef struct tm_pipeline_use {
    int64_t stages;    /* 0: no pipeline */
    int64_t transfers; /* number of transfers from the first stage to the second */
    int64_t senders;   /* number of ranks of the first stage */
    int64_t wait_ns;   /* wait of all ranks for transfers */
    int64_t kept_ns;   /* time that transfers and collectives kept ranks from computing */
} tm_pipeline_use;

/** What one process knows about the matched operations. */
typedef struct tm_collectives {
    tm_vec records;   /* of tm_comm_record, instance by instance */
    tm_vec instances; /* of tm_instance: matched by this process */
    tm_vec values;    /* of tm_instance_value: of groups that this process owns */
    tm_vec worst; /* of tm_worst: those of the job's worst operations that this process matched */
    /* of tm_worst: those of the most exposed operations that this process matched */
    tm_vec exposed;
    tm_vec pairs;     /* of tm_pair: causing ranks that this process owns */
    tm_vec left_out;  /* of tm_left_out: unmatched kernels that this process counted */
    tm_vec costs;     /* of tm_cost: some ranks' costs, by step */
    tm_vec members;   /* of tm_group_member: ranks held by this process */
    tm_vec own_times; /* of tm_own_time: groups owned by this process, each complete */
    tm_vec stages;    /* of tm_stage (waits/stages.h): all ranks of a pipeline */
    int64_t n_waits;  /* number of operations of the job whose waits are known */
    tm_pipeline_use pipeline;
    bool first_process;        /* whether this is the process that reports for the whole job */
    int64_t n_compared;        /* members of groups with known own times, over the whole job */
    int64_t violations_before; /* number of operations in which, on recorded clocks, one rank ended
                                  before another started; set by alignment */
    int64_t worst_before_ns;   /* largest such lead */
    /* see replay/whatif/result.h; owned by its creator; only on the first process, and NULL if
     * there was no replay */
    const struct tm_replay_result *replay;
    bool has_works; /* the same on every process: whether the replay has the ranks' own work */
} tm_collectives;

/** A barrier takes at most this long after the last arrival. Cores of TPUs take 1.7 to 5.2 us. */
#define TM_BARRIER_NS INT64_C(6000)

/** Whether a kind makes all ranks wait for the last arrival. */
static inline bool tm_collective_synchronises(uint8_t kind) {
    return kind == TM_COLL_ALLREDUCE || kind == TM_COLL_ALLGATHER ||
           kind == TM_COLL_REDUCESCATTER || kind == TM_COLL_ALLTOALL || kind == TM_COLL_BARRIER;
}

/** Whether no rank can leave a kernel's operation before all have arrived. An operation without
 * bytes makes no rank wait, unless it is a barrier. */
static inline bool tm_record_synchronises(const tm_comm_record *record) {
    return tm_collective_synchronises(record->kind) &&
           (record->bytes != 0 || record->kind == TM_COLL_BARRIER);
}

/** Returns how far apart [ns] two starts must be so that it is certain which was first: 2 sqrt(u^2
 * + v^2), where u and v are the uncertainties of their clocks. Within one domain, these are the
 * spreads. 0 if clocks are taken as recorded. */
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

/** Returns how long [ns] before its last start an operation's first end is, by the clocks of its
 * members, @p n > 0. Above 0, the clocks or the match are wrong, because no rank leaves before all
 * have arrived. */
static inline int64_t tm_members_lead(const tm_comm_record *members, size_t n) {
    int64_t first_end = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t end = members[i].end_ns + members[i].gained_ns;
        first_end = end < first_end ? end : first_end;
    }
    return tm_members_last(members, n) - first_end;
}

/** Returns the time [ns] that a member waited for the last one: max(0, min(end, L) - begin). */
static inline int64_t tm_member_wait(const tm_comm_record *record, int64_t last_ns) {
    int64_t end = record->end_ns < last_ns ? record->end_ns : last_ns;
    return end > record->begin_ns ? end - record->begin_ns : 0;
}

#endif
