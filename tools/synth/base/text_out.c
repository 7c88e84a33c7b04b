/* Number formatting and its buffer. Times have at most 13 digits before the point, so divisions of
 * unsigned numbers by 100 suffice. */
#include "text_out.h"

#include <stdlib.h>

/* All pairs of digits. Two digits at a time need half as many divisions. */
static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

bool tms_out_init(tms_out *out, tms_sink *sink) {
    out->sink = sink;
    out->used = 0;
    out->data = malloc(TMS_OUT_BYTES);
    return out->data != NULL;
}

void tms_out_flush(tms_out *out) {
    tms_sink_write(out->sink, out->data, out->used);
    out->used = 0;
}

void tms_out_free(tms_out *out) {
    free(out->data);
    memset(out, 0, sizeof *out);
}

void tms_out_long(tms_out *out, const char *text, size_t size) {
    tms_out_flush(out);
    /* A text larger than the buffer goes directly to the sink. */
    if (size > TMS_OUT_BYTES) {
        tms_sink_write(out->sink, text, size);
        return;
    }
    memcpy(out->data, text, size);
    out->used = size;
}

char *tms_out_digits(char *end, uint64_t value) {
    char *p = end;

    while (value >= 100) {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + value * 2, 2);
    } else {
        *--p = (char)('0' + value);
    }
    return p;
}

/* Formats microseconds, point and decimals in one field, so that only one copy to the buffer is
 * necessary. */
void tms_out_us(tms_out *out, int64_t ns) {
    uint64_t value = (uint64_t)ns;
    char field[24]; /* 20 bytes for the digits, and 4 bytes for the point and three decimals */
    char *end = field + 20;
    char *digits = tms_out_digits(end, value / 1000);
    uint64_t rest = value % 1000;

    end[0] = '.';
    end[1] = (char)('0' + rest / 100);
    memcpy(end + 2, pairs + rest % 100 * 2, 2);
    tms_out_text(out, digits, (size_t)(field + sizeof field - digits));
}
