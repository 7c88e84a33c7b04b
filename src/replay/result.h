/* What replaying a job tells: the critical path, and what would help most. Lies on process 0. */
#ifndef TMERGE_REPLAY_RESULT_H
#define TMERGE_REPLAY_RESULT_H

#include "links.h"
#include "path.h"
#include "replay/extras/extras.h"
#include "slack.h"
#include "split.h"
#include "timebase.h"
#include "works.h"

/** What a row is about: value, word. Rows stand in this order. */
#define TM_WHATIF_LIST(X)                                                                          \
    X(SCENARIO, "scenario") /* what the user asked for */                                          \
    X(PLAN, "plan")         /* the rank that saves most, then the next, and so on: cumulative */   \
    X(RANK, "rank")                                                                                \
    X(HOST, "host")                                                                                \
    X(STAGE, "stage")                                                                              \
    X(KIND, "kind")                                                                                \
    X(KERNEL, "kernel")                                                                            \
    X(NETWORK, "network") /* a host whose transfers are slow: as fast as others' */                \
    X(SPLIT, "split")     /* all stages at the mean of their work */                               \
    X(LIMIT, "limit")     /* a kind of work that takes no time at all */

typedef enum tm_whatif_what {
#define TM_WHATIF_ENUM(id, word) TM_WHATIF_##id,
    TM_WHATIF_LIST(TM_WHATIF_ENUM)
#undef TM_WHATIF_ENUM
        TM_N_WHATIF
} tm_whatif_what;

/** Kinds of work that can be fixed, each with its word and the edges that it means. Launch: what
 * lies between a call, or the end that was waited for, and the begin of an event. */
#define TM_FIX_KIND_LIST(X)                                                                        \
    X("compute", 1 << TM_EDGE_COMPUTE, 0)                                                          \
    X("copy", 1 << TM_EDGE_COPY, 0)                                                                \
    X("host", 1 << TM_EDGE_HOST | 1 << TM_EDGE_CALL, 0)                                            \
    X("launch", 1 << TM_EDGE_LAUNCH | 1 << TM_EDGE_GAP | 1 << TM_EDGE_WAIT, 0)                     \
    X("transfer", 1 << TM_EDGE_TRANSFER, 0)                                                        \
    X("stall", 1 << TM_EDGE_HOST | 1 << TM_EDGE_CALL, TM_EDGE_STALL)                               \
    X("input", 1 << TM_EDGE_HOST, TM_EDGE_INPUT)                                                   \
    X("gc", 1 << TM_EDGE_HOST, TM_EDGE_GC)

typedef struct tm_fix_kind {
    const char *word;
    uint16_t kinds; /* bit by tm_edge_kind */
    uint8_t flags;
} tm_fix_kind;

enum { TM_N_FIX_KINDS = 8 };
extern const tm_fix_kind tm_fix_kinds[TM_N_FIX_KINDS];

/** One thing that could be fixed. Times are of the whole job. Sent as bytes. */
typedef struct tm_whatif_item {
    int64_t id;    /* rank, stage, index of tm_fix_kinds, place in the plan; of a host or kernel its
                      name id; 0 for a scenario */
    int64_t ranks; /* how many it is of */
    int64_t path_ns;       /* of the critical path as recorded */
    int64_t saved_ns;      /* T - T(fixed) */
    int64_t saved_most_ns; /* the same, had what nothing explains gone as well */
    int64_t ideal_ns;      /* T with all at their peers' but this; -1 unknown */
    int64_t next_rank;     /* most of the path once it is fixed; -1 unknown */
    uint8_t what;          /* tm_whatif_what */
    bool tried;            /* false: it takes under 0.05 % of T off the path, so saves no more */
} tm_whatif_item;

typedef struct tm_whatif_step {
    int64_t number;
    int64_t ns;        /* E_k - E_(k - 1), as recorded */
    int64_t base_ns;   /* as in tm_replay_result */
    int64_t ideal_ns;  /* the same with all at their peers' */
    int64_t best_rank; /* whose fix shortens it most; -1 where none does */
    int64_t saved_ns;  /* by that */
} tm_whatif_step;

/** A rank beside the path. Sent as bytes. */
typedef struct tm_whatif_rank {
    int64_t rank;
    tm_slack slack;
} tm_whatif_rank;

typedef struct tm_replay_result {
    tm_timebase base;             /* what its times count from */
    int64_t world_size;           /* ranks of the job that the traces tell, -1 unknown */
    tm_vec path_steps;            /* of tm_path_step */
    tm_vec pieces;                /* of tm_path_piece, in the order of time */
    tm_vec whole;                 /* of tm_path_piece: of the path that no step's end cuts */
    tm_vec items;                 /* of tm_whatif_item */
    tm_vec steps;                 /* of tm_whatif_step */
    tm_vec ranks;                 /* of tm_whatif_rank, ascending */
    tm_vec slacks;                /* of tm_slack_run, ascending in rank, stream after stream */
    tm_works works;               /* what ranks did by themselves; its rows on every process */
    tm_vec extras;                /* of tm_extra_row: what ranks run that their peers do not */
    tm_vec stages;                /* of tm_split_stage: where some have more work than others */
    tm_links network;             /* the hosts whose transfers are slow, if any */
    int64_t total_ns;             /* T */
    int64_t window_ns;            /* of the steps that traces mark, the mean of ranks; 0 without */
    int64_t base_ns;              /* what slowdown and shares are of: T; of operations without what
                                     nothing explains */
    bool operations;              /* the traces hold operations, not kernels */
    int64_t ideal_ns;             /* with all at their peers' */
    int64_t explained_ns;         /* without what nothing explains */
    int64_t workers_ns, stage_ns; /* with the worst ranks, with the last stage fixed; -1: no such */
    int64_t comm_ns, unmatched_ns; /* communication kernels, and those that join no ranks */
    int64_t n_inferred;            /* waits between streams that no record tells */
    int64_t n_ranks;               /* with GPU events */
    int64_t uncertainty_ns;        /* the largest joint one of two clocks */
    int64_t needed_bytes;          /* of a process; above 0 where that was too much to replay */
    const tm_names *names;         /* borrowed */
    const char *scenario;          /* as the user typed it, borrowed; NULL for none */
} tm_replay_result;

void tm_replay_result_init(tm_replay_result *result);
void tm_replay_result_free(tm_replay_result *result);

#endif
