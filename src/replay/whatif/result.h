/* Result of a replay: the critical path, and the most useful fixes. Process 0 holds it. */
#ifndef TMERGE_REPLAY_RESULT_H
#define TMERGE_REPLAY_RESULT_H

#include "links.h"
#include "replay/graph/timebase.h"
#include "replay/job/extras.h"
#include "replay/job/path.h"
#include "replay/job/slack.h"
#include "replay/job/works.h"
#include "split.h"

/** What a row is about: value, word. Rows are in the order of this list. */
#define TM_WHATIF_LIST(X)                                                                          \
    X(SCENARIO, "scenario") /* the user's scenario */                                              \
    X(PLAN, "plan")         /* the plan: row n fixes its first n ranks together */                 \
    X(RANK, "rank")                                                                                \
    X(HOST, "host")                                                                                \
    X(STAGE, "stage")                                                                              \
    X(KIND, "kind")                                                                                \
    X(KERNEL, "kernel")                                                                            \
    X(NETWORK, "network") /* transfers of a slow host are as fast as those of other hosts */       \
    X(LINK, "link")       /* slow transfers within a host are as fast as others within a host */   \
    X(EVEN, "even")       /* each rank has the mean compute work of all ranks */                   \
    X(SPLIT, "split")     /* every stage has the mean work of all stages */                        \
    X(LIMIT, "limit")     /* a kind of work takes no time */

typedef enum tm_whatif_what {
#define TM_WHATIF_ENUM(id, word) TM_WHATIF_##id,
    TM_WHATIF_LIST(TM_WHATIF_ENUM)
#undef TM_WHATIF_ENUM
        TM_N_WHATIF
} tm_whatif_what;

/** Kinds of work that can be fixed. Each has a word, kinds of edges, and flags of edges. `launch`
 * is the lag before the start of an event: the time since the event's call, or since the event for
 * which it waited. */
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
    uint16_t kinds; /* bit k is set for edges of kind k (tm_edge_kind) */
    uint8_t flags;
} tm_fix_kind;

enum { TM_N_FIX_KINDS = 8 };
extern const tm_fix_kind tm_fix_kinds[TM_N_FIX_KINDS];

/** A possible fix. Times are of the whole job. Sent as bytes. */
typedef struct tm_whatif_item {
    /* Depends on `what`: a rank, a stage, an index of tm_fix_kinds, a position in the plan, or the
     * name id of a host or kernel. 0 for a scenario. */
    int64_t id;
    int64_t ranks; /* number of ranks to which the fix applies */
    /* Time that the work to fix takes on the recorded critical path. For PLAN, the time by which
     * the fix of the last rank shortens the path that remained before. */
    int64_t path_ns;
    int64_t saved_ns;      /* T - T(fixed) */
    int64_t saved_most_ns; /* as saved_ns, but without unexplained time */
    /* T if the work to fix is as recorded, and all other work has the weights of its peers; -1:
     * unknown */
    int64_t ideal_ns;
    int64_t next_rank; /* rank with most of the path that remains after the fix; -1 unknown */
    uint8_t what;      /* tm_whatif_what */
    /* The fix was evaluated. A fix that shortens the path by less than 0.05 % of T is not
     * evaluated, because it cannot save more than that. */
    bool tried;
} tm_whatif_item;

typedef struct tm_whatif_step {
    int64_t number;
    int64_t ns;        /* recorded time of the step: E_k - E_(k - 1) */
    int64_t base_ns;   /* as in tm_replay_result */
    int64_t ideal_ns;  /* time of the step if all ranks have their peers' weights */
    int64_t best_rank; /* rank whose fix shortens the step most; -1: no fix shortens it */
    int64_t saved_ns;  /* what this fix saves */
} tm_whatif_step;

/** A rank's slack. Sent as bytes. */
typedef struct tm_whatif_rank {
    int64_t rank;
    tm_slack slack;
} tm_whatif_rank;

typedef struct tm_replay_result {
    tm_timebase base;   /* origin of the times in the result */
    int64_t world_size; /* number of ranks of the job according to the traces; -1: unknown */
    tm_vec path_steps;  /* vector of tm_path_step */
    tm_vec pieces;      /* vector of tm_path_piece, in the order of time */
    tm_vec whole; /* vector of tm_path_piece: the path of the whole job, not cut at ends of steps */
    tm_vec items; /* vector of tm_whatif_item */
    tm_vec steps; /* vector of tm_whatif_step */
    tm_vec ranks; /* vector of tm_whatif_rank, ascending */
    tm_vec slacks;    /* vector of tm_slack_run, ascending by rank, then stream */
    tm_works works;   /* own work of ranks. Process 0 has the sums; every process has `steps`. */
    tm_vec extras;    /* vector of tm_extra_row: work of ranks that their peers do not run */
    tm_vec stages;    /* vector of tm_split_stage; empty if no stage has more work than others */
    tm_links network; /* hosts or ranks with slow transfers; empty if there are none */
    int64_t total_ns; /* T: time of the requested steps (tm_replay_total) */
    /* as total_ns, but for all steps of the job, including steps that were not requested */
    int64_t job_ns;
    /* total length of the steps that the traces mark, as a mean over ranks; 0 if no steps are
     * marked */
    int64_t window_ns;
    /* Time to which slowdowns and shares refer. This is T; if the traces record operations, it is T
     * without unexplained time. */
    int64_t base_ns;
    bool operations;      /* the traces hold operations instead of kernels */
    int64_t ideal_ns;     /* T if all ranks have their peers' weights */
    int64_t explained_ns; /* T without unexplained time */
    /* workers_ns: T if the worst ranks are fixed. stage_ns: T if the last stage is fixed. -1: not
     * computed. */
    int64_t workers_ns, stage_ns;
    /* comm_ns: total time of communication kernels. unmatched_ns: total time of communication
     * kernels whose operation joins no ranks. */
    int64_t comm_ns, unmatched_ns;
    int64_t n_inferred;     /* number of waits between streams that were inferred */
    int64_t blocked_ns;     /* sum over all ranks of tm_graph.blocked_ns */
    int64_t n_ranks;        /* number of ranks with GPU events */
    int64_t uncertainty_ns; /* largest joint uncertainty of two clocks */
    const tm_names *names;  /* borrowed */
    const char *scenario;   /* the scenario as the user typed it; borrowed; NULL: no scenario */
} tm_replay_result;

void tm_replay_result_init(tm_replay_result *result);
void tm_replay_result_free(tm_replay_result *result);

#endif
