/* Boxes of analysis `checklist` that apply only to jobs of TensorFlow and JAX. */
#ifndef TMERGE_CHECKLIST_XLA_H
#define TMERGE_CHECKLIST_XLA_H

#include "advice_rules.h"

/** Returns the value of a box; NaN if the traces do not have it. */
typedef double tm_box_measure(const tm_facts *facts);

tm_box_measure tm_box_xla_input, tm_box_xla_output, tm_box_xla_launch, tm_box_xla_collectives,
    tm_box_xla_barrier, tm_box_xla_device_copies, tm_box_xla_other, tm_box_xla_async,
    tm_box_xla_shuffle, tm_box_xla_sparse;

#endif
