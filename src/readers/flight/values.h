/* JSON as the same values that a pickle of it gives. Private to this folder. */
#ifndef TMERGE_FLIGHT_VALUES_H
#define TMERGE_FLIGHT_VALUES_H

#include "readers/pickle.h"

/**
 * Reads one JSON document, of at most 2^28 bytes. One that was cut short is read as far as it goes.
 * @param out  free it with tm_pickle_free, whatever comes of the call
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_flight_read_json(tm_source *source, tm_pickle *out, bool *cut,
                              tm_error *err) TM_MUST_CHECK;

#endif
