/* The names that a page needs, numbered as they are first used. */
#ifndef TMERGE_REPORT_TIMELINE_DICTIONARY_H
#define TMERGE_REPORT_TIMELINE_DICTIONARY_H

#include "timeline_bytes.h"
#include "tmerge/status.h"

typedef struct tm_dictionary {
    const tm_names *names; /* borrowed */
    uint32_t *number;      /* owned; [names] number + 1 of those that are used, else 0 */
    tm_vec used;           /* of uint32_t: ids */
    size_t room;           /* bytes that texts which are not yet used may have */
    size_t cut;            /* what is longer [bytes] is cut */
} tm_dictionary;

/** Number 0 is the empty text. TM_OK; TM_ERR_FAULT. */
tm_status tm_dictionary_make(const tm_names *names, tm_dictionary *out,
                             tm_error *err) TM_MUST_CHECK;
void tm_dictionary_free(tm_dictionary *dictionary);

/** The number of a name; 0, the empty text, where memory is out or there is no room for it. */
uint32_t tm_dictionary_number(tm_dictionary *dictionary, uint32_t id);

/** Appends how many there are, and the texts. */
void tm_dictionary_put(const tm_dictionary *dictionary, tm_bytes *out);

#endif
