/* Computes durations of slices whose start and end are separate events. Private to the Perfetto
 * reader. */
#ifndef TMERGE_PERFETTO_SLICES_H
#define TMERGE_PERFETTO_SLICES_H

#include <stdint.h>

#include "base/vec.h"

/** The begin or the end of a slice. Edges are in the order of the file. */
typedef struct tm_pf_edge {
    int64_t time_ns;
    uint32_t track;
    uint32_t begin; /* number of the slice in the file; TM_PF_END if this is an end */
    uint32_t sequence;
} tm_pf_edge;

enum { TM_PF_OPEN = -1 }; /* Stands for the duration of a slice without an end. */
#define TM_PF_END UINT32_MAX

/**
 * Finds the ends of slices.
 * @param edges      [n]
 * @param durations  vector of int64_t: element i is set to the duration of slice number i
 * @return           false if out of memory
 */
bool tm_pf_slices(const tm_pf_edge *edges, size_t n, tm_vec *durations);

#endif
