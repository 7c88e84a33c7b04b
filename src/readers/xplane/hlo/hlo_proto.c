#include "hlo_proto.h"

/* Size of an element of each type (XLA's PrimitiveType) [bytes]; 0 if unknown or smaller than a
 * byte. */
static const uint8_t widths[] = {
    [1] = 1,  [2] = 1,  [3] = 2,  [4] = 4,  [5] = 8,  [6] = 1,  [7] = 2,   [8] = 4,
    [9] = 8,  [10] = 2, [11] = 4, [12] = 8, [15] = 8, [16] = 2, [18] = 16, [19] = 1,
    [20] = 1, [23] = 1, [24] = 1, [25] = 1, [28] = 1, [29] = 1,
};

/* ShapeProto */
enum { TYPE = 2, DIMENSIONS = 3, ELEMENTS = 4, TUPLE = 13, N_TYPES = sizeof widths };

static uint64_t type_of(tm_wire_message shape) {
    tm_wire_field field;
    uint64_t type = 0;
    while (tm_wire_next(&shape, &field))
        type = field.number == TYPE && field.type == TM_WIRE_VARINT ? field.value : type;
    return type;
}

bool tm_hlo_is_tuple(tm_wire_message shape) {
    return type_of(shape) == TUPLE;
}

tm_wire_message tm_hlo_element(tm_wire_message shape, size_t index) {
    tm_wire_field field;
    while (tm_wire_next(&shape, &field))
        if (field.number == ELEMENTS && field.type == TM_WIRE_BYTES && index-- == 0)
            return tm_wire_inner(&field);
    return (tm_wire_message){NULL, NULL};
}

static int64_t times(int64_t a, int64_t b) {
    return a < 0 || b < 0 || (b > 0 && a > INT64_MAX / 4 / b) ? -1 : a * b;
}

tm_hlo_array tm_hlo_array_read(tm_wire_message shape) {
    tm_hlo_array array = {.elements = 1};
    uint64_t type = type_of(shape);
    tm_hlo_numbers sizes = tm_hlo_numbers_of(shape, DIMENSIONS);
    int64_t size;
    while (tm_hlo_next_number(&sizes, &size)) {
        bool valid = size >= 0 && size <= INT32_MAX && array.n < TM_HLO_DIMENSIONS;
        array.elements = valid ? times(array.elements, size) : -1;
        if (valid)
            array.sizes[array.n++] = size;
    }
    array.bytes = type < N_TYPES && widths[type] > 0 ? times(array.elements, widths[type]) : -1;
    return array;
}

bool tm_hlo_next_number(tm_hlo_numbers *numbers, int64_t *out) {
    tm_wire_message *packed = &numbers->packed;
    tm_wire_field field;
    uint64_t value;
    while (packed->p == packed->end) {
        if (!tm_wire_next(&numbers->rest, &field))
            return false;
        if (field.number != numbers->field)
            continue;
        if (field.type == TM_WIRE_BYTES)
            *packed = tm_wire_inner(&field);
        *out = (int64_t)field.value;
        if (field.type == TM_WIRE_VARINT)
            return true;
    }
    const uint8_t *p = tm_wire_varint(packed->p, packed->end, &value);
    packed->p = p ? p : packed->end;
    *out = (int64_t)value;
    return p != NULL;
}

tm_wire_message tm_hlo_inner(tm_wire_message message, uint32_t number) {
    tm_wire_message inner = {NULL, NULL};
    tm_wire_field field;
    while (tm_wire_next(&message, &field))
        if (field.number == number && field.type == TM_WIRE_BYTES)
            inner = tm_wire_inner(&field);
    return inner;
}

tm_hlo_instruction tm_hlo_instruction_read(tm_wire_message message) {
    tm_hlo_instruction out = {.all = message};
    tm_wire_field field;
    while (tm_wire_next(&message, &field)) {
        tm_wire_message *inner = field.number == 3    ? &out.shape
                                 : field.number == 30 ? &out.dot
                                 : field.number == 87 ? &out.devices
                                                      : NULL;
        tm_text *text = field.number == 1    ? &out.name
                        : field.number == 2  ? &out.opcode
                        : field.number == 11 ? &out.fusion
                        : field.number == 28 ? &out.target
                        : field.number == 43 ? &out.config
                                             : NULL;
        if (field.type == TM_WIRE_BYTES && inner)
            *inner = tm_wire_inner(&field);
        if (field.type == TM_WIRE_BYTES && text)
            *text = tm_wire_text(&field);
        if (field.type != TM_WIRE_VARINT)
            continue;
        out.id = field.number == 35 ? (int64_t)field.value : out.id;
        out.channel |= field.number == 26 && field.value > 0 && field.value <= INT64_MAX;
        out.global_ids |= field.number == 71 && field.value != 0;
    }
    return out;
}
