/* The NVTX ranges of NCCL's own domain: calls with communicator, bytes and peer as payload. */
#ifndef TMERGE_SYNTH_NSYS_NCCL_H
#define TMERGE_SYNTH_NSYS_NCCL_H

#include <stddef.h>
#include <stdint.h>

#include "nsys_db.h"
#include "synth/base/catalogue.h"
#include "synth/base/events.h"
#include "synth/base/groups.h"

/* NCCL's functions: those of tms_collective, then the one that makes a communicator. */
#define TMS_NCCL_INIT TMS_COLLECTIVE_COUNT
#define TMS_NCCL_COUNT (TMS_COLLECTIVE_COUNT + 1)

/* Number of NCCL's domain in every process; 0 is the default domain. */
#define TMS_NCCL_DOMAIN 1

/* Header and the longest payload [B]. */
#define TMS_NCCL_BYTES 56

/* Name of a function; static. */
const char *tms_nccl_name(int function);

/* Writes the layouts of all payloads, as each process registers them. */
void tms_nccl_schemas(tms_db *db);

/**
 * Makes the payload of a collective's call.
 *
 * @param groups  of the job: the place of @p channel in it is what identifies the communicator
 * @param bytes   [TMS_NCCL_BYTES] of which as many are set as are returned
 */
size_t tms_nccl_call(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_comm *comm);

/* The same for the making of a communicator by a rank on a device. */
size_t tms_nccl_init(uint8_t *bytes, const tms_groups *groups, const tms_channel *channel,
                     const tms_placement *placement);

#endif
