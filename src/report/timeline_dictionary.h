/* The names that a page uses, numbered in order of first use. */
#ifndef TMERGE_REPORT_TIMELINE_DICTIONARY_H
#define TMERGE_REPORT_TIMELINE_DICTIONARY_H

#include "timeline_bytes.h"
#include "tmerge/status.h"

typedef struct tm_dictionary {
    const tm_names *names; /* borrowed */
    uint32_t *number; /* owned; [number of name ids] for each name: 1 + its number in the page, or 0
                         if the page does not use it */
    tm_vec used;      /* vector of uint32_t: name id of each number */
    size_t room;      /* room that is left for further texts [B] */
    size_t cut;       /* maximum size of one text [B]; longer ones are cut */
} tm_dictionary;

/** Makes a dictionary whose number 0 is the empty text. TM_OK; TM_ERR_FAULT. */
tm_status tm_dictionary_make(const tm_names *names, tm_dictionary *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_dictionary_free(tm_dictionary *dictionary);

/** Returns the number of a name, which is added if it is new. If there is no room or no memory for
 * a new name, returns 0, the number of the empty text. */
uint32_t tm_dictionary_number(tm_dictionary *dictionary, uint32_t id);

/** Appends the number of texts, and then the texts themselves. */
void tm_dictionary_put(const tm_dictionary *dictionary, tm_bytes *out);

#endif
