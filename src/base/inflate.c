#include "inflate.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

enum { PIECE_BYTES = 1 << 18 };

/* Reserves space for the next piece after the content. The total may exceed `max` by one byte, so
 * that content above `max` is noticed. */
static uint8_t *room(tm_vec *out, size_t max, size_t *left) {
    size_t most = max + 1 - out->n;
    *left = most < PIECE_BYTES ? most : PIECE_BYTES;
    if (out->cap - out->n < *left && !tm_vec_reserve(out, out->n + *left))
        return NULL;
    return (uint8_t *)out->data + out->n;
}

static tm_inflated inflate_all(struct inflate_state *state, size_t max, tm_vec *out) {
    for (;;) {
        size_t left;
        state->next_out = room(out, max, &left);
        if (!state->next_out)
            return TM_INFLATE_NO_MEMORY;
        state->avail_out = (uint32_t)left;
        int code = isal_inflate(state);
        size_t got = left - state->avail_out;
        out->n += got;
        if (out->n > max)
            return TM_INFLATE_LARGE;
        if (code == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH)
            return TM_INFLATED;
        if (code != ISAL_DECOMP_OK || (got == 0 && state->avail_in == 0))
            return TM_INFLATE_DAMAGED;
    }
}

tm_inflated tm_inflate(const void *packed, size_t size, size_t max, tm_vec *out) {
    union {
        const void *in;
        uint8_t *out; /* ISA-L does not write to the input, but the field is not const */
    } input = {.in = packed};
    struct inflate_state *state = malloc(sizeof *state);
    out->n = 0;
    if (!state)
        return TM_INFLATE_NO_MEMORY;
    tm_inflated result = TM_INFLATE_DAMAGED;
    isal_inflate_init(state);
    state->crc_flag = ISAL_ZLIB;
    state->next_in = input.out;
    state->avail_in = (uint32_t)size;
    if (size <= UINT32_MAX)
        result = inflate_all(state, max, out);
    free(state);
    return result;
}

tm_inflated tm_inflate_zstd(const void *packed, size_t size, size_t max, tm_vec *out) {
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {packed, size, 0};
    tm_inflated result = stream ? TM_INFLATE_LARGE : TM_INFLATE_NO_MEMORY;
    size_t more = 1;
    out->n = 0;
    while (result == TM_INFLATE_LARGE && more > 0 && out->n <= max) {
        size_t left;
        ZSTD_outBuffer piece = {.dst = room(out, max, &left)};
        piece.size = piece.dst ? left : 0;
        more = piece.dst ? ZSTD_decompressStream(stream, &piece, &in) : 1;
        out->n += piece.pos;
        if (!piece.dst)
            result = TM_INFLATE_NO_MEMORY;
        else if (ZSTD_isError(more) || (more > 0 && piece.pos == 0 && in.pos == in.size))
            result = TM_INFLATE_DAMAGED;
    }
    ZSTD_freeDStream(stream);
    return result == TM_INFLATE_LARGE && more == 0 && out->n <= max ? TM_INFLATED : result;
}
