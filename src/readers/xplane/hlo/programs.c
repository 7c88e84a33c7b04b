#include "programs.h"

#include <ctype.h>

typedef struct walk {
    const tm_xmeta *program;
    const uint32_t *path;
    tm_program_take *take;
    void *context;
} walk;

static tm_status descend(const walk *w, tm_wire *wire, int64_t end, size_t depth, tm_error *err) {
    tm_wire_field field;
    bool more;
    for (;;) {
        TM_TRY(tm_wire_field_head(wire, end, &field, &more, err));
        if (!more)
            return TM_OK;
        if (w->path[depth] == TM_PROGRAM_EACH && field.type == TM_WIRE_VARINT)
            TM_TRY(w->take(w->context, w->program, wire, &field, err));
        if (field.type != TM_WIRE_BYTES)
            continue;
        int64_t after = tm_wire_at(wire, wire->p) + (int64_t)field.value;
        if (field.number == w->path[depth] && w->path[depth + 1] != 0)
            TM_TRY(descend(w, wire, after, depth + 1, err));
        else if (field.number == w->path[depth] || w->path[depth] == TM_PROGRAM_EACH)
            TM_TRY(w->take(w->context, w->program, wire, &field, err));
        TM_TRY(tm_wire_seek(wire, after, err));
    }
}

static tm_status walk_one(const walk *w, tm_space *space, tm_error *err) {
    tm_error damaged;
    TM_TRY(tm_wire_seek(&space->wire, w->program->begin, err));
    tm_status status = descend(w, &space->wire, w->program->end, 0, &damaged);
    if (status == TM_OK || status == TM_ERR_INPUT)
        return TM_OK;
    *err = damaged;
    return status;
}

int64_t tm_program_id(const tm_xmeta *program) {
    tm_text name = program->name;
    size_t first = name.size, at;
    int64_t id = 0;
    while (first > 0 && name.bytes[first - 1] != '(')
        first--;
    for (at = first; at < name.size && at < first + 18 && isdigit((uint8_t)name.bytes[at]); at++)
        id = id * 10 + (name.bytes[at] - '0');
    bool reported = first > 0 && at > first && at + 1 == name.size && name.bytes[at] == ')';
    return reported ? id : program->id;
}

tm_status tm_programs_walk(tm_space *space, int64_t id, const tm_program_path path,
                           tm_program_take *take, void *context, tm_error *err) {
    const tm_xplane *plane = tm_space_plane(space, "/host:metadata");
    walk w = {.path = path, .take = take, .context = context};
    if (!plane)
        return TM_OK;
    for (size_t i = 0; i < plane->metadata.n; i++) {
        w.program = (const tm_xmeta *)plane->metadata.data + i;
        if (id == TM_PROGRAMS_ALL || id == tm_program_id(w.program))
            TM_TRY(walk_one(&w, space, err));
    }
    return TM_OK;
}
