/* Splits each step of a rank with traces of XLA or TensorFlow into parts, by XProf's priorities. */
#ifndef TMERGE_XLA_XLA_PARTS_H
#define TMERGE_XLA_XLA_PARTS_H

#include "analysis/shared/xla.h"

/** The parts of a step. Time in several parts counts for the first of them. Unlike in XProf, the
 * host's wait for input comes after collectives, because a device that communicates does not wait
 * for input. */
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
    TM_XLA_OTHER, /* the rest */
    TM_XLA_N_PARTS,
    /* The following are not parts of the step, but times within the parts; 0 if not recorded. */
    TM_XLA_SHUFFLE = TM_XLA_N_PARTS, /* time in which the device rearranges data */
    TM_XLA_SPARSE, /* time in which SparseCores compute while their core does not */
    TM_XLA_N_TIMES
} tm_xla_part_of_step;

typedef struct tm_xla_parts {
    /* [n_steps * TM_XLA_N_TIMES] by step; the parts of a step add up to tm_step_window */
    int64_t *ns;
    bool shuffles, sparse; /* whether the times of shuffles and SparseCores are recorded */
} tm_xla_parts;

/** Returns the word of a part, as in column names. */
const char *tm_xla_part_word(int part);

/**
 * Splits the steps of a rank.
 * @param out  set only on TM_OK; the caller frees ns
 * @return     TM_OK; TM_ERR_FAULT
 */
tm_status tm_xla_parts_find(const tm_rank_view *view, tm_xla_parts *out,
                            tm_error *err) TM_MUST_CHECK;

#endif
