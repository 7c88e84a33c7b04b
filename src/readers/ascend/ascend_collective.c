#include "ascend_collective.h"

#include <string.h>

#include "timeline/classify.h"

/* Adds the communicator to the list if it is new. */
static bool use_communicator(tm_trace *trace, const tm_ascend_collective *reported) {
    const tm_communicator added = {.name = reported->group,
                                   .n_ranks = reported->n_ranks > 0 ? reported->n_ranks : -1,
                                   .place = -1,
                                   .used = true};
    const tm_communicator *v = trace->communicators.data;
    for (size_t i = 0; i < trace->communicators.n; i++)
        if (v[i].name == reported->group)
            return true;
    return tm_vec_append(&trace->communicators, &added, 1) != NULL;
}

static tm_json_text name_of(const tm_ascend_operation *op) {
    bool receives = tm_json_is(&op->op, "receive");
    return receives ? (tm_json_text){.bytes = "recv", .size = 4} : op->op;
}

bool tm_ascend_add_collective(tm_trace *trace, tm_names *names,
                              const tm_ascend_collective *reported, uint32_t row) {
    tm_json_text name = name_of(reported->op);
    tm_collective_kind kind = tm_collective_kind_of_name(name.bytes, name.size);
    /* The recorded count is one rank's. The total input of a reduce-scatter and the total output of
     * an all-gather are this count times the number of ranks. */
    bool no_in = kind == TM_COLL_RECV || kind == TM_COLL_REDUCESCATTER;
    bool no_out = kind == TM_COLL_SEND || kind == TM_COLL_ALLGATHER;
    tm_collective_attr attr = tm_collective_bare(row);
    attr.seq = reported->op->seq;
    attr.in_elements = no_in ? -1 : reported->count;
    attr.out_elements = no_out ? -1 : reported->count;
    /* Sends and receives use communicators of two ranks. If the place of a rank in such a
     * communicator is known, the place of its peer is known, too. */
    attr.src_rank = kind == TM_COLL_RECV ? 0 : -1;
    attr.dst_rank = kind == TM_COLL_SEND ? 0 : -1;
    attr.name = tm_names_intern(names, name.bytes, name.size);
    attr.dtype = reported->dtype.size
                     ? tm_names_intern(names, reported->dtype.bytes, reported->dtype.size)
                     : TM_NO_NAME;
    attr.group = reported->group;
    attr.group_description = reported->description;
    return attr.name != TM_NAME_FAILED && attr.dtype != TM_NAME_FAILED &&
           attr.group != TM_NAME_FAILED && tm_trace_add_kernel(trace, row, 0, NULL) &&
           (attr.group == TM_NO_NAME || use_communicator(trace, reported)) &&
           tm_vec_append(&trace->attrs[TM_ATTR_COLLECTIVE], &attr, 1);
}
