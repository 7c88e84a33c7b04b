/* Adds data from the compiled programs of an XSpace to operations that a GPU ran. An event of a GPU
 * has only the id of the program and the name of the operation. */
#ifndef TMERGE_XPLANE_GPU_PROGRAMS_H
#define TMERGE_XPLANE_GPU_PROGRAMS_H

#include "base/keys.h"
#include "gpu_collectives.h"
#include "readers/xplane/plane/xplane_read.h"

typedef struct tm_gpu_programs {
    /* keys: pairs of a program and the name id of an operation that ran */
    tm_keys operations;
    /* vector of uint32_t: for each row of TM_ATTR_XLA, the index of its operation in `operations`,
     * or TM_NO_KEY */
    tm_vec of;
    tm_keys runs;    /* keys of type tm_gpu_run: programs and the devices that ran them */
    tm_gpu_run last; /* the run that was recorded last */
} tm_gpu_programs;

tm_gpu_programs tm_gpu_programs_make(void);
void tm_gpu_programs_free(tm_gpu_programs *programs);

/** Records that a device of the file ran a program. If @p program is -1, does nothing. Returns
 * false if out of memory. */
bool tm_gpu_programs_ran(tm_gpu_programs *programs, int64_t program, int64_t device);

/**
 * Records the operation of the next row of TM_ATTR_XLA. Returns false if out of memory.
 *
 * @param program    -1 if the event does not have a program
 * @param operation  name id of the operation; TM_NO_NAME: none
 */
bool tm_gpu_programs_add(tm_gpu_programs *programs, int64_t program, uint32_t operation);

/**
 * Adds data to the operations whose program is in the file: category and shape of all operations,
 * FLOP and bytes of matrix products, and bytes and (if known) the group of collectives.
 *
 * @return  TM_OK; TM_ERR_INPUT if the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_gpu_programs_tell(const tm_gpu_programs *programs, tm_xread *r,
                               tm_error *err) TM_MUST_CHECK;

#endif
