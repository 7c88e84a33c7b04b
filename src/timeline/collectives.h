/* Collectives as data: what matching makes, and what the clock fit and the analyses read. */
#ifndef TMERGE_COLLECTIVES_H
#define TMERGE_COLLECTIVES_H

#include "base/vec.h"
#include "tmerge/timeline.h"

enum { TM_GROUP_TEXT_MAX = 64 };

/** How the kernels that belong together are found. Ordered by trust. */
typedef enum tm_match_way {
    TM_MATCH_COMMS_ID, /* `Comms Id` */
    TM_MATCH_SEQ,      /* process group and `Seq` */
    TM_MATCH_PAIR,     /* order between one sender and one receiver */
    TM_MATCH_ORDER,    /* order inside the process group */
    TM_MATCH_INFERRED  /* nothing tells the group; who waited for whom does */
} tm_match_way;

/** How a way tells the operation: by what kernels carry, by their order inside a group that they
 * carry, or not by them at all. */
static inline const char *tm_match_word(uint8_t way) {
    return way == TM_MATCH_INFERRED                        ? "inferred"
           : way == TM_MATCH_PAIR || way == TM_MATCH_ORDER ? "order"
                                                           : "metadata";
}

/** Why a kernel belongs to no operation, each with its word. */
#define TM_UNMATCHED_REASONS(X)                                                                    \
    X(ORDER, "order unproven")       /* no metadata, and its times do not prove a group either */  \
    X(ONE_SIDED, "one-sided")        /* of a library whose kernels do not correspond */            \
    X(GROUP, "group unknown")        /* nothing tells the ranks of its group */                    \
    X(PEER, "peer unknown")          /* a transfer that does not say with whom */                  \
    X(TRANSFERS, "transfers differ") /* between sender and receiver, in number or size */          \
    X(TOO_FEW, "too few")            /* kernels, to tell a correspondence from chance */           \
    X(TOKENS, "tokens differ")       /* no correspondence has the same kinds, sizes and steps */   \
    X(INCOHERENT, "incoherent")      /* none has ends that are the same time apart */              \
    X(AMBIGUOUS, "ambiguous")        /* several have */                                            \
    X(ALONE, "no counterpart")       /* ends when nothing ends on the other ranks */               \
    X(PLACE, "ends need not meet")   /* only its place tells it, and there some rank lacks one */

typedef enum tm_unmatched {
    TM_UNMATCHED_NOT, /* it is matched */
#define TM_UNMATCHED_ENUM(name, word) TM_UNMATCHED_##name,
    TM_UNMATCHED_REASONS(TM_UNMATCHED_ENUM)
#undef TM_UNMATCHED_ENUM
        TM_N_UNMATCHED
} tm_unmatched;

/** Kernels that belong to no operation, of one group and reason. Sums of one process. */
typedef struct tm_left_out {
    int64_t count;
    int32_t group_size; /* -1 where the group is not known */
    uint8_t reason;     /* tm_unmatched */
    char group_text[TM_GROUP_TEXT_MAX];
} tm_left_out;

/** One communication kernel of one rank, as it goes to the process that matches it. No pointers:
 * it is sent as bytes. */
typedef struct tm_comm_record {
    uint64_t group;                     /* id of its process group, the same on every rank; of a
                                           transfer, of its pair of ranks in that group */
    uint64_t key;                       /* within the group and way: the same on every rank */
    int64_t begin_ns, end_ns;           /* recorded; after alignment on the job's clock, where the
                                           end is the aligned begin plus the duration */
    int64_t gained_ns;                  /* what drift adds to that duration; 0 before alignment */
    int64_t exposed_ns;                 /* as in tm_collective_attr; set by tm_mpi_exposed */
    int64_t bytes;                      /* as nccl-tests counts them; -1 without metadata */
    int64_t call_bytes;                 /* as in tm_collective_attr */
    int64_t step;                       /* number of its step; -1 for none */
    int64_t seq;                        /* -1 where the trace has none */
    int64_t rank;                       /* global */
    uint64_t operation;                 /* of a program, for TM_SEQ_REPEATED; else 0 */
    uint64_t process_group;             /* id of its process group, a transfer's too; until a
                                           kernel without metadata has one, its token */
    int32_t process_group_size;         /* ranks of that */
    uint32_t description;               /* name id of its description, TM_NO_NAME without */
    uint32_t event;                     /* its row in the rank's timeline */
    int32_t group_size;                 /* ranks of the group; 2 for a transfer; the job's until a
                                           kernel without metadata is matched */
    int32_t origin;                     /* the process that holds the rank: the answer goes there */
    int32_t domain;                     /* clock domain of its rank (until an inferred one is
                                           matched: its host); set by alignment, as are */
    uint32_t uncertainty_ns;            /* its clock's against other domains, and */
    uint32_t spread_ns;                 /* that inside its domain */
    uint8_t kind;                       /* tm_collective_kind */
    uint8_t way;                        /* tm_match_way */
    int32_t evidence_bits;              /* of way INFERRED: for the weakest join of its group */
    bool at_least;                      /* likewise: the group may have further ranks */
    bool exchange;                      /* of two ranks, each of which gives the other something */
    bool wrong_clock;                   /* it begins long before its launch */
    bool transfer_alone;                /* it begins when the last rank has come */
    bool tagged;                        /* operation is a tag of MPI: sizes are of buffers, in which
                                           less may come, and each tag has an order of its own */
    char group_text[TM_GROUP_TEXT_MAX]; /* name of the group, else its ranks; terminated */
} tm_comm_record;

/** What became of a matched operation. */
typedef enum tm_instance_state {
    TM_INSTANCE_COMPLETE,   /* every member of its group gave a kernel */
    TM_INSTANCE_INCOMPLETE, /* some did not */
    TM_INSTANCE_SUSPECT     /* members contradict one another: kind, size, or one rank twice */
} tm_instance_state;

/** One communication operation with the kernels that made it: members [first, first + n). */
typedef struct tm_instance {
    size_t first, n; /* records in tm_collectives, ascending in rank */
    int64_t last_ns; /* L: the latest begin */
    bool waits;      /* complete, or a barrier whose last rank is known; of a kind that
                        synchronises or an exchange, of more than one rank */
    bool transfers;  /* complete, from one sender to one receiver; after alignment, as waits, where
                        their begins can be compared */
    bool joins;      /* after alignment: its members went on when the last had come; such as waits,
                        transfers, and broadcasts and operations that lack ranks */
    uint8_t state;   /* tm_instance_state */
} tm_instance;

/** What the tables by kind and group need of an operation; lies with the group's owner. */
typedef struct tm_instance_value {
    uint64_t group;
    int64_t bytes;       /* median over its members; -1 without metadata */
    int64_t transfer_ns; /* latest end minus L; -1 where it has no wait */
    int64_t skew_ns;     /* L minus the earliest begin; -1 where it has no wait */
    int32_t group_size;
    uint8_t kind;
    uint8_t state; /* tm_instance_state */
    char group_text[TM_GROUP_TEXT_MAX];
    uint64_t process_group;     /* as in tm_comm_record */
    int32_t process_group_size; /* likewise */
    uint32_t description;       /* likewise */
    int32_t from, to;           /* of a transfer: sender and receiver, else -1 */
    int64_t shortest_ns;        /* its shortest kernel */
    int64_t comm_ns;            /* sum of its kernels */
    int64_t waited_ns;          /* sum of its members' waits; 0 where it has no wait */
    int32_t evidence_bits;      /* as in tm_comm_record */
    uint8_t way;                /* likewise */
    bool at_least;              /* likewise */
} tm_instance_value;

/** One of the operations with the most wait, or the most exposed time. */
typedef struct tm_worst {
    size_t instance; /* index into instances */
    int64_t place;   /* 0 for the worst of the job */
} tm_worst;

/** A part of a wait laid at the door of a late rank, summed over operations. */
typedef struct tm_pair {
    int64_t rank, for_rank;
    int64_t whole_ns;  /* and */
    uint64_t fraction; /* 2^-40 ns, below 2^40 */
} tm_pair;

/** What delay propagation changes of a rank's cost in one step: of the wait that it caused in the
 * step's operations, how much others had caused by keeping it waiting, and what it caused so
 * through others. Sums, in whole nanoseconds. */
typedef struct tm_cost {
    int64_t rank, step; /* step -1: outside of every step */
    int64_t passed_ns, indirect_ns;
} tm_cost;

/** What a rank did by itself in the stretch that an operation ends: see waits/stretches.h. Lies
 * with the owner of the group. */
typedef struct tm_own_time {
    uint64_t group;
    uint64_t key;    /* of the operation, as in tm_comm_record */
    int64_t last_ns; /* its last begin */
    int64_t step;    /* -1 for none */
    int64_t rank;
    int64_t ns;
    uint32_t host; /* name id of the rank's host, TM_NO_NAME unknown */
} tm_own_time;

/** A rank of a process group that has operations with waits. */
typedef struct tm_group_member {
    uint64_t group;
    int64_t rank;
} tm_group_member;

/** What the job's pipeline does; the same on every process. */
typedef struct tm_pipeline_use {
    int64_t stages;    /* 0: there is none */
    int64_t transfers; /* from the first stage to the second */
    int64_t senders;   /* ranks of the first stage */
    int64_t wait_ns;   /* of all ranks for transfers */
    int64_t kept_ns;   /* that these and collectives kept ranks from computing */
} tm_pipeline_use;

/** What one process knows of the matched operations. */
typedef struct tm_collectives {
    tm_vec records;   /* of tm_comm_record, instance after instance */
    tm_vec instances; /* of tm_instance: those that this process matched */
    tm_vec values;    /* of tm_instance_value: of the groups that it owns */
    tm_vec worst;     /* of tm_worst: those of the job's worst that it matched */
    tm_vec exposed;   /* of tm_worst: the same of those that were exposed most */
    tm_vec pairs;     /* of tm_pair: of the causing ranks that it owns */
    tm_vec left_out;  /* of tm_left_out: kernels that it found to belong to no operation */
    tm_vec costs;     /* of tm_cost: of some ranks, each by step */
    tm_vec members;   /* of tm_group_member: of the ranks that it holds */
    tm_vec own_times; /* of tm_own_time: of the groups that it owns, each whole */
    tm_vec stages;    /* of tm_stage (waits/stages.h): of all ranks of a pipeline */
    int64_t n_waits;  /* operations of the job that have waits */
    tm_pipeline_use pipeline;
    bool first_process;        /* the one that speaks for the job */
    int64_t n_compared;        /* members of the job's groups of which own times are known */
    int64_t violations_before; /* operations in which one rank ended before another began, on
                                  clocks as recorded; set by alignment */
    int64_t worst_before_ns;   /* the largest such lead */
    const struct tm_replay_result *replay; /* replay/result.h; owned by whoever made it; NULL on
                                              all but the first process, and without one */
    bool has_works; /* on every process: the replay knows what ranks did by themselves */
} tm_collectives;

/** A barrier takes no longer once all have come: cores of TPUs take 1.7 to 5.2 us. */
#define TM_BARRIER_NS INT64_C(6000)

/** Kinds for which the last rank to come holds all others up. */
static inline bool tm_collective_synchronises(uint8_t kind) {
    return kind == TM_COLL_ALLREDUCE || kind == TM_COLL_ALLGATHER ||
           kind == TM_COLL_REDUCESCATTER || kind == TM_COLL_ALLTOALL || kind == TM_COLL_BARRIER;
}

/** Whether no rank can leave a kernel's operation before all have come. What moves no byte holds
 * nobody up, a barrier apart. */
static inline bool tm_record_synchronises(const tm_comm_record *record) {
    return tm_collective_synchronises(record->kind) &&
           (record->bytes != 0 || record->kind == TM_COLL_BARRIER);
}

/** How far apart [ns] the begins of two kernels must be to tell which was first: 2 sqrt(u^2 + u^2)
 * of their clocks, inside one domain twice its spread. 0 for clocks that are taken as recorded. */
static inline int64_t tm_joint_uncertainty(const tm_comm_record *a, const tm_comm_record *b) {
    if (a->domain == b->domain)
        return 2 * (int64_t)a->spread_ns;
    return llround(2.0 * hypot((double)a->uncertainty_ns, (double)b->uncertainty_ns));
}

/** The latest begin [ns] of the members of an operation, @p n > 0. */
static inline int64_t tm_members_last(const tm_comm_record *members, size_t n) {
    int64_t last = members->begin_ns;
    for (size_t i = 1; i < n; i++)
        last = members[i].begin_ns > last ? members[i].begin_ns : last;
    return last;
}

/** How far [ns] the first end of an operation lies before its last begin by the clocks of its
 * members, @p n > 0: above 0 it cannot be so, for nobody leaves before all have come. */
static inline int64_t tm_members_lead(const tm_comm_record *members, size_t n) {
    int64_t first_end = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        int64_t end = members[i].end_ns + members[i].gained_ns;
        first_end = end < first_end ? end : first_end;
    }
    return tm_members_last(members, n) - first_end;
}

/** The time [ns] that a member waited for the last one: max(0, min(end, L) - begin). */
static inline int64_t tm_member_wait(const tm_comm_record *record, int64_t last_ns) {
    int64_t end = record->end_ns < last_ns ? record->end_ns : last_ns;
    return end > record->begin_ns ? end - record->begin_ns : 0;
}

#endif
