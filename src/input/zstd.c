#include "input/decoder.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

typedef struct zstd_decoder {
    tm_decoder base;
    ZSTD_DCtx *context; /* owned */
    ZSTD_inBuffer input;
    bool no_more_input;
    bool between_frames;
    bool had_frame;
} zstd_decoder;

/* Returns whether a frame can start with these n bytes. Skippable frames count, because pzstd
 * writes such a frame first. */
static bool begins_frame(const uint8_t *bytes, size_t n) {
    static const uint8_t data[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const uint8_t skippable[4] = {0x50, 0x2a, 0x4d, 0x18};
    size_t compared = n < sizeof data ? n : sizeof data;
    if (memcmp(bytes, data, compared) == 0)
        return true;
    return (bytes[0] & 0xf0) == skippable[0] && memcmp(bytes + 1, skippable + 1, compared - 1) == 0;
}

/* A file may end inside the magic number and still be zstd. But a single byte is not enough: it
 * would be "(", with which any text may start. */
static bool recognises(const uint8_t *head, size_t n) {
    return n >= 2 && begins_frame(head, n);
}

static tm_status refill(zstd_decoder *zstd, tm_error *err) {
    if (zstd->input.pos < zstd->input.size || zstd->no_more_input)
        return TM_OK;
    const uint8_t *bytes = NULL;
    size_t n = 0;
    TM_TRY(tm_raw_next(zstd->base.raw, &bytes, &n, err));
    zstd->no_more_input = n == 0;
    zstd->input = (ZSTD_inBuffer){.src = bytes, .size = n};
    return TM_OK;
}

static tm_status fail_damaged(const zstd_decoder *zstd, size_t code, tm_error *err) {
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return tm_fail_memory(err);
    case ZSTD_error_checksum_wrong:
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "zstd checksum is wrong: the file is damaged");
    case ZSTD_error_frameParameter_windowTooLarge:
        return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                       "zstd stream needs a window of over 128 MiB (zstd --long=28 or more): "
                       "compress the file again with --long=27 or without --long");
    case ZSTD_error_dictionary_wrong:
        return tm_fail(
            err, TM_ERR_INPUT, NULL, -1,
            "zstd stream was made with a dictionary: compress the file again without a dictionary");
    case ZSTD_error_prefix_unknown:
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "%s",
                       zstd->had_frame ? "other data follows the zstd stream"
                                       : "zstd header is damaged");
    default:
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "zstd stream is damaged (%s)",
                       ZSTD_getErrorName(code));
    }
}

/* Runs one step of the decoder; sets *done after the last frame. */
static tm_status decode_some(zstd_decoder *zstd, ZSTD_outBuffer *output, bool *done,
                             tm_error *err) {
    bool empty = zstd->input.pos == zstd->input.size;
    *done = empty && zstd->between_frames && zstd->had_frame;
    if (*done)
        return TM_OK;
    /* The start of the next frame is checked here. Otherwise, libzstd would try the formats of
     * versions before 1.0, and its decoders for them are unsafe with arbitrary bytes. */
    if (zstd->between_frames && zstd->had_frame &&
        !begins_frame((const uint8_t *)zstd->input.src + zstd->input.pos,
                      zstd->input.size - zstd->input.pos))
        return tm_fail(err, TM_ERR_INPUT, NULL, -1, "other data follows the zstd stream");
    size_t before = output->pos;
    size_t code = ZSTD_decompressStream(zstd->context, output, &zstd->input);
    if (ZSTD_isError(code))
        return fail_damaged(zstd, code, err);
    zstd->between_frames = code == 0;
    zstd->had_frame = zstd->had_frame || code == 0;
    /* If no input is left and the decoder has no more output, the file ends inside a frame. */
    if (empty && code != 0 && output->pos == before) {
        zstd->base.cut_short = true;
        return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                       "zstd stream is cut short: the file ends inside a frame");
    }
    return TM_OK;
}

static tm_status read_zstd(tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                           tm_error *err) {
    zstd_decoder *zstd = (zstd_decoder *)decoder;
    ZSTD_outBuffer output = {.dst = buffer, .size = capacity};
    tm_status status = TM_OK;
    bool done = false;
    while (status == TM_OK && !done && output.pos < output.size) {
        status = refill(zstd, err);
        if (status == TM_OK)
            status = decode_some(zstd, &output, &done, err);
    }
    *n = output.pos;
    return status;
}

static void close_zstd(tm_decoder *decoder) {
    zstd_decoder *zstd = (zstd_decoder *)decoder;
    ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

static tm_decoder *open_zstd(tm_raw *raw) {
    zstd_decoder *zstd = malloc(sizeof *zstd);
    if (!zstd)
        return NULL;
    *zstd = (zstd_decoder){.base = {.read = read_zstd, .close = close_zstd, .raw = raw},
                           .context = ZSTD_createDCtx(),
                           .between_frames = true};
    if (!zstd->context) {
        free(zstd);
        return NULL;
    }
    return &zstd->base;
}

const tm_encoding tm_encoding_zstd = {"zstd", recognises, open_zstd};
