/* An XLA HLO operation as profilers print it: %all-gather-start.3 = (f32[8]{0}, f32[64]{0})
 * all-gather-start(f32[8]{0:T(256)} %p), channel_id=1 */
#ifndef TMERGE_XPLANE_HLO_TEXT_H
#define TMERGE_XPLANE_HLO_TEXT_H

#include "base/vec.h"
#include "tmerge/names.h"
#include "tmerge/timeline.h"

/** Parts of the text. They point into the text. A missing part is empty. */
typedef struct tm_hlo {
    tm_text name;       /* without the % */
    tm_text shape;      /* shape of the result: "f32[8]{0}", or a list of shapes in parentheses */
    tm_text opcode;     /* "all-gather-start" */
    tm_text operands;   /* what is between the parentheses after the opcode */
    tm_text attributes; /* the rest of the text, after the operands */
} tm_hlo;

/** Splits a text into its parts. If the text has another form, the whole text is the name. */
tm_hlo tm_hlo_parse(tm_text text);

/** Returns the value of an attribute, such as "channel_id", up to the next comma; empty if it is
 * absent. */
tm_text tm_hlo_attribute(const tm_hlo *hlo, const char *name);

/** Returns the name of the first operand, without the %; empty if there is none. */
tm_text tm_hlo_first_operand(const tm_hlo *hlo);

/** Total size of the arrays in a shape or in a list of operands. */
typedef struct tm_hlo_size {
    int64_t elements, bytes; /* -1 if there is no array, or a number is implausible */
    /* torch's name of the element type; NULL if the type is unknown, or if there are several types
     */
    const char *dtype;
} tm_hlo_size;

tm_hlo_size tm_hlo_size_of(tm_text shapes);

/**
 * Returns the number of the memory that contains an array of a shape. It is the n of S(n) in the
 * layout of the array. 0 is the device's memory, which is also meant if there is no S(n). 5 is the
 * host's memory.
 *
 * @param index  index of the array in the shape, from 0
 */
int tm_hlo_memory(tm_text shape, int index);
enum { TM_HLO_HOST_MEMORY = 5 };

/** What an operation does on the core of a TPU. */
typedef enum tm_hlo_class {
    TM_HLO_COMPUTE,
    TM_HLO_HOLDS,      /* an operation that contains other operations: while, call, conditional */
    TM_HLO_COLLECTIVE, /* a collective; `kind` says which */
    TM_HLO_COPY,      /* a copy within the device, or to or from the host, depending on its shape */
    TM_HLO_FROM_HOST, /* infeed, and receiving data from the host */
    TM_HLO_TO_HOST    /* outfeed, and sending data to the host */
} tm_hlo_class;

/** An asynchronous operation has one part that starts it, and one part that waits for it. */
typedef enum tm_hlo_part { TM_HLO_WHOLE, TM_HLO_START, TM_HLO_DONE } tm_hlo_part;

typedef struct tm_hlo_kind {
    uint8_t class, part; /* tm_hlo_class, tm_hlo_part */
    uint8_t kind;        /* tm_collective_kind */
} tm_hlo_kind;

/** Classifies an operation by the profiler's category. If the category is only "async-start",
 * classifies the operation by its name. If the category is empty, classifies it by its opcode. */
tm_hlo_kind tm_hlo_kind_of(const tm_hlo *hlo, tm_text category);

#endif
