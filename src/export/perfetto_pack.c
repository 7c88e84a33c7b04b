#include "export_perfetto.h"

#include <stdlib.h>

#include "base/utf8.h"

/* Size of a block before compression. Perfetto accepts compressed blocks below 512 KiB, so a block
 * of half that size fits even if compression does not make it smaller. A packet larger than
 * BLOCK_MAX is not compressed. */
enum { BLOCK_BYTES = 256 * 1024, BLOCK_MAX = 480 * 1024, PACKED_MAX = 512 * 1024 };

tm_status tm_perfetto_pack_begin(tm_perfetto *p, tm_error *err) {
    p->deflate = tm_deflate_create();
    p->packed = malloc(PACKED_MAX);
    return p->deflate && p->packed ? TM_OK : tm_fail_memory(err);
}

void tm_perfetto_pack_end(tm_perfetto *p) {
    tm_deflate_destroy(p->deflate);
    free(p->packed);
}

/* Writes a packet that contains only compressed packets. */
static void put_packed(tm_export *x, const uint8_t *packed, size_t size) {
    uint8_t head[4 * TM_VARINT_MAX], inner[2 * TM_VARINT_MAX];
    uint8_t *end = tm_varint(inner, PACKET_COMPRESSED << 3 | TM_WIRE_BYTES);
    size_t inner_size = (size_t)(tm_varint(end, size) - inner);
    end = tm_varint(head, TRACE_PACKET << 3 | TM_WIRE_BYTES);
    end = tm_varint(end, inner_size + size);
    tm_out_bytes(&x->out, head, (size_t)(end - head));
    tm_out_bytes(&x->out, inner, inner_size);
    tm_out_bytes(&x->out, packed, size);
}

/* Compresses each block separately, so that memory does not grow, and a damaged block does not
 * affect others. */
tm_status tm_perfetto_pack(tm_export *x, bool all, tm_error *err) {
    tm_perfetto *p = x->state;
    size_t size = p->block.bytes.n;
    if (p->block.failed || p->text.failed)
        return tm_fail_memory(err);
    if (size == 0 || (!all && size < BLOCK_BYTES))
        return TM_OK;
    size_t packed = 0;
    if (size <= BLOCK_MAX)
        packed = tm_deflate_all(p->deflate, p->block.bytes.data, size, p->packed, PACKED_MAX);
    if (packed > 0)
        put_packed(x, p->packed, packed);
    else
        tm_out_bytes(&x->out, p->block.bytes.data, size);
    p->block.bytes.n = 0;
    return tm_export_spill(x, err);
}

size_t tm_perfetto_packet(tm_perfetto *p, uint32_t flags) {
    size_t packet = tm_proto_begin(&p->block, TRACE_PACKET);
    tm_proto_uint(&p->block, PACKET_SEQUENCE, p->sequence);
    if (flags != 0)
        tm_proto_uint(&p->block, PACKET_FLAGS, flags);
    return packet;
}

void tm_perfetto_text(tm_perfetto *p, uint32_t field, tm_text text) {
    if (tm_export_is_ascii(text)) {
        tm_proto_bytes(&p->block, field, text.bytes, text.size);
        return;
    }
    p->text.bytes.n = 0;
    size_t size = tm_utf8_repair(text.bytes, text.size, NULL);
    char *repaired = tm_vec_append(&p->text.bytes, NULL, size + 1);
    if (!repaired) {
        p->text.failed = true;
        return;
    }
    tm_utf8_repair(text.bytes, text.size, repaired);
    tm_proto_bytes(&p->block, field, repaired, size);
}
