/* What events are where their writer gives no category, or one of its own. Private to the Perfetto
 * reader. */
#ifndef TMERGE_PERFETTO_KINDS_H
#define TMERGE_PERFETTO_KINDS_H

#include <stdbool.h>

#include "tmerge/names.h"

/* Args that tell what an event is. */
typedef enum tm_pf_sign {
    SIGN_GRID = 1,
    SIGN_BYTES = 2,
    SIGN_CALL = 4, /* cbid */
    SIGN_SYNC = 8,
    SIGN_EXTERNAL = 16,
    SIGN_PYTHON = 32,
    SIGN_INPUTS = 64,
} tm_pf_sign;

/** What an arg with this name tells; 0: nothing. @param key  in quotes */
unsigned tm_pf_sign_of(tm_text key);

/** The category of an event without one; NULL where nothing tells it.
 * @param name    in quotes, like
 * @param thread  what its thread is called */
const char *tm_pf_guess(unsigned signs, tm_text name, tm_text thread);

/** Kineto's word for a category of ROCm's profilers; NULL for all else. @param category  in quotes
 */
const char *tm_pf_rocm_category(tm_text category);

/** Kineto's word, in quotes, for the name of an arg of theirs; the name where there is none. */
tm_text tm_pf_rocm_key(tm_text key);

/** What is read of an arg of an export of tmerge. */
typedef struct tm_pf_exported {
    const char *key; /* Kineto's; NULL: it was found by tmerge, which finds it again */
    bool is_json;    /* its value is a text that holds an array */
} tm_pf_exported;

/** @param word  in quotes; @param memory  the event is a change of memory */
tm_pf_exported tm_pf_exported_of(tm_text word, bool memory);

/** Kineto's category of a stage of a GPU; NULL for what is none of its. @param name  in quotes */
const char *tm_pf_stage_category(tm_text name);

/** Kineto's word, in quotes, for the name of what is said of a stage. */
tm_text tm_pf_stage_key(tm_text key);

#endif
