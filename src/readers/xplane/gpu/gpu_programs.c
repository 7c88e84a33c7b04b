#include "gpu_programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/sorted.h"
#include "gpu_work.h"
#include "readers/xplane/hlo/programs.h"

/* Field of the computations in HloModuleProto, and fields of HloComputationProto. */
static const tm_program_path path = {TM_PROGRAM_MODULE, 3, TM_PROGRAM_EACH};
enum { INSTRUCTION = 2, COMPUTATION_ID = 5 };

/* Instructions larger than this [bytes] are constants, for which there is no kernel. */
enum { INSTRUCTION_MAX = 1 << 20 };

typedef struct key {
    int64_t program;
    uint32_t name, unused;
} key;

/* An operation that ran, and what its program says about it. */
typedef struct operation {
    int64_t program;
    tm_text name;
    uint32_t number;          /* index in tm_gpu_programs.operations */
    uint32_t category, shape; /* name ids */
    tm_gpu_work_of work;
    tm_gpu_collective collective;
    uint32_t kernel;    /* id of the name of the operation's longest kernel, which does the work */
    int64_t longest_ns; /* duration of this kernel; -1: there is no kernel */
} operation;

tm_gpu_programs tm_gpu_programs_make(void) {
    return (tm_gpu_programs){TM_KEYS(key), TM_VEC(uint32_t), TM_KEYS(tm_gpu_run), {-1, -1}};
}

void tm_gpu_programs_free(tm_gpu_programs *programs) {
    tm_keys_free(&programs->operations);
    tm_vec_free(&programs->of);
    tm_keys_free(&programs->runs);
}

bool tm_gpu_programs_ran(tm_gpu_programs *programs, int64_t program, int64_t device) {
    const tm_gpu_run run = {program, device};
    if (program < 0 || (program == programs->last.program && device == programs->last.device))
        return true;
    programs->last = run;
    return tm_keys_add(&programs->runs, &run) != TM_NO_KEY;
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

/* Names of element types (XLA's PrimitiveType). */
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

/* A bounded text; parts that do not fit are dropped. */
typedef struct text_buffer {
    char text[512];
    size_t n;
} text_buffer;

static void put(text_buffer *d, const char *text) {
    size_t size = strlen(text);
    if (d->n + size >= sizeof d->text)
        return;
    memcpy(d->text + d->n, text, size + 1);
    d->n += size;
}

static void put_number(text_buffer *d, uint64_t value, bool *first) {
    char text[24];
    snprintf(text, sizeof text, "%s%" PRIu64, *first ? "" : ",", value);
    *first = false;
    put(d, text);
}

/* Writes a ShapeProto as text, such as "(bf16[8,2],s8[64])". Its fields are: 2 element_type, 3
 * dimensions, 4 tuple_shapes. */
static void write_shape(text_buffer *d, tm_wire_message shape, int nested) {
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

/* Returns the category that XLA gives to an instruction (HloInstruction::ToCategory). For an
 * asynchronous instruction, leaves out -start, because on a GPU the kernel is the whole
 * operation. */
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
    operation *operations; /* operations of the current program */
    size_t n;
    tm_gpu_work work;
    tm_gpu_collectives *collectives;
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

/* Sets the data of an operation from its instruction. */
static bool learn(reading *at, const tm_hlo_instruction *of, operation *out) {
    text_buffer shape = {.n = 0};
    write_shape(&shape, of->shape, 0);
    tm_text category = category_of(of->name, of->opcode, of->fusion);
    out->category = tm_xread_intern(at->r, category);
    out->shape = tm_xread_intern(at->r, (tm_text){shape.text, shape.n});
    return out->category != TM_NAME_FAILED && out->shape != TM_NAME_FAILED &&
           tm_gpu_collective_read(at->collectives, out->program, category, of, &out->collective);
}

static tm_status take(void *context, const tm_xmeta *program, tm_wire *wire, tm_wire_field *field,
                      tm_error *err) {
    reading *at = context;
    tm_gpu_work_of work;
    (void)program;
    if (field->type == TM_WIRE_VARINT) {
        bool ends = field->number == COMPUTATION_ID;
        return !ends || tm_gpu_work_end(&at->work, (int64_t)field->value) ? TM_OK
                                                                          : tm_fail_memory(err);
    }
    if (field->number != INSTRUCTION || field->value > INSTRUCTION_MAX)
        return TM_OK;
    TM_TRY(tm_wire_take(wire, field, err));
    const tm_hlo_instruction of = tm_hlo_instruction_read(tm_wire_inner(field));
    operation *found = of.opcode.size > 0 ? find(at, of.name) : NULL;
    bool ok = tm_gpu_work_add(&at->work, &of, &work);
    if (found) {
        found->work = work;
        ok = ok && learn(at, &of, found);
    }
    return ok ? TM_OK : tm_fail_memory(err);
}

/* Lists the operations, sorted by program and name; NULL if out of memory. */
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
                           .work = {-1, -1},
                           .collective = {.group = TM_NO_NAME},
                           .longest_ns = -1};
    }
    if (v && n > 1)
        qsort(v, n, sizeof *v, by_program);
    return v;
}

/* Finds the kernel that does the work of an operation. If a run has several kernels, this is the
 * longest one. */
static void find_kernel(const tm_raw_event *event, operation *own) {
    if (event->category == TM_CAT_KERNEL && event->duration_ns > own->longest_ns) {
        own->longest_ns = event->duration_ns;
        own->kernel = event->name;
    }
}

/* Sets the size of a collective: in elements if its shape has one element type, else in bytes. */
static bool set_size(tm_names *names, const operation *own, tm_collective_attr *attr) {
    tm_hlo_size size = tm_hlo_size_of(tm_names_text(names, own->shape));
    bool typed = own->shape != TM_NO_NAME && size.dtype && size.elements > 0;
    int64_t width = typed ? size.bytes / size.elements : 1;
    if (own->collective.in_bytes < 0 || own->collective.out_bytes < 0)
        return true;
    attr->in_elements = own->collective.in_bytes / width;
    attr->out_elements = own->collective.out_bytes / width;
    attr->dtype = tm_names_intern_string(names, typed ? size.dtype : "Byte");
    return attr->dtype != TM_NAME_FAILED;
}

/* Makes a permutation between two devices a send, a receive or an exchange. The other device is the
 * only peer, so it gets rank 0. (In a permutation of more devices, a kernel may belong to two
 * pairs.) */
static const char *set_ends(const tm_gpu_collective *c, tm_collective_attr *attr) {
    int ends = c->n_members == 2 ? c->ends : 0;
    attr->src_rank = ends & TM_HLO_RECEIVES ? 0 : -1;
    attr->dst_rank = ends & TM_HLO_SENDS ? 0 : -1;
    return ends == TM_HLO_SENDS ? "send" : ends == TM_HLO_RECEIVES ? "recv" : c->word;
}

/* Adds a collective for a kernel whose group is known. The operation is identified by its name and
 * the name of its program. Unlike program ids, these names are equal on all ranks. */
static bool add_collective(tm_xread *r, const operation *own, const tm_xla_attr *of) {
    const tm_raw_event *events = r->trace->events.data;
    tm_collective_attr attr = tm_collective_bare(of->event);
    tm_text program = tm_names_text(r->names, of->program);
    if (own->collective.group == TM_NO_NAME || events[of->event].category != TM_CAT_KERNEL)
        return true;
    uint64_t hash = tm_hash_mixed(1, program.bytes, program.size);
    hash = tm_hash_mixed(hash, own->name.bytes, own->name.size);
    attr.seq = TM_SEQ_REPEATED;
    memcpy(&attr.comms_id, &hash, sizeof attr.comms_id);
    attr.comms_id = attr.comms_id ? attr.comms_id : 1;
    attr.group = own->collective.group;
    attr.group_size = own->collective.n_members;
    attr.name = tm_names_intern_string(r->names, set_ends(&own->collective, &attr));
    return attr.name != TM_NAME_FAILED && set_size(r->names, own, &attr) &&
           tm_vec_append(&r->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}

static bool set_row(tm_xread *r, const operation *own, tm_xla_attr *attr) {
    const tm_raw_event *event = (const tm_raw_event *)r->trace->events.data + attr->event;
    const tm_gpu_collective *c = &own->collective;
    bool works =
        own->longest_ns >= 0 && event->category == TM_CAT_KERNEL && event->name == own->kernel;
    attr->category = own->category;
    attr->shape = own->shape != TM_NO_NAME ? own->shape : attr->shape;
    attr->flops = works || own->work.flop < 0 ? own->work.flop : 0;
    attr->bytes = works || own->work.bytes < 0 ? own->work.bytes : 0;
    if (c->word)
        attr->bytes = c->in_bytes >= 0 && c->out_bytes >= 0 ? c->in_bytes + c->out_bytes : -1;
    return add_collective(r, own, attr);
}

static bool set_rows(const tm_gpu_programs *programs, operation *v, tm_xread *r) {
    tm_xla_attr *attrs = r->trace->attrs[TM_ATTR_XLA].data;
    const tm_raw_event *events = r->trace->events.data;
    const uint32_t *of = programs->of.data;
    size_t n = programs->operations.keys.n;
    uint32_t *place = malloc((n + 1) * sizeof *place);
    bool ok = place != NULL;
    for (size_t i = 0; ok && i < n; i++)
        place[v[i].number] = (uint32_t)i;
    for (size_t i = 0; ok && i < programs->of.n; i++)
        if (of[i] != TM_NO_KEY)
            find_kernel(&events[attrs[i].event], &v[place[of[i]]]);
    for (size_t i = 0; ok && i < programs->of.n; i++)
        if (of[i] != TM_NO_KEY)
            ok = set_row(r, &v[place[of[i]]], &attrs[i]);
    free(place);
    return ok;
}

static tm_status walk(tm_xread *r, const tm_vec *runs, operation *v, size_t n, tm_error *err) {
    tm_gpu_collectives collectives;
    tm_status status = tm_gpu_collectives_open(&collectives, r, runs, err);
    for (size_t first = 0, end; first < n && status == TM_OK; first = end) {
        for (end = first + 1; end < n && v[end].program == v[first].program;)
            end++;
        reading at = {r, v + first, end - first, tm_gpu_work_make(), &collectives};
        status = tm_programs_walk(&r->space, v[first].program, path, take, &at, err);
        tm_gpu_work_free(&at.work);
    }
    tm_gpu_collectives_close(&collectives);
    return status;
}

tm_status tm_gpu_programs_tell(const tm_gpu_programs *programs, tm_xread *r, tm_error *err) {
    size_t n = programs->operations.keys.n;
    if (n == 0)
        return TM_OK;
    operation *v = list(programs, r->names);
    if (!v)
        return tm_fail_memory(err);
    tm_status status = walk(r, &programs->runs.keys, v, n, err);
    if (status == TM_OK && !set_rows(programs, v, r))
        status = tm_fail_memory(err);
    free(v);
    return status;
}
