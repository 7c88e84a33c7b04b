#include "idents.h"

typedef void visitor(void *context, uint32_t *id);

static void visit_collective(tm_collective_attr *attr, visitor *visit, void *context) {
    visit(context, &attr->name);
    visit(context, &attr->dtype);
    visit(context, &attr->group);
    visit(context, &attr->group_description);
    visit(context, &attr->group_ranks);
    visit(context, &attr->in_split);
    visit(context, &attr->out_split);
}

void tm_attr_each_name(tm_attr attr, void *rows, size_t n, visitor *visit, void *context) {
    tm_collective_attr *collectives = attr == TM_ATTR_COLLECTIVE ? rows : NULL;
    for (size_t i = 0; collectives && i < n; i++)
        visit_collective(&collectives[i], visit, context);
    tm_counter_attr *counters = attr == TM_ATTR_COUNTER ? rows : NULL;
    for (size_t i = 0; counters && i < n; i++)
        visit(context, &counters[i].series);
    tm_shapes_attr *shapes = attr == TM_ATTR_SHAPES ? rows : NULL;
    for (size_t i = 0; shapes && i < n; i++)
        visit(context, &shapes[i].shapes);
    tm_inputs_attr *inputs = attr == TM_ATTR_INPUTS ? rows : NULL;
    for (size_t i = 0; inputs && i < n; i++) {
        visit(context, &inputs[i].types);
        visit(context, &inputs[i].concrete);
    }
    tm_operator_attr *operators = attr == TM_ATTR_OPERATOR ? rows : NULL;
    for (size_t i = 0; operators && i < n; i++)
        visit(context, &operators[i].stack);
    tm_xla_attr *xla = attr == TM_ATTR_XLA ? rows : NULL;
    for (size_t i = 0; xla && i < n; i++) {
        visit(context, &xla[i].program);
        visit(context, &xla[i].hlo);
        visit(context, &xla[i].category);
        visit(context, &xla[i].origin);
        visit(context, &xla[i].shape);
    }
}

void tm_timeline_each_name(tm_timeline *timeline, void (*visit)(void *context, uint32_t *id),
                           void *context) {
    visit(context, &timeline->host);
    visit(context, &timeline->inferred_host);
    visit(context, &timeline->format);
    for (size_t i = 0; i < timeline->n_events; i++)
        visit(context, &timeline->name[i]);
    for (size_t i = 0; i < timeline->n_tracks; i++) {
        visit(context, &timeline->tracks[i].pid);
        visit(context, &timeline->tracks[i].tid);
        visit(context, &timeline->tracks[i].process_name);
        visit(context, &timeline->tracks[i].thread_name);
    }
    for (size_t i = 0; i < timeline->n_steps; i++)
        visit(context, &timeline->steps[i].name);
    for (size_t i = 0; i < timeline->n_metadata_lists; i++)
        visit(context, &timeline->metadata_lists[i]);
    for (size_t i = 0; i < timeline->n_spans; i++)
        visit(context, &timeline->spans[i].source);
    for (size_t i = 0; i < timeline->n_communicators; i++)
        visit(context, &timeline->communicators[i].name);
    for (int a = 0; a < TM_N_ATTRS; a++)
        tm_attr_each_name((tm_attr)a, timeline->attrs[a], timeline->n_attrs[a], visit, context);
}
