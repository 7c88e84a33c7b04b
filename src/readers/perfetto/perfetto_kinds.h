/* Classifies events whose writer gives no category, or a category that Kineto does not use. Private
 * to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_KINDS_H
#define TMERGE_PERFETTO_KINDS_H

#include <stdbool.h>

#include "tmerge/names.h"

/* What the args of an event can show about the event's kind. */
typedef enum tm_pf_sign {
    SIGN_GRID = 1,
    SIGN_BYTES = 2,
    SIGN_CALL = 4, /* arg cbid */
    SIGN_SYNC = 8,
    SIGN_EXTERNAL = 16,
    SIGN_PYTHON = 32,
    SIGN_INPUTS = 64,
} tm_pf_sign;

/**
 * Returns the tm_pf_sign of an arg with this name; 0 if there is none.
 * @param key  in quotes
 */
unsigned tm_pf_sign_of(tm_text key);

/**
 * Guesses the category of an event that has none; NULL if unknown.
 * @param name    name of the event, in quotes
 * @param thread  name of the event's thread, in quotes
 */
const char *tm_pf_guess(unsigned signs, tm_text name, tm_text thread);

/** Returns Kineto's word for a category of ROCm's profilers; NULL for all others. @param category
 * in quotes */
const char *tm_pf_rocm_category(tm_text category);

/** Returns Kineto's word, in quotes, for the name of a ROCm arg; else the name itself. */
tm_text tm_pf_rocm_key(tm_text key);

/** Describes how to read an arg of a tmerge export. */
typedef struct tm_pf_exported {
    /* Kineto's name for the arg. NULL if the arg is not written, because tmerge computes it
     * again. */
    const char *key;
    bool is_json; /* whether the value of the arg is a text that contains an array */
} tm_pf_exported;

/**
 * Returns how to read an arg of a tmerge export.
 * @param word    name of the arg, in quotes
 * @param memory  whether the event is a change of memory
 */
tm_pf_exported tm_pf_exported_of(tm_text word, bool memory);

/** Returns Kineto's category of a GPU stage; NULL if it has none. @param name  in quotes */
const char *tm_pf_stage_category(tm_text name);

/** Returns Kineto's word, in quotes, for a name in the extra data of a stage. */
tm_text tm_pf_stage_key(tm_text key);

#endif
