/* Parts of XLA's HloProto that several readers of programs need. */
#ifndef TMERGE_XPLANE_HLO_PROTO_H
#define TMERGE_XPLANE_HLO_PROTO_H

#include "readers/wire.h"

/** Repeated fields of an HloInstructionProto. */
enum tm_hlo_field {
    TM_HLO_OPERANDS = 36, /* ids of instructions */
    TM_HLO_CALLS = 38,    /* ids of computations */
    TM_HLO_GROUPS = 49,   /* ReplicaGroup */
    TM_HLO_PAIRS = 52     /* SourceTarget */
};

/** An HloInstructionProto; absent fields are empty. */
typedef struct tm_hlo_instruction {
    tm_wire_message all;
    int64_t id;
    tm_text name, opcode;
    tm_text fusion; /* kind of a fusion: "kLoop" */
    tm_text target; /* target of a custom-call */
    tm_text config; /* configuration for the backend, as JSON */
    tm_wire_message shape;
    tm_wire_message dot;     /* DotDimensionNumbers */
    tm_wire_message devices; /* CollectiveDeviceListProto */
    bool channel;            /* whether it has a channel id */
    bool global_ids;         /* use_global_device_ids */
} tm_hlo_instruction;

tm_hlo_instruction tm_hlo_instruction_read(tm_wire_message message);

enum { TM_HLO_DIMENSIONS = 16 };

/** The size of an array, from its shape. */
typedef struct tm_hlo_array {
    int64_t elements, bytes; /* -1 if a number is implausible, or the type is smaller than a byte */
    size_t n;
    int64_t sizes[TM_HLO_DIMENSIONS]; /* [n] sizes of the array's dimensions */
} tm_hlo_array;

/** Whether a ShapeProto is a tuple. */
bool tm_hlo_is_tuple(tm_wire_message shape);

/** Returns the ShapeProto of a tuple's element; an empty message if there is no element with this
 * index. */
tm_wire_message tm_hlo_element(tm_wire_message shape, size_t index);

/** Reads the ShapeProto of an array. */
tm_hlo_array tm_hlo_array_read(tm_wire_message shape);

/** Iterates over the integers of a repeated field, packed or not. */
typedef struct tm_hlo_numbers {
    tm_wire_message rest, packed;
    uint32_t field;
} tm_hlo_numbers;

static inline tm_hlo_numbers tm_hlo_numbers_of(tm_wire_message message, uint32_t field) {
    return (tm_hlo_numbers){message, {NULL, NULL}, field};
}

/** Takes the next number. Returns false after the last number, and at a damaged number. */
bool tm_hlo_next_number(tm_hlo_numbers *numbers, int64_t *out);

/** Returns the message in a field. If the field is repeated, this is the last message. If the field
 * is absent, it is an empty message. */
tm_wire_message tm_hlo_inner(tm_wire_message message, uint32_t number);

#endif
