/* What each step of a rank of XLA or TensorFlow is spent on, by XProf's priorities. */
#ifndef TMERGE_XLA_PARTS_H
#define TMERGE_XLA_PARTS_H

#include "xla.h"

/** The parts of a step; where two happen at once, the earlier one of the list counts. XProf has the
 * host's wait for input before collectives: here a device that communicates does not wait for
 * input. */
typedef enum tm_xla_part_of_step {
    TM_XLA_COMPUTE_16,
    TM_XLA_COMPUTE_32,
    TM_XLA_COMPUTE_UNTYPED,
    TM_XLA_INFEED,
    TM_XLA_OUTPUT,
    TM_XLA_DEVICE_COPIES,
    TM_XLA_OFFLOAD,
    TM_XLA_COLLECTIVES,
    TM_XLA_BARRIER,
    TM_XLA_INPUT_WAIT,
    TM_XLA_LAUNCH,
    TM_XLA_HOST_COPIES,
    TM_XLA_COMPILE,
    TM_XLA_HOST,
    TM_XLA_OTHER, /* what is left */
    TM_XLA_N_PARTS
} tm_xla_part_of_step;

/** The part's word, as in the name of its column. */
const char *tm_xla_part_word(int part);

/**
 * @param out  [timeline->n_steps * TM_XLA_N_PARTS] of each step, in ns: they sum to tm_step_window;
 *             freed by the caller; set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_parts_find(const tm_rank_view *view, int64_t **out, tm_error *err) TM_MUST_CHECK;

#endif
