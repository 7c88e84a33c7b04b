/* Bytes and members of the collectives that a GPU ran, from the programs of an XSpace. */
#ifndef TMERGE_XPLANE_GPU_COLLECTIVES_H
#define TMERGE_XPLANE_GPU_COLLECTIVES_H

#include "readers/xplane/hlo/assignments.h"
#include "readers/xplane/hlo/hlo_proto.h"
#include "readers/xplane/xplane_read.h"

/** A collective of a program. */
typedef struct tm_gpu_collective {
    const char *word;  /* its kind: "all-gather"; NULL: not a collective */
    int64_t in_bytes;  /* operands of one run on one device, as counted by XLA's cost analysis; -1
                          unknown */
    int64_t out_bytes; /* results, likewise */
    uint32_t group;    /* name id of its devices; TM_NO_NAME if unknown */
    int32_t n_members; /* of that group */
    int ends;          /* for a permutation: TM_HLO_SENDS, TM_HLO_RECEIVES; 0 unknown */
} tm_gpu_collective;

/** A program and a device of the file that ran it, by the device's number in its process. */
typedef struct tm_gpu_run {
    int64_t program, device;
} tm_gpu_run;

typedef struct tm_gpu_collectives {
    tm_xread *r;
    tm_xassignments assignments;
    tm_vec text;   /* of char: the current collective's groups in the text form of HLO */
    tm_vec known;  /* groups found before */
    bool numbered; /* all devices of the file worked, are numbered from 0, and nothing contradicts
                      that the job numbers devices process by process */
} tm_gpu_collectives;

/** Reads the device assignments of programs. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. Freed by the caller
 * whatever the result.
 * @param runs  of tm_gpu_run: each program with each device of the file that ran it, once */
tm_status tm_gpu_collectives_open(tm_gpu_collectives *out, tm_xread *r, const tm_vec *runs,
                                  tm_error *err) TM_MUST_CHECK;
void tm_gpu_collectives_close(tm_gpu_collectives *c);

/**
 * Reads an instruction. Its operands have the size of its results, except for gathering and
 * scattering, where the size of the replica groups gives the ratio. A profile has only a device's
 * number in its process, while programs use the job's ids, counted up over processes with equally
 * many devices. So the group is set if it is the same for any process this may be, or if it is
 * inside one process; its name then contains the host. If the programs show that the job numbers
 * devices differently, the group is set only if it is the same for all of the program's devices.
 * @param category  the kind without -start: "all-gather"
 * @return          false if out of memory
 */
bool tm_gpu_collective_read(tm_gpu_collectives *c, int64_t program, tm_text category,
                            const tm_hlo_instruction *of, tm_gpu_collective *out) TM_MUST_CHECK;

#endif
