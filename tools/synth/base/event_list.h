/* The events of one rank's step, in the order of a trace file. */
#ifndef TMERGE_SYNTH_EVENT_LIST_H
#define TMERGE_SYNTH_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue.h"
#include "placement.h"
#include "synth_groups.h"

/* Kineto's order: CPU events thread by thread, then launches mixed with GPU work, then GPU
 * annotations. */
typedef enum tms_section {
    TMS_SECTION_AUTOGRAD,
    TMS_SECTION_HOST,
    TMS_SECTION_ACTIVITY,
    TMS_SECTION_GPU_ANNOTATION,
    TMS_SECTION_COUNT
} tms_section;

/* Sets of sections, one bit each. */
#define TMS_SECTION_BIT(section) (1u << (unsigned)(section))
#define TMS_NO_SECTIONS 0u
#define TMS_ALL_SECTIONS (TMS_SECTION_BIT(TMS_SECTION_COUNT) - 1u)

typedef enum tms_dtype { TMS_DTYPE_BFLOAT16, TMS_DTYPE_FLOAT, TMS_DTYPE_LONG } tms_dtype;

/* An element's size [B] and torch's name of its type. */
typedef struct tms_dtype_info {
    int64_t bytes;
    const char *name;
} tms_dtype_info;

/* Returns the row of a type; static, never NULL. */
const tms_dtype_info *tms_dtype_get(tms_dtype dtype);

/* One rank's participation in a collective. */
typedef struct tms_comm {
    tms_collective what;
    tms_dtype dtype;
    tms_role role;
    int64_t bytes;    /* size of the whole message [B], as nccl-tests counts it */
    int64_t index;    /* index of the collective among those of the same channel in this step */
    int64_t instance; /* index among all collectives of the step */
    int64_t part;     /* see tms_channel_part */
    int64_t seq;      /* index in the channel since the job's start, as in torch */
    int64_t peer;     /* the other rank of a send or receive */
    int64_t launch_ns;
    int64_t correlation;
    int64_t comms_id;      /* External id of the collective's record_param_comms */
    int64_t annotation_id; /* External id of the collective's nccl:... annotation */
    int64_t begin_ns;      /* start of the kernel */
    int64_t end_ns;        /* 0: the end is not yet known */
    size_t kernel_event;   /* indices of the collective's two events in the list */
    size_t annotation_event;
    size_t previous; /* index of the previous communication on the same stream, plus 1; 0 if there
                        is none in this step */
} tms_comm;

typedef struct tms_event {
    int64_t begin_ns; /* since the epoch */
    int64_t duration_ns;
    int64_t launch_ns;   /* for GPU work: start of the call that launched it */
    int64_t correlation; /* correlation id that a launch and its GPU work share; 0: none */
    int64_t external_id; /* External id of the operator that the event belongs to; 0: none */
    int64_t value; /* Depending on the kind: bytes of a copy or allocation, sequence number of an
                      operator, or step number. */
    size_t comm;   /* index + 1 of the event's collective; 0: none */
    tms_kind kind;
    tms_track track;
} tms_event;

/* A growing list. Slot 0 receives the events that are not kept, so that the simulation need not
 * know which events are recorded. */
typedef struct tms_events {
    tms_event *items; /* owned; the events are items[1] to items[count] */
    size_t count;
    size_t capacity;
    unsigned sections;     /* the sections whose events are kept */
    bool out_of_memory;    /* never becomes false again; checked once per step */
    int64_t step;          /* number of the step whose events are in the list */
    int64_t step_begin_ns; /* times of the step's ProfilerStep annotation, set even if its section
                              is not kept */
    int64_t step_end_ns;
    const tms_comm *comms; /* communication of the step; borrowed from the maker of the events */
} tms_events;

/**
 * Makes an empty list that keeps the given sections.
 * @return false if out of memory
 */
bool tms_events_init(tms_events *events, unsigned sections);

/* Frees the memory. Accepts a zeroed list. */
void tms_events_free(tms_events *events);

/* Removes the events, but keeps the memory. */
void tms_events_clear(tms_events *events);

/* Returns the section of a kind on a track. */
tms_section tms_events_section(tms_kind kind, tms_track track);

/** Appends an event if its section is kept.
 * @return its index, for changing items[index] later; 0 (scratch) if it is not kept */
size_t tms_events_push(tms_events *events, const tms_event *event);

#endif
