/* What the compiled programs of an XSpace tell of operations that a GPU ran: its events have the
 * program's number and the operation's name alone. */
#ifndef TMERGE_XPLANE_GPU_PROGRAMS_H
#define TMERGE_XPLANE_GPU_PROGRAMS_H

#include "base/keys.h"
#include "gpu_collectives.h"
#include "xplane_read.h"

typedef struct tm_gpu_programs {
    tm_keys operations; /* program and name id */
    tm_vec of;          /* of uint32_t: of each row of TM_ATTR_XLA its number in those, TM_NO_KEY */
    tm_keys runs;       /* of tm_gpu_run: which devices of the file ran which program */
    tm_gpu_run last;    /* of these that was met last */
} tm_gpu_programs;

tm_gpu_programs tm_gpu_programs_make(void);
void tm_gpu_programs_free(tm_gpu_programs *programs);

/** Remembers that a device of the file ran a program, -1 for none. False when memory is out. */
bool tm_gpu_programs_ran(tm_gpu_programs *programs, int64_t program, int64_t device);

/** Remembers the operation of the next row of TM_ATTR_XLA. False when memory is out.
 * @param program    -1 where the event does not tell it
 * @param operation  name id, TM_NO_NAME for none */
bool tm_gpu_programs_add(tm_gpu_programs *programs, int64_t program, uint32_t operation);

/**
 * Sets category and shape of the rows whose program the file has, of products FLOP and bytes, of
 * collectives bytes and where it is told the group.
 * @return  TM_OK; TM_ERR_INPUT where the source cannot be read again; TM_ERR_FAULT
 */
tm_status tm_gpu_programs_tell(const tm_gpu_programs *programs, tm_xread *r,
                               tm_error *err) TM_MUST_CHECK;

#endif
