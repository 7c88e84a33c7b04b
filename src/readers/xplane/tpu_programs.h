/* The compiled programs of an XSpace: on which devices each runs. */
#ifndef TMERGE_XPLANE_TPU_PROGRAMS_H
#define TMERGE_XPLANE_TPU_PROGRAMS_H

#include "hlo_groups.h"
#include "space.h"

typedef struct tm_tpu_program {
    tm_text name; /* with its fingerprint, "jit_f(12190760917235803885)"; borrowed */
    size_t first; /* its devices' place in tm_tpu_programs */
    size_t n_replicas, n_parts;
} tm_tpu_program;

typedef struct tm_tpu_programs {
    tm_vec programs; /* of tm_tpu_program */
    tm_vec devices;  /* of int64_t */
} tm_tpu_programs;

/**
 * Reads the device assignments in the plane /host:metadata. A program whose text is damaged before
 * it has none.
 * @param out  freed by the caller whatever comes of the call
 * @return     TM_OK; TM_ERR_INPUT where the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_tpu_programs_read(tm_space *space, tm_tpu_programs *out, tm_error *err) TM_MUST_CHECK;
void tm_tpu_programs_free(tm_tpu_programs *programs);

/** The assignment of a program, borrowed; without devices where it is not known. */
tm_assignment tm_tpu_programs_find(const tm_tpu_programs *programs, tm_text name);

#endif
