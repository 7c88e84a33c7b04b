/* Recognises step annotations by name, and parses their content. */
#ifndef TMERGE_STEP_NAMES_H
#define TMERGE_STEP_NAMES_H

#include "tmerge/names.h"
#include "tmerge/timeline.h"

typedef enum tm_step_trust {
    TM_STEP_NOT,
    TM_STEP_PROFILER, /* ProfilerStep#12, if the user's pattern selects other steps. It contains
                         everything that was recorded. It is neither a step nor work */
    TM_STEP_ALIKE,    /* For example "step 12", "train_iteration=3" or "step[DECODE bs=8]". It is a
                         step if the trace has no certain steps */
    TM_STEP_SURE,     /* ProfilerStep#12, or a match of the user's pattern */
    TM_STEP_ENGINE    /* Mark of an inference engine (tm_step_mark). If such marks take most of the
                         time of ProfilerStep#12, they are steps even inside it */
} tm_step_trust;

/** What a name says about a step. */
typedef struct tm_step_name {
    tm_step_trust trust;
    int64_t number; /* step number; -1: the name has none, and steps are numbered in their order */
    uint64_t stem;  /* hash of the text before the number, equal for all steps of a loop */
    bool counted;   /* true: the number is the profiler's count of the steps; false: it may mean
                       something else */
} tm_step_name;

typedef struct tm_step_names tm_step_names;

/**
 * Compiles the pattern for step names.
 * @param pattern  the user's POSIX extended regular expression, case-insensitive, which replaces
 *                 the built-in names; or NULL. The step number is the content of the first group.
 *                 If this is no number, the step number is the digits at the end of the match,
 *                 directly after the match, or at the end of the name, but never other digits
 *                 (batch sizes, losses)
 * @return         TM_OK; TM_ERR_USAGE: invalid expression; TM_ERR_FAULT
 */
tm_status tm_step_names_create(const char *pattern, tm_step_names **out,
                               tm_error *err) TM_MUST_CHECK;

/** Accepts NULL. */
void tm_step_names_destroy(tm_step_names *steps);

/** Returns what a name says about a step. If @p steps is NULL, uses the built-in names. */
tm_step_name tm_step_name_of(const tm_step_names *steps, tm_text name);

enum { TM_STEP_KIND_MAX = 48 };

/**
 * Extracts the words of a name. If it ends with brackets, these are the words inside ("DECODE" of
 * "step[DECODE bs=16]"); otherwise, all words ("ProfilerStep" of "ProfilerStep#12", "eval step" of
 * "eval step 3"). Leaves out numbers and their keys ("loss=0.3", "tok: [3, 4]").
 * @param out  truncated if too long; empty if the name has no words
 */
void tm_step_kind_of(tm_text name, char out[TM_STEP_KIND_MAX]);

typedef enum tm_step_phase {
    TM_STEP_PHASE_NONE, /* unknown */
    TM_STEP_PREFILL,
    TM_STEP_DECODE,
    TM_STEP_MIXED, /* prefills and decodes in one step */
    TM_STEP_IDLE,  /* a step without requests, which only keeps the rank in step with other ranks */
    TM_STEP_DIFFUSION,
    TM_STEP_CAPTURE /* capture of a graph, before serving starts */
} tm_step_phase;

/** Numbers of requests and of their tokens; -1 if the mark does not contain them. */
typedef struct tm_step_held {
    int64_t batch, tokens;
} tm_step_held;

typedef struct tm_step_mark {
    char kind[TM_STEP_KIND_MAX]; /* Set for any name: the words from tm_step_kind_of. For a mark of
                                    vLLM, it is the phase instead. */
    bool engine; /* the name is the mark of an inference engine; if false, the members below are not
                    set */
    tm_step_phase phase;
    tm_step_held all, prefill, decode;
    int64_t padded;        /* batch size of the captured graph */
    int64_t height, width; /* size of an image [pixels] */
} tm_step_mark;

tm_step_mark tm_step_mark_of(tm_text name);

/** Returns the word for a phase, such as "prefill"; NULL for TM_STEP_PHASE_NONE. */
const char *tm_step_phase_word(tm_step_phase phase);

#endif
