#include "gpu_programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sorted.h"
#include "gpu_bytes.h"
#include "programs.h"

/* HloModuleProto.computations, HloComputationProto.instructions */
static const tm_program_path path = {TM_PROGRAM_MODULE, 3, 2};

/* Longer ones are constants, which no kernel runs. */
enum { INSTRUCTION_MAX = 1 << 20 };

/* HloInstructionProto */
enum { NAME = 1, OPCODE = 2, SHAPE = 3, FUSION_KIND = 11 };

typedef struct key {
    int64_t program;
    uint32_t name, unused;
} key;

/* An operation that was run, and what its program tells. */
typedef struct operation {
    int64_t program;
    tm_text name;
    uint32_t number;          /* in tm_gpu_programs.operations */
    uint32_t category, shape; /* name ids */
    int64_t bytes;            /* of a collective; -1 not told */
} operation;

tm_gpu_programs tm_gpu_programs_make(void) {
    return (tm_gpu_programs){TM_KEYS(key), TM_VEC(uint32_t)};
}

void tm_gpu_programs_free(tm_gpu_programs *programs) {
    tm_keys_free(&programs->operations);
    tm_vec_free(&programs->of);
}

bool tm_gpu_programs_add(tm_gpu_programs *programs, int64_t program, uint32_t name) {
    const key k = {.program = program, .name = name};
    uint32_t number = TM_NO_KEY;
    if (program >= 0 && name != TM_NO_NAME) {
        number = tm_keys_add(&programs->operations, &k);
        if (number == TM_NO_KEY)
            return false;
    }
    return tm_vec_append(&programs->of, &number, 1);
}

static int by_text(tm_text a, tm_text b) {
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.bytes, b.bytes, common) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int by_program(const void *a, const void *b) {
    const operation *x = a, *y = b;
    int order = tm_order_i64(x->program, y->program);
    return order ? order : by_text(x->name, y->name);
}

/* Words of XLA's PrimitiveType. */
static const char *const types[] = {
    [1] = "pred",        [2] = "s8",          [3] = "s16",
    [4] = "s32",         [5] = "s64",         [6] = "u8",
    [7] = "u16",         [8] = "u32",         [9] = "u64",
    [10] = "f16",        [11] = "f32",        [12] = "f64",
    [15] = "c64",        [16] = "bf16",       [17] = "token",
    [18] = "c128",       [19] = "f8e5m2",     [20] = "f8e4m3fn",
    [21] = "s4",         [22] = "u4",         [23] = "f8e4m3b11fnuz",
    [24] = "f8e5m2fnuz", [25] = "f8e4m3fnuz", [26] = "s2",
    [27] = "u2",         [28] = "f8e4m3",     [29] = "f8e3m4",
    [30] = "s1",         [31] = "u1",         [32] = "f4e2m1fn",
    [33] = "f8e8m0fnu",
};
enum { TUPLE = 13, N_TYPES = sizeof types / sizeof *types, NESTED_MAX = 8 };

/* A text that grows; what does not fit is left out. */
typedef struct draft {
    char text[512];
    size_t n;
} draft;

static void put(draft *d, const char *text) {
    size_t size = strlen(text);
    if (d->n + size >= sizeof d->text)
        return;
    memcpy(d->text + d->n, text, size + 1);
    d->n += size;
}

static void put_number(draft *d, uint64_t value, bool *first) {
    char text[24];
    snprintf(text, sizeof text, "%s%" PRIu64, *first ? "" : ",", value);
    *first = false;
    put(d, text);
}

/* ShapeProto: element_type 2, dimensions 3, tuple_shapes 4: "(bf16[8,2],s8[64])". */
static void write_shape(draft *d, tm_wire_message shape, int nested) {
    tm_wire_message m = shape;
    tm_wire_field field;
    uint64_t type = 0, value;
    bool first = true;
    while (tm_wire_next(&m, &field))
        type = field.number == 2 && field.type == TM_WIRE_VARINT ? field.value : type;
    bool tuple = type == TUPLE && nested < NESTED_MAX;
    if (!tuple && (type >= N_TYPES || !types[type]))
        return;
    put(d, tuple ? "(" : types[type]);
    put(d, tuple ? "" : "[");
    for (m = shape; tm_wire_next(&m, &field);) {
        if (tuple && field.number == 4 && field.type == TM_WIRE_BYTES) {
            put(d, first ? "" : ",");
            first = false;
            write_shape(d, tm_wire_inner(&field), nested + 1);
        } else if (!tuple && field.number == 3 && field.type == TM_WIRE_VARINT) {
            put_number(d, field.value, &first);
        } else if (!tuple && field.number == 3 && field.type == TM_WIRE_BYTES) {
            const uint8_t *p = field.bytes, *end = p + field.value;
            while (p && p < end && (p = tm_wire_varint(p, end, &value)) != NULL)
                put_number(d, value, &first);
        }
    }
    put(d, tuple ? ")" : "]");
}

static bool is_among(tm_text word, const char *const *words) {
    while (*words && !tm_text_is(word, *words))
        words++;
    return *words != NULL;
}

/* The category that XLA gives an instruction (HloInstruction::ToCategory); but of what is
 * asynchronous without -start: on a GPU the kernel is the whole of it. */
static tm_text category_of(tm_text name, tm_text opcode, tm_text fusion) {
    static const char *const formatting[] = {"transpose", "copy", "reshape", "dynamic-reshape",
                                             NULL};
    static const char *const elementwise[] = {"abs",
                                              "add",
                                              "and",
                                              "atan2",
                                              "bitcast-convert",
                                              "cbrt",
                                              "ceil",
                                              "clamp",
                                              "compare",
                                              "complex",
                                              "convert",
                                              "cosine",
                                              "count-leading-zeros",
                                              "divide",
                                              "erf",
                                              "exponential",
                                              "exponential-minus-one",
                                              "floor",
                                              "imag",
                                              "is-finite",
                                              "log",
                                              "log-plus-one",
                                              "logistic",
                                              "maximum",
                                              "minimum",
                                              "multiply",
                                              "negate",
                                              "not",
                                              "or",
                                              "popcnt",
                                              "power",
                                              "real",
                                              "reduce-precision",
                                              "remainder",
                                              "round-nearest-afz",
                                              "round-nearest-even",
                                              "rsqrt",
                                              "select",
                                              "shift-left",
                                              "shift-right-arithmetic",
                                              "shift-right-logical",
                                              "sign",
                                              "sine",
                                              "sqrt",
                                              "stochastic-convert",
                                              "subtract",
                                              "tan",
                                              "tanh",
                                              "xor",
                                              NULL};
    static const char *const fusions[][2] = {{"kLoop", "loop fusion"},
                                             {"kInput", "input fusion"},
                                             {"kOutput", "output fusion"},
                                             {"kCustom", "custom fusion"}};
    static const char start[] = "-start";
    for (size_t i = 0; i < sizeof fusions / sizeof *fusions; i++)
        if (tm_text_is(opcode, "fusion") && tm_text_is(fusion, fusions[i][0]))
            return (tm_text){fusions[i][1], strlen(fusions[i][1])};
    if (is_among(opcode, formatting))
        return (tm_text){"data formatting", 15};
    if (is_among(opcode, elementwise))
        return (tm_text){"non-fusion elementwise", 22};
    tm_text word = tm_text_is(opcode, "async-start") ? name : opcode;
    for (size_t i = 1; i + sizeof start - 1 <= word.size; i++)
        if (memcmp(word.bytes + i, start, sizeof start - 1) == 0)
            return (tm_text){word.bytes, i};
    return opcode;
}

typedef struct reading {
    tm_xread *r;
    operation *operations; /* of the program that is walked */
    size_t n;
} reading;

static operation *find(const reading *at, tm_text name) {
    size_t low = 0, high = at->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = by_text(at->operations[middle].name, name);
        if (order == 0)
            return &at->operations[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static tm_status take(void *context, const tm_xmeta *program, tm_wire *wire, tm_wire_field *field,
                      tm_error *err) {
    reading *at = context;
    tm_text texts[FUSION_KIND + 1] = {{"", 0}};
    draft shape = {.n = 0};
    tm_wire_field part;
    (void)program;
    if (field->value > INSTRUCTION_MAX)
        return TM_OK;
    TM_TRY(tm_wire_take(wire, field, err));
    for (tm_wire_message m = tm_wire_inner(field); tm_wire_next(&m, &part);)
        if (part.type == TM_WIRE_BYTES && part.number <= FUSION_KIND)
            texts[part.number] = tm_wire_text(&part);
    operation *found = texts[OPCODE].size > 0 ? find(at, texts[NAME]) : NULL;
    if (!found)
        return TM_OK;
    write_shape(&shape,
                (tm_wire_message){(const uint8_t *)texts[SHAPE].bytes,
                                  (const uint8_t *)texts[SHAPE].bytes + texts[SHAPE].size},
                0);
    tm_text category = category_of(texts[NAME], texts[OPCODE], texts[FUSION_KIND]);
    found->bytes = tm_gpu_bytes_of(category, texts[OPCODE], tm_wire_inner(field));
    found->category = tm_xread_intern(at->r, category);
    found->shape = tm_xread_intern(at->r, (tm_text){shape.text, shape.n});
    return found->category == TM_NAME_FAILED || found->shape == TM_NAME_FAILED ? tm_fail_memory(err)
                                                                               : TM_OK;
}

/* The operations by program and name; NULL when memory is out. */
static operation *list(const tm_gpu_programs *programs, const tm_names *names) {
    size_t n = programs->operations.keys.n;
    operation *v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        const key *k = (const key *)programs->operations.keys.data + i;
        v[i] = (operation){.program = k->program,
                           .name = tm_names_text(names, k->name),
                           .number = (uint32_t)i,
                           .category = TM_NO_NAME,
                           .shape = TM_NO_NAME,
                           .bytes = -1};
    }
    if (v && n > 1)
        qsort(v, n, sizeof *v, by_program);
    return v;
}

static bool set_rows(const tm_gpu_programs *programs, const operation *v, tm_xread *r) {
    tm_xla_attr *attrs = r->trace->attrs[TM_ATTR_XLA].data;
    const uint32_t *of = programs->of.data;
    size_t n = programs->operations.keys.n;
    uint32_t *place = malloc((n + 1) * sizeof *place);
    for (size_t i = 0; place && i < n; i++)
        place[v[i].number] = (uint32_t)i;
    for (size_t i = 0; place && i < programs->of.n; i++)
        if (of[i] != TM_NO_KEY) {
            const operation *own = &v[place[of[i]]];
            attrs[i].category = own->category;
            attrs[i].bytes = own->bytes;
            attrs[i].shape = own->shape != TM_NO_NAME ? own->shape : attrs[i].shape;
        }
    free(place);
    return place != NULL;
}

tm_status tm_gpu_programs_tell(const tm_gpu_programs *programs, tm_xread *r, tm_error *err) {
    size_t n = programs->operations.keys.n;
    operation *v = list(programs, r->names);
    tm_status status = v ? TM_OK : tm_fail_memory(err);
    for (size_t first = 0, end; first < n && status == TM_OK; first = end) {
        for (end = first + 1; end < n && v[end].program == v[first].program;)
            end++;
        reading at = {r, v + first, end - first};
        status = tm_programs_walk(&r->space, v[first].program, path, take, &at, err);
    }
    if (status == TM_OK && !set_rows(programs, v, r))
        status = tm_fail_memory(err);
    free(v);
    return status;
}
