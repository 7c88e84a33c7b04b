/* The events of one step. The list grows to the size of the largest step and never shrinks. */
#include "event_list.h"

#include <stdlib.h>
#include <string.h>

static const tms_dtype_info dtypes[] = {[TMS_DTYPE_BFLOAT16] = {2, "BFloat16"},
                                        [TMS_DTYPE_FLOAT] = {4, "Float"},
                                        [TMS_DTYPE_LONG] = {8, "Long"}};

const tms_dtype_info *tms_dtype_get(tms_dtype dtype) {
    return &dtypes[dtype];
}

bool tms_events_init(tms_events *events, unsigned sections) {
    memset(events, 0, sizeof *events);
    events->sections = sections;
    events->capacity = 1024;
    events->items = calloc(events->capacity, sizeof *events->items);
    return events->items != NULL;
}

void tms_events_free(tms_events *events) {
    free(events->items);
    memset(events, 0, sizeof *events);
}

void tms_events_clear(tms_events *events) {
    events->count = 0;
}

tms_section tms_events_section(tms_kind kind, tms_track track) {
    /* The switch has no default, so that the compiler reports a missing shape. */
    switch (tms_kind_get(kind)->shape) {
    case TMS_SHAPE_OP:
    case TMS_SHAPE_ANNOTATION:
    case TMS_SHAPE_INSTANT:
        return track == TMS_TRACK_AUTOGRAD ? TMS_SECTION_AUTOGRAD : TMS_SECTION_HOST;
    case TMS_SHAPE_GPU_ANNOTATION:
        return TMS_SECTION_GPU_ANNOTATION;
    case TMS_SHAPE_RUNTIME:
    case TMS_SHAPE_KERNEL:
    case TMS_SHAPE_COMM:
    case TMS_SHAPE_MEMCPY:
    case TMS_SHAPE_MEMSET:
    case TMS_SHAPE_COUNT:
        break;
    }
    return TMS_SECTION_ACTIVITY;
}

/* Doubles the capacity. When out of memory, the list stays valid and out_of_memory is set. */
static bool grow(tms_events *events) {
    size_t capacity = events->capacity * 2;
    tms_event *items = NULL;

    if (capacity <= SIZE_MAX / sizeof *items) {
        items = realloc(events->items, capacity * sizeof *items);
    }
    if (items == NULL) {
        events->out_of_memory = true;
        return false;
    }
    events->items = items;
    events->capacity = capacity;
    return true;
}

size_t tms_events_push(tms_events *events, const tms_event *event) {
    unsigned bit = TMS_SECTION_BIT(tms_events_section(event->kind, event->track));

    /* The caller may write to slot 0, so it need not check for failure. */
    if ((events->sections & bit) == 0) {
        return 0;
    }
    /* + 1, because slot 0 is scratch */
    if (events->count + 1 == events->capacity && !grow(events)) {
        return 0;
    }
    events->items[++events->count] = *event;
    return events->count;
}
