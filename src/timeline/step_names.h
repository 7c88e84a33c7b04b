/* Which annotations are steps, told from their names, and what these say of the steps. */
#ifndef TMERGE_STEP_NAMES_H
#define TMERGE_STEP_NAMES_H

#include "tmerge/names.h"
#include "tmerge/timeline.h"

typedef enum tm_step_trust {
    TM_STEP_NOT,
    TM_STEP_PROFILER, /* ProfilerStep#12 where the user's pattern asks for others: it encloses all
                         that the profiler recorded, and is neither a step nor work */
    TM_STEP_ALIKE,    /* "step 12", "train_iteration=3", "step[DECODE bs=8]": a step where the trace
                         has no others */
    TM_STEP_SURE,     /* ProfilerStep#12, or what the user's pattern matches */
    TM_STEP_ENGINE    /* of an inference engine (tm_step_mark): a step also within ProfilerStep#12,
                         if such take most of its time */
} tm_step_trust;

/** What a name says. */
typedef struct tm_step_name {
    tm_step_trust trust;
    int64_t number; /* -1: it has none, its place among the steps counts */
    uint64_t stem;  /* hash of what stands before the number: names of one loop share it */
    bool counted;   /* the profiler counted it; else the number may be another thing's */
} tm_step_name;

typedef struct tm_step_names tm_step_names;

/**
 * @param pattern  the user's POSIX extended regular expression instead of the known names, or NULL;
 *                 matched without case. The number is what its first group holds; where that is
 *                 none, the digits at the end of the match, right behind it or at the name's end:
 *                 elsewhere (batch sizes, losses) digits count no steps
 * @return         TM_OK; TM_ERR_USAGE where it is no expression; TM_ERR_FAULT
 */
tm_status tm_step_names_create(const char *pattern, tm_step_names **out,
                               tm_error *err) TM_MUST_CHECK;

/** Takes NULL. */
void tm_step_names_destroy(tm_step_names *steps);

/** @p steps may be NULL: the known names. */
tm_step_name tm_step_name_of(const tm_step_names *steps, tm_text name);

enum { TM_STEP_KIND_MAX = 48 };

/**
 * The words of a name: what brackets at its end hold, where that has words ("DECODE" of
 * "step[DECODE bs=16]"), else those of all of it ("ProfilerStep" of "ProfilerStep#12", "eval step"
 * of "eval step 3"). Numbers are left out, and what they are of ("loss=0.3", "tok: [3, 4]").
 *
 * @param out  cut where it is too long; empty where the name has no words
 */
void tm_step_kind_of(tm_text name, char out[TM_STEP_KIND_MAX]);

typedef enum tm_step_phase {
    TM_STEP_PHASE_NONE, /* not told */
    TM_STEP_PREFILL,
    TM_STEP_DECODE,
    TM_STEP_MIXED, /* both in one step */
    TM_STEP_IDLE,  /* a step without requests, for the sake of other ranks */
    TM_STEP_DIFFUSION,
    TM_STEP_CAPTURE /* of a graph, before the engine serves */
} tm_step_phase;

/** Requests and tokens; -1 where the mark does not say. */
typedef struct tm_step_held {
    int64_t batch, tokens;
} tm_step_held;

typedef struct tm_step_mark {
    char kind[TM_STEP_KIND_MAX]; /* of any name: tm_step_kind_of, but of vLLM the phase */
    bool engine;                 /* it is the mark of an engine; else the rest is not told */
    tm_step_phase phase;
    tm_step_held all, prefill, decode;
    int64_t padded;        /* batch that the graph is of */
    int64_t height, width; /* of a picture */
} tm_step_mark;

tm_step_mark tm_step_mark_of(tm_text name);

/** "prefill"; NULL of TM_STEP_PHASE_NONE. */
const char *tm_step_phase_word(tm_step_phase phase);

#endif
