/* What the programs of an XSpace tell of the collectives that a GPU ran: bytes, and with whom. */
#ifndef TMERGE_XPLANE_GPU_COLLECTIVES_H
#define TMERGE_XPLANE_GPU_COLLECTIVES_H

#include "assignments.h"
#include "hlo_proto.h"
#include "xplane_read.h"

/** A collective of one of the programs. */
typedef struct tm_gpu_collective {
    const char *word;  /* what it does: "all-gather"; NULL: it is none */
    int64_t in_bytes;  /* of operands and results, of one run on one device, as XLA's cost */
    int64_t out_bytes; /* analysis counts them; -1 not told */
    uint32_t group;    /* name id of its devices; TM_NO_NAME where they are not told */
    int32_t n_members; /* of that group */
    int ends;          /* of a permutation: TM_HLO_SENDS, TM_HLO_RECEIVES; 0 not told */
} tm_gpu_collective;

/** A program that a device of the file ran, by the device's number in its process. */
typedef struct tm_gpu_run {
    int64_t program, device;
} tm_gpu_run;

typedef struct tm_gpu_collectives {
    tm_xread *r;
    tm_xassignments assignments;
    tm_vec text;   /* of char: what tells the groups of the one at hand, as HLO's text has it */
    tm_vec known;  /* of groups that were met before */
    bool numbered; /* all devices of the file worked, are numbered from 0, and nothing tells that
                      the job counts its devices in another way than process after process */
} tm_gpu_collectives;

/** Reads on which devices programs run. TM_OK; TM_ERR_INPUT; TM_ERR_FAULT. Freed by the caller
 * whatever comes of it.
 * @param runs  of tm_gpu_run: each program with each device of the file that ran it, once */
tm_status tm_gpu_collectives_open(tm_gpu_collectives *out, tm_xread *r, const tm_vec *runs,
                                  tm_error *err) TM_MUST_CHECK;
void tm_gpu_collectives_close(tm_gpu_collectives *c);

/**
 * Reads an instruction. What it makes tells what it takes: as much, but for gathering and
 * scattering, which the size of the replica groups tells. A profile tells the number of a device
 * in its process alone, and programs number those of the job: counted up over its processes, of as
 * many each. So a group is told where it is the same whichever process this one is, or where it
 * lies inside of one; then its host's name is part of its name. Where programs show that the job
 * numbers its devices otherwise, it is told where all of the program's devices have the same one.
 * @param category  what it does, without -start: "all-gather"
 * @return          false when memory is out
 */
bool tm_gpu_collective_read(tm_gpu_collectives *c, int64_t program, tm_text category,
                            const tm_hlo_instruction *of, tm_gpu_collective *out) TM_MUST_CHECK;

#endif
