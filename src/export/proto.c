#include "proto.h"

void tm_proto_fixed64(tm_proto *proto, uint32_t field, uint64_t value) {
    uint8_t *p = tm_proto_room(proto, TM_VARINT_MAX + sizeof value);
    if (!p)
        return;
    p = tm_varint(p, field << 3 | TM_WIRE_64);
    for (int i = 0; i < 8; i++)
        *p++ = (uint8_t)(value >> 8 * i);
    tm_proto_grow_to(proto, p);
}

void tm_proto_double(tm_proto *proto, uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tm_proto_fixed64(proto, field, bits);
}

void tm_proto_bytes(tm_proto *proto, uint32_t field, const void *bytes, size_t size) {
    uint8_t *p = tm_proto_room(proto, (size_t)2 * TM_VARINT_MAX + size);
    if (!p)
        return;
    p = tm_varint(tm_varint(p, field << 3 | TM_WIRE_BYTES), size);
    if (size > 0)
        memcpy(p, bytes, size);
    tm_proto_grow_to(proto, p + size);
}

void tm_proto_string(tm_proto *proto, uint32_t field, const char *string) {
    tm_proto_bytes(proto, field, string, strlen(string));
}

/* Reserves one byte for the size: nearly all messages have less than 128 bytes. */
size_t tm_proto_begin(tm_proto *proto, uint32_t field) {
    uint8_t *p = tm_proto_room(proto, TM_VARINT_MAX + 1);
    if (p)
        tm_proto_grow_to(proto, tm_varint(p, field << 3 | TM_WIRE_BYTES) + 1);
    return proto->bytes.n;
}

void tm_proto_end(tm_proto *proto, size_t begin) {
    uint8_t digits[TM_VARINT_MAX];
    if (proto->failed || !tm_proto_room(proto, TM_VARINT_MAX))
        return;
    uint8_t *content = (uint8_t *)proto->bytes.data + begin;
    size_t size = proto->bytes.n - begin;
    size_t more = (size_t)(tm_varint(digits, size) - digits) - 1;
    if (more > 0)
        memmove(content + more, content, size);
    memcpy(content - 1, digits, more + 1);
    proto->bytes.n += more;
}
