/* Bytes of the page's blocks: varints, signed varints and texts, as tools/web/src/timeline/bytes.ts
 * reads them. */
#ifndef TMERGE_REPORT_TIMELINE_BYTES_H
#define TMERGE_REPORT_TIMELINE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/varint.h"
#include "base/vec.h"
#include "tmerge/names.h"

/** A block that grows. Once memory is out nothing is added any more, so that one look at the end is
 * enough. */
typedef struct tm_bytes {
    tm_vec bytes; /* of uint8_t */
    bool failed;
} tm_bytes;

/** Texts are cut after so many bytes: names may be 64 kB long, and nobody reads that in a page. */
enum { TM_BYTES_TEXT_MAX = 4096 };

static inline tm_bytes tm_bytes_make(void) {
    return (tm_bytes){.bytes = TM_VEC(uint8_t)};
}

void tm_bytes_free(tm_bytes *out);

/** Makes room for @p n more bytes; false when memory is out, now or before. */
bool tm_bytes_room(tm_bytes *out, size_t n);

/** Seven bits a byte, lowest first, the eighth set on all but the last. Most of a page is put by
 * it, a number at a time. */
static inline void tm_bytes_put(tm_bytes *out, uint64_t value) {
    tm_vec *bytes = &out->bytes;
    if ((out->failed || bytes->cap - bytes->n < TM_VARINT_MAX) &&
        !tm_bytes_room(out, TM_VARINT_MAX))
        return;
    uint8_t *all = bytes->data;
    bytes->n = (size_t)(tm_varint(all + bytes->n, value) - all);
}

/** Zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline void tm_bytes_put_signed(tm_bytes *out, int64_t value) {
    tm_bytes_put(out, tm_zigzag(value));
}

/** The number of bytes, then the bytes. A text that is too long is cut between two characters and
 * ends in an ellipsis. */
void tm_bytes_put_text(tm_bytes *out, tm_text text);

/** The same, with how many bytes are too many: 3 at least, those of the ellipsis. */
void tm_bytes_put_cut(tm_bytes *out, tm_text text, size_t most);

/** @p n bytes as they are; @p from NULL: zeros. Returns where they are, NULL when memory is out. */
uint8_t *tm_bytes_put_raw(tm_bytes *out, const void *from, size_t n);

#endif
