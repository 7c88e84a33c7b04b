/* Data that only traces of XLA and TensorFlow contain: the operation and the program of each device
 * event (TM_ATTR_XLA). */
#ifndef TMERGE_ANALYSIS_XLA_H
#define TMERGE_ANALYSIS_XLA_H

#include <string.h>

#include "tmerge/analysis.h"

/** Returns whether the rank's trace is an XSpace from a profiler of TensorFlow or JAX. */
static inline bool tm_xla_is(const tm_rank_view *view) {
    uint32_t format = view->timeline->format;
    return format != TM_NO_NAME && strcmp(tm_names_text(view->names, format).bytes, "xplane") == 0;
}

/** Returns whether the device is a TPU core. TPU cores run only XLA programs. */
static inline bool tm_xla_is_tpu(const tm_rank_view *view) {
    const char *metadata = view->timeline->metadata;
    return metadata && strstr(metadata, "\"device_kind\":\"TPU\"") != NULL;
}

/** Returns the attribute of a row; NULL if there is none. Rows must ascend from call to call.
 * @param next where to search from; initially 0 */
static inline const tm_xla_attr *tm_xla_of(const tm_timeline *timeline, uint32_t row,
                                           size_t *next) {
    const tm_xla_attr *v = timeline->attrs[TM_ATTR_XLA];
    size_t n = timeline->n_attrs[TM_ATTR_XLA];
    while (*next < n && v[*next].event < row)
        ++*next;
    return *next < n && v[*next].event == row ? &v[*next] : NULL;
}

#endif
