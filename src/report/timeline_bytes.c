#include "timeline_bytes.h"

#include <string.h>

#include "base/varint.h"

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

void tm_bytes_put(tm_bytes *out, uint64_t value) {
    uint8_t digits[TM_VARINT_MAX];
    tm_bytes_put_raw(out, digits, (size_t)(tm_varint(digits, value) - digits));
}

void tm_bytes_put_signed(tm_bytes *out, int64_t value) {
    tm_bytes_put(out, tm_zigzag(value));
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
