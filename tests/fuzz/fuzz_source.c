/* The input is decoded as its first bytes say: plain, gzip or zstd. The decoded bytes do not depend
 * on the sizes of pieces and reads, and equal what zlib or zstd decodes at once. */
#include <stdbool.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "input/decoder.h"
#include "require.h"

/* Maximum number of decoded bytes that are read. Decompression bombs are not tested here. */
enum { MOST_BYTES = 1 << 17 };

typedef struct decoded {
    uint8_t *bytes; /* [n] borrowed */
    size_t n;
    tm_status status;
    bool cut_short;
    bool too_much; /* more than MOST_BYTES bytes were decoded */
    const char *encoding;
} decoded;

static decoded decode(const uint8_t *data, size_t size, size_t piece, size_t capacity,
                      uint8_t *to) {
    decoded out = {.bytes = to};
    tm_raw raw;
    tm_source *source;
    tm_error err = {.status = TM_OK};
    size_t n = 1;
    tm_raw_open_memory(&raw, data, size);
    raw.piece_bytes = piece;
    require(tm_source_wrap(&raw, "fuzz", &source, &err) == TM_OK);
    while (out.status == TM_OK && n > 0 && out.n <= MOST_BYTES) {
        size_t room = MOST_BYTES + 1 - out.n;
        size_t wanted = capacity < room ? capacity : room;
        out.status = tm_source_read(source, out.bytes + out.n, wanted, &n, &err);
        n = out.status == TM_OK ? n : 0;
        require(n <= wanted);
        out.n += n;
        require(tm_source_offset(source) == (int64_t)out.n);
    }
    if (out.status != TM_OK)
        require(out.status == TM_ERR_INPUT && err.status == TM_ERR_INPUT &&
                err.offset == (int64_t)out.n && err.message[0] != '\0');
    out.too_much = out.n > MOST_BYTES;
    out.cut_short = tm_source_cut_short(source);
    out.encoding = tm_source_encoding(source);
    tm_source_close(source);
    return out;
}

/* Decodes all members of a gzip file with zlib. Zeros may follow the last member. Returns false if
 * zlib rejects the file. */
static bool by_zlib(const uint8_t *data, size_t size, uint8_t *out, size_t *n, bool *too_much) {
    z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = out,
                  .avail_out = MOST_BYTES + 1};
    require(inflateInit2(&z, 15 + 16) == Z_OK);
    int code = Z_OK;
    while (code == Z_OK) {
        code = inflate(&z, Z_NO_FLUSH);
        if (code == Z_STREAM_END && z.avail_in > 0 && *z.next_in == 0x1f)
            code = inflateReset(&z);
    }
    *n = (size_t)(z.next_out - out);
    *too_much = z.avail_out == 0;
    bool accepts = code == Z_STREAM_END;
    while (accepts && z.avail_in > 0 && *z.next_in == 0) {
        z.next_in++;
        z.avail_in--;
    }
    accepts = accepts && z.avail_in == 0;
    inflateEnd(&z);
    return accepts;
}

static bool by_zstd(const uint8_t *data, size_t size, uint8_t *out, size_t *n) {
    *n = ZSTD_decompress(out, MOST_BYTES + 1, data, size);
    return !ZSTD_isError(*n);
}

static void compare(const decoded *a, const uint8_t *data, size_t size) {
    static uint8_t reference[MOST_BYTES + 1];
    size_t n = 0;
    bool too_much = false, accepts;
    if (strcmp(a->encoding, "plain") == 0)
        require(a->status == TM_OK && (a->too_much || a->n == size) &&
                memcmp(a->bytes, data, a->n) == 0);
    if (strcmp(a->encoding, "gzip") == 0) {
        accepts = by_zlib(data, size, reference, &n, &too_much);
        /* Some files that zlib rejects are accepted, too, because ISA-L ignores reserved flags. */
        if (accepts && !too_much)
            require(a->status == TM_OK && a->n == n);
        size_t common = a->n < n ? a->n : n;
        require(memcmp(a->bytes, reference, common) == 0);
    }
    if (strcmp(a->encoding, "zstd") == 0 && by_zstd(data, size, reference, &n) &&
        a->status == TM_OK && !a->too_much)
        require(a->n == n && memcmp(a->bytes, reference, n) == 0);
}

/* How many bytes of a damaged stream are decoded depends on the size of the reads. So may the
 * status of a zstd frame: if an empty last block makes the content shorter than the header says,
 * libzstd 1.5 notices this only if it gets the whole frame. */
static void same(const decoded *a, const decoded *b) {
    size_t common = a->n < b->n ? a->n : b->n;
    require(memcmp(a->bytes, b->bytes, common) == 0);
    require(a->status == b->status || strcmp(a->encoding, "zstd") == 0);
    require(a->status != TM_OK || b->status != TM_OK || a->n == b->n);
    if (a->status == TM_OK || a->too_much)
        require(!a->cut_short);
}

/* Returns whether a zstd frame has a large window, which takes time and shows no more faults. */
static bool wants_large_window(const uint8_t *data, size_t size) {
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size < 10 || memcmp(data, magic, sizeof magic) != 0)
        return false;
    bool single_segment = data[4] & 0x20; /* the window is the whole content. Its size follows */
    return single_segment ? data[4] >> 6 >= 2 && (data[7] > 0 || data[8] > 0) : data[5] >> 3 > 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t buffers[2][MOST_BYTES + 1]; /* static, because allocating takes long */
    if (size == 0 || wants_large_window(data, size))
        return 0;
    decoded whole = decode(data, size, TM_RAW_PIECE, MOST_BYTES, buffers[0]);
    compare(&whole, data, size);
    /* Reading single bytes is slow, and shows its faults with small inputs, too. */
    bool small = size < 1024 && whole.n < 8192;
    decoded pieces = decode(data, size, small ? 1 : 509, small ? 7 : 4099, buffers[1]);
    same(&whole, &pieces);
    return 0;
}
