#include "input/decoder.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* Maximum size of a piece of output [B]. ISA-L counts bytes in 32 bits, and some of its counters
 * are signed. */
static const uint32_t most_at_once = (uint32_t)1 << 30;

typedef enum gzip_place { IN_HEADER, IN_MEMBER, BEHIND_MEMBER, IN_PADDING, AT_END } gzip_place;

typedef struct gzip_decoder {
    tm_decoder base;
    gzip_place place;
    bool no_more_input;
    bool had_member;
    /* state of reading a header, kept because a header may extend over two pieces */
    struct isal_gzip_header header;
    struct inflate_state state;
} gzip_decoder;

static bool recognises(const uint8_t *head, size_t n) {
    return n >= 2 && head[0] == 0x1f && head[1] == 0x8b;
}

/* Reads the header with a separate call and lets isal_inflate check only the trailer. If ISA-L 2.30
 * reads headers itself (ISAL_GZIP), it forgets a header's flags when a piece ends inside it, and
 * then rejects valid files whose header has a checksum. */
static void begin_member(gzip_decoder *gzip) {
    uint8_t *next = gzip->state.next_in;
    uint32_t left = gzip->state.avail_in;
    isal_inflate_reset(&gzip->state);
    gzip->state.next_in = next;
    gzip->state.avail_in = left;
    gzip->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&gzip->header);
    gzip->place = IN_HEADER;
}

/* Fetches input if no input is left. If there is still no input afterwards, the file has ended. */
static tm_status refill(gzip_decoder *gzip, tm_error *err) {
    if (gzip->state.avail_in > 0 || gzip->no_more_input)
        return TM_OK;
    const uint8_t *bytes = NULL;
    size_t n = 0;
    TM_TRY(tm_raw_next(gzip->base.raw, &bytes, &n, err));
    gzip->no_more_input = n == 0;
    gzip->state.next_in =
        (uint8_t *)(uintptr_t)bytes;    /* the field is not const, but ISA-L only reads */
    gzip->state.avail_in = (uint32_t)n; /* a piece is far below 4 GiB */
    return TM_OK;
}

static tm_status fail_cut_short(gzip_decoder *gzip, tm_error *err) {
    gzip->base.cut_short = true;
    return tm_fail(err, TM_ERR_INPUT, NULL, -1,
                   "gzip stream is cut short: the file ends inside a member");
}

static tm_status fail_damaged(gzip_decoder *gzip, int code, tm_error *err) {
    const char *message = "gzip stream is damaged";
    if (code == ISAL_INCORRECT_CHECKSUM)
        message = gzip->place == IN_HEADER ? "gzip header checksum is wrong: the file is damaged"
                                           : "gzip checksum is wrong: the file is damaged";
    else if (code == ISAL_INVALID_WRAPPER && gzip->had_member)
        message = "other data follows the gzip stream";
    else if (code == ISAL_INVALID_WRAPPER)
        message = "gzip header is damaged";
    else if (code == ISAL_UNSUPPORTED_METHOD)
        message = "gzip member has an unknown compression method";
    return tm_fail(err, TM_ERR_INPUT, NULL, -1, "%s", message);
}

static tm_status read_header(gzip_decoder *gzip, tm_error *err) {
    if (gzip->state.avail_in == 0)
        return fail_cut_short(gzip, err);
    int code = isal_read_gzip_header(&gzip->state, &gzip->header);
    if (code == ISAL_DECOMP_OK)
        gzip->place = IN_MEMBER;
    else if (code != ISAL_END_INPUT)
        return fail_damaged(gzip, code, err);
    return TM_OK;
}

/* ISA-L does not report missing input: it keeps returning OK without progress. */
static tm_status inflate_some(gzip_decoder *gzip, uint8_t *buffer, size_t capacity, size_t *n,
                              tm_error *err) {
    struct inflate_state *state = &gzip->state;
    uint32_t room = capacity < most_at_once ? (uint32_t)capacity : most_at_once;
    uint32_t input = state->avail_in;
    state->next_out = buffer;
    state->avail_out = room;
    int code = isal_inflate(state);
    *n = room - state->avail_out;
    if (code < 0)
        return fail_damaged(gzip, code, err);
    if (state->block_state == ISAL_BLOCK_FINISH)
        gzip->place = BEHIND_MEMBER;
    else if (*n == 0 && state->avail_in == input)
        return input == 0 ? fail_cut_short(gzip, err) : fail_damaged(gzip, code, err);
    return TM_OK;
}

/* A member is followed by another member, by zero padding (from tapes and block devices), or by the
 * end. Garbage is detected here because ISA-L waits for the ten bytes of a header before it checks
 * them. */
static tm_status look_after(gzip_decoder *gzip, tm_error *err) {
    const struct inflate_state *state = &gzip->state;
    gzip->had_member = true;
    if (state->avail_in == 0)
        gzip->place = AT_END;
    else if (state->next_in[0] == 0)
        gzip->place = IN_PADDING;
    else if (state->next_in[0] == 0x1f)
        begin_member(gzip);
    else
        return fail_damaged(gzip, ISAL_INVALID_WRAPPER, err);
    return TM_OK;
}

static tm_status skip_padding(gzip_decoder *gzip, tm_error *err) {
    struct inflate_state *state = &gzip->state;
    if (state->avail_in == 0)
        gzip->place = AT_END;
    for (; state->avail_in > 0; state->avail_in--)
        if (*state->next_in++ != 0)
            return fail_damaged(gzip, ISAL_INVALID_WRAPPER, err);
    return TM_OK;
}

static tm_status read_gzip(tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                           tm_error *err) {
    gzip_decoder *gzip = (gzip_decoder *)decoder;
    tm_status status = TM_OK;
    *n = 0;
    while (status == TM_OK && *n < capacity && gzip->place != AT_END) {
        size_t added = 0;
        status = refill(gzip, err);
        if (status != TM_OK)
            break;
        if (gzip->place == IN_HEADER)
            status = read_header(gzip, err);
        else if (gzip->place == IN_MEMBER)
            status = inflate_some(gzip, buffer + *n, capacity - *n, &added, err);
        else if (gzip->place == BEHIND_MEMBER)
            status = look_after(gzip, err);
        else
            status = skip_padding(gzip, err);
        *n += added;
    }
    return status;
}

static void close_gzip(tm_decoder *decoder) {
    free(decoder);
}

static tm_decoder *open_gzip(tm_raw *raw) {
    /* The memory must be zeroed, because a damaged stream can make ISA-L copy from a window that
     * was never written. */
    gzip_decoder *gzip = calloc(1, sizeof *gzip);
    if (!gzip)
        return NULL;
    gzip->base = (tm_decoder){.read = read_gzip, .close = close_gzip, .raw = raw};
    isal_inflate_init(&gzip->state);
    gzip->state.next_in = NULL;
    gzip->state.avail_in = 0;
    begin_member(gzip);
    return &gzip->base;
}

const tm_encoding tm_encoding_gzip = {"gzip", recognises, open_gzip};
