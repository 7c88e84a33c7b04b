#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
enum { REPLACEMENT_BYTES = sizeof replacement - 1 };

/* The bytes that follow a lead byte: their number, and the valid range of the first of them. */
typedef struct tail {
    size_t size;
    unsigned char low;
    unsigned char high;
} tail;

static tail tail_of(unsigned char lead) {
    if (lead >= 0xC2 && lead <= 0xDF)
        return (tail){1, 0x80, 0xBF};
    if (lead == 0xE0) /* lower bytes would make an overlong form */
        return (tail){2, 0xA0, 0xBF};
    if (lead == 0xED) /* higher bytes would make a surrogate */
        return (tail){2, 0x80, 0x9F};
    if (lead >= 0xE1 && lead <= 0xEF)
        return (tail){2, 0x80, 0xBF};
    if (lead == 0xF0) /* lower bytes would make an overlong form */
        return (tail){3, 0x90, 0xBF};
    if (lead >= 0xF1 && lead <= 0xF3)
        return (tail){3, 0x80, 0xBF};
    if (lead == 0xF4) /* higher bytes would make a code point above U+10FFFF */
        return (tail){3, 0x80, 0x8F};
    return (tail){0, 0, 0};
}

/* Fast path: nearly all text is ASCII, and a call per byte would dominate. */
static bool is_ascii(char byte) {
    return (unsigned char)byte < 0x80;
}

size_t tm_utf8_sequence(const char *bytes, size_t size, bool *valid) {
    unsigned char lead = (unsigned char)bytes[0];
    *valid = lead < 0x80;
    if (*valid)
        return 1;
    tail rest = tail_of(lead);
    size_t length = 1;
    while (length <= rest.size && length < size) {
        unsigned char next = (unsigned char)bytes[length];
        unsigned char low = length == 1 ? rest.low : 0x80;
        unsigned char high = length == 1 ? rest.high : 0xBF;
        if (next < low || next > high)
            return length;
        length++;
    }
    *valid = rest.size > 0 && length == rest.size + 1;
    return length;
}

bool tm_utf8_is_control(const char *sequence, size_t size) {
    unsigned char first = (unsigned char)sequence[0];
    if (size == 1)
        return first < 0x20 || first == 0x7F;
    return size == 2 && first == 0xC2 && (unsigned char)sequence[1] < 0xA0;
}

size_t tm_utf8_length(const char *bytes, size_t size) {
    size_t length = 0;
    bool valid = true;
    for (size_t at = 0; at < size; length++)
        at += is_ascii(bytes[at]) ? 1 : tm_utf8_sequence(bytes + at, size - at, &valid);
    return length;
}

/* Returns whether all of eight bytes are ASCII and none is 0. Subtracting 1 from each byte borrows
 * only at a byte that is 0. */
static bool are_plain(const char *bytes) {
    const uint64_t ones = 0x0101010101010101, tops = ones << 7;
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return ((word | (word - ones)) & tops) == 0;
}

/* Returns the number of leading bytes that can be copied unchanged. */
static size_t plain_run(const char *bytes, size_t size) {
    size_t run = 0;
    while (size - run >= sizeof(uint64_t) && are_plain(bytes + run))
        run += sizeof(uint64_t);
    while (run < size && bytes[run] && is_ascii(bytes[run]))
        run++;
    return run;
}

size_t tm_utf8_repair(const char *bytes, size_t size, char *out) {
    size_t written = 0;
    for (size_t at = 0; at < size;) {
        size_t length = plain_run(bytes + at, size - at);
        bool kept = length > 0;
        if (!kept) {
            length = tm_utf8_sequence(bytes + at, size - at, &kept);
            kept = kept && bytes[at];
        }
        size_t n = kept ? length : REPLACEMENT_BYTES;
        if (out)
            memcpy(out + written, kept ? bytes + at : replacement, n);
        written += n;
        at += length;
    }
    if (out)
        out[written] = '\0';
    return written;
}
