#include "assignments.h"

#include "hlo_proto.h"
#include "programs.h"

/* HloModuleProto.device_assignment */
static const tm_program_path path = {TM_PROGRAM_MODULE, 15};

/* Reads a DeviceAssignmentProto. For each partition, it has the devices of the partition's
 * replicas. */
static bool read_assignment(tm_wire_message message, tm_xassigned *program, tm_vec *by_part) {
    tm_wire_field field;
    by_part->n = 0;
    program->n_replicas = program->n_parts = 0;
    while (tm_wire_next(&message, &field)) {
        if (field.type == TM_WIRE_VARINT && (field.number == 1 || field.number == 2))
            *(field.number == 1 ? &program->n_replicas : &program->n_parts) = field.value;
        if (field.type != TM_WIRE_BYTES || field.number != 3)
            continue;
        tm_hlo_numbers replicas = tm_hlo_numbers_of(tm_wire_inner(&field), 1);
        int64_t device;
        while (tm_hlo_next_number(&replicas, &device))
            if (!tm_vec_append(by_part, &device, 1))
                return false;
    }
    bool valid = program->n_replicas > 0 && program->n_replicas <= TM_GROUP_RANKS_MAX &&
                 program->n_parts > 0 && program->n_parts <= TM_GROUP_RANKS_MAX &&
                 program->n_replicas * program->n_parts == by_part->n;
    if (!valid)
        by_part->n = 0;
    return true;
}

static bool add_program(tm_xassignments *out, tm_xassigned *program, const tm_vec *by_part) {
    const int64_t *v = by_part->data;
    program->first = out->devices.n;
    for (size_t r = 0; r < program->n_replicas; r++)
        for (size_t p = 0; p < program->n_parts; p++)
            if (!tm_vec_append(&out->devices, &v[p * program->n_replicas + r], 1))
                return false;
    return tm_vec_append(&out->programs, program, 1) != NULL;
}

typedef struct reading {
    tm_xassignments *out;
    tm_vec by_part; /* vector of int64_t */
} reading;

static tm_status take(void *context, const tm_xmeta *meta, tm_wire *wire, tm_wire_field *field,
                      tm_error *err) {
    reading *r = context;
    tm_xassigned program = {.name = meta->name, .id = tm_program_id(meta)};
    TM_TRY(tm_wire_take(wire, field, err));
    if (!read_assignment(tm_wire_inner(field), &program, &r->by_part))
        return tm_fail_memory(err);
    return r->by_part.n == 0 || add_program(r->out, &program, &r->by_part) ? TM_OK
                                                                           : tm_fail_memory(err);
}

tm_status tm_xassignments_read(tm_space *space, tm_xassignments *out, tm_error *err) {
    *out = (tm_xassignments){TM_VEC(tm_xassigned), TM_VEC(int64_t)};
    reading r = {out, TM_VEC(int64_t)};
    tm_status status = tm_programs_walk(space, TM_PROGRAMS_ALL, path, take, &r, err);
    tm_vec_free(&r.by_part);
    return status;
}

void tm_xassignments_free(tm_xassignments *programs) {
    tm_vec_free(&programs->programs);
    tm_vec_free(&programs->devices);
}

static tm_assignment assignment_of(const tm_xassignments *programs, const tm_xassigned *program) {
    return (tm_assignment){(const int64_t *)programs->devices.data + program->first,
                           program->n_replicas, program->n_parts};
}

tm_assignment tm_xassignments_find(const tm_xassignments *programs, tm_text name) {
    const tm_xassigned *v = programs->programs.data;
    for (size_t i = 0; i < programs->programs.n; i++)
        if (v[i].name.size == name.size && memcmp(v[i].name.bytes, name.bytes, name.size) == 0)
            return assignment_of(programs, &v[i]);
    return (tm_assignment){NULL, 0, 0};
}

tm_assignment tm_xassignments_of(const tm_xassignments *programs, int64_t id) {
    const tm_xassigned *v = programs->programs.data;
    for (size_t i = 0; i < programs->programs.n; i++)
        if (v[i].id == id)
            return assignment_of(programs, &v[i]);
    return (tm_assignment){NULL, 0, 0};
}
