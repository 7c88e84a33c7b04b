#include "packed_numbers.h"

/* An array is packed in blocks of BLOCK elements. For each lane, a block stores the minimum, and
 * then each element's difference from the minimum. */
enum { BLOCK = 128, LANE = 4, HEAD = LANE + 1, LANES_MOST = 11 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low bytes of a number come first");

/* Packs a lane of [n] elements. Returns the end of the packed bytes. May write up to LANE bytes
 * after this end, too. */
static uint8_t *pack_lane(const char *lane, size_t size, size_t n, uint8_t *out) {
    const char *const end = lane + n * size;
    uint32_t least = UINT32_MAX, most = 0, value;
    for (const char *at = lane; at < end; at += size) {
        memcpy(&value, at, LANE);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    const uint32_t range = most - least;
    const uint8_t bytes = range >> 24 ? 4 : range >> 16 ? 3 : range >> 8 ? 2 : range > 0;
    memcpy(out, &least, LANE);
    out[LANE] = bytes;
    out += HEAD;
    for (const char *at = lane; at < end && bytes > 0; at += size, out += bytes) {
        memcpy(&value, at, LANE);
        value -= least;
        memcpy(out, &value, LANE);
    }
    return out;
}

/* May read LANE bytes more than pack_lane wrote. */
static const uint8_t *unpack_lane(const uint8_t *in, char *lane, size_t size, size_t n) {
    uint32_t least, value;
    memcpy(&least, in, LANE);
    const uint8_t bytes = in[LANE];
    const uint32_t mask = (uint32_t)((UINT64_C(1) << 8 * bytes) - 1);
    in += HEAD;
    for (const char *const end = lane + n * size; lane < end; lane += size, in += bytes) {
        memcpy(&value, in, LANE);
        value = (value & mask) + least;
        memcpy(lane, &value, LANE);
    }
    return in;
}

bool tm_numbers_pack(const tm_number_array *array, tm_vec *out) {
    const char *data = array->data;
    for (size_t left = array->n, n; left > 0; left -= n, data += n * array->size) {
        n = left < BLOCK ? left : BLOCK;
        if (!tm_vec_reserve(out, out->n + (size_t)LANES_MOST * (HEAD + LANE * BLOCK) + LANE))
            return false;
        uint8_t *end = (uint8_t *)out->data + out->n;
        for (size_t k = 0; k < array->lanes; k++)
            end = pack_lane(data + k * LANE, array->size, n, end);
        out->n = (size_t)(end - (uint8_t *)out->data);
    }
    return true;
}

bool tm_numbers_end(tm_vec *out) {
    const bool ok = tm_vec_append(out, "\0\0\0", LANE) != NULL;
    tm_vec_trim(out);
    return ok;
}

const uint8_t *tm_numbers_unpack(const uint8_t *in, const tm_number_array *array) {
    char *data = array->data;
    for (size_t left = array->n, n; left > 0; left -= n, data += n * array->size) {
        n = left < BLOCK ? left : BLOCK;
        for (size_t k = 0; k < array->lanes; k++)
            in = unpack_lane(in, data + k * LANE, array->size, n);
    }
    return in;
}
