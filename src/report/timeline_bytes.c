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

bool tm_bytes_room(tm_bytes *out, size_t n) {
    out->failed = out->failed || !tm_vec_reserve(&out->bytes, out->bytes.n + n);
    return !out->failed;
}

void tm_bytes_put_text(tm_bytes *out, tm_text text) {
    tm_bytes_put_cut(out, text, TM_BYTES_TEXT_MAX);
}

void tm_bytes_put_cut(tm_bytes *out, tm_text text, size_t most) {
    size_t size = text.size;
    if (size > most) {
        size = most - strlen(ellipsis);
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
