/* Reads a JSON document into the same values as a pickle. */
#ifndef TMERGE_JSON_VALUES_H
#define TMERGE_JSON_VALUES_H

#include "pickle.h"

/** What was missing in a document. */
typedef struct tm_json_lapses {
    bool cut;       /* the text ends too early; the values before the end were read */
    int64_t size;   /* size of the document [bytes] */
    int64_t commas; /* number of commas that were missing between the members of an object */
} tm_json_lapses;

/**
 * Reads one JSON document of at most 2^28 bytes. A truncated document is read to its end.
 * @param lax     whether objects are also read if commas between their members are missing
 * @param out     TM_PICKLE, or a pickle that was read before; its values are replaced
 * @param lapses  set on TM_OK
 * @return        TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_json_values_read(tm_source *source, bool lax, tm_pickle *out, tm_json_lapses *lapses,
                              tm_error *err) TM_MUST_CHECK;

#endif
