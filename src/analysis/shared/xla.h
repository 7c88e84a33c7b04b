/* Data that only ranks of XLA and TensorFlow have: their profiles name the operation and program of
 * each device event (TM_ATTR_XLA). */
#ifndef TMERGE_ANALYSIS_XLA_H
#define TMERGE_ANALYSIS_XLA_H

#include <string.h>

#include "tmerge/analysis.h"

/** Returns whether a profiler of TensorFlow or JAX wrote the rank's trace as an XSpace. */
static inline bool tm_xla_is(const tm_rank_view *view) {
    uint32_t format = view->timeline->format;
    return format != TM_NO_NAME && strcmp(tm_names_text(view->names, format).bytes, "xplane") == 0;
}

/** Returns whether the device is a TPU core, which runs only XLA programs. */
static inline bool tm_xla_is_tpu(const tm_rank_view *view) {
    const char *metadata = view->timeline->metadata;
    return metadata && strstr(metadata, "\"device_kind\":\"TPU\"") != NULL;
}

/** Returns the attribute of a row; NULL if none.
 * @param next  where to search from; 0 at first. Rows must be ascending */
static inline const tm_xla_attr *tm_xla_of(const tm_timeline *timeline, uint32_t row,
                                           size_t *next) {
    const tm_xla_attr *v = timeline->attrs[TM_ATTR_XLA];
    size_t n = timeline->n_attrs[TM_ATTR_XLA];
    while (*next < n && v[*next].event < row)
        ++*next;
    return *next < n && v[*next].event == row ? &v[*next] : NULL;
}

#endif
