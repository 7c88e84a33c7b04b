#include "deflate.h"

#include <isa-l/igzip_lib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PIECE_MAX = 1 << 30, /* ISA-L counts in 32 bits */
    PACKED_BYTES = 1 << 16,
    /* Levels 1 and 2 of ISA-L 2.30 to 2.32 are faster, but hash a register that nobody has set
     * (write_first_byte in igzip_icf_body_h1_gr_bt.asm), so one stream in some thousands differs
     * with the address of its state. */
    LEVEL = 3
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

static void set_up(tm_deflate *d) {
    d->stream.gzip_flag = IGZIP_ZLIB;
    d->stream.level = LEVEL;
    d->stream.level_buf = d->tables;
    d->stream.level_buf_size = sizeof d->tables;
}

static void set_input(tm_deflate *d, const void *bytes, size_t size, bool last) {
    union {
        const void *in;
        uint8_t *out; /* ISA-L does not write to it */
    } input = {.in = bytes};
    d->stream.next_in = input.out;
    d->stream.avail_in = (uint32_t)size;
    d->stream.end_of_stream = last;
}

size_t tm_deflate_all(tm_deflate *d, const void *bytes, size_t size, void *out, size_t room) {
    if (size > UINT32_MAX)
        return 0;
    isal_deflate_stateless_init(&d->stream);
    set_up(d);
    set_input(d, bytes, size, true);
    uint32_t most = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    d->stream.next_out = out;
    d->stream.avail_out = most;
    if (isal_deflate_stateless(&d->stream) != COMP_OK)
        return 0;
    /* What the second byte of zlib's header says of the level only informs, and differs between
     * releases of ISA-L (2.30 writes 01, 2.31 5E); stores are not to differ. 0x7801 is 31 * 991. */
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
    isal_deflate_init(&d->stream);
    set_up(d);
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
