#include "ascend_shapes.h"

#include <string.h>

/* Longer texts, of operators with hundreds of tensors, are cut: shapes are only compared and
 * shown. */
enum { SHAPES_MAX = 512 };

/*
 * Converts the text of "Input Dims" to the form of other profilers: "32,256;64" becomes [[32, 256],
 * [64]].
 * @param out  [4 * size + 4]
 * @return     number of bytes written
 */
static size_t convert(const char *dims, size_t size, char *out) {
    size_t n = 0;
    out[n++] = '[';
    out[n++] = '[';
    for (size_t i = 0; i < size; i++) {
        char c = dims[i];
        size_t wide = c == ';' ? 4 : c == ',' ? 2 : (unsigned char)c > ' ';
        memcpy(out + n, c == ';' ? "], [" : c == ',' ? ", " : &c, wide);
        n += wide;
    }
    out[n++] = ']';
    out[n++] = ']';
    return n;
}

bool tm_ascend_shapes_are(const tm_json_text *dims) {
    for (size_t i = 0; i < dims->size; i++)
        if (!strchr("0123456789,;- \\rnt\r\n\t", dims->bytes[i]))
            return false;
    return dims->size > 0;
}

bool tm_ascend_shapes_add(tm_trace *trace, tm_names *names, tm_vec *scratch,
                          const tm_json_text *dims, uint32_t event) {
    if (!tm_ascend_shapes_are(dims))
        return true;
    /* The decoded text is placed after the space for the result. Each decoded byte takes at most
     * four bytes of the result. */
    if (!tm_vec_reserve(scratch, dims->size * 5 + 4))
        return false;
    char *text = scratch->data, *decoded = text + dims->size * 4 + 4;
    size_t size = tm_json_decode(dims, decoded);
    size = convert(decoded, size, text);
    if (size > SHAPES_MAX) {
        memset(text + SHAPES_MAX - 3, '.', 3);
        size = SHAPES_MAX;
    }
    const tm_shapes_attr attr = {.event = event, .shapes = tm_names_intern(names, text, size)};
    return attr.shapes != TM_NAME_FAILED && tm_vec_append(&trace->attrs[TM_ATTR_SHAPES], &attr, 1);
}
