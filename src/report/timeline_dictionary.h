/* Names used by a page, numbered in order of first use. */
#ifndef TMERGE_REPORT_TIMELINE_DICTIONARY_H
#define TMERGE_REPORT_TIMELINE_DICTIONARY_H

#include "timeline_bytes.h"
#include "tmerge/status.h"

typedef struct tm_dictionary {
    const tm_names *names; /* borrowed */
    uint32_t *number;      /* owned; [number of name ids] the name's number + 1 if it is used, else
                              0 */
    tm_vec used;           /* of uint32_t: name id by number */
    size_t room;           /* bytes that texts of names added later may take */
    size_t cut;            /* maximum size of a text [bytes]; longer ones are cut */
} tm_dictionary;

/** Makes a dictionary whose number 0 is the empty text. TM_OK; TM_ERR_FAULT. */
tm_status tm_dictionary_make(const tm_names *names, tm_dictionary *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_dictionary_free(tm_dictionary *dictionary);

/** Returns the number of a name. Adds the name if it is new. Returns 0, the empty text, if there is
 * no room for it or no memory. */
uint32_t tm_dictionary_number(tm_dictionary *dictionary, uint32_t id);

/** Appends the number of the texts, then the texts. */
void tm_dictionary_put(const tm_dictionary *dictionary, tm_bytes *out);

#endif
