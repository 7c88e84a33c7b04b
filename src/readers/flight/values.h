/* Reads JSON into the same values as a pickle. Private to this folder. */
#ifndef TMERGE_FLIGHT_VALUES_H
#define TMERGE_FLIGHT_VALUES_H

#include "readers/pickle.h"

/**
 * Reads one JSON document of at most 2^28 bytes. A truncated one is read to its end.
 * @param out  free it with tm_pickle_free even after a failure
 * @return     TM_OK; TM_ERR_INPUT; TM_ERR_FAULT
 */
tm_status tm_flight_read_json(tm_source *source, tm_pickle *out, bool *cut,
                              tm_error *err) TM_MUST_CHECK;

#endif
