#include "json_text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_quote.h"
#include "table/digits.h"

void tm_json_put_text(tm_out *out, tm_text text) {
    if (!out->failed)
        out->failed = !tm_json_quote(&out->bytes, text.bytes, text.size, false);
}

void tm_json_put_int(tm_out *out, int64_t value) {
    char digits[TM_DIGITS_MAX];
    tm_digits_int(value, digits);
    tm_out_string(out, digits);
}

void tm_json_put_real(tm_out *out, double value) {
    char digits[TM_DIGITS_MAX];
    tm_digits_real(value, digits);
    tm_out_string(out, digits);
}

void tm_json_put_float(tm_out *out, float value) {
    char digits[TM_DIGITS_MAX];
    snprintf(digits, sizeof digits, "%.*g", FLT_DIG, (double)value);
    float again = strtof(digits, NULL);
    if (again < value || again > value)
        snprintf(digits, sizeof digits, "%.*g", FLT_DECIMAL_DIG, (double)value);
    tm_out_string(out, digits);
}

void tm_json_put_us(tm_out *out, int64_t ns) {
    char digits[TM_DIGITS_MAX];
    int64_t whole = ns / 1000, rest = ns % 1000;
    const unsigned part = (unsigned)(rest < 0 ? -rest : rest);
    if (ns < 0 && whole == 0)
        tm_out_char(out, '-');
    tm_digits_int(whole, digits);
    size_t n = strlen(digits);
    digits[n++] = '.';
    digits[n++] = (char)('0' + part / 100);
    digits[n++] = (char)('0' + part / 10 % 10);
    digits[n++] = (char)('0' + part % 10);
    tm_out_bytes(out, digits, n);
}

/* 18 digits fit into an int64. A leading zero is not valid JSON. */
bool tm_json_is_int(tm_text text) {
    size_t sign = text.size > 0 && text.bytes[0] == '-', n = text.size - sign;
    if (n == 0 || n > 18 || (text.bytes[sign] == '0' && n > 1))
        return false;
    for (size_t i = sign; i < text.size; i++)
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
    return true;
}
