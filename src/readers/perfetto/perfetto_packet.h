/* The packets of a file, in their order, those that were compressed in their places. Private to the
 * Perfetto reader. */
#ifndef TMERGE_PERFETTO_PACKET_H
#define TMERGE_PERFETTO_PACKET_H

#include "base/vec.h"
#include "perfetto_fields.h"
#include "readers/wire.h"

typedef struct tm_pf_packet {
    uint64_t time;
    uint32_t clock, sequence, flags;
    bool has_time, has_clock, dropped;
    /* Where it has such a content; else their pointers are NULL. */
    tm_wire_message event, stage, gpu_counter, track, snapshot, defaults, interned, thread, process;
} tm_pf_packet;

typedef struct tm_pf_walk {
    tm_wire wire;
    tm_vec unpacked;       /* of uint8_t: the compressed packets at hand */
    tm_wire_message inner; /* what is left of them */
    int64_t n_blocks;      /* of compressed packets so far */
    int64_t first_block;   /* but for the file's first, those before it are passed over */
    bool cut;              /* the file ends too early: what came before counts */
} tm_pf_walk;

/** From the start of a source. TM_OK; TM_ERR_FAULT. */
tm_status tm_pf_walk_open(tm_source *source, tm_pf_walk *walk, tm_error *err) TM_MUST_CHECK;
void tm_pf_walk_close(tm_pf_walk *walk);

/**
 * The next packet, valid until the next call.
 * @param more  false at the end
 * @return      TM_OK; TM_ERR_INPUT with the offset of what is no packet; TM_ERR_FAULT
 */
tm_status tm_pf_walk_next(tm_pf_walk *walk, tm_pf_packet *out, bool *more,
                          tm_error *err) TM_MUST_CHECK;

/** Whether the first bytes of a file are packets. */
bool tm_pf_sniff(const char *head, size_t size, bool whole);

#endif
