#include "gpu_bytes.h"

#include "space.h"

/* Bytes of an element by XLA's PrimitiveType; 0 where it is none, or smaller than a byte. */
static const uint8_t widths[] = {
    [1] = 1,  [2] = 1,  [3] = 2,  [4] = 4,  [5] = 8,  [6] = 1,  [7] = 2,   [8] = 4,
    [9] = 8,  [10] = 2, [11] = 4, [12] = 8, [15] = 8, [16] = 2, [18] = 16, [19] = 1,
    [20] = 1, [23] = 1, [24] = 1, [25] = 1, [28] = 1, [29] = 1,
};
enum { TUPLE = 13, N_TYPES = sizeof widths / sizeof *widths, NESTED_MAX = 8 };

/* HloInstructionProto */
enum { SHAPE = 3, CHANNEL = 26, GROUPS = 49, GLOBAL_IDS = 71, DEVICE_LIST = 87 };

static int64_t times(int64_t a, int64_t b) {
    return a < 0 || b < 0 || (b > 0 && a > INT64_MAX / 4 / b) ? -1 : a * b;
}

/* The numbers of a repeated field, packed or one by one, multiplied; -1 where one is absurd. */
static int64_t multiply(int64_t product, const tm_wire_field *field) {
    uint64_t value;
    if (field->type == TM_WIRE_VARINT)
        return field->value > INT32_MAX ? -1 : times(product, (int64_t)field->value);
    if (field->type != TM_WIRE_BYTES)
        return product;
    const uint8_t *p = field->bytes, *end = p + field->value;
    while (p && p < end && (p = tm_wire_varint(p, end, &value)) != NULL)
        product = value > INT32_MAX ? -1 : times(product, (int64_t)value);
    return p ? product : -1;
}

/* Of all arrays of a shape (ShapeProto: element_type 2, dimensions 3, tuple_shapes 4), of a tuple
 * the first @p most; -1 unknown. */
static int64_t bytes_of(tm_wire_message shape, int most, int nested) {
    tm_wire_message m = shape;
    tm_wire_field field;
    uint64_t type = 0;
    int64_t sum = 0, elements = 1;
    while (tm_wire_next(&m, &field))
        type = field.number == 2 && field.type == TM_WIRE_VARINT ? field.value : type;
    if (type != TUPLE) {
        while (tm_wire_next(&shape, &field))
            elements = field.number == 3 ? multiply(elements, &field) : elements;
        return type < N_TYPES && widths[type] > 0 ? times(elements, widths[type]) : -1;
    }
    while (nested < NESTED_MAX && most > 0 && tm_wire_next(&shape, &field)) {
        if (field.number != 4 || field.type != TM_WIRE_BYTES)
            continue;
        int64_t one = bytes_of(tm_wire_inner(&field), INT32_MAX, nested + 1);
        if (one < 0 || sum > INT64_MAX / 4)
            return -1;
        sum += one;
        most--;
    }
    return sum > 0 ? sum : -1;
}

/* What the instruction tells of its groups. */
typedef struct groups {
    int64_t size; /* of each; 0 where none is told, -1 where they differ */
    bool channel, global_ids;
    tm_wire_message shape;
} groups;

static void add_size(groups *g, int64_t size) {
    g->size = g->size == 0 || g->size == size ? size : -1;
}

/* ReplicaGroup: replica_ids 1. */
static int64_t count_ids(tm_wire_message group) {
    tm_wire_field field;
    uint64_t value;
    int64_t n = 0;
    while (tm_wire_next(&group, &field)) {
        n += field.number == 1 && field.type == TM_WIRE_VARINT;
        if (field.number != 1 || field.type != TM_WIRE_BYTES)
            continue;
        const uint8_t *p = field.bytes, *end = p + field.value;
        for (; p && p < end; n += p != NULL)
            p = tm_wire_varint(p, end, &value);
    }
    return n;
}

/* CollectiveDeviceListProto: replica_groups 1, or counted (iota) 2, with devices of each as 2. */
static void read_list(groups *g, tm_wire_message list) {
    tm_wire_field field, inner;
    while (tm_wire_next(&list, &field)) {
        if (field.type != TM_WIRE_BYTES)
            continue;
        tm_wire_message m = tm_wire_inner(&field);
        if (field.number == 1)
            add_size(g, count_ids(m));
        else if (field.number == 2)
            while (tm_wire_next(&m, &inner))
                if (inner.number == 2 && inner.type == TM_WIRE_VARINT)
                    add_size(g, inner.value <= INT32_MAX ? (int64_t)inner.value : -1);
    }
}

static groups read_groups(tm_wire_message instruction) {
    groups g = {.size = 0};
    tm_wire_field field;
    while (tm_wire_next(&instruction, &field)) {
        if (field.type == TM_WIRE_VARINT) {
            g.channel |= field.number == CHANNEL && field.value > 0 && field.value <= INT64_MAX;
            g.global_ids |= field.number == GLOBAL_IDS && field.value != 0;
        } else if (field.type == TM_WIRE_BYTES) {
            if (field.number == SHAPE)
                g.shape = tm_wire_inner(&field);
            else if (field.number == GROUPS)
                add_size(&g, count_ids(tm_wire_inner(&field)));
            else if (field.number == DEVICE_LIST)
                read_list(&g, tm_wire_inner(&field));
        }
    }
    /* With a channel, and no global numbers, a group has all parts of its replicas. */
    if (g.channel && !g.global_ids)
        g.size = -1;
    return g;
}

static int64_t sum_of(int64_t a, int64_t b) {
    return a < 0 || b < 0 ? -1 : a + b;
}

int64_t tm_gpu_bytes_of(tm_text category, tm_text opcode, tm_wire_message instruction) {
    static const char *const alike[] = {"all-reduce", "all-to-all", "collective-permute",
                                        "collective-broadcast"};
    bool gathers = tm_text_is(category, "all-gather");
    bool scatters = tm_text_is(category, "reduce-scatter"), even = false;
    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        even = even || tm_text_is(category, alike[i]);
    if (!gathers && !scatters && !even)
        return -1;
    const groups g = read_groups(instruction);
    /* What starts one makes a tuple of what it takes, what it gives, and more; but an all-reduce.
     */
    if (opcode.size != category.size && !tm_text_is(opcode, "all-reduce-start"))
        return bytes_of(g.shape, 2, 0);
    int64_t given = bytes_of(g.shape, INT32_MAX, 0);
    if (even)
        return sum_of(given, given);
    if (g.size <= 0 || (gathers && given % g.size != 0))
        return -1;
    return sum_of(given, gathers ? given / g.size : times(given, g.size));
}
