/* Encoding of the page's blocks: varints, signed varints and texts, read by
 * tools/web/src/timeline/bytes.ts. */
#ifndef TMERGE_REPORT_TIMELINE_BYTES_H
#define TMERGE_REPORT_TIMELINE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/varint.h"
#include "base/vec.h"
#include "tmerge/names.h"

/** A growing block. After a failed allocation, appends do nothing: check `failed` once at the
 * end. */
typedef struct tm_bytes {
    tm_vec bytes; /* vector of uint8_t */
    bool failed;
} tm_bytes;

/** Maximum size of a text. Longer names are cut. (Names of up to 64 kB occur.) */
enum { TM_BYTES_TEXT_MAX = 4096 };

static inline tm_bytes tm_bytes_make(void) {
    return (tm_bytes){.bytes = TM_VEC(uint8_t)};
}

void tm_bytes_free(tm_bytes *out);

/** Reserves @p n bytes. Returns false if this or an earlier allocation failed. */
bool tm_bytes_room(tm_bytes *out, size_t n);

/** Appends a varint. Each byte has seven bits of the value, the lowest bits first. The eighth bit
 * is set in all bytes except the last. Inline for speed, because this function writes most of a
 * page. */
static inline void tm_bytes_put(tm_bytes *out, uint64_t value) {
    tm_vec *bytes = &out->bytes;
    if ((out->failed || bytes->cap - bytes->n < TM_VARINT_MAX) &&
        !tm_bytes_room(out, TM_VARINT_MAX))
        return;
    uint8_t *all = bytes->data;
    bytes->n = (size_t)(tm_varint(all + bytes->n, value) - all);
}

/** Appends a zigzag varint: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline void tm_bytes_put_signed(tm_bytes *out, int64_t value) {
    tm_bytes_put(out, tm_zigzag(value));
}

/** Appends the number of bytes of a text, and then the bytes. A text that is too long is cut
 * between two characters and ends in an ellipsis. */
void tm_bytes_put_text(tm_bytes *out, tm_text text);

/** Like tm_bytes_put_text, but cuts the text at @p most bytes. @p most must be at least 3, which is
 * the size of the ellipsis. */
void tm_bytes_put_cut(tm_bytes *out, tm_text text, size_t most);

/** Appends @p n bytes. If @p from is NULL, these are zeros. Returns the address of the appended
 * bytes; NULL when out of memory. */
uint8_t *tm_bytes_put_raw(tm_bytes *out, const void *from, size_t n);

#endif
