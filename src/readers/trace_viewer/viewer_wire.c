#include "viewer_wire.h"

size_t tm_viewer_put_varint(uint8_t *out, uint64_t value) {
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (uint8_t)(value | 0x80);
    out[n++] = (uint8_t)value;
    return n;
}

bool tm_viewer_add_varint(tm_vec *out, uint32_t field, uint64_t value) {
    uint8_t bytes[TM_VIEWER_FIELD_MAX];
    size_t n = tm_viewer_put_varint(bytes, field << 3 | TM_VIEWER_VARINT);
    n += tm_viewer_put_varint(bytes + n, value);
    return tm_vec_append(out, bytes, n) != NULL;
}

bool tm_viewer_add_head(tm_vec *out, uint32_t field, size_t size) {
    uint8_t bytes[TM_VIEWER_FIELD_MAX];
    size_t n = tm_viewer_put_varint(bytes, field << 3 | TM_VIEWER_BYTES);
    n += tm_viewer_put_varint(bytes + n, size);
    return tm_vec_append(out, bytes, n) != NULL;
}

bool tm_viewer_add_bytes(tm_vec *out, uint32_t field, const void *bytes, size_t size) {
    return tm_viewer_add_head(out, field, size) && (size == 0 || tm_vec_append(out, bytes, size));
}
