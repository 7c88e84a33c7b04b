/* An XLA HLO operation as profilers print it: %all-gather-start.3 = (f32[8]{0}, f32[64]{0})
 * all-gather-start(f32[8]{0:T(256)} %p), channel_id=1 */
#ifndef TMERGE_XPLANE_HLO_TEXT_H
#define TMERGE_XPLANE_HLO_TEXT_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Parts of the text, borrowed; empty if absent. */
typedef struct tm_hlo {
    tm_text name;       /* without the % */
    tm_text shape;      /* of the result: "f32[8]{0}", or a parenthesised list of shapes */
    tm_text opcode;     /* "all-gather-start" */
    tm_text operands;   /* between the parentheses after the opcode */
    tm_text attributes; /* the text after the operands */
} tm_hlo;

/** Splits a text into its parts. A text of another form has only a name: all of it. */
tm_hlo tm_hlo_parse(tm_text text);

/** Returns the value of an attribute, such as "channel_id", up to the next comma; else empty. */
tm_text tm_hlo_attribute(const tm_hlo *hlo, const char *name);

/** Returns the name of the first operand, without the %; empty if there is none. */
tm_text tm_hlo_first_operand(const tm_hlo *hlo);

/** Total size of all arrays in a shape or list of operands. */
typedef struct tm_hlo_size {
    int64_t elements, bytes; /* -1 if there is none, or a number is absurd */
    const char *dtype;       /* in torch's spelling; NULL if unknown or mixed */
} tm_hlo_size;

tm_hlo_size tm_hlo_size_of(tm_text shapes);

/** Returns the memory of an array in a shape: the number in its layout's S(n); 0, the device's
 * memory, if not given; 5 is the host's memory.
 * @param index  of the array, from 0 */
int tm_hlo_memory(tm_text shape, int index);
enum { TM_HLO_HOST_MEMORY = 5 };

/** The kind of work of an operation on a TPU core. */
typedef enum tm_hlo_class {
    TM_HLO_COMPUTE,
    TM_HLO_HOLDS,      /* contains other operations: while, call, conditional */
    TM_HLO_COLLECTIVE, /* kind says which */
    TM_HLO_COPY,       /* within the device, or to or from the host, according to its shape */
    TM_HLO_FROM_HOST,  /* infeed, and data sent by the host */
    TM_HLO_TO_HOST     /* outfeed, and data received by the host */
} tm_hlo_class;

/** Part of an operation: asynchronous ones have one that starts and one that waits. */
typedef enum tm_hlo_part { TM_HLO_WHOLE, TM_HLO_START, TM_HLO_DONE } tm_hlo_part;

typedef struct tm_hlo_kind {
    uint8_t class, part; /* tm_hlo_class, tm_hlo_part */
    uint8_t kind;        /* tm_collective_kind */
} tm_hlo_kind;

/** Classifies an operation by the profiler's category, or by the name if that is only
 * "async-start"; without a category by the opcode. */
tm_hlo_kind tm_hlo_kind_of(const tm_hlo *hlo, tm_text category);

#endif
