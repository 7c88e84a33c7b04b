/* Records the collectives in which a core takes part: the program, the operation and the group of
 * each. */
#include <string.h>

#include "base/hash.h"
#include "tpu_core.h"

static uint64_t hash_text(uint64_t hash, tm_text text) {
    return tm_hash_mixed(hash, text.bytes, text.size);
}

static tm_text name_of(const tm_tpu_core *core, uint32_t meta) {
    return ((const tm_xmeta *)core->plane->metadata.data)[meta].name;
}

/* Finds the group of a collective in a program. The group of a barrier is all devices of the
 * program. */
static bool find_group(tm_tpu_core *core, tm_tpu_meta *m, uint32_t program) {
    const tm_assignment assignment = tm_xassignments_find(&core->programs, name_of(core, program));
    tm_vec members = TM_VEC(int64_t);
    bool barrier = m->kind.kind == TM_COLL_BARRIER, ok = true;
    m->program = program + 1;
    m->group = TM_NO_NAME;
    if (assignment.devices && core->id >= 0)
        ok = barrier ? tm_assignment_all(&assignment, &members)
                     : tm_hlo_group(&m->hlo, &assignment, core->id, &members);
    const int64_t *v = members.data;
    size_t at = 0;
    while (at < members.n && v[at] != core->id)
        at++;
    if (ok && at < members.n) {
        m->group = tm_hlo_group_name(core->r->names, "cores", &members, (tm_text){"", 0});
        m->n_members = (int32_t)members.n;
        const tm_communicator own = {
            .name = m->group, .n_ranks = m->n_members, .place = (int32_t)at, .used = true};
        ok = m->group != TM_NAME_FAILED && tm_xread_add_communicator(core->r, &own);
    }
    tm_vec_free(&members);
    return ok;
}

/* Sets the sizes of input and output. The output of an all-gather is n_members times as large as
 * its input. The input of a reduce-scatter is n_members times as large as its output. For other
 * collectives, both have the same size. */
static void set_size(const tm_tpu_meta *m, tm_names *names, tm_collective_attr *attr) {
    tm_hlo_size size = tm_hlo_size_of(m->hlo.operands);
    if (size.elements < 0)
        return;
    int64_t elements = size.dtype ? size.elements : size.bytes;
    attr->dtype = tm_names_intern_string(names, size.dtype ? size.dtype : "Byte");
    attr->in_elements = attr->out_elements = elements;
    if (m->kind.kind == TM_COLL_ALLGATHER)
        attr->out_elements =
            elements <= INT64_MAX / 64 / m->n_members ? elements * m->n_members : -1;
    if (m->kind.kind == TM_COLL_REDUCESCATTER)
        attr->out_elements = elements / m->n_members;
}

/* Returns the name of an operation without "-start" or "-done": "all-gather" for
 * "all-gather-start". */
static tm_text word_of(const tm_tpu_meta *m) {
    static const char *const words[TM_N_COLLECTIVE_KINDS] = {
        [TM_COLL_ALLREDUCE] = "all-reduce",
        [TM_COLL_ALLGATHER] = "all-gather",
        [TM_COLL_REDUCESCATTER] = "reduce-scatter",
        [TM_COLL_BROADCAST] = "collective-broadcast",
        [TM_COLL_ALLTOALL] = "all-to-all",
        [TM_COLL_SEND] = "send",
        [TM_COLL_RECV] = "recv",
        [TM_COLL_BARRIER] = "barrier"};
    const char *word = words[m->kind.kind] ? words[m->kind.kind] : "collective-permute";
    return (tm_text){word, strlen(word)};
}

bool tm_tpu_add_collective(tm_tpu_core *core, uint32_t meta, const tm_tpu_run *run, uint32_t row) {
    tm_tpu_meta *m = &core->metas[meta];
    tm_names *names = core->r->names;
    tm_text word = word_of(m);
    if (run && m->program != run->meta + 1 && !find_group(core, m, run->meta))
        return false;
    uint64_t operation = hash_text(run ? hash_text(1, name_of(core, run->meta)) : 1, m->hlo.name);
    tm_collective_attr attr = tm_collective_bare(row);
    attr.seq = TM_SEQ_REPEATED;
    attr.group_size = run && m->group != TM_NO_NAME ? m->n_members : -1;
    attr.name = tm_names_intern(names, word.bytes, word.size);
    attr.group = run ? m->group : TM_NO_NAME;
    attr.kind = m->kind.kind;
    memcpy(&attr.comms_id, &operation, sizeof attr.comms_id);
    attr.comms_id = attr.comms_id ? attr.comms_id : 1;
    if (attr.group != TM_NO_NAME)
        set_size(m, names, &attr);
    return attr.name != TM_NAME_FAILED && attr.dtype != TM_NAME_FAILED &&
           tm_vec_append(&core->r->trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}
