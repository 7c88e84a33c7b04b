/* What each step of a rank of XLA or TensorFlow is spent on, by XProf's priorities. */
#ifndef TMERGE_XLA_PARTS_H
#define TMERGE_XLA_PARTS_H

#include "analysis/shared/xla.h"

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
    TM_XLA_N_PARTS,
    /* Of what the parts hold; where nothing tells it, 0 */
    TM_XLA_SHUFFLE = TM_XLA_N_PARTS, /* the device rearranges data */
    TM_XLA_SPARSE,                   /* SparseCores compute, and their core does not */
    TM_XLA_N_TIMES
} tm_xla_part_of_step;

typedef struct tm_xla_parts {
    int64_t *ns; /* [timeline->n_steps * TM_XLA_N_TIMES] of each step; of the parts they sum to
                    tm_step_window */
    bool shuffles, sparse; /* whether the trace tells it */
} tm_xla_parts;

/** The part's word, as in the name of its column. */
const char *tm_xla_part_word(int part);

/**
 * @param out  its ns are freed by the caller; set only on TM_OK
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_parts_find(const tm_rank_view *view, tm_xla_parts *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
