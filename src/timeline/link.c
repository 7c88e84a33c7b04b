#include "trace.h"

#include <stdlib.h>

enum { AHEAD = 12 }; /* events: about how long memory takes */

typedef struct slot {
    int64_t correlation; /* 0: free */
    uint32_t event;
} slot;

typedef struct launch_map {
    slot *slots; /* owned */
    size_t mask;
} launch_map;

static size_t place_of(const launch_map *map, int64_t correlation) {
    return (size_t)((uint64_t)correlation * 0x9E3779B97F4A7C15u >> 32) & map->mask;
}

/* Has the memory fetched that is to be looked at soon: a map of millions is in no cache. */
static void expect(const launch_map *map, int64_t correlation) {
    __builtin_prefetch(&map->slots[place_of(map, correlation)], 1);
}

static slot *find(const launch_map *map, int64_t correlation) {
    size_t at = place_of(map, correlation);
    while (map->slots[at].correlation != 0 && map->slots[at].correlation != correlation)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static bool earlier(const tm_raw_event *events, uint32_t a, uint32_t b) {
    return events[a].begin_ns != events[b].begin_ns ? events[a].begin_ns < events[b].begin_ns
                                                    : a < b;
}

static tm_status fill_map(tm_trace *trace, launch_map *map, tm_error *err) {
    const tm_vec *launches = &trace->attrs[TM_ATTR_LAUNCH];
    const tm_raw_event *events = trace->events.data;
    map->mask = 15;
    while (map->mask < launches->n * 2)
        map->mask = map->mask * 2 + 1;
    map->slots = calloc(map->mask + 1, sizeof *map->slots);
    if (!map->slots)
        return tm_fail_memory(err);
    for (size_t i = 0; i < launches->n; i++) {
        const tm_launch_attr *launch = (const tm_launch_attr *)launches->data + i;
        if (i + AHEAD < launches->n)
            expect(map, launch[AHEAD].correlation);
        slot *s = find(map, launch->correlation);
        if (s->correlation != 0)
            trace->counts[TM_COUNT_DUPLICATE_CORRELATION]++;
        if (s->correlation == 0 || earlier(events, launch->event, s->event))
            *s = (slot){.correlation = launch->correlation, .event = launch->event};
    }
    return TM_OK;
}

/* The call of a correlation id; TM_NO_EVENT where there is none. */
static uint32_t call_of(const launch_map *map, int64_t correlation) {
    const slot *s = correlation != 0 ? find(map, correlation) : NULL;
    return s && s->correlation != 0 ? s->event : TM_NO_EVENT;
}

static void link_event(tm_trace *trace, const launch_map *map, uint32_t event,
                       int64_t correlation) {
    uint32_t call = call_of(map, correlation);
    ((tm_raw_event *)trace->events.data)[event].launch = call;
    trace->counts[TM_COUNT_UNLINKED] += call == TM_NO_EVENT;
}

tm_status tm_trace_link(tm_trace *trace, tm_error *err) {
    launch_map map;
    tm_raw_event *events = trace->events.data;
    TM_TRY(fill_map(trace, &map, err));
    for (size_t i = 0; i < trace->events.n; i++)
        events[i].launch = TM_NO_EVENT;
    const tm_kernel_attr *kernels = trace->attrs[TM_ATTR_KERNEL].data;
    for (size_t i = 0, n = trace->attrs[TM_ATTR_KERNEL].n; i < n; i++) {
        if (i + AHEAD < n)
            expect(&map, kernels[i + AHEAD].correlation);
        link_event(trace, &map, kernels[i].event, kernels[i].correlation);
    }
    const tm_copy_attr *copies = trace->attrs[TM_ATTR_COPY].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_COPY].n; i++)
        link_event(trace, &map, copies[i].event, copies[i].correlation);
    tm_wait_attr *waits = trace->attrs[TM_ATTR_WAIT].data;
    for (size_t i = 0; i < trace->attrs[TM_ATTR_WAIT].n; i++) {
        waits[i].call = call_of(&map, waits[i].correlation);
        waits[i].record = call_of(&map, waits[i].record_correlation);
    }
    const tm_handover *handovers = trace->handovers.data;
    for (size_t i = 0; i < trace->handovers.n; i++)
        events[handovers[i].call].launch = handovers[i].by;
    free(map.slots);
    return TM_OK;
}
