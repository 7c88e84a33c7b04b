#include "timeline_bytes.h"

#include <string.h>

static const char ellipsis[] = "\xe2\x80\xa6";

void tm_bytes_free(tm_bytes *out) {
    tm_vec_free(&out->bytes);
    out->failed = false;
}

uint8_t *tm_bytes_put_raw(tm_bytes *out, const void *from, size_t n) {
    uint8_t *at = out->failed ? NULL : tm_vec_append(&out->bytes, from, n);
    out->failed = !at;
    if (at && !from)
        memset(at, 0, n);
    return at;
}

static void put_byte(tm_bytes *out, uint8_t byte) {
    uint8_t *at = out->failed ? NULL : tm_vec_push(&out->bytes);
    if (at)
        *at = byte;
    else
        out->failed = true;
}

void tm_bytes_put(tm_bytes *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        put_byte(out, (uint8_t)(value | 0x80));
    put_byte(out, (uint8_t)value);
}

void tm_bytes_put_signed(tm_bytes *out, int64_t value) {
    uint64_t twice = (uint64_t)value << 1;
    tm_bytes_put(out, value < 0 ? ~twice : twice);
}

void tm_bytes_put_text(tm_bytes *out, tm_text text) {
    size_t size = text.size;
    if (size > TM_BYTES_TEXT_MAX) {
        size = TM_BYTES_TEXT_MAX - strlen(ellipsis);
        while (size > 0 && ((uint8_t)text.bytes[size] & 0xc0) == 0x80)
            size--;
    }
    bool cut = size < text.size;
    tm_bytes_put(out, cut ? size + strlen(ellipsis) : size);
    if (size > 0)
        tm_bytes_put_raw(out, text.bytes, size);
    if (cut)
        tm_bytes_put_raw(out, ellipsis, strlen(ellipsis));
}
