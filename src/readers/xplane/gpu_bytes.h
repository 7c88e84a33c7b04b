/* What a collective of a GPU's program reads and writes, from its instruction alone. */
#ifndef TMERGE_XPLANE_GPU_BYTES_H
#define TMERGE_XPLANE_GPU_BYTES_H

#include "wire.h"

/**
 * Bytes of operands and results of one run on one device, as XLA's cost analysis counts them. What
 * an instruction makes tells what it takes: as much, but for gathering and scattering, which the
 * size of the replica groups tells.
 * @param category     what it does, without -start: "all-gather"
 * @param instruction  an HloInstructionProto
 * @return             -1 where it is no collective, or that is not told
 */
int64_t tm_gpu_bytes_of(tm_text category, tm_text opcode, tm_wire_message instruction);

#endif
