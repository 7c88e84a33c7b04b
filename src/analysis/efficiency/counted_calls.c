#include "counted_calls.h"

#include <stdlib.h>

#include "analysis/shared/call_kinds.h"
#include "base/sums.h"

/* Name ids of a call's name and inputs, which determine its work. */
typedef struct signature {
    uint32_t name, shapes, types, concrete;
} signature;

/* State while the operators of a rank are collected. */
typedef struct finding {
    const tm_rank_view *view;
    tm_keys signatures;
    tm_vec work_of; /* [signatures] vector of uint32_t: 1 + index into works; 0: not yet computed */
    tm_vec works;   /* vector of tm_work */
    tm_vec list;    /* vector of tm_counted_call; `work` is set at the end, when `works` no longer
                       moves */
    tm_vec places;  /* [list.n] vector of uint32_t: index of each call's work in `works` */
    uint32_t *of_operator;
} finding;

static tm_text text_of(const finding *f, uint32_t id) {
    return tm_names_text(f->view->names, id);
}

/* Returns the index in f->works of a signature's work. Returns TM_NO_KEY if the inputs do not
 * determine the work. Also returns TM_NO_KEY if out of memory, and then sets *ok to false. */
static uint32_t find_work(finding *f, const signature *s, bool *ok) {
    uint32_t known = tm_keys_find(&f->signatures, s);
    if (known == TM_NO_KEY) {
        tm_text name = text_of(f, s->name);
        tm_work work;
        bool tells = tm_work_of(tm_counted_of(name.bytes, name.size), text_of(f, s->shapes),
                                text_of(f, s->types), text_of(f, s->concrete), &work);
        uint32_t place = tells ? (uint32_t)f->works.n + 1 : 0;
        known = tm_keys_add(&f->signatures, s);
        *ok = known != TM_NO_KEY && tm_vec_append(&f->work_of, &place, 1) &&
              (!tells || tm_vec_append(&f->works, &work, 1));
        if (!*ok)
            return TM_NO_KEY;
    }
    const uint32_t *places = f->work_of.data;
    uint32_t place = places ? places[known] : 0;
    return place == 0 ? TM_NO_KEY : place - 1;
}

static bool is_forward(tm_counted op) {
    return op == TM_COUNTED_LINEAR || op == TM_COUNTED_CONVOLUTION ||
           op == TM_COUNTED_INNER_CONVOLUTION || op == TM_COUNTED_FLASH ||
           op == TM_COUNTED_EFFICIENT || op == TM_COUNTED_CUDNN || op == TM_COUNTED_FLASH_2 ||
           op == TM_COUNTED_FLASH_2_PACKED || op == TM_COUNTED_FLASH_3;
}

static bool is_in_backward(const finding *f, uint32_t call) {
    const tm_calls *operators = f->view->operators;
    for (; call != TM_NO_CALL; call = operators->calls[call].parent)
        if (tm_call_kinds_at(f->view->call_kinds,
                             f->view->timeline->name[operators->calls[call].row]) ==
            TM_CALL_KIND_BACKWARD)
            return true;
    return false;
}

static bool add_call(finding *f, uint32_t call, const tm_inputs_attr *inputs, uint32_t shapes) {
    signature s = {f->view->timeline->name[inputs->event], shapes, inputs->types, inputs->concrete};
    bool ok = true;
    uint32_t place = find_work(f, &s, &ok);
    if (place == TM_NO_KEY)
        return ok;
    const tm_work *work = (const tm_work *)f->works.data + place;
    uint32_t outer = f->of_operator[call];
    tm_counted_call own = {
        .name = s.name,
        .shapes = shapes,
        .number = (uint8_t)work->number,
        .forward = is_forward(work->op) ||
                   (outer != TM_NOT_COUNTED && ((tm_counted_call *)f->list.data)[outer].forward),
        .first = TM_NO_EVENT,
    };
    own.recomputed = own.forward && is_in_backward(f, call);
    f->of_operator[call] = (uint32_t)f->list.n;
    return tm_vec_append(&f->list, &own, 1) && tm_vec_append(&f->places, &place, 1);
}

/* Finds the counted calls. Calls, inputs and shapes are in the order of their events. If a call is
 * not counted, its kernels belong to the counted call around it. */
static bool find_calls(finding *f) {
    const tm_timeline *timeline = f->view->timeline;
    const tm_calls *operators = f->view->operators;
    const tm_inputs_attr *inputs = timeline->attrs[TM_ATTR_INPUTS];
    const tm_shapes_attr *shapes = timeline->attrs[TM_ATTR_SHAPES];
    size_t n_inputs = timeline->n_attrs[TM_ATTR_INPUTS], i = 0;
    size_t n_shapes = timeline->n_attrs[TM_ATTR_SHAPES], s = 0;
    bool ok = true;
    for (uint32_t call = 0; call < operators->n && ok; call++) {
        uint32_t row = operators->calls[call].row, parent = operators->calls[call].parent;
        f->of_operator[call] = parent == TM_NO_CALL ? TM_NOT_COUNTED : f->of_operator[parent];
        while (i < n_inputs && inputs[i].event < row)
            i++;
        while (s < n_shapes && shapes[s].event < row)
            s++;
        if (i < n_inputs && inputs[i].event == row && s < n_shapes && shapes[s].event == row)
            ok = add_call(f, call, &inputs[i], shapes[s].shapes);
    }
    return ok;
}

/* Sets the number type from kernel names, which show whether tensor cores multiplied FP32 as
 * TF32. */
static void tell_number(tm_counted_call *own, uint8_t precision) {
    if (own->number != TM_NUMBER_SINGLE)
        return;
    if (precision == TM_PRECISION_TF32)
        own->number = TM_NUMBER_TF32;
    else if (precision == TM_PRECISION_32)
        own->number = TM_NUMBER_FP32;
}

static void add_kernels(const tm_rank_view *view, tm_counted_calls *calls) {
    const tm_timeline *timeline = view->timeline;
    const tm_kernel_attr *kernels = timeline->attrs[TM_ATTR_KERNEL];
    for (size_t k = 0; k < timeline->n_attrs[TM_ATTR_KERNEL]; k++) {
        uint32_t row = kernels[k].event;
        tm_counted_call *own = tm_counted_owner(calls, view, row);
        if (!own || timeline->role[row] != TM_ROLE_COMPUTE)
            continue;
        const tm_kernel_traits *traits =
            tm_call_kinds_kernel(view->call_kinds, timeline->name[row]);
        int64_t duration = timeline->duration_ns[row];
        own->first = own->first == TM_NO_EVENT ? row : own->first;
        own->kernel_ns = tm_sum(own->kernel_ns, duration);
        if (tm_class_multiplies((tm_class)traits->work)) {
            own->product_ns = tm_sum(own->product_ns, duration);
            tell_number(own, traits->precision);
        }
    }
}

static void give(finding *f, tm_counted_calls *out) {
    const uint32_t *places = f->places.data;
    *out = (tm_counted_calls){.list = f->list.data,
                              .n = places ? f->places.n : 0,
                              .of_operator = f->of_operator,
                              .works = f->works.data};
    for (size_t i = 0; places && i < out->n; i++)
        out->list[i].work = &out->works[places[i]];
}

tm_status tm_counted_calls_find(const tm_rank_view *view, tm_counted_calls *out, tm_error *err) {
    finding f = {
        .view = view,
        .signatures = TM_KEYS(signature),
        .work_of = TM_VEC(uint32_t),
        .works = TM_VEC(tm_work),
        .list = TM_VEC(tm_counted_call),
        .places = TM_VEC(uint32_t),
    };
    *out = (tm_counted_calls){0};
    if (view->timeline->n_attrs[TM_ATTR_INPUTS] == 0)
        return TM_OK;
    f.of_operator = calloc(view->operators->n + 1, sizeof *f.of_operator);
    bool ok = f.of_operator && find_calls(&f);
    give(&f, out);
    if (ok)
        add_kernels(view, out);
    tm_keys_free(&f.signatures);
    tm_vec_free(&f.work_of);
    tm_vec_free(&f.places);
    return ok ? TM_OK : tm_fail_memory(err);
}

void tm_counted_calls_free(tm_counted_calls *calls) {
    free(calls->list);
    free(calls->of_operator);
    free(calls->works);
    *calls = (tm_counted_calls){0};
}
