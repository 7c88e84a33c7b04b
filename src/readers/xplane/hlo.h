/* An operation of XLA's HLO, as profilers write it out:
 *   %all-gather-start.3 = (f32[8]{0}, f32[64]{0}) all-gather-start(f32[8]{0:T(256)} %p),
 * channel_id=1
 */
#ifndef TMERGE_XPLANE_HLO_H
#define TMERGE_XPLANE_HLO_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Its parts, borrowed; empty where the text has no such part. */
typedef struct tm_hlo {
    tm_text name;       /* without the % */
    tm_text shape;      /* of what it makes: "f32[8]{0}", or a list of such in parentheses */
    tm_text opcode;     /* "all-gather-start" */
    tm_text operands;   /* between the parentheses behind it */
    tm_text attributes; /* what follows them */
} tm_hlo;

/** Takes a text apart. One that is no such line has a name alone: all of it. */
tm_hlo tm_hlo_parse(tm_text text);

/** The value of an attribute, "channel_id" say, up to the comma behind it; empty without. */
tm_text tm_hlo_attribute(const tm_hlo *hlo, const char *name);

/** The name of its first operand, without the %; empty where it has none. */
tm_text tm_hlo_first_operand(const tm_hlo *hlo);

/** What all arrays in a shape, or a list of operands, have. */
typedef struct tm_hlo_size {
    int64_t elements, bytes; /* -1 where there is none, or a number is absurd */
    const char *dtype;       /* as torch spells it; NULL where unknown, or of several types */
} tm_hlo_size;

tm_hlo_size tm_hlo_size_of(tm_text shapes);

/** The memory of the array that begins at a place of a shape: the number in its layout's S(n); 0,
 * that of the device, where it tells none, and 5 that of the host.
 * @param index  of the array, from 0 */
int tm_hlo_memory(tm_text shape, int index);
enum { TM_HLO_HOST_MEMORY = 5 };

/** What an operation does on a TPU core. */
typedef enum tm_hlo_class {
    TM_HLO_COMPUTE,
    TM_HLO_HOLDS,      /* the operations inside: while, call, conditional */
    TM_HLO_COLLECTIVE, /* kind tells which */
    TM_HLO_COPY,       /* within the device, or between it and the host by its shape */
    TM_HLO_FROM_HOST,  /* infeed, and what the host sends */
    TM_HLO_TO_HOST     /* outfeed, and what it receives */
} tm_hlo_class;

/** Which part of it: what is asynchronous has one that starts it, and one that waits for it. */
typedef enum tm_hlo_part { TM_HLO_WHOLE, TM_HLO_START, TM_HLO_DONE } tm_hlo_part;

typedef struct tm_hlo_kind {
    uint8_t class, part; /* tm_hlo_class, tm_hlo_part */
    uint8_t kind;        /* tm_collective_kind */
} tm_hlo_kind;

/** Tells by the profiler's category, and where that is only "async-start" by the name; without a
 * category by the opcode. */
tm_hlo_kind tm_hlo_kind_of(const tm_hlo *hlo, tm_text category);

#endif
