#include "table/out.h"

#include <string.h>

#include "base/utf8.h"

void tm_out_bytes(tm_out *out, const void *bytes, size_t size) {
    if (size > 0 && !out->failed && !tm_vec_append(&out->bytes, bytes, size))
        out->failed = true;
}

void tm_out_string(tm_out *out, const char *string) {
    tm_out_bytes(out, string, strlen(string));
}

void tm_out_char(tm_out *out, char c) {
    char *at = out->failed ? NULL : tm_vec_push(&out->bytes);
    out->failed = !at;
    if (at)
        *at = c;
}

void tm_out_spaces(tm_out *out, size_t n) {
    static const char spaces[] = "                ";
    for (size_t part; n > 0; n -= part) {
        part = n < sizeof spaces - 1 ? n : sizeof spaces - 1;
        tm_out_bytes(out, spaces, part);
    }
}

static void put_word(tm_out *out, const char *word, size_t size) {
    bool valid = true;
    for (size_t at = 0, length; at < size; at += length) {
        length = tm_utf8_sequence(word + at, size - at, &valid);
        if (!valid || tm_utf8_is_control(word + at, length))
            tm_out_char(out, '?');
        else
            tm_out_bytes(out, word + at, length);
    }
}

void tm_out_wrapped(tm_out *out, const char *text, size_t indent, size_t width) {
    static const char blanks[] = " \n\t";
    size_t column = indent;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t size = strcspn(text, blanks);
        size_t length = tm_utf8_length(text, size);
        if (column > indent && column + 1 + length > width) {
            tm_out_char(out, '\n');
            tm_out_spaces(out, indent);
            column = indent;
        }
        if (column > indent) {
            tm_out_char(out, ' ');
            column++;
        }
        put_word(out, text, size);
        column += length;
        text += size;
    }
    tm_out_char(out, '\n');
}

tm_status tm_out_take(tm_out *out, char **text, size_t *size, tm_error *err) {
    tm_out_char(out, '\0');
    if (out->failed) {
        tm_vec_free(&out->bytes);
        return tm_fail_memory(err);
    }
    tm_vec_trim(&out->bytes);
    *text = out->bytes.data;
    if (size)
        *size = out->bytes.n - 1;
    *out = TM_OUT();
    return TM_OK;
}
