/* A scenario that the user asks for: "what if rank 3 were like the others, and these kernels took
 * half the time?"
 *
 * A scenario consists of parts: --fix X or --scale X:F. X is one or more conditions joined by +,
 * and all of them must hold. The conditions are rank=LIST, host=NAME, stage=N or stage=last,
 * step=LIST, kind=WORD, kernel=REGEX and operator=REGEX. The word kind= may be omitted
 * (transfer:0). A + inside an expression is part of the expression unless a condition follows.
 *
 * X selects edges:
 * - If X has a kind, it selects the edges of this kind. With kernel=, these are the edges of the
 *   kernels of that name and the lags before them. With operator=, these are the edges of the
 *   operator's calls and the host time before the calls.
 * - If X has kernel= or operator=, but no kind, it selects the work of GPU events: the events of
 *   that name, or the events that were launched within that operator on the same thread.
 *   Communication is included.
 * - Otherwise, X selects everything except communication, which belongs to no rank.
 *
 * If several parts select an edge, the last of these parts applies. */
#ifndef TMERGE_REPLAY_SCENARIO_H
#define TMERGE_REPLAY_SCENARIO_H

#include <regex.h>

#include "base/list.h"
#include "replay/graph/graph.h"

#define TM_CONDITION_LIST(X)                                                                       \
    X(RANK, "rank")                                                                                \
    X(HOST, "host")                                                                                \
    X(STAGE, "stage")                                                                              \
    X(STEP, "step")                                                                                \
    X(KIND, "kind")                                                                                \
    X(KERNEL, "kernel")                                                                            \
    X(OPERATOR, "operator")

typedef enum tm_condition {
#define TM_CONDITION_ENUM(id, word) TM_CONDITION_##id,
    TM_CONDITION_LIST(TM_CONDITION_ENUM)
#undef TM_CONDITION_ENUM
        TM_N_CONDITIONS
} tm_condition;

/** The words before "=" in a condition. */
extern const char *const tm_condition_words[TM_N_CONDITIONS];

#define TM_STAGE_LAST INT64_C(-2)

/** An expression, and the names that match it. Each name is tested when it first occurs. */
typedef struct tm_name_rule {
    regex_t regex;
    /* owned; by name id: 0: not tested yet; 1: no match; 2: match. NULL before tm_scenario_bind. */
    uint8_t *known;
} tm_name_rule;

typedef struct tm_scenario_part {
    /* owned; the text that was typed after "="; NULL: the condition is not given */
    char *texts[TM_N_CONDITIONS];
    tm_list ranks, steps;
    int64_t stage;
    uint8_t kind; /* index of tm_fix_kinds */
    tm_name_rule kernel, operator;
} tm_scenario_part;

typedef struct tm_scenario {
    tm_vec parts; /* vector of tm_scenario_part */
    /* vector of double: factor of each part. For --fix, the factor is NaN (the peers' weight) if
     * the part names ranks, and INFINITY (the usual weight) if it does not. */
    tm_vec factors;
    char *text;            /* owned; text as typed: "--fix rank=3 --scale kernel=gemm:0.5" */
    const tm_names *names; /* borrowed; set by tm_scenario_bind */
    int64_t last_stage;
    /* number of ranks of the job that have selected edges; set after the edges of all ranks were
     * marked */
    int64_t n_ranks;
} tm_scenario;

#define TM_SCENARIO() ((tm_scenario){.parts = TM_VEC(tm_scenario_part), .factors = TM_VEC(double)})

/** Maximum number of parts, because a part number is one byte. */
enum { TM_SCENARIO_PARTS_MAX = 255 };

/**
 * Adds a part.
 *
 * @param option  "fix" or "scale"
 * @param text    argument of the option as typed
 * @return        TM_OK; TM_ERR_USAGE; TM_ERR_FAULT. The caller must free the scenario in any case.
 */
tm_status tm_scenario_add(tm_scenario *scenario, const char *option, const char *text,
                          tm_error *err) TM_MUST_CHECK;
void tm_scenario_free(tm_scenario *scenario);

/** Binds a scenario to the job's names. Must be called before edges are marked; the names must not
 * change afterwards.
 * @param last_stage  last stage of the job's pipeline; -1 without a pipeline */
tm_status tm_scenario_bind(tm_scenario *scenario, const tm_names *names, int64_t last_stage,
                           tm_error *err) TM_MUST_CHECK;

/** What a part matches on a rank. These numbers are added up over ranks. */
typedef struct tm_scenario_found {
    /* For each condition, number of edges that meet it. For the conditions rank, host and stage,
     * number of ranks that meet it. */
    int64_t alone[TM_N_CONDITIONS];
    int64_t edges; /* number of edges that meet all conditions */
} tm_scenario_found;

/**
 * Marks the selected edges of a rank by setting tm_graph.fixes.
 *
 * @param stage  stage of the rank, -1 for none
 * @param found  [parts] the number of matches is added to this
 * @return       TM_OK; TM_ERR_FAULT
 */
tm_status tm_scenario_mark(tm_scenario *scenario, const tm_timeline *timeline, int64_t stage,
                           tm_graph *graph, tm_scenario_found *found, tm_error *err) TM_MUST_CHECK;

/** Returns which of tm_fix_kinds occur in a graph, as bits 1 << index. */
uint32_t tm_scenario_kinds(const tm_graph *graph);

#endif
