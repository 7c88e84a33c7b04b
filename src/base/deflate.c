#include "deflate.h"

#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PIECE_MAX = 1 << 30, /* maximum size of a piece, because ISA-L counts bytes in 32 bits */
    PACKED_BYTES = 1 << 16,
    /* Level 1 takes an eighth of the time of level 3 for repetitive bytes, such as table rows, and
     * its result is 0.2 % larger. Level 3 compresses other bytes better. */
    FAST = 1,
    BEST = 3,
    /* Levels 1 and 2 of ISA-L 2.30 to 2.32 hash an uninitialised register if a stream starts with
     * more than 16 bytes (write_first_byte in igzip_icf_body_h1_gr_bt.asm). One stream in a few
     * thousand then depends on the address of the compressor's state. A stream that starts with
     * fewer bytes and a flush avoids this code: igzip_icf_finish.asm packs these first bytes. */
    BEGIN_BYTES = 8
};

struct tm_deflate {
    struct isal_zstream stream;
    uint8_t packed[PACKED_BYTES];
    uint8_t tables[ISAL_DEF_LVL3_DEFAULT];
};

tm_deflate *tm_deflate_create(void) {
    return calloc(1, sizeof(tm_deflate));
}

void tm_deflate_destroy(tm_deflate *d) {
    free(d);
}

static void set_up(tm_deflate *d, uint32_t level) {
    isal_deflate_init(&d->stream);
    d->stream.gzip_flag = IGZIP_ZLIB;
    d->stream.level = level;
    d->stream.level_buf = d->tables;
    d->stream.level_buf_size = sizeof d->tables;
}

static void set_input(tm_deflate *d, const void *bytes, size_t size, bool last) {
    union {
        const void *in;
        uint8_t *out; /* ISA-L does not write to the input, but the field is not const */
    } input = {.in = bytes};
    d->stream.next_in = input.out;
    d->stream.avail_in = (uint32_t)size;
    d->stream.end_of_stream = last;
}

size_t tm_deflate_all(tm_deflate *d, const void *bytes, size_t size, void *out, size_t room) {
    const unsigned char *from = bytes;
    const size_t begin = size > BEGIN_BYTES ? BEGIN_BYTES : 0;
    if (size > UINT32_MAX)
        return 0;
    set_up(d, FAST);
    const uint32_t most = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    d->stream.next_out = out;
    d->stream.avail_out = most;
    if (begin > 0) {
        set_input(d, from, begin, false);
        d->stream.flush = SYNC_FLUSH;
        if (isal_deflate(&d->stream) != COMP_OK || d->stream.avail_in > 0)
            return 0;
    }
    set_input(d, from + begin, size - begin, true);
    d->stream.flush = NO_FLUSH;
    if (isal_deflate(&d->stream) != COMP_OK || d->stream.internal_state.state != ZSTATE_END)
        return 0;
    /* Byte 2 of zlib's header states the compression level, for information only. Releases of ISA-L
     * write different values (2.30 writes 01, 2.31 writes 5E), but stores must be equal, so the
     * byte is fixed. The 16-bit header must be a multiple of 31; 0x7801 is one. */
    ((uint8_t *)out)[1] = 0x01;
    return most - d->stream.avail_out;
}

static tm_status give(tm_deflate *d, tm_deflate_sink *sink, void *context, tm_error *err) {
    do {
        d->stream.next_out = d->packed;
        d->stream.avail_out = PACKED_BYTES;
        if (isal_deflate(&d->stream) != COMP_OK)
            return tm_fail(err, TM_ERR_FAULT, NULL, -1, "bytes cannot be compressed");
        TM_TRY(sink(context, d->packed, PACKED_BYTES - d->stream.avail_out, err));
    } while (d->stream.avail_out == 0 || d->stream.avail_in > 0);
    return TM_OK;
}

tm_status tm_deflate_to(tm_deflate *d, const void *bytes, size_t size, tm_deflate_sink *sink,
                        void *context, tm_error *err) {
    const unsigned char *from = bytes;
    set_up(d, BEST);
    d->stream.flush = NO_FLUSH;
    do {
        size_t n = size < PIECE_MAX ? size : PIECE_MAX;
        set_input(d, from, n, n == size);
        TM_TRY(give(d, sink, context, err));
        from += n;
        size -= n;
    } while (size > 0);
    return TM_OK;
}
