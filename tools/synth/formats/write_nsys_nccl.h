/* NVTX ranges of NCCL's own domain: calls with communicator, bytes and peer as payload. */
#ifndef TMERGE_SYNTH_WRITE_NSYS_NCCL_H
#define TMERGE_SYNTH_WRITE_NSYS_NCCL_H

#include <stddef.h>
#include <stdint.h>

#include "nsys_db.h"
#include "synth/base/catalogue.h"
#include "synth/base/event_list.h"
#include "synth/base/synth_groups.h"

/* NCCL's functions: those of tms_collective, then the function that creates a communicator. */
#define TMS_NCCL_INIT TMS_COLLECTIVE_COUNT
#define TMS_NCCL_COUNT (TMS_COLLECTIVE_COUNT + 1)

/* Id of NCCL's domain in every process; 0 is the default domain. */
#define TMS_NCCL_DOMAIN 1

/* Size of the header and the longest payload [B]. */
#define TMS_NCCL_BYTES 56

/* Returns the name of a function; static. */
const char *tms_nccl_name(int function);

/* Writes the layouts of all payloads, which each process registers. */
void tms_nccl_schemas(tms_db *db);

/** Makes the payload of a collective's call and returns its size [B].
 *
 * @param groups the job's groups; the index of @p channel among them identifies the communicator
 * @param bytes [TMS_NCCL_BYTES] output: the payload */
size_t tms_nccl_call(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_comm *comm);

/* Like tms_nccl_call, but for the call in which a rank creates a communicator on a device. */
size_t tms_nccl_init(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_placement *placement);

#endif
