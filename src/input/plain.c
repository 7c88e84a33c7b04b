#include "input/decoder.h"

#include <stdlib.h>

static bool recognises(const uint8_t *head, size_t n) {
    (void)head;
    (void)n;
    return true;
}

static tm_status read_plain(tm_decoder *decoder, uint8_t *buffer, size_t capacity, size_t *n,
                            tm_error *err) {
    return tm_raw_read(decoder->raw, buffer, capacity, n, err);
}

static void close_plain(tm_decoder *decoder) {
    free(decoder);
}

static tm_decoder *open_plain(tm_raw *raw) {
    tm_decoder *decoder = malloc(sizeof *decoder);
    if (decoder)
        *decoder = (tm_decoder){.read = read_plain, .close = close_plain, .raw = raw};
    return decoder;
}

const tm_encoding tm_encoding_plain = {"plain", recognises, open_plain};
