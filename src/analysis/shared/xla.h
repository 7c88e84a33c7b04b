/* What ranks of XLA and TensorFlow have that others do not: their profiles tell of each event of
 * the device which operation of which program it is (TM_ATTR_XLA). */
#ifndef TMERGE_ANALYSIS_XLA_H
#define TMERGE_ANALYSIS_XLA_H

#include <string.h>

#include "tmerge/analysis.h"

/** True for a rank whose trace a profiler of TensorFlow or JAX wrote as an XSpace. */
static inline bool tm_xla_is(const tm_rank_view *view) {
    uint32_t format = view->timeline->format;
    return format != TM_NO_NAME && strcmp(tm_names_text(view->names, format).bytes, "xplane") == 0;
}

/** True for a core of a TPU: what its device does is XLA's alone. */
static inline bool tm_xla_is_tpu(const tm_rank_view *view) {
    const char *metadata = view->timeline->metadata;
    return metadata && strstr(metadata, "\"device_kind\":\"TPU\"") != NULL;
}

/** What is told of a row; NULL where nothing is.
 * @param next  place to go on from, for ascending rows; begins at 0 */
static inline const tm_xla_attr *tm_xla_of(const tm_timeline *timeline, uint32_t row,
                                           size_t *next) {
    const tm_xla_attr *v = timeline->attrs[TM_ATTR_XLA];
    size_t n = timeline->n_attrs[TM_ATTR_XLA];
    while (*next < n && v[*next].event < row)
        ++*next;
    return *next < n && v[*next].event == row ? &v[*next] : NULL;
}

#endif
