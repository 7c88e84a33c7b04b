/* Bytes and members of the collectives that a GPU ran. They are found in the programs of an
 * XSpace. */
#ifndef TMERGE_XPLANE_GPU_COLLECTIVES_H
#define TMERGE_XPLANE_GPU_COLLECTIVES_H

#include "readers/xplane/hlo/assignments.h"
#include "readers/xplane/hlo/hlo_proto.h"
#include "readers/xplane/plane/xplane_read.h"

typedef struct tm_gpu_collective {
    const char *word;  /* kind, such as "all-gather"; NULL: no collective */
    int64_t in_bytes;  /* bytes of the operands of one run on one device, as XLA's cost analysis
                          counts them; -1 unknown */
    int64_t out_bytes; /* bytes of the results, counted in the same way */
    uint32_t group; /* id of the name of the collective's group of devices; TM_NO_NAME if unknown */
    int32_t n_members; /* number of members of that group */
    int ends; /* for a permutation: TM_HLO_SENDS and TM_HLO_RECEIVES, as bits; 0: unknown */
} tm_gpu_collective;

/** A program, and a device that ran it. `device` is the device's number in its process. */
typedef struct tm_gpu_run {
    int64_t program, device;
} tm_gpu_run;

typedef struct tm_gpu_collectives {
    tm_xread *r;
    tm_xassignments assignments;
    tm_vec text;  /* vector of char: the groups of the current collective, as HLO writes them */
    tm_vec known; /* groups found before */
    /* The job seems to number devices process by process: all devices of the file worked, their
     * numbers start at 0, and no program contradicts this. */
    bool numbered;
} tm_gpu_collectives;

/**
 * Reads the device assignments of programs. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT.
 *
 * @param out   must be freed with tm_gpu_collectives_close, also after a failure
 * @param runs  vector of tm_gpu_run: the pairs of a program and a device of the file that ran it
 */
tm_status tm_gpu_collectives_open(tm_gpu_collectives *out, tm_xread *r, const tm_vec *runs,
                                  tm_error *err) TM_MUST_CHECK;
void tm_gpu_collectives_close(tm_gpu_collectives *c);

/**
 * Reads a collective instruction. Its operands are as large as its results, except for gathering
 * and scattering: the ratio is then the number of devices in a replica group.
 *
 * A profile has only the number of a device in its process. Programs use ids in the job, which are
 * counted over all processes. Each process has the same number of devices. So the group can be set
 * only if it is the same for all processes, or if it is inside one process. In the latter case, the
 * group's name contains the host. If the programs show that the job numbers devices in another way,
 * the group is set only if it consists of all devices of the program.
 *
 * @param category  the kind without -start: "all-gather"
 * @return          false if out of memory
 */
bool tm_gpu_collective_read(tm_gpu_collectives *c, int64_t program, tm_text category,
                            const tm_hlo_instruction *of, tm_gpu_collective *out) TM_MUST_CHECK;

#endif
