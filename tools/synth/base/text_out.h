/* Buffered text output with its own number formatting: printf would take longer than writing to the
 * disk. */
#ifndef TMERGE_SYNTH_TEXT_OUT_H
#define TMERGE_SYNTH_TEXT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "file_sink.h"

/* Large enough that writes are rare, small enough for the cache. */
#define TMS_OUT_BYTES ((size_t)1 << 18)

typedef struct tms_out {
    tms_sink *sink; /* borrowed */
    char *data;     /* [TMS_OUT_BYTES], owned */
    size_t used;
} tms_out;

/* Makes an empty buffer that writes to a sink. Returns false when out of memory. */
bool tms_out_init(tms_out *out, tms_sink *sink);

/* Writes the buffer to the sink. */
void tms_out_flush(tms_out *out);

/* Frees the buffer and drops text that is not yet written. Accepts a zeroed buffer. */
void tms_out_free(tms_out *out);

/* Appends text of any length. */
void tms_out_long(tms_out *out, const char *text, size_t size);

/* Writes the decimal digits of a number before @p end, where 20 bytes must be free. Returns the
 * address of the first digit. */
char *tms_out_digits(char *end, uint64_t value);

static inline void tms_out_text(tms_out *out, const char *text, size_t size) {
    if (size > TMS_OUT_BYTES - out->used) {
        tms_out_long(out, text, size);
        return;
    }
    memcpy(out->data + out->used, text, size);
    out->used += size;
}

static inline void tms_out_string(tms_out *out, const char *text) {
    tms_out_text(out, text, strlen(text));
}

static inline void tms_out_int(tms_out *out, int64_t value) {
    char field[20];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *end = field + sizeof field;
    char *digits = tms_out_digits(end, magnitude);

    if (value < 0) {
        tms_out_text(out, "-", 1);
    }
    tms_out_text(out, digits, (size_t)(end - digits));
}

/* Appends a nonnegative time [ns] as microseconds with exactly three decimals. */
void tms_out_us(tms_out *out, int64_t ns);

#endif
