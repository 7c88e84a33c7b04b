/* How long slices take whose begin and end are events of their own. Private to the Perfetto reader.
 */
#ifndef TMERGE_PERFETTO_SLICES_H
#define TMERGE_PERFETTO_SLICES_H

#include <stdint.h>

#include "base/vec.h"

/** A begin or an end, in the order of the file. */
typedef struct tm_pf_edge {
    int64_t time_ns;
    uint32_t track;
    uint32_t begin; /* the slice's number, counted over the file; TM_PF_END */
    uint32_t sequence;
} tm_pf_edge;

enum { TM_PF_OPEN = -1 }; /* as a duration: it does not end */
#define TM_PF_END UINT32_MAX

/**
 * Finds the ends of slices.
 * @param edges      [n]
 * @param durations  of int64_t, one for each slice, by number
 * @return           false when memory is out
 */
bool tm_pf_slices(const tm_pf_edge *edges, size_t n, tm_vec *durations);

#endif
