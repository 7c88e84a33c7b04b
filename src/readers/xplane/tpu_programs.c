#include "tpu_programs.h"

#include "programs.h"

/* HloModuleProto.device_assignment */
static const tm_program_path path = {TM_PROGRAM_MODULE, 15};

/* The numbers of a repeated field, packed or one by one. */
static bool add_numbers(const tm_wire_field *field, tm_vec *out) {
    int64_t value = (int64_t)field->value;
    uint64_t packed;
    if (field->type == TM_WIRE_VARINT)
        return tm_vec_append(out, &value, 1) != NULL;
    if (field->type != TM_WIRE_BYTES)
        return true;
    const uint8_t *p = field->bytes, *end = p + field->value;
    while (p && p < end) {
        p = tm_wire_varint(p, end, &packed);
        value = (int64_t)packed;
        if (p && !tm_vec_append(out, &value, 1))
            return false;
    }
    return true;
}

/* DeviceAssignmentProto: of each part, the devices of its replicas. */
static bool read_assignment(tm_wire_message message, tm_tpu_program *program, tm_vec *by_part) {
    tm_wire_field field, inner;
    by_part->n = 0;
    program->n_replicas = program->n_parts = 0;
    while (tm_wire_next(&message, &field)) {
        if (field.type == TM_WIRE_VARINT && (field.number == 1 || field.number == 2))
            *(field.number == 1 ? &program->n_replicas : &program->n_parts) = field.value;
        if (field.type != TM_WIRE_BYTES || field.number != 3)
            continue;
        tm_wire_message part = tm_wire_inner(&field);
        while (tm_wire_next(&part, &inner))
            if (inner.number == 1 && !add_numbers(&inner, by_part))
                return false;
    }
    bool sound = program->n_replicas > 0 && program->n_replicas <= TM_GROUP_RANKS_MAX &&
                 program->n_parts > 0 && program->n_parts <= TM_GROUP_RANKS_MAX &&
                 program->n_replicas * program->n_parts == by_part->n;
    if (!sound)
        by_part->n = 0;
    return true;
}

static bool add_program(tm_tpu_programs *out, tm_tpu_program *program, const tm_vec *by_part) {
    const int64_t *v = by_part->data;
    program->first = out->devices.n;
    for (size_t r = 0; r < program->n_replicas; r++)
        for (size_t p = 0; p < program->n_parts; p++)
            if (!tm_vec_append(&out->devices, &v[p * program->n_replicas + r], 1))
                return false;
    return tm_vec_append(&out->programs, program, 1) != NULL;
}

/* What is being read. */
typedef struct reading {
    tm_tpu_programs *out;
    tm_vec by_part; /* of int64_t */
} reading;

static tm_status take(void *context, const tm_xmeta *meta, tm_wire *wire, tm_wire_field *field,
                      tm_error *err) {
    reading *r = context;
    tm_tpu_program program = {.name = meta->name};
    TM_TRY(tm_wire_take(wire, field, err));
    if (!read_assignment(tm_wire_inner(field), &program, &r->by_part))
        return tm_fail_memory(err);
    return r->by_part.n == 0 || add_program(r->out, &program, &r->by_part) ? TM_OK
                                                                           : tm_fail_memory(err);
}

tm_status tm_tpu_programs_read(tm_space *space, tm_tpu_programs *out, tm_error *err) {
    *out = (tm_tpu_programs){TM_VEC(tm_tpu_program), TM_VEC(int64_t)};
    reading r = {out, TM_VEC(int64_t)};
    tm_status status = tm_programs_walk(space, TM_PROGRAMS_ALL, path, take, &r, err);
    tm_vec_free(&r.by_part);
    return status;
}

void tm_tpu_programs_free(tm_tpu_programs *programs) {
    tm_vec_free(&programs->programs);
    tm_vec_free(&programs->devices);
}

tm_assignment tm_tpu_programs_find(const tm_tpu_programs *programs, tm_text name) {
    const tm_tpu_program *v = programs->programs.data;
    for (size_t i = 0; i < programs->programs.n; i++)
        if (v[i].name.size == name.size && memcmp(v[i].name.bytes, name.bytes, name.size) == 0)
            return (tm_assignment){(const int64_t *)programs->devices.data + v[i].first,
                                   v[i].n_replicas, v[i].n_parts};
    return (tm_assignment){NULL, 0, 0};
}
