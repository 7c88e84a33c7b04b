/* Goes through the packets of a file in order. Compressed packets are decompressed, and replace the
 * packet that contains them. Private to the Perfetto reader. */
#ifndef TMERGE_PERFETTO_PACKET_H
#define TMERGE_PERFETTO_PACKET_H

#include "base/vec.h"
#include "perfetto_fields.h"
#include "readers/wire.h"

typedef struct tm_pf_packet {
    uint64_t time;
    uint32_t clock, sequence, flags;
    bool has_time, has_clock, dropped;
    /* The parts of the packet. `p` of a part is NULL if the packet lacks the part. */
    tm_wire_message event, stage, gpu_counter, track, snapshot, defaults, interned, thread, process;
} tm_pf_packet;

typedef struct tm_pf_walk {
    tm_wire wire;
    tm_vec unpacked;       /* vector of uint8_t: the packets of the current block, decompressed */
    tm_wire_message inner; /* the packets of this block that are not taken yet */
    int64_t n_blocks;      /* number of compressed blocks so far */
    int64_t first_block;   /* blocks 2 to `first_block` are skipped: they belong to other ranks */
    bool cut;              /* the file ends too early; all packets returned so far are valid */
} tm_pf_walk;

/**
 * Starts at the beginning of a source.
 * @return TM_OK; TM_ERR_FAULT
 */
tm_status tm_pf_walk_open(tm_source *source, tm_pf_walk *walk, tm_error *err) TM_MUST_CHECK;
void tm_pf_walk_close(tm_pf_walk *walk);

/**
 * Reads the next packet, valid until the next call.
 * @param more  false at the end
 * @return      TM_OK; TM_ERR_INPUT with the offset of an invalid packet; TM_ERR_FAULT
 */
tm_status tm_pf_walk_next(tm_pf_walk *walk, tm_pf_packet *out, bool *more,
                          tm_error *err) TM_MUST_CHECK;

/** Returns whether a file starts with packets, judging by its first bytes. */
bool tm_pf_sniff(const char *head, size_t size, bool whole);

#endif
